"""A Flower strategy of any algorithm of the simulator that needs no more than updates, losses and
sums by group and label.
"""

from collections.abc import Iterable
from dataclasses import replace
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
from fairfl.sims.algorithms.term import Tilted
from fairfl.sims.engine import Algorithm, CellRound, CellSums, Received, Round, SumOnly
from fairfl.sims.engine.losses import tied
from fairfl.sims.engine.secure_sums import REPORTS
from fairfl.sims.engine.task import Floats, LocalTask, as_floats, as_tensor

OBJECTIVES: dict[str, Any] = {"BatchLog": BatchLog, "Tilted": Tilted}


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
        self.algorithm, self.lr = algorithm, float(positive("lr", lr))
        self.nodes, self.state = list[int](), dict[str, Any]()

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Ask for the clients' measures at the global model, then for local training."""
        self.nodes = self.nodes or sorted(grid.get_node_ids())
        content = {self.arrayrecord_key: arrays, self.configrecord_key: config}
        asked = [Message(RecordDict(content), node, MessageType.EVALUATE) for node in self.nodes]
        measures = [self._metrics(reply) for reply in self._sorted(grid.send_and_receive(asked))]
        sizes, losses = (np.array([m[k] for m in measures]) for k in ("num-examples", "loss"))
        self.values = {name: array.numpy() for name, array in arrays.items()}
        clients, p = np.arange(len(sizes)), sizes / sizes.sum()
        params = as_tensor(_flat(self.values.values()))
        if server_round == 1 and not isinstance(self.algorithm, SumOnly):
            self.state = self.algorithm.start(len(p), p, params)
        rounding = (4 + sizes.max()) * np.finfo(float).eps
        measured = tied(losses, rounding) if self.algorithm.needs_losses else None
        fields = clients, p, p, params, self.lr, measured, self.state
        self.round = Round(server_round - 1, *fields, draws=np.ones_like(clients))
        if isinstance(self.algorithm, SumOnly):
            self.round = self._steered(self.algorithm, self.round, measures)
        configs = _configs(self.algorithm.client(self.round), len(clients))
        for node, settings in zip(self.nodes, configs, strict=True):
            sent = ConfigRecord({**config, "server-round": server_round, "lr": self.lr, **settings})
            record = RecordDict({**content, self.configrecord_key: sent})
            yield Message(record, node, MessageType.TRAIN)

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """The server's step."""
        records = [next(iter(m.content.array_records.values())) for m in self._sorted(replies)]
        models = np.stack([_flat(record.to_numpy_ndarrays()) for record in records])
        updates = as_tensor(models) - self.round.params
        steps, fields = np.ones_like(self.round.clients), self.round.fields()
        received = Received(steps=steps, arrivals=lambda: [(updates,)], **fields)
        if isinstance(self.algorithm, SumOnly):
            self.state, step = self.round.state, received.total(self.round.p)
        else:
            answer = self.algorithm.server(received)
            self.state, step = answer.state, answer.step
            step = received.total(answer.weights) if step is None else step
        new, first, arrays = as_floats(self.round.params + step), 0, dict[str, Array]()
        for name, value in self.values.items():
            part = new[first : (first := first + value.size)]
            arrays[name] = Array(part.reshape(value.shape).astype(value.dtype))
        return ArrayRecord(arrays), None

    def _sorted(self, replies: Iterable[Message]) -> list[Message]:
        """The replies of all clients, in their order."""
        by_node = {m.metadata.src_node_id: m for m in replies if m.has_content()}
        if missing := {*self.nodes} - by_node.keys():
            raise ValueError(f"all {len(self.nodes)} clients must answer, got none of {missing}")
        return [by_node[node] for node in self.nodes]

    def _metrics(self, reply: Message) -> MetricRecord:
        return next(iter(reply.content.metric_records.values()))

    def _steered(self, algorithm: SumOnly, round: Round, measures: list[MetricRecord]) -> CellRound:
        """The round after the clients' sums moved the state; all clients are in the server."""

        def cells(name: str) -> Floats:
            return np.array([m.get(name, counts) for m in measures], float).reshape(-1, groups, 2)

        groups = len(measures[0].get("counts", ())) // 2  # type: ignore[arg-type]
        counts = np.array([m["counts"] for m in measures], float).reshape(-1, groups, 2)
        if algorithm.measured(round.number) == "end" or algorithm.needs & {"accepting"}:
            raise ValueError(
                f"algorithm must need losses at the global model alone, got {algorithm!r}"
            )
        if round.number == 0:
            self.state = algorithm.begin(algorithm.enrol(counts).sum(0), len(counts))
        index: Any = SimpleNamespace(counts=counts, rank=round.clients)
        index.spread = lambda table: np.broadcast_to(table, counts.shape)
        fields = round.fields() | {"state": self.state}
        cell_round = CellRound(**fields, index=index, add=lambda rows: rows.sum(0))
        if algorithm.measured(round.number) == "start":
            sums = CellSums(
                counts, cells("loss-sums"), cells("wrong"), np.full_like(counts, np.nan)
            )
            total = algorithm.report(cell_round, sums).sum(0)
            reports = as_tensor(np.array([len(counts)]))
            state = {**self.state, **algorithm.steer(total, {**self.state, REPORTS: reports})}
            cell_round = replace(cell_round, state=state)
        return cell_round


def _flat(values: Iterable[Any]) -> Floats:
    return np.concatenate([np.ravel(value) for value in values]).astype(float)


def _configs(tasks: tuple[LocalTask, ...], clients: int) -> list[dict[str, Any]]:
    """What each client is told about its objective; ValueError where that is not enough."""
    task, beyond = tasks[0], ("linear", "scale", "start", "step")
    if len(tasks) > 1 or task.prox or any(getattr(task, name) is not None for name in beyond):
        raise ValueError(f"algorithm must train on the people's losses alone, got {task}")
    if task.sample_weights is not None:
        return [
            {"cell-weights": [*map(float, row.ravel())]} for row in np.asarray(task.sample_weights)
        ]
    objective = task.batch_objective
    if objective is None:
        return [{}] * clients
    settings = {"objective": type(objective).__name__, "parameters": [*objective.parameters]}
    return [settings] * clients


def factors(config: Any, losses: Floats, group: Any = None, label: Any = None) -> Floats:
    """Factors (n,) on the gradients of a batch's losses (n,): what the client descends along is
    their sum. ``config`` is that of the TRAIN message; groups 0, 1, ... and labels 0 and 1.
    """
    share = np.full(len(losses), 1.0 / len(losses))
    if "cell-weights" in config:
        return share * np.reshape(config["cell-weights"], (-1, 2))[group, label]
    if "objective" not in config:
        return share
    rows = (as_tensor(row)[None] for row in (losses, share))
    parameters = (as_tensor(np.array([[value]])) for value in config["parameters"])
    return as_floats(OBJECTIVES[config["objective"]].__call__(*rows, *parameters))[0]
