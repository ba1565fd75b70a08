"""The simulation: replicates whose rounds are trained together, one ``step`` a round."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fairfl._support.checks import instance
from fairfl.sims.engine.algorithm import Aggregate, Algorithm
from fairfl.sims.engine.answers import NonFiniteUpdate, answer, refuse
from fairfl.sims.engine.data import Parts
from fairfl.sims.engine.draws import participation as taking_part
from fairfl.sims.engine.group_label_sums import CellIndex
from fairfl.sims.engine.kernels.model import Model
from fairfl.sims.engine.losses import measure_models, tied
from fairfl.sims.engine.round import Round, State
from fairfl.sims.engine.secure_sums import Summed, SumOnly, report_together
from fairfl.sims.engine.settings import Computing, Replicate, Training
from fairfl.sims.engine.task import Floats, Ints, LocalTask, as_floats
from fairfl.sims.engine.updates_in_blocks import Arrivals, Received, sound
from fairfl.sims.engine.work import Assignment, bytes_of, perform, perform_in_parts, work

Begun = tuple[Round, list[Assignment], dict[str, Any]]
SMALL = 100_000  # parameters below which one thread of torch is faster than several


class Simulation:
    """R replicates of federated training on one data set; ``step`` does a round of them all.

    Parameters
    ----------
    model : Model
    data : Parts
    replicates : sequence of Replicate
        At least one; they share ``training`` but for their own rates.
    training : Training
    computing : Computing, optional

    Attributes
    ----------
    round : int
        Rounds done.
    params : tensor (R, P)
        Global parameters.
    states : list of mappings
        What each algorithm keeps.
    weights : list of (clients (m,), weights (m,))
        Of each replicate's last round: w^(t+1) = w^t + server_lr sum_k weights_k (w_k - w^t).

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
        first = [model.init(replicate.seed) for replicate in self.replicates]
        self.params = torch.stack(first).to(self.device, dtype)
        self.summed = self._behind_sums()
        started = [
            self._server(r).start(self.data.clients, data.p, params)
            for r, params in enumerate(self.params)
        ]
        self.states: list[State] = [self._kept(r, state) for r, state in enumerate(started)]
        nobody = np.zeros(0, np.int64), np.zeros(0)
        self.weights: list[tuple[Ints, Floats]] = [nobody] * len(first)
        self.round = 0

    def _behind_sums(self) -> list[Summed | None]:
        """The secure aggregation of each replicate whose server sees sums alone."""
        masked = self.computing.masked_updates
        for replicate in self.replicates:
            if masked and not isinstance(replicate.algorithm, SumOnly):
                raise ValueError(
                    f"masked_updates must be False for {replicate.algorithm!r}, whose server "
                    "looks at each update"
                )
        if not any(isinstance(replicate.algorithm, SumOnly) for replicate in self.replicates):
            return [None] * len(self.replicates)
        index, given = CellIndex(self.data), (self.model, self.data)
        return [
            Summed(each.algorithm, index, *given, each.seed, self.limit, masked=masked)
            if isinstance(each.algorithm, SumOnly)
            else None
            for each in self.replicates
        ]

    @property
    def done(self) -> bool:
        """Whether all rounds are done."""
        return self.round >= self.training.rounds

    def step(self) -> list[dict[str, Any]]:
        """One round of every replicate; a row of measures for each."""
        if self.done:
            raise ValueError(f"rounds must be more than are done, got {self.training.rounds}")
        kept = self.params.clone(), list(self.states), list(self.weights)
        try:
            with self._threads(), torch.set_grad_enabled(self.computing.backend == "loop"):
                rows = self._train(self._begin())
        except BaseException:  # where a replicate cannot go on, none has
            self.params, self.states, self.weights = kept
            raise
        self.round += 1
        return rows

    def _train(self, begun: list[Begun]) -> list[dict[str, Any]]:
        """The rounds' rows. Replicates train together where all updates take no more than half
        of the memory, else one after the other, some of their clients at a time.
        """
        given = self.model, self.data, self.params
        every = [task for _, own, _ in begun for task in own]
        if 2 * bytes_of(self.model, self.params, every) <= self.limit:
            updates = iter(perform(*given, every, self.computing, self.limit))
            mine = [tuple(next(updates) for _ in own) for _, own, _ in begun]
            trains: list[Arrivals] = [lambda tasks=tasks: [tasks] for tasks in mine]
        else:
            how = self.computing, self.limit
            trains = [partial(perform_in_parts, *given, own, *how) for _, own, _ in begun]
        return self._finish(begun, trains)

    def _begin(self) -> list[Begun]:
        """Who takes part, what they report, and what each client is to do, of every replicate."""
        drawn = [self._drawn(r) for r in range(len(self.replicates))]
        measured = self._losses([round for round, _ in drawn])
        rows = [self._known(r, *drawn[r], measured.get(r)) for r in range(len(drawn))]
        rounds: list[Round] = [round for round, _ in rows]
        behind = {
            r: (summed, summed.before(round))
            for r, (summed, round) in enumerate(zip(self.summed, rounds, strict=True))
            if summed is not None and len(round.clients)
        }
        for r, round in zip(behind, report_together(list(behind.values())), strict=True):
            rounds[r] = round
        return [self._assign(r, round, rows[r][1]) for r, round in enumerate(rounds)]

    def _drawn(self, r: int) -> tuple[Round, dict[str, Any]]:
        """The round of the clients who take part and are not lost, and what is known of it."""
        t, training, ids = self.round, self.training, self.data.names
        seed = self.replicates[r].seed
        chosen = training.participation.choose(seed, t, ids, self.source.p)
        clients, share, draws = taking_part.merged(*chosen)
        many = len(clients)
        if training.dropout:
            left = ~taking_part.dropouts(training.dropout, seed, t, ids[clients])
            clients, share, draws = clients[left], share[left], draws[left]
        rate = self.rates[r][0] * training.schedule(t, training.rounds)
        share = share / share.sum()
        given = t, clients, share, self.source.p, self.params[r], rate, None, self.states[r]
        joins = training.participation.joined(t)
        round = Round(*given, draws=draws, layers=self.model.layers, joins=joins)
        counts = {"chosen": many, "dropouts": many - len(clients)}
        return round, {"round": t, "replicate": r, **counts, "bad_losses": 0, "loss_samples": 0}

    def _losses(self, rounds: list[Round]) -> dict[int, Floats]:
        """F_k(w^t), or tilted, for the replicates that ask: one pass for those alike."""
        alike: dict[tuple[bytes, float], list[int]] = defaultdict(list)
        for r, (round, replicate) in enumerate(zip(rounds, self.replicates, strict=True)):
            if replicate.algorithm.needs_losses:
                alike[round.clients.tobytes(), replicate.algorithm.tilt].append(r)
        found = dict[int, Floats]()
        for (_, tilt), members in alike.items():
            params = torch.stack([self.params[r] for r in members])
            given = self.model, params, self.data, rounds[members[0]].clients
            every = measure_models(*given, right=False, memory_limit=self.limit).means(tilt)
            found |= zip(members, as_floats(every).reshape(len(members), -1), strict=True)
        return found

    def _known(
        self, r: int, round: Round, counts: dict[str, Any], losses: Floats | None
    ) -> tuple[Round, dict[str, Any]]:
        """The round with its losses, among the clients whose losses are finite."""
        if losses is not None:
            fine = np.isfinite(losses)
            if not fine.all() and self.computing.non_finite != "drop":
                refuse(self.data.names[round.clients[~fine]], self.round, "loss")
            counts |= {
                "loss_samples": int(self.data.sizes[round.clients].sum()),
                "bad_losses": int((~fine).sum()),
            }
            # of a sample's loss, and of the sum of the client's
            most = int(self.data.sizes[round.clients].max(initial=1))
            rounding = 4 * torch.finfo(self.params.dtype).eps + most * np.finfo(np.float64).eps
            round = replace(round, measured_losses=losses)
            round = round if fine.all() else round.among(fine)
            round = replace(round, measured_losses=tied(round.losses, rounding))
        losses, many = round.measured_losses, len(round.clients)
        size, reported = self.params.element_size() * self.model.size, int(losses is not None)
        counts |= {"bytes_down": size * counts["chosen"], "bytes_up": 8 * reported * many}
        if losses is not None and many:
            counts |= {"mean_loss": float(round.p @ losses), "max_loss": float(losses.max())}
        return round, counts

    def _assign(self, r: int, round: Round, row: dict[str, Any]) -> Begun:
        """What each client is to do, and how much of it."""
        (_, momentum, decay, _), replicate = self.rates[r], self.replicates[r]
        clients, training, seed = round.clients, self.training, replicate.seed
        names, sizes = self.data.names[clients], self.data.sizes[clients]
        effort = np.ones(len(names))
        if training.stragglers:
            effort = taking_part.efforts(training.stragglers, seed, round.number, names)
        tasks = replicate.algorithm.client(round) if len(clients) else ()
        instance(f"the tasks of {type(replicate.algorithm).__name__}.client", tasks, tuple)
        given, done = list[Assignment](), {"steps": 0, "samples": 0}
        for number, task in enumerate(tasks):
            instance(f"a task of {type(replicate.algorithm).__name__}.client", task, LocalTask)
            for name, rows in (("start", task.start), ("linear", task.linear)):
                if rows is not None and rows.shape != (len(clients), self.model.size):
                    raise ValueError(
                        f"{name} must have shape ({len(clients)}, {self.model.size}), got "
                        f"{tuple(rows.shape)} from {replicate.algorithm!r}"
                    )
            much = training.batch_size, training.epochs, training.steps
            steps, batch, *cost = work(sizes, effort, *((None, None, 1) if task.whole else much))
            rates = round.lr, 0.0 if task.whole else momentum, decay, task.prox, 1.0
            given.append(Assignment(r, number, seed, round, task, steps, batch, rates))
            done = {name: done[name] + more for name, more in zip(done, cost, strict=True)}
        return round, given, row | {"stragglers": int((effort < 1).sum())} | done

    def _finish(self, begun: list[Begun], trains: list[Arrivals]) -> list[dict[str, Any]]:
        """Leave out what is not finite, take the servers' steps, and return the round's rows."""
        rows = []
        for r, ((round, given, row), train) in enumerate(zip(begun, trains, strict=True)):
            self.weights[r] = round.clients[:0], np.zeros(0)
            row |= {"received": 0, "non_finite": 0, "step_norm": 0.0}
            rows.append(row)
            if given:
                names, drop = self.data.names[round.clients], self.computing.non_finite == "drop"
                asked = self._server(r), round, train, names, given[0].steps
                found = answer(*asked, drop=drop, room=self.limit)
                if found is not None:
                    row["received"] = len(found[0].clients)
                    row["step_norm"] = self._step(r, *found)
                row["non_finite"] = len(names) - row["received"]
                self._count_bytes(r, row)
        return rows

    def _server(self, r: int) -> Algorithm | Summed:
        """Who is asked what becomes of the updates."""
        return self.summed[r] or self.replicates[r].algorithm

    def _kept(self, r: int, state: State) -> State:
        """The state; ValueError unless all of it is tensors, which checkpoints hold."""
        for name, value in state.items():
            if not isinstance(value, Tensor):
                owner = self.replicates[r].algorithm
                raise ValueError(f"state must hold tensors, got {name!r}: {value!r} from {owner!r}")
        return state

    def _count_bytes(self, r: int, row: dict[str, Any]) -> None:
        """What the updates that came back took, and what is sent behind sums."""
        up, summed = self.params.element_size() * self.model.size, self.summed[r]
        if summed is not None:
            up = up * (summed.sent and not summed.masked) + -(-summed.bits // 8)
            row["bytes_down"] *= summed.sent
        row["bytes_up"] += up * row["received"]

    def _step(self, r: int, received: Received, aggregate: Aggregate) -> float:
        """Take the server's step; its length."""
        owner, step, params = self.replicates[r].algorithm, aggregate.step, self.params[r]
        if step is None or step.shape != params.shape:
            found = None if step is None else tuple(step.shape)
            raise ValueError(
                f"step must have shape ({self.model.size},), got {found} from {owner!r}"
            )
        schedule = self.training.server_schedule(received.number, self.training.rounds)
        step, factor = step.to(self.device, params.dtype), self.rates[r][3] * schedule
        step = step if factor == 1 else step * factor
        params.add_(step)
        self.states[r] = self._kept(r, aggregate.state)
        self.weights[r] = received.clients, aggregate.weights
        if not sound(params):
            raise NonFiniteUpdate(
                "the global model is NaN or infinite after the server's step in round "
                f"{self.round}: lower server_lr, {self.rates[r][3]:g}, or the learning rate"
            )
        return float(torch.linalg.vector_norm(step, dtype=torch.float64))

    def evaluate(self) -> list[dict[str, Any]]:
        """Loss and accuracy of every client on every part by each model, as ``metrics.CLIENTS``."""
        rows = list[dict[str, Any]]()
        with self._threads(), torch.no_grad():
            for r, replicate in enumerate(self.replicates):
                algorithm = replicate.algorithm
                own = algorithm.personal(self.states[r])
                which = {} if algorithm.is_ensemble else {"global": self.params[r]}
                which |= {} if own is None else {"personal": own}
                for (part, data), (name, params) in product(self.parts.items(), which.items()):
                    given = self.model, params[None], data, np.arange(data.clients)
                    found = measure_models(*given, own=params.ndim > 1, memory_limit=self.limit)
                    right = found.accuracies()
                    row = {"round": self.round, "replicate": r, "part": part, "model": name}
                    row |= {"client": data.names, "samples": data.sizes}
                    row["loss"] = as_floats(found.means())
                    row["accuracy"] = None if right is None else as_floats(right)
                    rows.append(row)
        return rows

    @contextmanager
    def _threads(self) -> Iterator[None]:
        """torch's number of threads for as long as the engine works."""
        before = torch.get_num_threads()
        wanted = self.computing.threads or (1 if self.model.size < SMALL else before)
        torch.set_num_threads(wanted)
        try:
            yield
        finally:
            torch.set_num_threads(before)
