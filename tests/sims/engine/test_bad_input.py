"""Bad input: one ValueError that names the argument, the value and what is allowed, before any
work.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pytest
import torch
from federations import EXACT, classified, quick, trained
from torch import nn

from fairfl.sims.algorithms.afl import AFL
from fairfl.sims.algorithms.ditto import Ditto
from fairfl.sims.algorithms.dual_weighted import DualWeighted
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.algorithms.fedmgda import FedMGDA
from fairfl.sims.algorithms.fedprox import FedProx
from fairfl.sims.algorithms.gifair import GIFAIR
from fairfl.sims.algorithms.pfedavg import PFedAvg
from fairfl.sims.algorithms.propfair import PropFair
from fairfl.sims.algorithms.qfedavg import QFedAvg
from fairfl.sims.algorithms.qfedsgd import QFedSGD
from fairfl.sims.algorithms.term import TERM
from fairfl.sims.engine import (
    MLP,
    Aggregate,
    ByWeight,
    ClientData,
    Computing,
    Exponential,
    Given,
    LeastSquares,
    Logistic,
    Module,
    NonFiniteUpdate,
    Parts,
    Polynomial,
    Replicate,
    Simulation,
    Softmax,
    Steps,
    Sum,
    Training,
    Uniform,
    simulate,
)
from fairfl.sims.engine.health import heal
from fairfl.theory import aggregation as aims

X, Y = torch.zeros(4, 2), torch.zeros(4, dtype=torch.int64)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: ClientData(X, Y[:3], [0, 4]), "x and y must have one row a sample"),
        (lambda: ClientData(X, Y, [0, 3]), "offsets must rise from 0 to N = 4"),
        (lambda: ClientData(X, Y, [0, 3, 2, 4]), "offsets must rise"),
        (lambda: ClientData(X, Y, [0.0, 4.0]), "offsets must be K \\+ 1 whole numbers"),
        (
            lambda: ClientData(X * np.nan, Y, [0, 4]),
            "x must be finite, got NaN or an infinity in row 0",
        ),
        (lambda: ClientData(X, Y, [0, 2, 4], [1, 1]), "ids must be distinct"),
        (lambda: ClientData(X, Y, [0, 2, 4], [1, -1]), "ids must be 2 whole numbers"),
        (lambda: ClientData.from_owner(X, Y, [0, 1, 2, 3], clients=3), "owner must be in 0..2"),
        (lambda: ClientData.from_owner(X, Y, [0, 1]), "owner must be one whole number a sample"),
        (lambda: ClientData.from_clients([]), "parts must hold at least one client"),
        (
            lambda: Parts(ClientData(X, Y, [0, 4, 4])),
            "train must hold a sample of every client, got none of client 1",
        ),
        (
            lambda: Parts(ClientData(X, Y, [0, 4]), ClientData(X, Y, [0, 2, 4])),
            "test must have the clients of train",
        ),
        (
            lambda: Parts(ClientData(X, Y, [0, 2, 4]), weights=np.array([0.5, 0.6])),
            "weights must sum to one",
        ),
        (
            lambda: Parts(ClientData(X, Y, [0, 2, 4]), weights=np.array([1.5, -0.5])),
            "weights must be 2 numbers > 0",
        ),
        (lambda: Training(0), "rounds must be a whole number of at least 1, got 0"),
        (lambda: Training(1, lr=0), "lr must be positive"),
        (lambda: Training(1, momentum=1.0), "momentum must be in \\[0, 1\\), got 1"),
        (lambda: Training(1, weight_decay=-1), "weight_decay must be in"),
        (lambda: Training(1, server_lr=np.inf), "server_lr must be positive and finite"),
        (lambda: Training(1, batch_size=0), "batch_size must be a whole number"),
        (lambda: Training(1, epochs=1, steps=2), "epochs and steps must not both be given"),
        (lambda: Training(1, steps=0), "steps must be a whole number"),
        (lambda: Training(1, dropout=1.5), "dropout must be in"),
        (lambda: Computing(dtype="float16"), "dtype must be one of"),
        (lambda: Computing(backend="ray"), "backend must be one of"),
        (lambda: Computing(non_finite="ignore"), "non_finite must be one of"),
        (lambda: Computing(non_finite="clip"), "clip_norm must be given"),
        (lambda: Computing(clip_norm=1.0), "clip_norm must be given for non_finite='clip'"),
        (lambda: Computing(memory_limit=0), "memory_limit must be"),
        (lambda: Computing(threads=0), "threads must be"),
        (lambda: Computing(device="cuda:99"), "device must be there"),
        (lambda: Steps((0,)), "milestones"),
        (lambda: Exponential(0.0), "factor must be"),
        (lambda: Polynomial(-1.0), "power must be"),
        (lambda: Uniform(0), "count must be"),
        (
            lambda: Given(np.zeros((2, 3), bool)),
            "masks must choose a client in every round, got none in row 0",
        ),
        (lambda: Given(np.zeros((2, 3))), "masks must be bool"),
        (lambda: Replicate("fedavg"), "algorithm must be"),
        (lambda: Replicate(FedAvg(), -1), "seed must be"),
        (lambda: Softmax(0, 3), "features must be"),
        (lambda: Softmax(3, 1), "outputs must be at least 2"),
        (lambda: Logistic(3, 2), "outputs must be 1"),
        (lambda: MLP((3, 2)), "widths must be"),
        (lambda: MLP((3, 0, 2)), "widths\\[1\\] must be"),
        (lambda: Module(lambda: nn.BatchNorm1d(3)), "without buffers"),
        (
            lambda: Module(lambda: nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))),
            "without dropout",
        ),
        (lambda: Module(lambda: nn.ReLU()), "with parameters"),
        (lambda: FedProx(-1.0), "mu must be"),
        (lambda: QFedAvg(-1.0), "q must be"),
        (lambda: QFedAvg(1.0, L=0.0), "L must be"),
        (lambda: QFedAvg(1.0, variant="other"), "variant must be one of"),
        (lambda: QFedSGD(1.0, variant="printed"), "variant must be left alone"),
        (lambda: AFL(0.0), "rate must be"),
        (lambda: AFL(1.0, "sideways"), "ascent must be one of"),
        (lambda: TERM(-1.0), "alpha must be"),
        (lambda: TERM(1.0, np.nan), "tau must not hold NaN"),
        (lambda: PropFair(0.0), "M must be"),
        (lambda: PropFair(1.0, 1.0), "epsilon must be below M = 1"),
        (lambda: PropFair(variant="x"), "variant must be one of"),
        (lambda: PFedAvg(aims.AFL()), "ranks must be a RankWeighted"),
        (lambda: PFedAvg(client_weights="all"), "client_weights must be one of"),
        (lambda: FedMGDA(2.0), "epsilon must be"),
        (lambda: GIFAIR(-1.0), "lam must be"),
        (lambda: GIFAIR(0.0, (0, -1)), "groups must be"),
        (lambda: Ditto(np.inf), "lam must be"),
        (lambda: DualWeighted(aims.QFFL(1.0).weighted([0.5, 0.5])), "objective must be"),
        (lambda: DualWeighted("afl"), "objective must be"),
    ],
)
def test_is_refused_when_it_is_made(make, told):
    with pytest.raises(ValueError, match=told):
        make()


def numbered(case):
    return case if isinstance(case, str) else None


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"replicates": []}, "replicates must be at least one"),
        (
            {"training": quick(participation=Uniform(9))},
            "count must be at most the number of clients, 3, got 9",
        ),
        ({"training": quick(participation=ByWeight(9, replace=False))}, "count must be at most"),
        (
            {"training": quick(participation=Given(np.ones((1, 2), bool)))},
            "masks must have one column a client, 3",
        ),
        ({"model": Softmax(5, 3)}, "x must have shape \\(N, 5\\)"),
        ({"model": Softmax(4, 2)}, "y must be in 0..1 for Softmax, got 0 to 2"),
        ({"model": LeastSquares(4)}, "y must be floats"),
        ({"model": MLP((4, 3, 2))}, "y must be in 0..1 for MLP"),
        ({"model": Module(lambda: nn.Linear(3, 3), name="three")}, "data must fit Module\\(three"),
        ({"model": Module(lambda: nn.Linear(4, 2))}, "y must be in 0..1"),
        (
            {"model": Module(lambda: nn.Linear(4, 3), lambda z, y: z.sum())},
            "loss must give one number a sample",
        ),
        ({"replicates": [Replicate(GIFAIR(0.5))]}, "lam must be at most"),
        (
            {"replicates": [Replicate(GIFAIR(0.0, (0, 1)))]},
            "groups must be one code a client, 3, got 2",
        ),
        ({"replicates": [Replicate(FedAvg(), lr=-1.0)]}, "lr must be positive"),
    ],
    ids=[str(k) for k in range(14)],
)
def test_is_refused_before_any_work(changes, told):
    settings = {
        "model": Softmax(4, 3),
        "data": classified((5, 9, 8)),
        "replicates": [Replicate(FedAvg())],
        "training": quick(),
        "computing": EXACT,
    }
    with pytest.raises(ValueError, match=told):
        simulate(**(settings | changes))


def test_losses_outside_an_objective_are_refused():
    with pytest.raises(ValueError, match="losses must be finite, with f_i <= M"):
        trained(Softmax(4, 3), classified((5, 9, 8)), [DualWeighted(aims.PropFair(0.5))], quick())


def exploding(policy, algorithm=None, **options):
    """Client 1's inputs are so large that its update overflows float32; the others' are not."""
    data = classified((6, 6, 6)).train
    x = data.x.clone()
    x[6:12] *= 1e30
    parts = Parts(ClientData(x, x.sum(1) * 0 + 1, data.offsets, [10, 11, 12]))
    computing = Computing(device="cpu", non_finite=policy, **options)
    simulation = Simulation(
        LeastSquares(4),
        parts,
        [Replicate(algorithm or FedAvg())],
        quick(rounds=3, lr=1e-3),
        computing,
    )
    return simulation


def test_updates_that_are_not_finite_stop_the_run_by_name():
    simulation = exploding("raise")
    with pytest.raises(NonFiniteUpdate, match="update of client 11 is NaN or infinite in round 0"):
        simulation.step()
    assert simulation.round == 0 and float(simulation.params.abs().max()) == 0


def test_updates_that_are_not_finite_are_dropped_and_counted():
    simulation = exploding("drop")
    (row,) = simulation.step()
    assert (row["non_finite"], row["received"]) == (1, 2)
    data = classified((6, 6, 6)).train.take([0, 2])
    alone = Parts(ClientData(data.x, data.x.sum(1) * 0 + 1, data.offsets, [10, 12]))
    other = Simulation(
        LeastSquares(4),
        alone,
        [Replicate(FedAvg())],
        quick(rounds=3, lr=1e-3),
        Computing(device="cpu"),
    )
    other.step()
    np.testing.assert_allclose(simulation.params.numpy(), other.params.numpy(), rtol=1e-6)


def test_they_are_counted_where_a_server_looks_at_all_updates_at_once():
    (row,) = exploding("clip", QFedAvg(1.0), clip_norm=0.5).step()
    assert (row["non_finite"], row["received"]) == (1, 3)


def test_updates_that_are_not_finite_are_clipped_and_counted():
    simulation = exploding("clip", clip_norm=0.5)
    (row,) = simulation.step()
    assert (row["non_finite"], row["received"]) == (1, 3)
    assert bool(torch.isfinite(simulation.params).all())
    others = exploding("drop")
    others.step()
    # The clipped update was NaN, so it is 0 now, and weighs a third; the two others weigh a third
    # each, not a half.
    np.testing.assert_allclose(simulation.params, others.params * 2 / 3, rtol=1e-5)


def test_clipping_keeps_directions_and_bounds_the_norm():
    inf, nan = float("inf"), float("nan")
    updates = torch.tensor([[3.0, 4.0], [inf, 0.0], [inf, -inf], [nan, 0.1], [nan, 1e30]])
    kept, count = heal(
        updates, np.arange(5), 0, Computing(device="cpu", non_finite="clip", clip_norm=2.0)
    )
    assert kept.all() and count == 4
    # what is finite stays as it is
    expected = [[3, 4], [2, 0], [2**0.5, -(2**0.5)], [0, 0.1], [0, 2]]
    np.testing.assert_allclose(updates, expected, rtol=1e-6)


def test_large_finite_updates_are_not_mistaken():
    # their sum overflows
    kept, count = heal(torch.full((2, 4), 3e38), np.arange(2), 0, Computing(device="cpu"))
    assert kept.all() and count == 0


@pytest.mark.parametrize("policy", ["raise", "clip"])
def test_losses_that_are_not_finite_stop_the_run(policy):
    simulation = exploding(policy, **({"clip_norm": 1.0} if policy == "clip" else {}))
    replicates = [Replicate(QFedAvg(1.0))]
    simulation = Simulation(
        simulation.model, simulation.source, replicates, simulation.training, simulation.computing
    )
    simulation.params[0] = 1e15
    with pytest.raises(NonFiniteUpdate, match="loss of client 11"):
        simulation.step()


def test_losses_that_are_not_finite_are_dropped_and_counted():
    simulation = exploding("drop")
    simulation = Simulation(
        simulation.model,
        simulation.source,
        [Replicate(QFedAvg(1.0))],
        simulation.training,
        simulation.computing,
    )
    simulation.params[0] = 1e15
    (row,) = simulation.step()
    assert (row["bad_losses"], row["received"]) == (1, 2)


@dataclass(frozen=True)
class Made(FedAvg):
    """What a user's file may give: a state at the start and after a round, a weight of each update
    in a sum.
    """

    first: object = torch.zeros(1)
    then: object = torch.zeros(1)
    weight: float = 1.0

    def start(self, clients, weights, params):
        return {"count": self.first}

    def server(self, received):
        aggregate = partial(Aggregate, received.p, {"count": self.then})
        return Sum(received, received.p * self.weight, aggregate)


@pytest.mark.parametrize("beside", [(), (FedAvg(),)], ids=["alone", "beside another"])
@pytest.mark.parametrize(
    ("algorithm", "told"),
    [
        (Made(first=3), "state must hold tensors, got 'count': 3 from Made"),
        (Made(then=[1.0]), r"state must hold tensors, got 'count': \[1.0\] from Made"),
        (Made(weight=np.inf), "weights must be finite"),
        (Made(weight=np.nan), "weights must be finite"),
    ],
)
def test_what_an_algorithm_gives_is_told(algorithm, told, beside):
    with pytest.raises(ValueError, match=told):
        trained(Softmax(4, 3), classified((5, 3)), [algorithm, *beside], quick(rounds=1))


def test_a_finished_simulation_does_not_go_on():
    done = trained(Softmax(4, 3), classified((5,)), [FedAvg()], quick(rounds=1))
    with pytest.raises(ValueError, match="rounds must be more"):
        done.step()


def test_threads_are_put_back():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        trained(
            Softmax(4, 3), classified((5,)), [FedAvg()], quick(rounds=1), replace(EXACT, threads=1)
        )
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
