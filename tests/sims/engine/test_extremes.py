"""Rates too large and too small, one client, one sample, thousands of clients."""

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
import torch
from federations import EXACT, classified, quick, trained

from fairfl.sims.algorithms import algorithms
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.algorithms.fedmgda import FedMGDA
from fairfl.sims.algorithms.gifair import GIFAIR
from fairfl.sims.algorithms.min_norm import min_norm_weights
from fairfl.sims.algorithms.qfedavg import QFedAvg
from fairfl.sims.engine import (
    MLP,
    ClientData,
    Computing,
    Everyone,
    Exponential,
    LeastSquares,
    Module,
    NonFiniteUpdate,
    Parts,
    Replicate,
    Round,
    Simulation,
    Softmax,
    Uniform,
    losses,
)
from fairfl.sims.engine.algorithm import squared_norms

FLOAT32 = Computing(device="cpu")
MODEL, DATA = Softmax(4, 3), classified((5, 9, 8))
NAMES = sorted(algorithms())


def one(name):
    kind = algorithms()[name]
    return GIFAIR(1e-9) if kind is GIFAIR else kind()


@pytest.mark.parametrize("rate", ["lr", "weight_decay", "server_lr"])
def test_rates_that_float32_cannot_hold_are_refused(rate):
    with pytest.raises(
        ValueError, match=f"{rate} must be at most 3.4e\\+38 in float32, got 1e\\+39"
    ):
        Simulation(MODEL, DATA, [Replicate(FedAvg())], quick(**{rate: 1e39}), FLOAT32)
    with pytest.raises(ValueError, match=f"{rate} must be at most"):
        Simulation(MODEL, DATA, [Replicate(FedAvg(), **{rate: 1e39})], quick(), FLOAT32)
    assert (
        Simulation(MODEL, DATA, [Replicate(FedAvg())], quick(**{rate: 1e39}), EXACT).rates[0]
        is not None
    )


@pytest.mark.parametrize("lr", [1e-40, 1e-300, 5e-324])
@pytest.mark.parametrize("name", NAMES)
def test_tiny_rates_change_next_to_nothing(name, lr):
    done = trained(MODEL, DATA, [one(name)], quick(rounds=2, lr=lr), FLOAT32)
    length = 2.0 if name == "fedmgda" and lr == 1e-40 else 1e-30  # its steps have no lr in them
    assert bool(torch.isfinite(done.params).all()) and float(done.params.norm()) <= length


@pytest.mark.parametrize("name", NAMES)
def test_a_schedule_that_runs_out(name):
    training = quick(rounds=4, schedule=Exponential(1e-200))
    assert bool(torch.isfinite(trained(MODEL, DATA, [one(name)], training).params).all())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [1e9, 1e30])
def test_losses_of_any_size(name, size):
    """Losses of 1e18 and 1e60: a finite model, or an update that the policy is asked about."""
    train = classified((5, 9, 8)).train
    data = Parts(ClientData(train.x, size * train.y.double(), train.offsets))
    with suppress(NonFiniteUpdate):
        done = trained(LeastSquares(4), data, [one(name)], quick(rounds=3, lr=0.01))
        assert bool(torch.isfinite(done.params).all())


def test_a_scale_that_float32_cannot_hold_is_not_finite():
    """lr alone fits, lr times GIFAIR's factor does not: the policy is asked."""

    class Large(GIFAIR):
        def client(self, round):
            return (replace(super().client(round)[0], scale=np.full(len(round.clients), 1e10)),)

    with pytest.raises(NonFiniteUpdate, match="update of client 0, 1, 2"):
        trained(MODEL, DATA, [Large(0.0)], quick(rounds=1, lr=1e30), FLOAT32)


def test_a_server_step_that_overflows_is_told():
    simulation = Simulation(
        MODEL, DATA, [Replicate(FedAvg())], quick(server_lr=3e38, lr=100.0), FLOAT32
    )
    with pytest.raises(
        NonFiniteUpdate,
        match="the global model is NaN or infinite after the server's step in round 0",
    ):
        simulation.step()
    assert simulation.round == 0 and float(simulation.params.abs().max()) == 0


def test_a_round_is_whole_or_not_at_all():
    """The second replicate cannot go on: the first has not moved either."""
    replicates = [Replicate(algorithms()["ditto"]()), Replicate(FedAvg(), lr=100.0, server_lr=3e38)]
    simulation = Simulation(MODEL, DATA, replicates, quick(lr=0.1), FLOAT32)
    before = simulation.states[0]["personal"]
    for _ in range(2):
        with pytest.raises(NonFiniteUpdate, match="in round 0"):
            simulation.step()
        assert float(simulation.params.abs().max()) == 0 and simulation.round == 0
        assert simulation.states[0]["personal"] is before and len(simulation.weights[0][0]) == 0


def test_normalised_updates_of_1e_40_have_length_one():
    """1 / ||update|| is beyond float32; its product with the update is not."""
    data = Parts(classified((6,)).train)
    w = trained(
        MODEL, data, [FedMGDA()], quick(rounds=1, lr=1e-39, batch_size=None), FLOAT32
    ).params
    other = trained(
        MODEL, data, [FedMGDA()], quick(rounds=1, lr=0.1, batch_size=None), FLOAT32
    ).params
    assert float(other.norm()) == pytest.approx(1, rel=1e-6)
    np.testing.assert_allclose(w, other, atol=1e-4)  # float32's denormals have few digits


@pytest.mark.parametrize("clients", [3, 50])
def test_nobody_moves(clients):
    v = min_norm_weights(np.zeros((clients, clients)), np.full(clients, 1 / clients), 0.1)
    assert v.sum() == pytest.approx(1) and np.abs(v - 1 / clients).max() <= 0.1 + 1e-12
    x = torch.ones(clients, 1, dtype=torch.float64)
    at_rest = Parts(
        ClientData(x, torch.zeros(clients, dtype=torch.float64), np.arange(clients + 1))
    )
    done = trained(
        LeastSquares(1), at_rest, [FedMGDA(0.1), FedMGDA(1.0, normalize=False)], quick(rounds=1)
    )
    assert float(done.params.abs().max()) == 0


@pytest.mark.parametrize("name", NAMES)
def test_one_client_of_one_sample(name):
    done = trained(MODEL, classified((1,)), [one(name)], quick(rounds=3))
    assert bool(torch.isfinite(done.params).all()) and float(done.params.norm()) > 1e-3
    assert done.weights[0][0].tolist() == [0]


@pytest.mark.parametrize(
    "model",
    [Softmax(4, 7), MLP((4, 3, 7)), Module(lambda: torch.nn.Linear(4, 7))],
    ids=["softmax", "mlp", "module"],
)
def test_a_class_that_nobody_has(model):
    """Its score falls, and nothing else happens."""
    done = trained(model, DATA, [FedAvg()], quick(rounds=5))
    x = DATA.train.x[None] if isinstance(model, Module) else done.parts["train"].x[None]
    before = model.init(0)[None]
    after, start = (
        model.losses(p, x, torch.full(x.shape[:2], 5))[0] for p in (done.params, before)
    )
    assert bool(torch.isfinite(after).all()) and float(after.mean()) > float(start.mean())


@pytest.mark.parametrize("kind", [torch.uint8, torch.int64, torch.bool])
@pytest.mark.parametrize("model", [Softmax(2, 3), MLP((2, 3, 3))], ids=repr)
def test_pixels_that_nobody_scaled_are_refused(model, kind):
    data = Parts(
        ClientData(torch.ones(4, 2).to(kind), torch.tensor([0, 1, 2, 0]), np.array([0, 2, 4]))
    )
    with pytest.raises(ValueError, match="x must be floating point for .*, got torch.int64"):
        Simulation(model, data, [Replicate(FedAvg())], quick())


@pytest.mark.parametrize(
    "model", [Softmax(4, 3), Module(lambda: torch.nn.Linear(4, 3))], ids=["softmax", "module"]
)
def test_a_part_without_samples(model):
    train = DATA.train
    none = ClientData(train.x[:0], train.y[:0], np.zeros(4, int))
    simulation = Simulation(model, Parts(train, none), [Replicate(FedAvg())], quick())
    assert [np.isnan(row["loss"]).all() for row in simulation.evaluate()] == [False, True]


@pytest.mark.parametrize("device", ["cuda:", "cuda:x", "cpu:1", "CUDA", "", "tpu", "meta", None, 3])
def test_devices_by_another_name(device):
    with pytest.raises(ValueError, match="device must be 'auto', 'cpu', 'cuda' or 'cuda:N', got"):
        Computing(device=device)


def test_norms_are_those_of_the_rows():
    rows = torch.randn(7, 5, generator=torch.Generator().manual_seed(0))
    expected = [[float(part @ part) for part in r.double().split((3, 2))] for r in rows]
    np.testing.assert_allclose(squared_norms(rows, (3, 2)), expected, rtol=1e-14)
    assert squared_norms(rows[:0], (3, 2)).shape == (0, 2)


def test_gifair_ranks_as_it_is_defined():
    """r_k: groups with a smaller loss less those with a larger, by pairs; ties for neither."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = int(rng.integers(2, 9))
        groups, found = rng.integers(0, 4, n), rng.integers(0, 4, n).astype(float)
        p = np.full(n, 1 / n)
        given = replace(
            Round(0, np.arange(n), p, p, torch.zeros(1), 0.1, found, {}, draws=np.ones(n, int)),
            losses=found,
        )
        means = {g: found[groups == g].mean() for g in set(groups)}
        rank = [sum(np.sign(means[g] - other) for other in means.values()) for g in groups]
        sizes = [(groups == g).sum() for g in groups]
        (task,) = GIFAIR(1e-6, tuple(map(int, groups))).client(given)
        np.testing.assert_allclose(task.scale, 1 + 1e-6 * np.array(rank) / (p * sizes), rtol=1e-12)


def test_modules_leave_every_generator_alone():
    before = torch.get_rng_state()
    one, two = (Module(lambda: torch.nn.Linear(3, 2)).init(seed) for seed in (5, 6))
    assert torch.equal(torch.get_rng_state(), before) and not torch.equal(one, two)
    torch.manual_seed(5)
    plain = torch.nn.Linear(3, 2)
    expected = torch.cat([p.detach().reshape(-1).double() for p in plain.parameters()])
    assert torch.equal(one, expected)  # torch's own stream of that seed


def test_forward_passes_count_the_parameters_once():
    """A model of 4 MB with 1 kB of activations: 64 MB leave room for many samples."""
    model = Module(lambda: torch.nn.Linear(1000, 1000))
    model.prepare(ClientData(torch.zeros(2, 1000), torch.tensor([0, 999]), np.array([0, 2])))
    params = torch.zeros(model.size)
    rows = losses.rows_at_once(model, params[None], 1)
    assert rows >= 1000 and model.bytes_per_client(rows, 4) <= max(
        losses.LEAST, model.bytes_per_client(1, 4)
    )


@pytest.mark.parametrize("participation", [Uniform(10), Everyone()], ids=["ten", "all"])
def test_ten_thousand_clients(participation):
    """A round of ten among 10,000, and one of all, whatever the algorithm."""
    data = classified((1, 3) * 50)
    train = data.train
    many = Parts(
        ClientData(
            train.x.repeat(100, 1),
            train.y.repeat(100),
            np.append(0, np.cumsum(np.tile(train.sizes, 100))),
        )
    )
    # a Gram matrix of 800 MB
    names = [n for n in NAMES if participation != Everyone() or n != "fedmgda"]
    replicates = [Replicate(one(name)) for name in names]
    simulation = Simulation(
        MODEL, many, replicates, quick(rounds=2, participation=participation), FLOAT32
    )
    rows = simulation.step()
    assert {row["received"] for row in rows} == {10 if participation == Uniform(10) else 10_000}
    assert bool(torch.isfinite(simulation.params).all())
    if participation == Everyone():
        same = simulation.params[names.index("fedavg")]
        assert float((simulation.params[names.index("qfedavg")] - same).norm()) > 0
        np.testing.assert_allclose(
            trained(MODEL, many, [QFedAvg(0.0)], quick(rounds=1)).params[0], same, atol=1e-5
        )
