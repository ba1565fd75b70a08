"""Round: what an algorithm sees of a round before its clients train."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairfl.sims.engine.task import Floats

State = Mapping[str, Tensor]


@dataclass(frozen=True, eq=False)
class Round:
    """One replicate's round before its clients train, k of K clients taking part.

    Attributes
    ----------
    number : t, from 0.
    clients : (k,) clients that take part, positions in the data, rising; read-only, if shared.
    p : (k,) client weights among them, > 0, sum one: see ``Participation``.
    everyone : (K,) the federation's weights p_k.
    params : (P,) w^t.
    lr : of the clients in this round.
    losses : (k,) F_k(w^t) on all data of each client, for an algorithm with ``needs_losses``; for
        another ValueError, and ``measured_losses`` is None.
    state : the algorithm's state.
    draws : (k,) draws of each client: more than one only by a participation with replacement. A
        client trains once, and its p is the sum over its draws; an algorithm that ranks or compares
        clients counts it once for each draw.
    layers : parameters of each layer of the model.
    joins : the rounds up to this one in which clients joined, rising.
    """

    by_client = ("clients", "p", "measured_losses", "draws")
    number: int
    clients: NDArray[np.int64]
    p: Floats
    everyone: Floats
    params: Tensor
    lr: float
    measured_losses: Floats | None
    state: State
    draws: NDArray[np.int64] = field(kw_only=True)
    layers: tuple[int, ...] = field(default=(), kw_only=True)
    joins: tuple[int, ...] = field(default=(0,), kw_only=True)

    @cached_property
    def rows(self) -> Tensor:
        """``clients`` as an index on the device."""
        return torch.tensor(self.clients, device=self.params.device)

    def fields(self) -> dict[str, Any]:
        """The fields of a ``Round``, by name: to make a round of another class."""
        return {name: getattr(self, name) for name in Round.__dataclass_fields__}

    @property
    def losses(self) -> Floats:
        """The losses; ValueError for an algorithm without ``needs_losses``."""
        if self.measured_losses is None:
            raise ValueError("losses must be asked for: the algorithm has needs_losses = False")
        return self.measured_losses

    def over_draws(self, weigh: Callable[[Floats, Floats], Floats]) -> Floats:
        """Weights of the clients (k,): sums over draws of ``weigh`` of the draws' losses and p."""
        draw_client = np.repeat(np.arange(len(self.clients)), self.draws)
        weights = weigh(self.losses[draw_client], (self.p / self.draws)[draw_client])
        return np.bincount(draw_client, weights, len(self.clients)).astype(np.float64)

    def among(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Self:
        """The round of some of its clients, their p scaled to sum one."""
        subset = self.subset(rows)
        return replace(subset, p=subset.p / subset.p.sum())

    def subset(self, rows: NDArray[np.int64] | NDArray[np.bool_] | slice, **changes: Any) -> Self:
        """The round of some of its clients, their p as they are, and with other ``changes``."""
        arrays = {name: getattr(self, name) for name in self.by_client}
        taken = {name: None if array is None else array[rows] for name, array in arrays.items()}
        return replace(self, **taken, **changes)
