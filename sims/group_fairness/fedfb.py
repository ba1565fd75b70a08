"""FedFB: FairBatch's λ from sums over the clients (algorithm 1); one client: FairBatch, CFL."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from fairfl._support.checks import one_of, positive, whole
from fairfl.sims.engine import CellSums, Floats, LocalTask, State, as_floats, as_tensor
from fairfl.sims.engine import secure_masks as secure
from fairfl.sims.engine.secure_sums import OWN, REPORTS, CellRound, SumOnly
from fairfl.sims.group_fairness.fairbatch import NEEDS, FairBatch


@dataclass(frozen=True)
class Quantiser:
    """2^b equidistant levels from ``low`` to ``high``; a number is rounded to the nearest.

    |value - x| <= step / 2 for x within the range, step = (high - low) / (2^b - 1); so a sum over k
    clients has an error of at most k step / 2. A number outside becomes the nearest end;
    ``outside`` counts such numbers.

    Errors: ValueError for bits not in 1..16, and for a range that is not one.
    Source: FedFB, section 4, "each loss value is uniformly quantized": the range is not given
    there.
    """

    bits: int
    low: float
    high: float

    def __post_init__(self) -> None:
        whole("bits", self.bits, 1, 16)
        positive("high - low", self.high - self.low)

    @property
    def step(self) -> float:
        """The distance of two levels."""
        return (self.high - self.low) / (2**self.bits - 1)

    def encode(self, x: Floats) -> NDArray[np.int64]:
        """The codes 0..2^b - 1 that are sent."""
        return np.rint((np.clip(x, self.low, self.high) - self.low) / self.step).astype(np.int64)

    def decode(self, codes: Floats, terms: int = 1) -> Floats:
        """The levels of codes, or of sums of ``terms`` codes."""
        return terms * self.low + np.asarray(codes) * self.step

    def outside(self, x: Floats) -> int:
        """Number of entries outside the range."""
        return int(((x < self.low) | (x > self.high)).sum())


OUTSIDE = OWN + "outside"


@dataclass(frozen=True)
class FedFB(SumOnly):
    """FedAvg on losses weighed by λ, which the server moves every ``every`` rounds by the sum of
    the clients' reports.

    Parameters
    ----------
    rule : the notion of fairness and the step of λ.
    every : k: rounds between two steps of λ. The first step comes after the first training.
    evaluated : "global" or "local"; the model of the losses that clients report. "global": the
        averaged model, as in the bilevel problem (6)-(7), before the next training. "local": each
        client's own model, after training, as algorithms 1 to 4 print it in ClientUpdate; the sum
        is then not F of any single model.
    bits : FedFB(b bits): each number of a report is sent as one of 2^b levels of [-loss_bound,
        loss_bound] where it may be negative (``FairBatch.signed``), of [0, loss_bound] else. |F_a -
        its quantised value| <= K step, step = range / (2^b - 1), unless a number is out of range,
        which the state counts under "own.outside".
    loss_bound : > 0; for ``bits`` alone. With all clients a report is at most the mean loss of a
        cell in size (with "acceptance" the larger of that and 1); with some of them, p_k / π_k
        times that.

    Where not all clients take part, client k's report s_k is multiplied by p_k / π_k, p_k its
    weight among those that do and π_k = n_k / n; with all clients the factor is 1. For clients
    drawn by π_k with replacement, p_k their share of the draws, the sum is unbiased for that over
    all clients, as the mean of s_k / π_k over a draw is. For uniform draws, p_k = π_k over the sum
    of π of those drawn, it is the ratio estimator, whose bias is of the order of one over their
    number. The same holds for μ, which is linear in the sums; μ / ||μ|| is always biased. For draws
    by π_k without replacement the sum is biased, as the average of the updates is. Client parity
    has no such estimate. With a single reporting client the sum is its report.

    Errors: ValueError for anything else; when a run starts, for a group that nobody is in (or
    nobody of the label that the notion wants), and for more bits than sums over so many clients
    have room for; for client parity, in a round that a client does not take part in.
    Source: FedFB, section 4, appendix B, algorithms 1 to 5. Clients average with weights n_i / n:
    SecAgg in algorithm 1 does not say, and the objectives L^(i) that add up to L want it. α_t /
    ||μ|| is the printed step.
    """

    rule: FairBatch = FairBatch()
    every: int = 1
    evaluated: str = "global"
    bits: int | None = None
    loss_bound: float = 4.0
    name: ClassVar[str] = "fedfb"

    def __post_init__(self) -> None:
        whole("every", self.every, 1)
        one_of("evaluated", self.evaluated, ("global", "local"))
        positive("loss_bound", self.loss_bound)
        _ = self._quantiser

    @cached_property
    def _quantiser(self) -> Quantiser | None:
        if self.bits is None:
            return None
        return Quantiser(self.bits, -self.loss_bound if self.rule.signed else 0.0, self.loss_bound)

    @property
    def needs(self) -> frozenset[str]:
        return NEEDS[self.rule.surrogate]

    def measured(self, number: int) -> Literal["start", "end", "never"]:
        if self.evaluated == "global":
            return "start" if number > 0 and number % self.every == 0 else "never"
        return "end" if (number + 1) % self.every == 0 else "never"

    @property
    def complete(self) -> bool:
        # a missing client's loss cannot be estimated from the others
        return self.rule.notion == "cp"

    def word_bits(self, clients: int) -> int:
        if self.bits is None:
            return super().word_bits(clients)
        # masks modulo a power of two above the largest sum of codes do as well as longer ones
        return (clients * (2**self.bits - 1)).bit_length()

    def enrol(self, counts: Floats) -> Floats:
        return self.rule.rules.enrol(counts)

    def begin(self, total: Floats, clients: int) -> State:
        if self.bits is not None and clients * (2**self.bits - 1) >= secure.LARGEST:
            largest = ((int(secure.LARGEST) - 1) // clients + 1).bit_length() - 1
            raise ValueError(
                f"bits must be at most {largest} for {clients} clients, whose codes add up, got "
                f"{self.bits}"
            )
        people = self.rule.rules.people(total)
        lam = self.rule.rules.initial(people)
        return {"known": as_tensor(people), "lam": as_tensor(lam), "steps": as_tensor(np.zeros(1))}

    def remember(self, round: CellRound, cells: CellSums) -> State:
        if self._quantiser is None:
            return {}
        count = as_floats(round.state[OUTSIDE]) if OUTSIDE in round.state else np.zeros(1)
        outside = self._quantiser.outside(self._statistics(round, cells))
        return {OUTSIDE: as_tensor(count + outside)}

    def report(self, round: CellRound, cells: CellSums) -> Floats:
        statistics, coder = self._statistics(round, cells), self._quantiser
        return statistics if coder is None else coder.encode(statistics).astype(np.float64)

    def _statistics(self, round: CellRound, cells: CellSums) -> Floats:
        people = as_floats(round.state["known"])
        sums, rank = self.rule.sums(cells), round.index.rank[round.clients]
        statistics = self.rule.rules.statistics(sums, cells.counts, rank, people)
        factors = round.p / round.everyone[round.clients]
        return statistics if (np.abs(factors - 1) <= 1e-12).all() else statistics * factors[:, None]

    def steer(self, total: Floats, state: State) -> State:
        if self._quantiser is not None:
            total = self._quantiser.decode(total, terms=int(state[REPORTS]))
        lam, people, steps = (as_floats(state[name]) for name in ("lam", "known", "steps"))
        lam = self.rule.step(lam, total, people, int(steps[0]))
        return {"lam": as_tensor(lam), "steps": as_tensor(steps + 1)}

    def client(self, round: CellRound) -> tuple[LocalTask, ...]:  # type: ignore[override]
        lam, people = as_floats(round.state["lam"]), as_floats(round.state["known"])
        table = self.rule.rules.table(lam, people, round.index.counts)
        if self.complete:  # client parity: a weight for each client, by rising id
            table = table[round.index.rank]
        return (LocalTask(sample_weights=round.index.spread(table)),)
