"""Bad input: one ValueError with the argument, the value and what is allowed."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pytest
import torch
from federations import EXACT, classified, quick, trained
from torch import nn

from fairfl.sims.algorithms.dual_weighted import DualWeighted
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.algorithms.gifair import GIFAIR
from fairfl.sims.algorithms.qfedavg import QFedAvg
from fairfl.sims.engine import (
    MLP,
    Aggregate,
    ByWeight,
    ClientData,
    Computing,
    Given,
    LeastSquares,
    Module,
    NonFiniteUpdate,
    Parts,
    Replicate,
    Simulation,
    Softmax,
    Sum,
    Uniform,
    simulate,
)
from fairfl.sims.engine.answers import heal
from fairfl.theory import aggregation as aims

X, Y = torch.zeros(4, 2), torch.zeros(4, dtype=torch.int64)


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
    """What a user's file may give: states, and a weight of each update in a sum."""

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
