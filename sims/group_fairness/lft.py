"""Local fair training, FairBatch on every client: LFT+Ensemble and LFT+FedAvg."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from torch import Tensor

from fairfl._support.checks import in_range, whole
from fairfl.sims.engine import CellSums, Floats, LocalTask, Received, State, as_floats, as_tensor
from fairfl.sims.engine.secure_sums import OWN, CellRound, SumOnly
from fairfl.sims.engine.task import Ints
from fairfl.sims.group_fairness.fairbatch import NEEDS, FairBatch

MODELS, LAM = OWN + "models", OWN + "lam"


@dataclass(frozen=True)
class LocalFairBatch(SumOnly):
    """Each client with a λ and a model of its own; λ moves at the start of every round but the
    first.

    A round of the engine is the stretch between two steps of λ: with one epoch a round,
    FairBatch's. After every ``average_every`` rounds the models are averaged (LFT+FedAvg), and all
    go on from the average, each with the λ that it has; with None never (LFT+Ensemble): no model,
    and no report, ever leaves a client. The ensemble asks a model at random: a person's chance
    is the mean of the models' answers.

    A client on whose people the notion is undefined (a group is missing there, or its label) has
    no disparity to limit: it trains on the plain loss.

    ``budgets`` are the clients' own ε, in the order of the data, in place of the rule's.

    Errors: ValueError for client parity, which no client has alone, for ``average_every`` below 1,
    for a budget that is negative, and, when a run starts, for another number of budgets than of
    clients.
    Source: FedFB, section 2 (LFT+Ensemble, LFT+FedAvg), section 5.3 (both on FairBatch). Whether
    clients keep λ over an averaging is not said: here they do.
    """

    rule: FairBatch = FairBatch()
    average_every: int | None = None
    budgets: tuple[float, ...] | None = None
    name: ClassVar[str] = "lft"

    def __post_init__(self) -> None:
        if self.rule.notion == "cp":
            raise ValueError(
                "rule.notion must be 'dp', 'eo' or 'eodds' for local training, got 'cp'"
            )
        if self.average_every is not None:
            whole("average_every", self.average_every, 1)
        if self.budgets is not None:
            in_range("budgets", self.budgets, 0.0, 1e300)

    @property
    def needs(self) -> frozenset[str]:
        return NEEDS[self.rule.surrogate]

    def measured(self, number: int) -> Literal["start", "end", "never"]:
        return "start" if number > 0 else "never"

    def start(self, clients: int, weights: Floats, params: Tensor) -> State:
        if self.budgets is not None and len(self.budgets) != clients:
            raise ValueError(
                f"budgets must be {clients}, one for each client, got {len(self.budgets)}"
            )
        return {MODELS: params.repeat(clients, 1)} if self.is_ensemble else {}

    def enrol(self, counts: Floats) -> Floats:
        return np.zeros((len(counts), 0))

    def begin(self, total: Floats, clients: int) -> State:
        return {}

    def models(self, round: CellRound) -> Tensor | None:
        is_averaged = round.number == 0 or self._averages(round.number - 1)
        return None if is_averaged else round.state[MODELS]

    def remember(self, round: CellRound, cells: CellSums) -> State:
        lam, sums, counts = self._lam(round), self.rule.sums(cells), cells.counts
        rows, people = self._defined(counts)
        totals = self.rule.rules.statistics(sums[rows], counts[rows], rows, people)
        budgets = None if self.budgets is None else np.array(self.budgets)[rows, None]
        lam[rows] = self.rule.step(lam[rows], totals, people, round.number - 1, budgets)
        return {LAM: as_tensor(lam)}

    def client(self, round: CellRound) -> tuple[LocalTask, ...]:  # type: ignore[override]
        lam, counts = self._lam(round), round.index.counts
        table, (rows, people) = np.ones_like(counts), self._defined(counts)
        table[rows] = self.rule.rules.table(lam[rows], people, counts[rows])
        models = self.models(round)
        start = None if models is None else models[round.rows]
        return (LocalTask(start=start, sample_weights=round.index.spread(table)),)

    def keep(self, round: CellRound, received: Received) -> State:
        if self._averages(round.number):
            return {}
        models = self.models(round)
        models = round.params.repeat(len(round.everyone), 1) if models is None else models.clone()
        for part in received.parts():
            models[part.rows] = part.params + part.updates
        return {MODELS: models}

    def weigh(self, round: CellRound) -> Floats | None:
        return round.p if self._averages(round.number) else None

    def personal(self, state: State) -> Tensor | None:
        return state[MODELS] if self.is_ensemble else None

    @property
    def is_ensemble(self) -> bool:
        return self.average_every is None

    def _averages(self, number: int) -> bool:
        return self.average_every is not None and (number + 1) % self.average_every == 0

    def _people(self, counts: Floats) -> Floats:
        """People (K, A, 2) among whom each client's disparity is limited."""
        return counts

    def _defined(self, counts: Floats) -> tuple[Ints, Floats]:
        """The clients on whose people the notion is defined (k,), and these people (k, A, 2)."""
        people = self._people(counts)
        rows = np.flatnonzero(self.rule.rules.is_defined(people))
        return rows, people[rows]

    def _lam(self, round: CellRound) -> Floats:
        """λ of all clients (K, L); 0, and unused, where the notion is undefined."""
        if LAM in round.state:
            return as_floats(round.state[LAM]).copy()
        counts = round.index.counts
        lam = np.zeros_like(self.rule.rules.initial(np.ones_like(counts)))
        rows, people = self._defined(counts)
        lam[rows] = self.rule.rules.initial(people)
        return lam
