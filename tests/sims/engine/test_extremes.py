"""Rates too large and too small, updates that are not finite, one sample, thousands of clients."""

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from every_algorithm import GIFAIR, KINDS, Ditto, FedAvg, FedMGDA, QFedAvg
from federations import EXACT, begun, classified, quick, trained

from fairfl.sims import engine
from fairfl.sims.algorithms.min_norm import min_norm_weights
from fairfl.sims.engine.algorithm import finite

FLOAT32 = engine.Computing(device="cpu")
MODEL, DATA = engine.Softmax(4, 3), classified((5, 9, 8))
NAMES = sorted(KINDS)
RULES = [GIFAIR(1e-9) if name == "gifair" else KINDS[name]() for name in NAMES]


@pytest.mark.parametrize(
    ("training", "longest"),
    [
        (quick(rounds=2, lr=1e-40), 2.0),  # FedMGDA+'s steps have no lr in them
        (quick(rounds=2, lr=5e-324), 1e-30),
        (quick(rounds=4, lr=1e-40, schedule=engine.Exponential(1e-200)), 4.0),
    ],
)
def test_rates_of_next_to_nothing_and_of_nothing(training, longest):
    done = trained(MODEL, DATA, RULES, training, FLOAT32)
    assert bool(torch.isfinite(done.params).all())
    for name, length in zip(NAMES, done.params.norm(dim=1), strict=True):
        assert float(length) <= (longest if name == "fedmgda" else 1e-30), name


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
@pytest.mark.parametrize("size", [1e9, 1e30])
def test_losses_of_any_size(rule, size):
    """Losses of 1e18 and 1e60: a finite model, or an update that the policy is asked about."""
    data = engine.Parts(replace(DATA.train, y=size * DATA.train.y.double()))
    with suppress(engine.NonFiniteUpdate):
        done = trained(engine.LeastSquares(4), data, [rule], quick(rounds=3, lr=0.01))
        assert bool(torch.isfinite(done.params).all())


def test_one_client_of_one_sample():
    done = trained(MODEL, classified((1,)), RULES, quick(rounds=3))
    assert bool(torch.isfinite(done.params).all()) and float(done.params.norm(dim=1).min()) > 1e-3
    assert {tuple(clients) for clients, _ in done.weights} == {(0,)}


def test_a_scale_that_float32_cannot_hold_is_not_finite():
    """lr alone fits, lr times GIFAIR's factor does not: the policy is asked."""

    class Large(GIFAIR):
        def client(self, round):
            return (replace(super().client(round)[0], scale=np.full(len(round.clients), 1e10)),)

    with pytest.raises(engine.NonFiniteUpdate, match="update of client 0, 1, 2"):
        trained(MODEL, DATA, [Large(0.0)], quick(rounds=1, lr=1e30), FLOAT32)


def test_a_round_is_whole_or_not_at_all():
    """The second replicate's server step overflows: the first has not moved either."""
    replicates = [engine.Replicate(Ditto()), engine.Replicate(FedAvg(), lr=1e3, server_lr=1e38)]
    simulation = engine.Simulation(MODEL, DATA, replicates, quick(lr=0.1), FLOAT32)
    before, message = simulation.states[0]["personal"], "the global model is .* in round 0"
    for _ in range(2):
        with pytest.raises(engine.NonFiniteUpdate, match=message):
            simulation.step()
        assert float(simulation.params.abs().max()) == 0 and simulation.round == 0
        assert simulation.states[0]["personal"] is before and len(simulation.weights[0][0]) == 0


def test_finite_rows_are_found():
    """Also where their sum overflows."""
    inf, nan = float("inf"), float("nan")
    updates = torch.tensor([[3.0, 4.0], [inf, 0.0], [inf, -inf], [nan, 0.1], [0.1, 1e30]])
    assert finite(updates).tolist() == [True, False, False, False, True]
    assert finite(torch.full((2, 4), 3e38)).all()


def test_losses_that_are_not_finite_stop_the_run_or_are_dropped():
    """Client 11's inputs are so large that its loss overflows float32; the others' are not."""
    data = classified((6, 6, 6)).train
    x = data.x.clone()
    x[6:12] *= 1e30
    parts = engine.Parts(engine.ClientData(x, x.sum(1) * 0 + 1, data.offsets, [10, 11, 12]))
    arguments = engine.LeastSquares(4), parts, [QFedAvg(1.0)], quick(lr=1e-3)
    both = [begun(*arguments, replace(FLOAT32, non_finite=how)) for how in ("drop", "raise")]
    for simulation in both:
        simulation.params[0] = 1e15
    (row,) = both[0].step()
    assert (row["bad_losses"], row["received"]) == (1, 2)
    with pytest.raises(engine.NonFiniteUpdate, match="loss of client 11"):
        both[1].step()


@dataclass(frozen=True)
class Made(FedAvg):
    """What a user's file may give: states, and a weight of each update in a sum."""

    first: object = torch.zeros(1)
    then: object = torch.zeros(1)
    weight: float = 1.0

    def start(self, clients, weights, params):
        return {"count": self.first}

    def server(self, received):
        step = received.total(received.p * self.weight)
        return engine.Aggregate(received.p, {"count": self.then}, step)


@pytest.mark.parametrize("beside", [(), (FedAvg(),)], ids=["alone", "beside another"])
@pytest.mark.parametrize(
    ("algorithm", "message"),
    [
        (Made(first=3), "state must hold tensors, got 'count': 3 from Made"),
        (Made(then=[1.0]), r"state must hold tensors, got 'count': \[1.0\] from Made"),
        (Made(weight=np.inf), "weights must be finite"),
        (Made(weight=np.nan), "weights must be finite"),
    ],
)
def test_what_an_algorithm_gives_is_told(algorithm, message, beside):
    with pytest.raises(ValueError, match=message):
        trained(MODEL, DATA, [algorithm, *beside], quick(rounds=1))


def test_a_finished_simulation_does_not_go_on_and_threads_are_put_back():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        done = trained(MODEL, DATA, [FedAvg()], quick(rounds=1), replace(EXACT, threads=1))
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    with pytest.raises(ValueError, match="rounds must be more"):
        done.step()


def test_normalised_updates_of_1e_40_have_length_one():
    """1 / ||update|| is beyond float32; its product with the update is not."""
    data = engine.Parts(classified((6,)).train)
    small, usual = (
        trained(MODEL, data, [FedMGDA()], quick(rounds=1, lr=lr, batch_size=None), FLOAT32).params
        for lr in (1e-39, 0.1)
    )
    assert float(usual.norm()) == pytest.approx(1, rel=1e-6)
    np.testing.assert_allclose(small, usual, atol=1e-4)  # float32's denormals have few digits


@pytest.mark.parametrize("clients", [3, 50])
def test_nobody_moves(clients):
    v = min_norm_weights(np.zeros((clients, clients)), np.full(clients, 1 / clients), 0.1)
    assert v.sum() == pytest.approx(1) and np.abs(v - 1 / clients).max() <= 0.1 + 1e-12
    x = torch.ones(clients, 1, dtype=torch.float64)
    at_rest = engine.Parts(engine.ClientData(x, 0 * x[:, 0], np.arange(clients + 1)))
    rules = [FedMGDA(0.1), FedMGDA(1.0, normalize=False)]
    done = trained(engine.LeastSquares(1), at_rest, rules, quick(rounds=1))
    assert float(done.params.abs().max()) == 0


@pytest.mark.parametrize(
    "model", [MODEL, engine.Module(lambda: torch.nn.Linear(4, 3))], ids=["softmax", "module"]
)
def test_a_part_without_samples(model):
    train = DATA.train
    none = engine.ClientData(train.x[:0], train.y[:0], np.zeros(4, int))
    simulation = begun(model, engine.Parts(train, none), [FedAvg()], quick())
    assert [np.isnan(row["loss"]).all() for row in simulation.evaluate()] == [False, True]


def test_gifair_ranks_as_it_is_defined():
    """r_k: groups with a smaller loss less those with a larger, by pairs; ties for neither."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = int(rng.integers(2, 9))
        groups, losses = rng.integers(0, 4, n), rng.integers(0, 4, n).astype(float)
        p, draws = np.full(n, 1 / n), np.ones(n, int)
        round = engine.Round(0, np.arange(n), p, p, torch.zeros(1), 0.1, losses, {}, draws=draws)
        means = {g: losses[groups == g].mean() for g in set(groups)}
        rank = [sum(np.sign(means[g] - mean) for mean in means.values()) for g in groups]
        sizes = [(groups == g).sum() for g in groups]
        (task,) = GIFAIR(1e-6, tuple(map(int, groups))).client(round)
        np.testing.assert_allclose(task.scale, 1 + 1e-6 * np.array(rank) / (p * sizes), rtol=1e-12)


@pytest.mark.parametrize(
    "participation", [engine.Uniform(10), engine.Everyone()], ids=["ten", "all"]
)
def test_ten_thousand_clients(participation):
    """A round of ten among 10,000, and one of all, whatever the algorithm."""
    train, is_full = classified((1, 3) * 50).train, participation == engine.Everyone()
    offsets = np.append(0, np.cumsum(np.tile(train.sizes, 100)))
    many = engine.Parts(engine.ClientData(train.x.repeat(100, 1), train.y.repeat(100), offsets))
    # of all FedMGDA has a Gram matrix of 800 MB
    rules = [rule for rule in RULES if not is_full or rule.name != "fedmgda"] + [QFedAvg(0.0)]
    training, names = quick(rounds=2, participation=participation), [rule.name for rule in rules]
    simulation = begun(MODEL, many, rules, training, FLOAT32)
    rows = simulation.step()
    assert {row["received"] for row in rows} == {10_000 if is_full else 10}
    assert bool(torch.isfinite(simulation.params).all())
    same = simulation.params[names.index("fedavg")]
    assert float((simulation.params[names.index("qfedavg")] - same).norm()) > 0
    np.testing.assert_allclose(simulation.params[-1], same, atol=1e-5)
