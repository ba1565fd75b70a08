"""GIFAIR-FL: a penalty on the differences between the losses of groups of clients."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from fairfl._support.checks import in_range
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.engine import Floats, LocalTask, Round, State
from fairfl.sims.engine.losses import tied


@dataclass(frozen=True)
class GIFAIR(FedAvg):
    """Descent on sum_k p_k F_k + lam sum_{i < j} |L_i - L_j|, L_i the mean of F_k over the clients
    k of group i.

    Its subgradient weighs grad F_k by p_k (1 + lam r_k / (p_k |A_k|)), A_k the group of k, and r_k
    the number of groups with a smaller loss than k's less that with a larger one. So a client
    scales its local gradients by the bracket, with the losses at w^t, and the server averages by
    p_k. lam = 0 is FedAvg. Groups are counted among the clients that take part, of whom one that is
    drawn j times counts as j members of its group, each with p_k / j.

    No bracket is negative as long as lam <= min_k p_k |A_k| / (d - 1), d the number of groups. By
    default lam is half of that in every round: brackets are from 1/2 on, whatever the number of
    clients and their weights, and the objective is the same in all rounds as long as the same
    clients take part.

    ``groups`` (K,) codes from 0; by default every client is a group of its own.
    Errors: ValueError for lam < 0 or above the bound, and for codes that are not whole numbers >=
    0, one for each client. Source: Yue, Nouiehed and Al Kontar, GIFAIR-FL: a framework for group
    and individual fairness in federated learning (INFORMS Journal on Data Science 2023).
    """

    lam: float | None = None
    groups: tuple[int, ...] | None = None
    name: ClassVar[str] = "gifair"
    needs_losses: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.lam is not None:
            in_range("lam", self.lam, 0.0, 1e300)
        if self.groups is not None:
            codes = np.asarray(self.groups)
            if codes.ndim != 1 or codes.dtype.kind not in "iu" or (codes < 0).any():
                raise ValueError(
                    f"groups must be whole numbers >= 0, one for each client, got {self.groups!r}"
                )

    def start(self, clients: int, weights: Floats, params: Tensor) -> State:
        if self.groups is not None and len(self.groups) != clients:
            raise ValueError(f"groups must be one code a client, {clients}, got {len(self.groups)}")
        code = self._codes(np.arange(clients))
        self._lam(weights, code, _members(code, np.ones(clients, np.int64)))
        return {}

    def client(self, round: Round) -> tuple[LocalTask, ...]:
        draw_p, code = round.p / round.draws, self._codes(round.clients)
        members = _members(code, round.draws)
        means = np.bincount(code, round.draws * round.losses) / members
        losses = tied(means, int(members.max()) * np.finfo(np.float64).eps)
        rising = np.sort(losses)
        smaller, up_to = (np.searchsorted(rising, losses, side) for side in ("left", "right"))
        rank = (smaller - (len(losses) - up_to))[code]
        lam = self._lam(draw_p, code, members)
        return (LocalTask(scale=np.maximum(1 + lam * rank / (draw_p * members[code]), 0.0)),)

    def _codes(self, clients: NDArray[np.int64]) -> NDArray[np.int64]:
        """The groups of the listed clients, numbered from 0 among themselves."""
        groups = clients if self.groups is None else np.asarray(self.groups)[clients]
        return np.unique(groups, return_inverse=True)[1]

    def _lam(self, draw_p: Floats, code: NDArray[np.int64], members: Floats) -> float:
        """lam, or half its bound; ``draw_p`` is p of every draw, ``members`` of every group."""
        bound = float((draw_p * members[code]).min() / max(1, len(members) - 1))
        if self.lam is None:
            return bound / 2
        if len(members) > 1 and self.lam > bound * (1 + 1e-12):
            raise ValueError(
                f"lam must be at most min p_k |A_k| / (d - 1) = {bound:.6g} here, got {self.lam:g}"
            )
        return self.lam


def _members(code: NDArray[np.int64], draws: NDArray[np.int64]) -> Floats:
    """Draws of every group."""
    return np.bincount(code, draws).astype(np.float64)
