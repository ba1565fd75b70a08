"""FairFed: a weighted average that favours clients whose own disparity is near the federation's."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from torch import Tensor

from fairfl._support.checks import in_range, one_of
from fairfl.sims.engine import CellSums, Floats, LocalTask, Received, State, as_floats, as_tensor
from fairfl.sims.engine.secure_sums import OWN, CellRound, SumOnly

GAP, OMEGA = OWN + "gap", OWN + "omega"


@dataclass(frozen=True)
class FairFed(SumOnly):
    r"""Each client keeps a weight ω_k, at first n_k / n.

    .. math::
        \Delta_k = |F - F_k|, \quad \omega_k \leftarrow \omega_k - \beta (\Delta_k - \tfrac1K \sum_j
        \Delta_j), \quad w \leftarrow \sum_k \omega_k w_k / \sum_k \omega_k

    F_k is client k's own signed disparity at the broadcast model, F the federation's; where client
    k has no F_k (a group is missing there) Δ_k is |Acc - Acc_k|. F, Acc, and the sums of the Δ and
    of the ω, are secure sums. A weight that would fall below 0 is 0.

    Parameters
    ----------
    beta : >= 0; 0 is FedAvg.
    notion : "dp" or "eo"; F = P(ŷ=1 | a=0) - P(ŷ=1 | a=1), the statistical parity difference, or
        the same given y = 1.
    local : "reweighing" or "none"; what clients do against bias: weigh cell (a, y) by n_a n_y / (n
        n_{a,y}) of their own people (Kamiran and Calders 2012), or nothing.

    Errors: ValueError for anything else, and when a run starts with other than two groups.
    Source: Ezzeldin, Yan, He, Ferrara and Avestimehr, FairFed: enabling group fairness in federated
    learning (AAAI 2023), algorithm 1, eq. (6). Its first round has the weights n_k / n here: an
    untrained model has no disparity worth following.
    """

    beta: float = 1.0
    notion: str = "dp"
    local: str = "reweighing"
    name: ClassVar[str] = "fairfed"

    def __post_init__(self) -> None:
        in_range("beta", self.beta, 0.0, 1e300)
        one_of("notion", self.notion, ("dp", "eo"))
        one_of("local", self.local, ("reweighing", "none"))

    def measured(self, number: int) -> Literal["start", "end", "never"]:
        return "start" if number > 0 else "never"

    @property
    def needs(self) -> frozenset[str]:
        return frozenset(("wrong",))

    def start(self, clients: int, weights: Floats, params: Tensor) -> State:
        return {OMEGA: as_tensor(weights)}

    def begin(self, total: Floats, clients: int) -> State:
        people = total.reshape(-1, 2)
        if len(people) != 2:
            raise ValueError(f"group must hold two groups for FairFed, got {len(people)}")
        return {"known": as_tensor(people)}

    def remember(self, round: CellRound, cells: CellSums) -> State:
        """F_k (NaN where there is none) and Acc_k."""
        with np.errstate(invalid="ignore"):
            rates = self._accepted(cells) / self._among(cells.counts)
        right = 1 - cells.wrong.sum((1, 2)) / cells.counts.sum((1, 2))
        return {GAP: as_tensor(np.stack([rates[:, 0] - rates[:, 1], right]))}

    def report(self, round: CellRound, cells: CellSums) -> Floats:
        return np.column_stack([self._accepted(cells), (cells.counts - cells.wrong).sum((1, 2))])

    def steer(self, total: Floats, state: State) -> State:
        people = as_floats(state["known"])
        with np.errstate(invalid="ignore"):
            rates = total[:2] / self._among(people[None])[0]
        return {"global": as_tensor(np.array([rates[0] - rates[1], total[2] / people.sum()]))}

    def client(self, round: CellRound) -> tuple[LocalTask, ...]:  # type: ignore[override]
        if self.local == "none":
            return (LocalTask(),)
        n = round.index.counts
        groups, labels, all_ = (n.sum(axis, keepdims=True) for axis in (2, 1, (1, 2)))
        with np.errstate(divide="ignore", invalid="ignore"):
            table = groups * labels / (all_ * n)
        return (LocalTask(sample_weights=round.index.spread(np.where(n > 0, table, 1.0))),)

    def keep(self, round: CellRound, received: Received) -> State:
        omega = as_floats(round.state[OMEGA])
        if GAP not in round.state:
            return {}
        gap, right = np.abs(as_floats(round.state[GAP]) - as_floats(round.state["global"])[:, None])
        delta = np.where(np.isnan(gap), right, gap)
        mean = round.add(delta[:, None])[0] / len(delta)
        return {OMEGA: as_tensor(np.maximum(omega - self.beta * (delta - mean), 0.0))}

    def weigh(self, round: CellRound) -> Floats:
        omega = as_floats(round.state[OMEGA])[round.clients]
        return omega / round.add(omega[:, None])[0]

    def _accepted(self, cells: CellSums) -> Floats:
        """People with ŷ = 1 (k, 2): of label 1 the right ones, of label 0 the wrong ones."""
        positives = cells.counts[:, :, 1] - cells.wrong[:, :, 1]
        return positives + cells.wrong[:, :, 0] if self.notion == "dp" else positives

    def _among(self, counts: Floats) -> Floats:
        """People that the rate is taken among (k, 2)."""
        return counts.sum(2) if self.notion == "dp" else counts[:, :, 1]
