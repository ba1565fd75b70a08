"""A Flower strategy of any algorithm of the simulator that needs no more than updates, losses and
sums by group and label.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from flwr.app import (
    Array,
    ArrayRecord,
    ConfigRecord,
    Message,
    MessageType,
    MetricRecord,
    RecordDict,
)
from flwr.serverapp import Grid
from flwr.serverapp.strategy import FedAvg

from fairfl._support.checks import positive
from fairfl.sims.algorithms.propfair import BatchLog
from fairfl.sims.engine import Algorithm, CellRound, CellSums, Received, Round, SumOnly
from fairfl.sims.engine.losses import tied
from fairfl.sims.engine.secure_sums import REPORTS
from fairfl.sims.engine.task import Floats, LocalTask, as_floats, as_tensor

OBJECTIVES: dict[str, Any] = {"BatchLog": BatchLog}
CELLS = "counts", "loss-sums", "wrong"


class SimulatorStrategy(FedAvg):
    """Rounds of ``algorithm``, all clients taking part; ``lr`` is the clients' learning rate.

    Before it trains, each client answers an EVALUATE message at the global model with the metrics
    ``num-examples``, ``loss`` (the mean) and, for a group-fair algorithm, lists by group and label,
    group 0 with y = 0 first: ``counts``, ``loss-sums``, ``wrong``. The TRAIN message's config holds
    ``lr`` and what :func:`factors` takes. The server sees each client's sums, unmasked.

    Errors: ValueError where the algorithm needs more, and where a client does not answer.
    """

    def __init__(self, algorithm: Algorithm, lr: float, **flower: Any) -> None:
        super().__init__(**{"fraction_evaluate": 0.0, **flower})
        hooks = [getattr(type(algorithm), name, None) for name in ("models", "keep", "weigh")]
        if algorithm.tilt or not {*hooks} <= {None, SumOnly.models, SumOnly.keep, SumOnly.weigh}:
            raise ValueError(f"algorithm must need no more than mean losses, got {algorithm!r}")
        self.algorithm, self.lr = algorithm, float(positive("lr", lr))
        self.nodes, self.state = list[int](), dict[str, Any]()

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Ask for the clients' measures at the global model, then for local training."""
        self.nodes = self.nodes or sorted(grid.get_node_ids())
        content = {self.arrayrecord_key: arrays, self.configrecord_key: config}
        evaluations = [
            Message(RecordDict(content), node, MessageType.EVALUATE) for node in self.nodes
        ]
        replies = self._sorted(grid.send_and_receive(evaluations))
        measures = [next(iter(reply.content.metric_records.values())) for reply in replies]
        sizes, losses = (np.array([m[k] for m in measures]) for k in ("num-examples", "loss"))
        rounding = (4 + sizes.max()) * np.finfo(float).eps
        clients, p, self.arrays = np.arange(len(sizes)), sizes / sizes.sum(), arrays
        measured = tied(losses, rounding) if self.algorithm.needs_losses else None
        fields = clients, p, p, as_tensor(_flat(arrays)), self.lr, measured, self.state
        self.round = Round(server_round - 1, *fields, draws=np.ones_like(clients))
        if isinstance(self.algorithm, SumOnly):
            self.round = _steered(self.algorithm, self.round, measures)
        elif server_round == 1:
            state = self.algorithm.start(len(p), p, self.round.params)
            self.round = replace(self.round, state=state)
        tasks = self.algorithm.client(self.round)
        for node, settings in zip(self.nodes, _settings(tasks, len(clients)), strict=True):
            sent = ConfigRecord({**config, "server-round": server_round, "lr": self.lr, **settings})
            record = RecordDict({**content, self.configrecord_key: sent})
            yield Message(record, node, MessageType.TRAIN)

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """The server's step."""
        records = [next(iter(m.content.array_records.values())) for m in self._sorted(replies)]
        updates = as_tensor(np.stack([_flat(record) for record in records])) - self.round.params
        fields = {"steps": self.round.draws, **self.round.fields()}
        received = Received(arrivals=lambda: [(updates,)], **fields)
        if isinstance(self.algorithm, SumOnly):
            self.state, step = self.round.state, received.total(self.round.p)
        else:
            answer = self.algorithm.server(received)
            self.state = answer.state
            step = received.total(answer.weights) if answer.step is None else answer.step
        params, first, new = as_floats(self.round.params + step), 0, dict[str, Array]()
        for name, array in self.arrays.items():
            value = array.numpy()
            part = params[first : (first := first + value.size)]
            new[name] = Array(part.reshape(value.shape).astype(value.dtype))
        return ArrayRecord(new), None

    def _sorted(self, replies: Iterable[Message]) -> list[Message]:
        """The replies of all clients, in their order."""
        by_node = {m.metadata.src_node_id: m for m in replies if m.has_content()}
        if missing := {*self.nodes} - by_node.keys():
            raise ValueError(f"all {len(self.nodes)} clients must answer, got none of {missing}")
        return [by_node[node] for node in self.nodes]


def _flat(arrays: ArrayRecord) -> Floats:
    return np.concatenate([np.ravel(array) for array in arrays.to_numpy_ndarrays()]).astype(float)


def _steered(algorithm: SumOnly, round: Round, measures: list[MetricRecord]) -> CellRound:
    """The round after the sums over the clients moved the state."""
    if algorithm.measured(round.number) == "end" or "accepting" in algorithm.needs:
        raise ValueError(f"algorithm must need losses at the global model, got {algorithm!r}")
    cells = [np.array([m[n] for m in measures], float) for n in CELLS]
    counts, losses, wrong = (table.reshape(len(measures), -1, 2) for table in cells)
    state = round.state or algorithm.begin(algorithm.enrol(counts).sum(0), len(counts))
    index: Any = SimpleNamespace(counts=counts, rank=round.clients)
    index.spread = partial(np.broadcast_to, shape=counts.shape)
    fields: dict[str, Any] = round.fields() | {"state": state}
    cell_round = CellRound(**fields, index=index, add=lambda rows: rows.sum(0))
    if algorithm.measured(round.number) == "never":
        return cell_round
    reports = algorithm.report(cell_round, CellSums(counts, losses, wrong, counts * np.nan))
    public = {**state, REPORTS: as_tensor(np.array([len(counts)]))}
    return replace(cell_round, state={**state, **algorithm.steer(reports.sum(0), public)})


def _settings(tasks: tuple[LocalTask, ...], clients: int) -> list[dict[str, Any]]:
    """What each client is sent about its objective; ValueError where that is not enough."""
    task, beyond = tasks[0], ("linear", "scale", "start", "step")
    if (
        len(tasks) > 1
        or task.prox
        or task.whole
        or any(getattr(task, name) is not None for name in beyond)
    ):
        raise ValueError(f"algorithm must train on the people's losses alone, got {task}")
    if task.sample_weights is not None:
        return [{"cell-weights": [*map(float, np.ravel(row))]} for row in task.sample_weights]
    if (objective := task.batch_objective) is None:
        return [{}] * clients
    kind = type(objective).__name__
    return [{"objective": kind, "parameters": [*objective.parameters]}] * clients


def factors(config: Any, losses: Floats, group: Any = None, label: Any = None) -> Floats:
    """Factors (n,) on the gradients of a batch's losses (n,), whose sum a client descends along.
    ``config`` is that of the TRAIN message; groups are 0, 1, ..., labels 0 and 1.
    """
    share = np.full(len(losses), 1.0 / len(losses))
    if "cell-weights" in config:
        return share * np.reshape(config["cell-weights"], (-1, 2))[group, label]
    if "objective" not in config:
        return share
    parameters = (as_tensor(np.array([[value]])) for value in config["parameters"])
    rows = as_tensor(losses)[None], as_tensor(share)[None]
    return as_floats(OBJECTIVES[config["objective"]].__call__(*rows, *parameters))[0]
