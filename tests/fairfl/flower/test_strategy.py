"""Strategies against the simulator: the same model after three rounds; clients are numpy's."""

import numpy as np
import pytest

flwr_app = pytest.importorskip("flwr.app", reason="the extra 'flower' is not installed")

import every_algorithm as every  # noqa: E402
from flwr.app import ArrayRecord, Message, MessageType, MetricRecord, RecordDict  # noqa: E402
from flwr.supercore.task_identity import TaskIdentity  # noqa: E402
from grouped import people, run  # noqa: E402

from fairfl.flower.strategy import SimulatorStrategy, factors  # noqa: E402
from fairfl.sims.group_fairness.fairbatch import FairBatch  # noqa: E402
from fairfl.sims.group_fairness.fairfed import FairFed  # noqa: E402
from fairfl.sims.group_fairness.fedfb import FedFB  # noqa: E402
from fairfl.sims.group_fairness.fedminmax import FedMinMax  # noqa: E402
from fairfl.theory.aggregation import RankWeighted  # noqa: E402

LR, EPOCHS, ROUNDS = 0.3, 2, 3


class Clients:
    """Logistic regression by full steps, on the people of ``grouped.people``."""

    def __init__(self, data):
        cuts = data.offsets[1:-1]
        x = np.column_stack([data.x, np.ones(len(data.x))])
        parts = (np.split(np.asarray(v), cuts) for v in (x, data.y, data.group))
        self.rows = dict(enumerate(zip(*parts, strict=True), start=1))
        self.asked = []

    def get_node_ids(self):
        return list(self.rows)

    def send_and_receive(self, messages, timeout=None):
        return [self.answer(message) for message in messages]

    def answer(self, message):
        x, y, a = self.rows[message.metadata.dst_node_id]
        (w,) = message.content["arrays"].to_numpy_ndarrays()
        self.asked.append(message.metadata.message_type)
        if message.metadata.message_type == MessageType.EVALUATE:
            losses = np.logaddexp(0, -np.where(y == 1, 1, -1) * (x @ w))
            cell, wrong = 2 * a + y, (x @ w > 0) != (y == 1)
            lists = {"counts": np.ones(len(y)), "loss-sums": losses, "wrong": wrong}
            sums = {k: np.bincount(cell, v, 4).tolist() for k, v in lists.items()}
            metrics = {"num-examples": len(y), "loss": float(losses.mean()), **sums}
            content = {"metrics": MetricRecord(metrics)}
        else:
            config = message.content["config"]
            for _ in range(EPOCHS):
                losses = np.logaddexp(0, -np.where(y == 1, 1, -1) * (x @ w))
                slope = 1 / (1 + np.exp(-x @ w)) - y
                w = w - config["lr"] * x.T @ (factors(config, losses, a, y) * slope)
            content = {"arrays": ArrayRecord([w])}
        reply = Message(RecordDict(content), reply_to=message)
        reply.metadata._src_node_id = message.metadata.dst_node_id
        return reply


ALGORITHMS = [
    every.FedAvg(),
    every.QFedAvg(0.0),
    every.QFedAvg(2.0),
    every.PropFair(2.0),
    every.PropFair(0.9, variant="quadratic"),
    every.AFL(0.3),
    every.AFL(0.3, ascent="exponentiated"),
    every.TERM(3.0),
    every.PFedAvg(RankWeighted.gini()),
    every.PFedAvg(RankWeighted.harmonic(), client_weights="product"),
    FedFB(FairBatch("dp", alpha=0.2)),
    FedFB(FairBatch("eodds", alpha=0.2, surrogate="zero_one"), every=2),
    FedMinMax(0.3),
]


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=repr)
def test_three_rounds_give_the_simulators_model(algorithm):
    TaskIdentity.run_id = TaskIdentity.node_id = TaskIdentity.task_id = 1
    parts = people((7, 31, 5))
    simulation, _ = run(parts, algorithm, ROUNDS, epochs=EPOCHS, lr=LR)
    strategy, start = SimulatorStrategy(algorithm, LR), simulation.model.init(0).numpy()
    result = strategy.start(Clients(parts.train), ArrayRecord([start]), ROUNDS)
    (model,) = result.arrays.to_numpy_ndarrays()
    assert model == pytest.approx(simulation.params[0].numpy(), abs=1e-6)
    assert np.abs(model - start).max() > 0.05


MORE = [every.Ditto(), every.FedProx(1.0), every.FedSGD(), every.TERM(1.0, tau=2.0), every.GIFAIR()]
MORE += [FairFed(), FedFB(evaluated="local"), FedFB(FairBatch(surrogate="acceptance"))]


@pytest.mark.parametrize("algorithm", MORE, ids=repr)
def test_an_algorithm_that_needs_more_is_refused(algorithm):
    TaskIdentity.run_id = TaskIdentity.node_id = TaskIdentity.task_id = 1
    with pytest.raises(ValueError, match=f"algorithm must .*{type(algorithm).__name__}|LocalTask"):
        clients = Clients(people().train)
        SimulatorStrategy(algorithm, LR).start(clients, ArrayRecord([np.zeros(3)]), ROUNDS)
