"""The simulation: replicates whose rounds are trained together, one ``step`` a round."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import product

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from fairfl._support.checks import instance
from fairfl.sims.engine.algorithm import Aggregate, Algorithm, NonFiniteUpdate, refuse, server_step
from fairfl.sims.engine.data import Parts
from fairfl.sims.engine.draws import participation as taking_part
from fairfl.sims.engine.group_label_sums import CellIndex
from fairfl.sims.engine.kernels.model import Model
from fairfl.sims.engine.losses import measure_models, tied
from fairfl.sims.engine.round import Arrivals, Received, Round, State
from fairfl.sims.engine.secure_sums import Summed, SumOnly, check_sums, report_together
from fairfl.sims.engine.settings import Computing, Replicate, Training
from fairfl.sims.engine.task import (
    Floats,
    Ints,
    LocalTask,
    as_floats,
    as_tensor,
    memory_names,
    sound,
)
from fairfl.sims.engine.work import Assignment, Trainer, workload

Row = dict[str, float]
"""What a replicate's round counts and measures, by name: see ``metrics.ROUNDS``."""
Begun = tuple[Round, list[Assignment], Row]
SMALL = 100_000  # parameters below which one thread of torch is faster than several


class Simulation:
    """R replicates of federated training on one data set; ``step`` does a round of them all.

    Parameters
    ----------
    model : Model
    data : Parts
    replicates : at least one; they share ``training`` but for their own rates.
    training : Training
    computing : Computing, optional

    Attributes
    ----------
    round : rounds done.
    is_stopped : whether the run ends before its last round; a callback may set it.
    params : (R, P) global parameters.
    states : each algorithm's state.
    weights : (clients (m,), weights (m,)) of each replicate's last round: w^(t+1) = w^t + server_lr
        sum_k weights_k (w_k - w^t).

    Errors: ValueError for settings that do not fit the data, before any work; NonFiniteUpdate while
    it runs.
    """

    def __init__(
        self,
        model: Model,
        data: Parts,
        replicates: Sequence[Replicate],
        training: Training,
        computing: Computing | None = None,
    ) -> None:
        self.model, self.source, self.replicates = model, data, tuple(replicates)
        self.training = training
        self.computing = Computing() if computing is None else computing
        if not self.replicates:
            raise ValueError("replicates must be at least one, got none")
        training.participation.check(data.train.clients, training.rounds)
        self.rates = [replicate.rates(training) for replicate in self.replicates]
        self.device, dtype = self.computing.place(), self.computing.torch_dtype
        self.limit = self.computing.bytes()
        self.parts = {
            name: model.prepare(part.to(self.device, dtype)) for name, part in data.parts.items()
        }
        self.data = self.parts["train"]
        is_loop = self.computing.backend == "loop"
        self.trainer = Trainer(model, self.data, self.limit, is_loop)
        first = [self._start(replicate) for replicate in self.replicates]
        self.params = torch.stack(first).to(self.device, dtype)
        self.summed = self._secure_sums()
        started = [
            self._server(r).start(self.data.clients, data.p, params)
            for r, params in enumerate(self.params)
        ]
        self.states: list[State] = [self._checked(r, state) for r, state in enumerate(started)]
        nobody = np.zeros(0, np.int64), np.zeros(0)
        self.weights: list[tuple[Ints, Floats]] = [nobody] * len(first)
        self.round, self.is_stopped = 0, False

    def _start(self, replicate: Replicate) -> Tensor:
        """A replicate's first parameters (P,)."""
        if replicate.start is None:
            return self.model.init(replicate.seed)
        start = as_tensor(np.asarray(replicate.start))
        if start.shape != (self.model.size,):
            raise ValueError(
                f"start must have shape ({self.model.size},) for {self.model.describe()}, got "
                f"{tuple(start.shape)}"
            )
        return start

    def _secure_sums(self) -> list[Summed | None]:
        """The secure aggregation of each replicate whose server sees sums alone."""
        masked, source = self.computing.masked_updates, self.source
        index, summed = None, list[Summed | None]()
        for replicate in self.replicates:
            check_sums(replicate, self.training, source.train.names, source.p, masked=masked)
            if not isinstance(replicate.algorithm, SumOnly):
                summed.append(None)
                continue
            index = index or CellIndex(self.data, self.model, self.limit)
            summed.append(Summed(replicate.algorithm, index, replicate.seed, masked))
        return summed

    @property
    def done(self) -> bool:
        """Whether no round is left."""
        return self.is_stopped or self.round >= self.training.rounds

    def step(self) -> list[Row]:
        """One round of every replicate; a row of measures for each."""
        if self.done:
            raise ValueError(f"rounds must be more than are done, got {self.training.rounds}")
        before = self.params.clone(), list(self.states), list(self.weights)
        try:
            with self._threads(), torch.no_grad():
                begun = self._begin()
                assignments = [assigned for _, assigned, _ in begun]
                arrivals = self.trainer.arrivals(self.params, assignments)
                for r, (part, updates) in enumerate(zip(begun, arrivals, strict=True)):
                    self._finish(r, *part, updates)
        except BaseException:  # a round that fails in one replicate is undone in all
            self.params, self.states, self.weights = before
            raise
        self.round += 1
        return [row for _, _, row in begun]

    def _begin(self) -> list[Begun]:
        """Each replicate's round: its clients, their reports and their assignments."""
        draws = [self._draw(r) for r in range(len(self.replicates))]
        measured = self._losses([round for round, _ in draws])
        rows = [self._with_losses(*draw, measured.get(r)) for r, draw in enumerate(draws)]
        rounds: list[Round] = [round for round, _ in rows]
        cell_rounds = {
            r: (summed, summed.begin_round(round))
            for r, (summed, round) in enumerate(zip(self.summed, rounds, strict=True))
            if summed is not None and len(round.clients)
        }
        reported = report_together(list(cell_rounds.values()))
        for r, round in zip(cell_rounds, reported, strict=True):
            rounds[r] = round
        return [self._assign(r, round, rows[r][1]) for r, round in enumerate(rounds)]

    def _draw(self, r: int) -> tuple[Round, Row]:
        """The round of the clients who take part and do not drop out, and its row of counts."""
        t, training, ids = self.round, self.training, self.data.names
        seed = self.replicates[r].seed
        positions, share = training.participation.choose(seed, t, ids, self.source.p)
        clients, share, draws = taking_part.merged(positions, share)
        n_chosen = len(clients)
        if training.dropout:
            stays = ~taking_part.dropouts(training.dropout, seed, t, ids[clients])
            clients, share, draws = clients[stays], share[stays], draws[stays]
        round = Round(
            number=t,
            clients=clients,
            p=share / share.sum(),
            everyone=self.source.p,
            params=self.params[r],
            lr=self.rates[r][0] * training.schedule(t, training.rounds),
            measured_losses=None,
            state=self.states[r],
            draws=draws,
            layers=self.model.layers,
            joins=training.participation.joined(t),
        )
        counts = {"chosen": n_chosen, "dropouts": n_chosen - len(clients)}
        return round, {"round": t, "replicate": r, **counts, "bad_losses": 0, "loss_samples": 0}

    def _losses(self, rounds: list[Round]) -> dict[int, Floats]:
        """F_k(w^t), maybe tilted: one pass for all replicates of the same clients and tilt."""
        groups: dict[tuple[bytes, float], list[int]] = defaultdict(list)
        for r, (round, replicate) in enumerate(zip(rounds, self.replicates, strict=True)):
            if replicate.algorithm.needs_losses:
                groups[round.clients.tobytes(), replicate.algorithm.tilt].append(r)
        losses = dict[int, Floats]()
        for (_, tilt), members in groups.items():
            clients = rounds[members[0]].clients
            params = torch.stack([self.params[r] for r in members])
            means = measure_models(
                self.model, params, self.data, clients, right=False, memory_limit=self.limit
            ).means(tilt)
            losses |= zip(members, as_floats(means).reshape(len(members), -1), strict=True)
        return losses

    def _with_losses(self, round: Round, counts: Row, losses: Floats | None) -> tuple[Round, Row]:
        """The round with its losses, among the clients whose losses are finite."""
        size = self.params.element_size() * self.model.size
        counts |= {"bytes_down": size * counts["chosen"], "bytes_up": 0}
        if losses is None:
            return round, counts
        is_finite = np.isfinite(losses)
        if not is_finite.all() and self.computing.non_finite != "drop":
            refuse(self.data.names[round.clients[~is_finite]], self.round, "loss")
        sizes = self.data.sizes[round.clients]
        counts |= {"loss_samples": int(sizes.sum()), "bad_losses": int((~is_finite).sum())}
        # rounding of a sample's loss, and of the sum over the largest client
        largest = int(sizes.max(initial=1))
        rounding = 4 * torch.finfo(self.params.dtype).eps + largest * np.finfo(np.float64).eps
        round = replace(round, measured_losses=losses)
        round = round if is_finite.all() else round.among(is_finite)
        losses = tied(round.losses, rounding)
        counts["bytes_up"] = 8 * len(losses)
        if len(losses):
            counts |= {"mean_loss": float(round.p @ losses), "max_loss": float(losses.max())}
        return replace(round, measured_losses=losses), counts

    def _assign(self, r: int, round: Round, row: Row) -> Begun:
        """The round with each task's assignment, and its row of counts."""
        (_, momentum, decay, _), replicate = self.rates[r], self.replicates[r]
        algorithm, clients, seed = replicate.algorithm, round.clients, replicate.seed
        effort, n_stragglers = None, 0
        if self.training.stragglers:
            names = self.data.names[clients]
            effort = taking_part.efforts(self.training.stragglers, seed, round.number, names)
            n_stragglers = int((effort < 1).sum())
        tasks = algorithm.client(round) if len(clients) else ()
        instance(f"the tasks of {type(algorithm).__name__}.client", tasks, tuple)
        row |= {"stragglers": n_stragglers, "steps": 0, "samples": 0}
        assignments, sizes = list[Assignment](), self.data.sizes[clients]
        for number, task in enumerate(tasks):
            instance(f"a task of {type(algorithm).__name__}.client", task, LocalTask)
            has_buffers = self.model.trained_blocks is not None
            task.check(algorithm, len(clients), self.model.size, momentum, has_buffers)
            steps, batch, samples = workload(sizes, effort, self.training, task.whole)
            rates = round.lr, 0.0 if task.whole else momentum, decay, task.prox, 1.0
            assignments.append(Assignment(r, number, seed, round, task, steps, batch, rates))
            row["steps"] += int(steps.sum())
            row["samples"] += samples
        memory_names(tasks)
        return round, assignments, row

    def _finish(
        self, r: int, round: Round, assignments: list[Assignment], row: Row, arrivals: Arrivals
    ) -> None:
        """Take the server's step from the finite updates, and complete the round's row."""
        self.weights[r] = round.clients[:0], np.zeros(0)
        row |= {"received": 0, "non_finite": 0, "step_norm": 0.0}
        if not assignments:
            return
        received = Received(
            **round.fields(),
            steps=assignments[0].steps,
            arrivals=arrivals,
            room=self.limit,
            names=memory_names([assignment.task for assignment in assignments]),
        )
        ids, drop = self.data.names[round.clients], self.computing.non_finite == "drop"
        outcome = server_step(self._server(r), received, ids, drop=drop)
        if outcome is not None:
            received, aggregate = outcome
            row["received"] = len(received.clients)
            row["step_norm"] = self._step(r, received, aggregate)
        row["non_finite"] = len(ids) - row["received"]
        # the updates received, and the messages of secure aggregation
        up, summed = self.params.element_size() * self.model.size, self.summed[r]
        if summed is not None:
            up = up * (summed.sent and not summed.masked) + -(-summed.bits // 8)
            row["bytes_down"] *= summed.sent
        row["bytes_up"] += up * row["received"]

    def _server(self, r: int) -> Algorithm | Summed:
        """The replicate's server: its secure aggregation, or its algorithm."""
        return self.summed[r] or self.replicates[r].algorithm

    def _checked(self, r: int, state: State) -> State:
        """The state; ValueError unless its values are tensors, which checkpoints can store."""
        for name, value in state.items():
            if not isinstance(value, Tensor):
                owner = self.replicates[r].algorithm
                raise ValueError(f"state must hold tensors, got {name!r}: {value!r} from {owner!r}")
        return state

    def _step(self, r: int, received: Received, aggregate: Aggregate) -> float:
        """Take the server's step; its length."""
        owner, step, params = self.replicates[r].algorithm, aggregate.step, self.params[r]
        if step is None or step.shape != params.shape:
            shape = None if step is None else tuple(step.shape)
            raise ValueError(
                f"step must have shape ({self.model.size},), got {shape} from {owner!r}"
            )
        schedule = self.training.server_schedule(received.number, self.training.rounds)
        step, factor = step.to(self.device, params.dtype), self.rates[r][3] * schedule
        step = step if factor == 1 else step * factor
        params.add_(step)
        self.states[r] = self._checked(r, aggregate.state)
        self.weights[r] = received.clients, aggregate.weights
        if not sound(params):
            raise NonFiniteUpdate(
                "the global model is NaN or infinite after the server's step in round "
                f"{self.round}: lower server_lr, {self.rates[r][3]:g}, or the learning rate"
            )
        return float(torch.linalg.vector_norm(step, dtype=torch.float64))

    def evaluate(self) -> list[dict[str, ArrayLike | None]]:
        """Loss and accuracy of every client on every part by each model, as ``metrics.CLIENTS``."""
        rows = list[dict[str, ArrayLike | None]]()
        with self._threads(), torch.no_grad():
            for r, replicate in enumerate(self.replicates):
                algorithm = replicate.algorithm
                personal = algorithm.personal(self.states[r])
                models = {} if algorithm.is_ensemble else {"global": self.params[r]}
                models |= {} if personal is None else {"personal": personal}
                for (part, data), (name, params) in product(self.parts.items(), models.items()):
                    measures = measure_models(
                        self.model,
                        params[None],
                        data,
                        np.arange(data.clients),
                        personal=params.ndim > 1,
                        memory_limit=self.limit,
                    )
                    accuracies = measures.accuracies()
                    rows.append(
                        {
                            "round": self.round,
                            "replicate": r,
                            "part": part,
                            "model": name,
                            "client": data.names,
                            "samples": data.sizes,
                            "loss": as_floats(measures.means()),
                            "accuracy": None if accuracies is None else as_floats(accuracies),
                        }
                    )
        return rows

    @contextmanager
    def _threads(self) -> Iterator[None]:
        """torch's number of threads for as long as the engine works."""
        before = torch.get_num_threads()
        default = 1 if self.model.size < SMALL else before
        torch.set_num_threads(self.computing.threads or default)
        try:
            yield
        finally:
            torch.set_num_threads(before)
