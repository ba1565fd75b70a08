"""The simulation: replicates whose rounds are trained together, one ``step`` a round."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from math import inf, isfinite
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairfl.sims.engine.algorithm import Aggregate, Received, Round, State
from fairfl.sims.engine.data import Parts
from fairfl.sims.engine.draws import participation as taking_part
from fairfl.sims.engine.group_label_sums import CellIndex
from fairfl.sims.engine.health import Dropped, Healed, NonFiniteUpdate, refuse
from fairfl.sims.engine.losses import measure
from fairfl.sims.engine.model import Model
from fairfl.sims.engine.replicate import RATES, Replicate
from fairfl.sims.engine.secure.summed import CellRound, Summed, SumOnly, report_together
from fairfl.sims.engine.settings import Computing, Training
from fairfl.sims.engine.task import Floats
from fairfl.sims.engine.work import Assignment, bytes_of, cost, perform, perform_in_parts

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
        self._representable()
        self.parts = {
            name: model.prepare(part.to(self.device, dtype)) for name, part in data.parts.items()
        }
        self.data = self.parts["train"]
        first = [model.init(replicate.seed) for replicate in self.replicates]
        self.params = torch.stack(first).to(self.device, dtype)
        self.summed = self._behind_sums()
        self.states: list[State] = [
            (replicate.algorithm if summed is None else summed).start(
                self.data.clients, data.p, params
            )
            for replicate, summed, params in zip(
                self.replicates, self.summed, self.params, strict=True
            )
        ]
        self.weights: list[tuple[NDArray[np.int64], Floats]] = [
            (np.zeros(0, np.int64), np.zeros(0))
        ] * len(first)
        self.round = 0

    def _representable(self) -> None:
        """ValueError for rates that the dtype cannot hold."""
        most = torch.finfo(self.computing.torch_dtype).max
        for rates in self.rates:
            for name, value in zip(RATES, rates, strict=True):
                if value > most:
                    told = f"{name} must be at most {most:.3g} in {self.computing.dtype}"
                    raise ValueError(f"{told}, got {value:g}")

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
        index = CellIndex(self.data)
        return [
            Summed(replicate.algorithm, index, self.model, self.data, replicate.seed, masked)
            if isinstance(replicate.algorithm, SumOnly)
            else None
            for replicate in self.replicates
        ]

    @property
    def done(self) -> bool:
        """Whether all rounds are done."""
        return self.round >= self.training.rounds

    def step(self) -> list[dict[str, Any]]:
        """One round of every replicate; a row of measures for each."""
        if self.done:
            raise ValueError(f"rounds must be more than are done, got {self.training.rounds}")
        grad = torch.no_grad() if self.computing.backend == "batched" else torch.enable_grad()
        with self._whole_round(), self._threads(), grad:
            begun = self._begin()
            rows: list[dict[str, Any]] = []
            while len(rows) < len(begun):
                rows += self._train(len(rows), begun)
        self.round += 1
        return rows

    def _train(self, first: int, begun: list[Begun]) -> list[dict[str, Any]]:
        """The rounds of the replicate ``first`` and of those after it whose updates fit into half
        of the memory with its own, trained together; where its own do not, of that one, in parts.
        """
        last, together = first, list[Assignment]()
        for _, given, _ in begun[first:]:
            if 2 * bytes_of(self.model, self.params, together + given) > self.limit:
                break
            last, together = last + 1, together + given
        work = self.model, self.data, self.params
        if last == first:
            round, given, row = begun[first]
            shared = *work, given, self.training, self.computing, self.limit
            return [self._finish(first, round, given, row, lambda: perform_in_parts(*shared))]
        updates = iter(perform(*work, together, self.training, self.computing, self.limit))
        rows = []
        for r, (round, given, row) in enumerate(begun[first:last], first):
            mine = [next(updates) for _ in given]
            rows.append(self._finish(r, round, given, row, lambda mine=mine: [mine]))
        return rows

    def _begin(self) -> list[Begun]:
        """Who takes part, what they report, and what each client is to do, of every replicate."""
        drawn = [self._draw(r) for r in range(len(self.replicates))]
        rounds: list[Round] = [round for round, _ in drawn]
        behind = {
            r: (summed, round)
            for r, (summed, round) in enumerate(zip(self.summed, rounds, strict=True))
            if summed is not None and isinstance(round, CellRound)
        }
        reported = report_together(list(behind.values()), self.limit)
        for r, round in zip(behind, reported, strict=True):
            rounds[r] = round
        return [(round, *self._assign(r, round, drawn[r][1])) for r, round in enumerate(rounds)]

    def _draw(self, r: int) -> tuple[Round, dict[str, Any]]:
        """Who takes part, and the losses that are asked for."""
        replicate, t, training = self.replicates[r], self.round, self.training
        lr, ids, seed = self.rates[r][0], self.data.names, replicate.seed
        drawn = training.participation.choose(seed, t, ids, self.source.p)
        chosen, p, draws = taking_part.merged(*drawn)
        lost = taking_part.dropouts(training.dropout, seed, t, ids[chosen])
        kept = np.flatnonzero(~lost)
        # by id, so that sums do not depend on how the clients are listed
        kept = kept[np.argsort(ids[chosen[kept]])]
        share = p[kept] / p[kept].sum()
        counts = {
            "chosen": len(chosen),
            "dropouts": int(lost.sum()),
            "bad_losses": 0,
            "loss_samples": 0,
        }
        rate = lr * training.schedule(t, training.rounds)
        round = Round(
            t,
            chosen[kept],
            share,
            self.source.p,
            self.params[r],
            rate,
            None,
            self.states[r],
            draws=draws[kept],
            layers=self.model.layers,
            joins=training.participation.joined(t),
        )
        if replicate.algorithm.needs_losses:
            losses, fine = self._losses(r, round.clients)
            counts["loss_samples"] = int(self.data.sizes[round.clients].sum())
            counts["bad_losses"] = int((~fine).sum())
            round = replace(round, losses=losses).among(fine)
        losses, many = round.losses, len(round.clients)
        size, reported = self.params.element_size() * self.model.size, int(losses is not None)
        summed = self.summed[r]
        if summed is not None and many:
            round, reported = summed.before(round), 0
        counts |= {"bytes_down": size * len(chosen), "bytes_up": 8 * reported * many}
        if losses is not None and many:
            counts |= {"mean_loss": float(round.p @ losses), "max_loss": float(losses.max())}
        return round, {"round": t, "replicate": r, **counts}

    def _assign(
        self, r: int, round: Round, row: dict[str, Any]
    ) -> tuple[list[Assignment], dict[str, Any]]:
        """What each client is to do, and how much of it."""
        (_, momentum, decay, _), replicate = self.rates[r], self.replicates[r]
        clients = round.clients
        stragglers, seed = self.training.stragglers, replicate.seed
        effort = taking_part.efforts(stragglers, seed, round.number, self.data.names[clients])
        tasks = replicate.algorithm.client(round) if len(clients) else ()
        given = [
            Assignment(r, number, seed, round, task, effort, momentum, decay)
            for number, task in enumerate(tasks)
        ]
        return given, row | {"stragglers": int((effort < 1).sum())}

    def _losses(self, r: int, clients: NDArray[np.int64]) -> tuple[Floats, NDArray[np.bool_]]:
        """F_k(w^t), or its tilted form, and which of them are finite."""
        if not len(clients):
            return np.zeros(0), np.ones(0, bool)
        limit, tau = self.limit, self.replicates[r].algorithm.tilt
        found = measure(
            self.model, self.params[r], self.data, clients, right=False, memory_limit=limit
        )
        losses = found.tilted(tau) if tau else found.means()
        fine = np.isfinite(losses)
        if not fine.all() and self.computing.non_finite != "drop":
            refuse(self.data.names[clients[~fine]], self.round, "loss")
        return losses, fine

    def _finish(
        self,
        r: int,
        round: Round,
        given: list[Assignment],
        row: dict[str, Any],
        train: Callable[[], Iterable[list[Tensor]]],
    ) -> dict[str, Any]:
        """Leave out what is not finite, ask the server what it makes of the rest, and take its
        step; the row of the round.
        """
        row |= {"received": 0, "non_finite": 0, "steps": 0, "samples": 0, "step_norm": 0.0}
        self.weights[r] = round.clients[:0], np.zeros(0)
        if not given:
            return row
        costs = [cost(one, self.data, self.training) for one in given]
        row |= {name: sum(getattr(one, name) for one in costs) for name in ("steps", "samples")}
        come = Healed(train, self.data.names[round.clients], round.number, self.computing)
        done = False
        while not done and come.keep.any():
            some = round if come.keep.all() else round.among(come.keep)
            with suppress(Dropped):
                row |= self._aggregate(r, some, come, row["bytes_up"])
                done = True
        return row | {"received": int(come.keep.sum()), "non_finite": come.bad}

    def _aggregate(self, r: int, round: Round, come: Healed, reported: int) -> dict[str, Any]:
        """Ask the server and take its step; what was sent, of which ``reported`` bytes before."""
        known = {name: getattr(round, name) for name in Round.__dataclass_fields__}
        received = Received(**known, arrivals=come, room=self.limit)
        many, summed, total = len(round.clients), self.summed[r], None
        up = self.params.element_size() * self.model.size * many
        if summed is None:
            aggregate = self.replicates[r].algorithm.server(received)
        else:
            aggregate, sent, total = summed.after(received, self.limit)
            up = up * (sent and total is None) + summed.bytes * many
            if not sent:
                self.states[r], self.weights[r] = (
                    aggregate.state,
                    (received.clients, aggregate.weights),
                )
                return {"bytes_up": reported + up, "bytes_down": 0}
        norm = self._apply(r, received, aggregate, aggregate.step if total is None else total)
        return {"bytes_up": reported + up, "step_norm": norm}

    def _apply(
        self, r: int, received: Received, aggregate: Aggregate, total: Tensor | None
    ) -> float:
        """Take the server's step, along ``total`` (P,) where it is given, else the weighted
        updates; its length.
        """
        weights = np.asarray(aggregate.weights, dtype=np.float64)
        owner = self.replicates[r].algorithm
        if weights.shape != (len(received.clients),) or not np.isfinite(weights).all():
            raise ValueError(
                f"weights must be finite, one of each update received, got {weights!r} from "
                f"{owner!r}"
            )
        if total is None:
            total = received.total(weights)
        if total.shape != self.params[r].shape:
            raise ValueError(
                f"step must have shape ({self.model.size},), got {tuple(total.shape)} from "
                f"{owner!r}"
            )
        rate = self.rates[r][3]
        step = total.to(self.device, self.params.dtype, copy=True)
        step *= rate * self.training.server_schedule(received.number, self.training.rounds)
        new = self.params[r] + step
        norms = (torch.linalg.vector_norm(step, dtype=torch.float64), new.norm(inf).double())
        norm, most = torch.stack(norms).cpu().tolist()  # one wait for the device
        if not isfinite(most):
            raise NonFiniteUpdate(
                "the global model is NaN or infinite after the server's step in round "
                f"{received.number}: lower server_lr, {rate:g}, or the learning rate"
            )
        self.params[r] = new
        self.states[r] = aggregate.state
        self.weights[r] = received.clients, weights
        return norm

    def evaluate(self) -> list[dict[str, Any]]:
        """Loss and accuracy of every client on every part, a row each; of personal models too,
        where there are any.
        """
        rows = []
        with self._threads(), torch.no_grad():
            for r, replicate in enumerate(self.replicates):
                own = replicate.algorithm.personal(self.states[r])
                models = {"global": self.params[r]} | ({} if own is None else {"personal": own})
                for part, data in self.parts.items():
                    for which, params in models.items():
                        everyone = np.arange(data.clients)
                        limit = self.limit
                        found = measure(
                            self.model,
                            params,
                            data,
                            everyone,
                            own=which == "personal",
                            memory_limit=limit,
                        )
                        rows.append(
                            {
                                "round": self.round,
                                "replicate": r,
                                "part": part,
                                "model": which,
                                "client": data.names,
                                "samples": data.sizes,
                                "loss": found.means(),
                                "accuracy": found.accuracies(),
                            }
                        )
        return rows

    @contextmanager
    def _whole_round(self) -> Iterator[None]:
        """Where a replicate cannot go on, none has: what the round changed before is put back."""
        kept = self.params.clone(), list(self.states), list(self.weights)
        try:
            yield
        except BaseException:
            self.params, self.states, self.weights = kept
            raise

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
