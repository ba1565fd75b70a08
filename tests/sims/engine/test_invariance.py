"""What must not matter does not: the order of the clients, chunks, what runs beside, and units."""

from dataclasses import replace

import numpy as np
import pytest
from federations import EXACT, classified, quick, trained, two_quadratics

from fairfl.sims.algorithms import algorithms
from fairfl.sims.algorithms.afl import AFL
from fairfl.sims.algorithms.ditto import Ditto
from fairfl.sims.algorithms.dual_weighted import DualWeighted
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.algorithms.fedmgda import FedMGDA
from fairfl.sims.algorithms.gifair import GIFAIR
from fairfl.sims.algorithms.pfedavg import PFedAvg
from fairfl.sims.algorithms.propfair import PropFair
from fairfl.sims.algorithms.qfedavg import QFedAvg
from fairfl.sims.algorithms.term import TERM
from fairfl.sims.engine import (
    ByWeight,
    ClientData,
    LeastSquares,
    Parts,
    Replicate,
    Simulation,
    Softmax,
    Training,
    Uniform,
)
from fairfl.sims.engine.losses import tied
from fairfl.theory import aggregation as aims

MODEL = Softmax(4, 3)
SIZES = (1, 17, 4, 9, 30, 8, 8, 2)
EVERY = [algorithm for kind in algorithms().values() for algorithm in kind.examples()]
SETTING = quick(
    rounds=8, lr=0.05, momentum=0.5, participation=Uniform(5), stragglers=0.3, dropout=0.1, epochs=2
)


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("algorithm", EVERY, ids=repr)
def test_the_order_of_the_clients(algorithm):
    data = classified(SIZES)
    order = np.random.default_rng(3).permutation(len(SIZES))
    other = Parts(data.train.take(order))
    for training in (SETTING, replace(SETTING, participation=ByWeight(4))):
        one, two = (trained(MODEL, d, [algorithm], training) for d in (data, other))
        close(one.params.numpy(), two.params.numpy())
        own = algorithm.personal(one.states[0])
        if own is not None:
            close(own.numpy()[order], algorithm.personal(two.states[0]).numpy())


def test_packed_replicates_are_what_they_are_alone():
    data = classified(SIZES)
    replicates = [Replicate(algorithm, seed % 3) for seed, algorithm in enumerate(EVERY)]
    replicates[0] = replace(replicates[0], lr=0.01, momentum=0.0)
    replicates[1] = replace(replicates[1], weight_decay=0.1, server_lr=0.5)
    together = Simulation(MODEL, data, replicates, SETTING, EXACT)
    alone = [Simulation(MODEL, data, [replicate], SETTING, EXACT) for replicate in replicates]
    for _ in range(5):
        rows = together.step()
        for simulation, row in zip(alone, rows, strict=True):
            (single,) = simulation.step()
            for name in single:
                if name != "replicate":
                    assert row[name] == pytest.approx(single[name], rel=1e-12, abs=1e-12)
    for r, simulation in enumerate(alone):
        close(together.params[r].numpy(), simulation.params[0].numpy())


def test_a_start_where_all_losses_tie_is_the_same_in_both_dtypes():
    """All losses are log C at 0; their means over 1 to 899 rows differ in the last bits."""
    sizes = np.random.default_rng(0).permutation(np.linspace(1, 899, 12).astype(int))
    data = replace(classified(sizes, 4, 5), weights=np.full(12, 1 / 12))
    unequal = GIFAIR(groups=(0, 1, 1, 2, 2, 2, 2, 1, 1, 2, 2, 2))
    one, two = (
        trained(Softmax(4, 5), data, [*EVERY, unequal], quick(batch_size=None), how, rounds=1)
        for how in (EXACT, replace(EXACT, dtype="float32"))
    )
    for algorithm, exact, single in zip([*EVERY, unequal], one.params, two.params, strict=True):
        apart = float((exact - single).norm() / exact.norm())
        assert apart < 5e-6, (algorithm, apart)


def test_losses_tie_within_roundings_and_a_long_chain_of_them_does_not():
    chain = 5.0 * (1 + 4e-16 * np.arange(9))
    losses = np.array([1.0, 3.0, 1 + 4e-16, -2.0, 1 - 4e-16, -2 - 4e-16, 3 + 1e-14, *chain])
    expected = losses.copy()
    expected[[0, 2, 4]], expected[[3, 5]] = losses[4], losses[5]
    np.testing.assert_array_equal(tied(losses, 1e-15), expected)
    assert len(tied(losses[:0], 1e-15)) == 0


def test_seeds_matter_and_rounds_differ():
    data = classified((9,) * 5)
    a, b, c = (
        trained(MODEL, data, [FedAvg()], quick(rounds=2), seeds=[s]).params for s in (0, 1, 0)
    )
    assert bool((a == c).all()) and float((a - b).abs().max()) > 1e-4


def in_units(c):
    """Targets and inputs times sqrt(c): all losses times c, their minimisers the same."""
    train = classified((5, 9, 3)).train
    x, y = train.x * c**0.5, train.x.sum(1) * c**0.5 * (1 + train.y)
    return Parts(ClientData(x, y, train.offsets))


@pytest.mark.parametrize("c", [1e-6, 64.0, 1e8])
@pytest.mark.parametrize(
    ("algorithm", "other"),
    UNITS := [
        (FedAvg(), None),
        (QFedAvg(0.5), None),
        (QFedAvg(3.0), None),
        (QFedAvg(2.0, 30.0), lambda c: QFedAvg(2.0, 30.0 * c)),
        (PFedAvg(aims.RankWeighted.gini()), None),
        (FedMGDA(0.2), None),
        (FedMGDA(1.0, normalize=False), None),
        (DualWeighted(aims.QFFL(2.0)), None),
        (DualWeighted(aims.RankWeighted.cvar(0.5)), None),
        (TERM(0.5), lambda c: TERM(0.5 / c)),
        (TERM(0.5, 0.2), lambda c: TERM(0.5 / c, 0.2 / c)),
        (AFL(0.01), lambda c: AFL(0.01 / c)),
        (AFL(0.01, "exponentiated"), lambda c: AFL(0.01 / c, "exponentiated")),
        (PropFair(500.0, 0.3, rescale=True), lambda c: PropFair(500.0 * c, 0.3 * c, rescale=True)),
        (DualWeighted(aims.PropFair(500.0)), lambda c: DualWeighted(aims.PropFair(500.0 * c))),
        (GIFAIR(0.01), None),
        (Ditto(0.1), lambda c: Ditto(0.1 * c)),
    ],
    ids=[repr(algorithm) for algorithm, _ in UNITS],
)
def test_the_unit_of_the_losses(algorithm, other, c):
    """lr / c for losses times c; parameters that have a unit follow it."""
    model = LeastSquares(4, bias=False)
    follows = algorithm if other is None else other(c)
    before = trained(model, in_units(1.0), [algorithm], quick(lr=0.02, rounds=6)).params
    after = trained(model, in_units(c), [follows], quick(lr=0.02 / c, rounds=6)).params
    np.testing.assert_allclose(after.numpy(), before.numpy(), rtol=1e-9)


def test_the_printed_q_fedavg_changes_with_the_unit():
    model = LeastSquares(4, bias=False)
    a, b = (
        trained(
            model, in_units(c), [QFedAvg(1.0, variant="printed")], quick(lr=0.02 / c, rounds=1)
        ).params
        for c in (1.0, 64.0)
    )
    assert float((a - b).abs().max()) > 1e-2 * float(a.abs().max())


@pytest.mark.parametrize(
    ("algorithm", "lr", "tolerance"),
    [
        (QFedAvg(0.0), 0.05, 1e-13),
        (QFedAvg(0.0, 0.01), 0.05, 1e-13),
        (QFedAvg(0.0, 1e4), 0.05, 1e-13),
        (QFedAvg(1e-9), 0.05, 1e-6),
        (TERM(0.0), 0.05, 1e-13),
        (TERM(1e-9), 0.05, 1e-6),
        (TERM(1e-9, 1e-9), 0.05, 1e-6),
        (PropFair(1e10, rescale=True), 0.05, 1e-6),
        (PropFair(1e10), 0.05 * 1e10, 1e-6),
        (PFedAvg(aims.RankWeighted.geometric(1.0), "product"), 0.05, 1e-13),
        (PFedAvg(aims.RankWeighted.geometric(1 - 1e-10), "product"), 0.05, 1e-6),
        (PFedAvg(aims.RankWeighted.geometric(1.0), "quantile"), 0.05, 1e-13),
        (GIFAIR(0.0), 0.05, 1e-13),
        (FedMGDA(0.0, normalize=False), 0.05, 1e-13),
        (Ditto(0.7), 0.05, 1e-13),
        (DualWeighted(aims.FedAvg()), 0.05, 1e-13),
        (DualWeighted(aims.QFFL(0.0)), 0.05, 1e-13),
        (algorithms()["fedprox"](0.0), 0.05, 1e-13),
    ],
    ids=repr,
)
def test_what_reduces_to_fedavg(algorithm, lr, tolerance):
    data = classified(SIZES)
    plain = trained(MODEL, data, [FedAvg()], quick(lr=0.05, rounds=6)).params
    limit = trained(MODEL, data, [algorithm], quick(lr=lr, rounds=6)).params
    np.testing.assert_allclose(limit.numpy(), plain.numpy(), rtol=tolerance, atol=tolerance)


def test_one_step_on_everything_is_fedsgd():
    data, names = classified(SIZES), algorithms()
    one = trained(MODEL, data, [FedAvg()], quick(batch_size=None, rounds=6)).params
    for other in (names["fedsgd"](), names["qfedsgd"](0.0)):
        close(trained(MODEL, data, [other], quick(rounds=6)).params.numpy(), one.numpy())


def test_dual_weights_with_full_gradients_are_gradient_descent_on_the_objective():
    data, lr = two_quadratics(), 0.01
    for aim in (aims.QFFL(2.0), aims.TERM(0.3), aims.PropFair(40.0), aims.RankWeighted.gini()):
        done = trained(
            LeastSquares(2, bias=False), data, [DualWeighted(aim)], Training(1, lr, None)
        )
        step = 1e-6
        weighted = aim.weighted(data.p)

        def value(w, weighted=weighted):
            return weighted.value(
                np.array([(w[0] - 1) ** 2 + w[1] ** 2, w[0] ** 2 + 4 * (w[1] - 2) ** 2])
            )

        slope = np.array([(value(step * e) - value(-step * e)) / (2 * step) for e in np.eye(2)])
        np.testing.assert_allclose(done.params[0].numpy(), -lr * slope, rtol=1e-7)
