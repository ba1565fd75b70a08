"""Algorithms behind secure aggregation: the server receives sums over the clients alone."""

from __future__ import annotations

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, final

import numpy as np
import torch
from torch import Tensor

from fairfl._support.registry import Registry
from fairfl.sims.engine import secure_masks as secure
from fairfl.sims.engine.algorithm import Aggregate, Algorithm
from fairfl.sims.engine.group_label_sums import CellIndex, CellSums
from fairfl.sims.engine.round import Received, Round, State
from fairfl.sims.engine.settings import Replicate, Training
from fairfl.sims.engine.task import Floats, Ints, as_floats, as_tensor

OWN = "own."
"""State entries with this prefix are the clients' memory, hidden from the server's hooks."""
REPORTS = "reports"
"""Entry of the state that ``steer`` gets: the number of reporting clients."""
ENROL, REPORT, UPDATE = 101, 102, 103
"""Purpose of a mask: a word of its key."""

SUM_ONLY: Registry[type[SumOnly]] = Registry("algorithms", "fairfl.sims.group_fairness")
"""Algorithms behind secure aggregation by the names that files give them."""


@dataclass(frozen=True, eq=False)
class CellRound(Round):
    """A round in which each client sees the groups and labels of its own people, and clients can
    take secure sums.

    ``add`` takes reports (k, S), a row for each client, and returns their sum (S,), which all
    clients receive. The reports are masked, and their bits counted.
    """

    index: CellIndex = field(kw_only=True)
    add: Callable[[Floats], Floats] = field(kw_only=True)


class SumOnly(Algorithm):
    """An algorithm whose server sees sums over clients alone.

    Before round 0 every client reports ``enrol``, and the server's ``begin`` makes the state of the
    sum. In each round clients measure the losses of their cells where ``measured`` says, at the
    broadcast model before they train ("start"), each at its own trained model ("end"), or not at
    all ("never"). They may update their memory (``remember``), and report (``report``). The
    server's ``steer`` sees the sum of the reports, and its part of the state. Updates are added
    with the weights of ``weigh``, which clients apply themselves.

    Reports are sent masked (``secure_masks.py``), and updates too with ``masked_updates``. Hooks of
    the clients take a ``CellRound``; the server's, ``begin`` and ``steer``, get sums and public
    state, no client's row. (Both are methods of one object: its author must not store a client's
    row there.) With a single reporting client the sum is its report: a protocol with a threshold
    would stop, this does not. The clients' hooks compute all rows at once: row k must depend on
    client k, the state and sums alone.
    """

    # a registry apart from Algorithm's: these algorithms need data with groups
    registry = SUM_ONLY

    def measured(self, number: int) -> Literal["start", "end", "never"]:
        """The model at which the cells of round ``number`` are measured."""
        return "start"

    @property
    def needs(self) -> frozenset[str]:
        """Sums that are measured: "loss", "wrong" and "accepting" (one more forward pass)."""
        return frozenset(("loss", "wrong"))

    @property
    def complete(self) -> bool:
        """Whether every client must take part; False: sums over some estimate those over all."""
        return True

    def word_bits(self, clients: int) -> int:
        """Bits of one number of a report: fewer than a masked number's if small and whole."""
        return secure.BITS

    # The clients' side

    def enrol(self, counts: Floats) -> Floats:
        """First reports (K, S), clients by rising id, from their counts of people (K, A, 2)."""
        return counts.reshape(len(counts), -1)

    def models(self, round: CellRound) -> Tensor | None:
        """The clients' models (K, P), measured at the start in place of w^t; None for w^t."""
        return None

    def remember(self, round: CellRound, cells: CellSums) -> State:
        """New values of the clients' memory, names that begin with OWN."""
        return {}

    def report(self, round: CellRound, cells: CellSums) -> Floats:
        """Reports (k, S)."""
        return np.zeros((len(round.clients), 0))

    def keep(self, round: CellRound, received: Received) -> State:
        """New values of the clients' memory after training, whose updates were ``received``."""
        return {}

    def weigh(self, round: CellRound) -> Floats | None:
        """Weights (k,) of the updates in the sum; None where nothing is sent in this round."""
        return round.p

    # The server's side

    @abstractmethod
    def begin(self, total: Floats, clients: int) -> State:
        """The state before round 0, from the sum of the first reports."""

    def steer(self, total: Floats, state: State) -> State:
        """The state after a round's reports, from their sum and ``state``'s REPORTS."""
        return state

    @final
    def server(self, received: Received) -> Aggregate:
        """TypeError: the server of such an algorithm never receives single updates."""
        raise TypeError(f"{type(self).__name__} has no server hook: its server sees sums alone")


@dataclass(eq=False)
class Summed:
    """One replicate's secure aggregation; with ``masked`` of the updates, too.

    ``bits`` counts what each client sends masked in the round, ``sums`` its secure sums; ``sent``
    says whether its updates are sent.
    """

    algorithm: SumOnly
    index: CellIndex
    seed: int
    masked: bool
    sent: bool = True
    bits: int = 0
    sums: int = 0

    @property
    def names(self) -> Ints:
        """The clients' ids (K,)."""
        return self.index.data.names

    def start(self, clients: int, weights: Floats, params: Tensor) -> State:
        """The state before round 0."""
        by_id = self.index.by_id
        rows = self.algorithm.enrol(self.index.counts[by_id])
        total = secure.unmask(secure.mask(rows, self.names[by_id], self.seed, ENROL))
        memory = _merge({}, self.algorithm.start(clients, weights, params), private=True)
        return _merge(memory, self.algorithm.begin(total, clients), private=False)

    def begin_round(self, round: Round) -> CellRound:
        """The round as its clients see it; the counts of bits and sums begin at 0."""
        self.bits = self.sums = 0
        self._everyone(round)
        return self._cell_round(round)

    def server(self, received: Received) -> Aggregate:
        """The step, from sums over clients; with ``masked`` all updates are in memory at once."""
        round, algorithm, sums = self._cell_round(received), self.algorithm, list[Floats]()
        if algorithm.measured(round.number) == "end":
            self._everyone(round)
            for part in received.parts():
                models = (part.params + part.updates)[None]
                cells = self.index.measure(models, part.clients, algorithm.needs, personal=True)
                sums.append(as_floats(cells[:, 0]))
            round = self.exchange(round, np.concatenate(sums, 1))
        state = _merge(round.state, algorithm.keep(round, received), private=True)
        round = replace(round, state=state)
        weights = algorithm.weigh(round)
        self.sent = weights is not None
        if weights is None:
            return Aggregate(np.zeros(len(round.clients)), state, torch.zeros_like(round.params))
        if not self.masked:
            return Aggregate(weights, state)
        self.bits += len(round.params) * secure.BITS
        rows, ids = as_floats(received.updates), self.names[round.clients]
        sent = secure.mask(rows * weights[:, None], ids, self.seed, UPDATE, round.number)
        return Aggregate(weights, state, as_tensor(secure.unmask(sent)))

    def _cell_round(self, round: Round) -> CellRound:
        return CellRound(**round.fields(), index=self.index, add=partial(self._summed, round))

    def _summed(self, round: Round, rows: Floats) -> Floats:
        """The sum of the round's clients' rows, each of them masked."""
        self.sums += 1
        self.bits += rows.shape[1] * self.algorithm.word_bits(len(rows))
        ids = self.names[round.clients]
        return secure.unmask(secure.mask(rows, ids, self.seed, REPORT, round.number, self.sums))

    def exchange(self, round: CellRound, sums: Floats) -> CellRound:
        """The round after clients reported their measures (n, k, A, 2) and received the sum."""
        cells = self.index.cells(sums, round.clients, self.algorithm.needs)
        state = _merge(round.state, self.algorithm.remember(round, cells), private=True)
        round = replace(round, state=state)
        rows = self.algorithm.report(round, cells)
        if rows.shape[1] == 0:
            return round
        public = {name: value for name, value in state.items() if not name.startswith(OWN)}
        public[REPORTS] = as_tensor(np.array([len(rows)]))
        return replace(
            round, state=_merge(state, self.algorithm.steer(round.add(rows), public), private=False)
        )

    def _everyone(self, round: Round) -> None:
        """ValueError where the algorithm must hear of every client, and does not."""
        n_clients, is_once = len(self.names), round.draws.max() == 1
        if self.algorithm.complete and (len(round.clients) < n_clients or not is_once):
            raise ValueError(
                f"participation must be of every client, once, for {self.algorithm!r}, whose "
                f"statistics are sums over all, got {len(round.clients)} of {n_clients} "
                f"in round {round.number}, drawn {round.draws.sum()} times"
            )


def check_sums(
    replicate: Replicate, training: Training, ids: Ints, p: Floats, *, masked: bool
) -> None:
    """Refuse updates that are masked and looked at, and rounds that may lack a client of all."""
    algorithm = replicate.algorithm
    if not isinstance(algorithm, SumOnly):
        if masked:
            raise ValueError(
                f"masked_updates must be False for {algorithm!r}, whose server looks at each update"
            )
    elif algorithm.complete:
        clients, _ = training.participation.choose(replicate.seed, 0, ids, p)
        if np.unique(clients).size < len(ids) or training.dropout:
            raise ValueError(
                f"participation must be of every client, once, and dropout 0 for {algorithm!r}, "
                f"whose statistics are sums over all, got {training.participation!r}, dropout "
                f"{training.dropout:g}"
            )


def report_together(rounds: Sequence[tuple[Summed, CellRound]]) -> list[CellRound]:
    """The rounds after the reports at their start. Replicates that measure the same sums of the
    same clients are measured in one pass.
    """
    reported = [round for _, round in rounds]
    batches: dict[tuple[object, ...], list[tuple[int, Tensor]]] = defaultdict(list)
    for i, (summed, round) in enumerate(rounds):
        algorithm = summed.algorithm
        if algorithm.measured(round.number) == "start":
            models = algorithm.models(round)
            key = algorithm.needs, models is not None, round.clients.tobytes()
            batches[key].append((i, round.params if models is None else models))
    for (_, personal, _), members in batches.items():
        summed, round = rounds[members[0][0]]
        params, needs = torch.stack([params for _, params in members]), summed.algorithm.needs
        sums = summed.index.measure(params, round.clients, needs, personal=bool(personal))
        for (i, _), replicate_sums in zip(members, as_floats(sums).swapaxes(0, 1), strict=True):
            reported[i] = rounds[i][0].exchange(rounds[i][1], replicate_sums)
    return reported


def _merge(state: State, new: State, *, private: bool) -> State:
    """The state with new values; ValueError where one side sets an entry of the other."""
    misplaced = [name for name in new if name.startswith(OWN) != private]
    if misplaced:
        raise ValueError(
            f"state must have names that {'begin' if private else 'do not begin'} with {OWN!r}, "
            f"got {misplaced}"
        )
    return {**state, **new}
