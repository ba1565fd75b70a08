"""What must not matter does not: the order of the clients, what runs beside, and units."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from every_algorithm import (
    AFL,
    EVERY,
    GIFAIR,
    KINDS,
    TERM,
    Ditto,
    DualWeighted,
    FedAvg,
    FedMGDA,
    PFedAvg,
    PropFair,
    QFedAvg,
)
from federations import EXACT, classified, quick, trained

from fairfl.sims.engine import (
    ByWeight,
    ClientData,
    Joining,
    LeastSquares,
    Parts,
    Replicate,
    Simulation,
    Softmax,
    Uniform,
)
from fairfl.theory import aggregation as aims

MODEL = Softmax(4, 3)
SIZES = (1, 17, 4, 9, 30, 8, 8, 2)
SETTING = quick(
    rounds=4, lr=0.05, momentum=0.5, participation=Uniform(5), stragglers=0.3, dropout=0.1, epochs=2
)


def close(a, b, label=""):
    np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12, err_msg=repr(label))


@pytest.mark.parametrize("draw", [Uniform(5), ByWeight(4), Joining((0,), share=0.6)], ids=repr)
def test_the_order_of_the_clients(draw):
    """Ids with gaps; the codes of GIFAIR's groups are in the order of the data."""
    order, codes = np.random.default_rng(3).permutation(len(SIZES)), (0, 1, 1, 2, 0, 2, 1, 0)
    data = replace(classified(SIZES).train, ids=np.array([2, 3, 9, 40, 41, 77, 78, 99]))
    training = replace(SETTING, participation=draw)
    moved = tuple(codes[k] for k in order)
    plain = trained(MODEL, Parts(data), [*EVERY, GIFAIR(groups=codes)], training)
    permuted = trained(MODEL, Parts(data.take(order)), [*EVERY, GIFAIR(groups=moved)], training)
    for r, algorithm in enumerate([*EVERY, GIFAIR(groups=codes)]):
        close(plain.params[r], permuted.params[r], algorithm)
        personal = algorithm.personal(plain.states[r])
        if personal is not None:
            close(personal[order], algorithm.personal(permuted.states[r]), algorithm)


def test_packed_replicates_are_what_they_are_alone():
    data = classified(SIZES)
    replicates = [Replicate(algorithm, seed % 3) for seed, algorithm in enumerate(EVERY)]
    replicates[0] = replace(replicates[0], lr=0.01, momentum=0.0)
    replicates[1] = replace(replicates[1], weight_decay=0.1, server_lr=0.5)
    together = Simulation(MODEL, data, replicates, SETTING, EXACT)
    alone = [Simulation(MODEL, data, [replicate], SETTING, EXACT) for replicate in replicates]
    for _ in range(3):
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
    wide, thin = (
        trained(Softmax(4, 5), data, [*EVERY, unequal], quick(batch_size=None), computing, rounds=1)
        for computing in (EXACT, replace(EXACT, dtype="float32"))
    )
    for algorithm, exact, single in zip([*EVERY, unequal], wide.params, thin.params, strict=True):
        distance = float((exact - single).norm() / exact.norm())
        assert distance < 5e-6, (algorithm, distance)


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


UNITS = [lambda c: FedAvg(), lambda c: QFedAvg(0.5), lambda c: QFedAvg(3.0)]
UNITS += [lambda c: QFedAvg(2.0, 30.0 * c), lambda c: PFedAvg(aims.RankWeighted.gini())]
UNITS += [lambda c: FedMGDA(0.2), lambda c: FedMGDA(1.0, normalize=False)]
UNITS += [lambda c: DualWeighted(aims.QFFL(2.0))]
UNITS += [lambda c: DualWeighted(aims.RankWeighted.cvar(0.5)), lambda c: TERM(0.5 / c)]
UNITS += [lambda c: TERM(0.5 / c, 0.2 / c), lambda c: AFL(0.01 / c)]
UNITS += [lambda c: AFL(0.01 / c, "exponentiated")]
UNITS += [lambda c: PropFair(500.0 * c, 0.3 * c, rescale=True)]
UNITS += [lambda c: DualWeighted(aims.PropFair(500.0 * c)), lambda c: GIFAIR(0.01)]
UNITS += [lambda c: Ditto(0.1 * c)]


@pytest.mark.parametrize("c", [1e-6, 64.0, 1e8])
def test_the_unit_of_the_losses(c):
    """lr / c for losses times c; parameters with a unit follow it. Printed q-FedAvg does not."""
    rules = [*UNITS, lambda c: QFedAvg(1.0, variant="printed")]
    before, after = (
        trained(
            LeastSquares(4, bias=False),
            in_units(unit),
            [rule(unit) for rule in rules],
            quick(lr=0.02 / unit, rounds=3),
        ).params
        for unit in (1.0, c)
    )
    for r, rule in enumerate(UNITS):
        np.testing.assert_allclose(after[r], before[r], rtol=1e-9, err_msg=repr(rule(1.0)))
    assert float((after[-1] - before[-1]).abs().max()) > 1e-2 * float(before[-1].abs().max())


def test_what_reduces_to_fedavg():
    exact = [QFedAvg(0.0), QFedAvg(0.0, 0.01), QFedAvg(0.0, 1e4), TERM(0.0)]
    exact += [PFedAvg(aims.RankWeighted.geometric(1.0), "product")]
    exact += [PFedAvg(aims.RankWeighted.geometric(1.0), "quantile"), GIFAIR(0.0)]
    exact += [FedMGDA(0.0, normalize=False), Ditto(0.7), DualWeighted(aims.FedAvg())]
    exact += [DualWeighted(aims.QFFL(0.0)), KINDS["fedprox"](0.0)]
    limits = [QFedAvg(1e-9), TERM(1e-9), TERM(1e-9, 1e-9), PropFair(1e10, rescale=True)]
    limits += [PFedAvg(aims.RankWeighted.geometric(1 - 1e-10), "product")]
    replicates = [Replicate(rule) for rule in (FedAvg(), *exact, *limits)]
    replicates.append(Replicate(PropFair(1e10), lr=0.05 * 1e10))
    simulation = Simulation(MODEL, classified(SIZES), replicates, quick(lr=0.05, rounds=3), EXACT)
    while not simulation.done:
        simulation.step()
    for r, replicate in enumerate(replicates):
        off = 1e-13 if r <= len(exact) else 1e-6
        limit, plain, label = simulation.params[r], simulation.params[0], repr(replicate)
        np.testing.assert_allclose(limit, plain, rtol=off, atol=off, err_msg=label)


def test_the_rows_of_a_shuffled_frame_go_by_position():
    columns = {
        "x": [0.0, 1.0, 2.0, 3.0],
        "y": [0, 1, 1, 0],
        "owner": [1, 0, 1, 0],
        "a": [0, 0, 1, 1],
    }
    frame = pd.DataFrame(columns, index=[3, 1, 0, 2])
    data = ClientData.from_owner(frame[["x"]], frame["y"], frame["owner"], group=frame["a"])
    assert data.x.ravel().tolist() == [1, 3, 0, 2] and data.y.tolist() == [1, 0, 0, 1]
    assert data.group is not None and data.group.tolist() == [0, 1, 0, 1]
