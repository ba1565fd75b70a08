"""GIFAIR-FL: a penalty on the differences between the losses of groups of clients."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.engine.algorithm import Algorithm, Round, State
from fairfl.sims.engine.task import Floats, LocalTask
from fairfl.theory.checks import in_range


@dataclass(frozen=True)
class GIFAIR(FedAvg):
    """Descent on sum_k p_k F_k + lam sum_{i < j} |L_i - L_j|, L_i the mean of F_k over the clients k of group i.

    Its subgradient weighs grad F_k by p_k (1 + lam r_k / (p_k |A_k|)), A_k the group of k, and r_k the number of groups
    with a smaller loss than k's less that with a larger one. So a client scales its local gradients by the bracket,
    with the losses at w^t, and the server averages by p_k. lam = 0 is FedAvg. Groups are counted among the clients that
    take part.

    ``groups`` (K,) codes from 0; by default every client is a group of its own.
    Errors: ValueError for lam < 0, codes that are not whole numbers >= 0 or not one a client, and for lam so large that
    a bracket could be negative: lam must be at most min_k p_k |A_k| / (d - 1) with d groups.
    Source: Yue, Nouiehed and Al Kontar, GIFAIR-FL: a framework for group and individual fairness in federated learning
    (INFORMS Journal on Data Science 2023).
    """

    lam: float = 0.001
    groups: tuple[int, ...] | None = None
    name: ClassVar[str] = "gifair"
    needs_losses: ClassVar[bool] = True

    def __post_init__(self) -> None:
        in_range("lam", self.lam, 0.0, 1e300)
        if self.groups is not None:
            codes = np.asarray(self.groups)
            if codes.ndim != 1 or codes.dtype.kind not in "iu" or (codes < 0).any():
                raise ValueError(f"groups must be whole numbers >= 0, one a client, got {self.groups!r}")

    @classmethod
    def examples(cls) -> Iterable[Algorithm]:
        return [cls(0.001), cls(0.0)]

    def start(self, clients: int, weights: Floats, params: Tensor) -> State:
        if self.groups is not None and len(self.groups) != clients:
            raise ValueError(f"groups must be one code a client, {clients}, got {len(self.groups)}")
        _, sizes = self._groups(np.arange(clients))
        self._check(weights, sizes)
        return {}

    def client(self, round: Round) -> tuple[LocalTask, ...]:
        own, sizes = self._groups(round.clients)
        self._check(round.p, sizes)
        _, code = np.unique(own, return_inverse=True)
        losses = np.bincount(code, weights=round.known_losses()) / np.bincount(code)
        rising = np.sort(losses)
        smaller, up_to = (np.searchsorted(rising, losses, side) for side in ("left", "right"))
        rank = (smaller - (len(losses) - up_to))[code]
        return (LocalTask(scale=np.maximum(1 + self.lam * rank / (round.p * sizes), 0.0)),)

    def _groups(self, clients: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The group of each listed client, and how many of the listed are in it."""
        own = clients if self.groups is None else np.asarray(self.groups)[clients]
        _, code, counts = np.unique(own, return_inverse=True, return_counts=True)
        return own, counts[code]

    def _check(self, p: Floats, sizes: NDArray[np.int64]) -> None:
        count = round(float((1 / sizes).sum()))
        if count < 2:
            return
        most = float((p * sizes).min() / (count - 1))
        if self.lam > most * (1 + 1e-12):
            raise ValueError(f"lam must be at most min p_k |A_k| / (d - 1) = {most:.6g} here, got {self.lam:g}")
