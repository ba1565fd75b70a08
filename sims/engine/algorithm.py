"""Algorithm: the two hooks, what a client does and how the server weighs updates, and what each
receives.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairfl.sims.engine.task import Floats, LocalTask

State = Mapping[str, Tensor]
PART = 1 << 22  # numbers that are squared in float64 at a time

REGISTRY: dict[str, type[Algorithm]] = {}


@dataclass(frozen=True, eq=False)
class Round:
    """One replicate's round before its clients train, k of K clients taking part.

    Attributes
    ----------
    number : int
        t, from 0.
    clients : array of int (k,)
        Who takes part, positions in the data.
    p : array (k,)
        Client weights among them, > 0, sum one: see ``Participation``.
    everyone : array (K,)
        The federation's weights p_k.
    params : tensor (P,)
        w^t.
    lr : float
        Of the clients in this round.
    losses : array (k,), or None
        F_k(w^t) on all data of each client, for an algorithm that asks for it (``needs_losses``).
    state : mapping
        What the algorithm keeps from round to round.
    draws : array of int (k,)
        How often each of the clients is drawn: more than once by a participation with replacement
        alone. It trains once, and its p is the sum over its draws; what else looks at clients one
        by one counts it so often.
    """

    number: int
    clients: NDArray[np.int64]
    p: Floats
    everyone: Floats
    params: Tensor
    lr: float
    losses: Floats | None
    state: State
    draws: NDArray[np.int64] = field(kw_only=True)

    def known_losses(self) -> Floats:
        """The losses, of an algorithm that asked for them."""
        if self.losses is None:
            raise ValueError("losses must be asked for: the algorithm has needs_losses = False")
        return self.losses

    def over_draws(self, weigh: Callable[[Floats, Floats], Floats]) -> Floats:
        """Weights of the clients (k,): sums over draws of what ``weigh`` makes of all draws' losses
        and p (m,).
        """
        each = np.repeat(np.arange(len(self.clients)), self.draws)
        weights = weigh(self.known_losses()[each], (self.p / self.draws)[each])
        return np.bincount(each, weights, len(self.clients)).astype(np.float64)

    def among(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Self:
        """The round of some of its clients, their p scaled to sum one."""
        p, losses = self.p[rows], None if self.losses is None else self.losses[rows]
        return replace(
            self, clients=self.clients[rows], p=p / p.sum(), losses=losses, draws=self.draws[rows]
        )


@dataclass(frozen=True, eq=False)
class Received(Round):
    """What came back, m <= k clients: dropouts, and updates that were left out, are in none of the
    arrays.

    Attributes
    ----------
    updates : tensor (m, P)
        w_k - w^t after the first task.
    further : tuple of tensors (m, P)
        The same of the other tasks, if any.
    """

    updates: Tensor
    further: tuple[Tensor, ...] = ()

    def squared_norms(self) -> Floats:
        """||w_k - w^t||² (m,), summed in float64."""
        some = max(1, PART // max(1, self.updates.shape[1]))
        parts = [part.to(torch.float64).square().sum(1) for part in self.updates.split(some)]
        return torch.cat(parts).cpu().numpy() if len(self.updates) else np.zeros(0)


@dataclass(frozen=True, eq=False)
class Aggregate:
    """w^(t+1) = w^t + server_lr sum_k weights_k (w_k - w^t), and what to keep."""

    weights: Floats
    state: State = field(default_factory=dict)


@dataclass(frozen=True)
class Algorithm(ABC):
    """Two hooks: ``client`` says what each client does, ``server`` how the updates are weighed.

    A new algorithm is a file in ``sims/algorithms`` with a frozen dataclass that has a ``name``:
    the registry finds it, and the tests take it up. Its fields are its parameters, checked in
    ``__post_init__``.
    """

    name: ClassVar[str] = ""
    needs_losses: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__dict__.get("name"):
            REGISTRY[cls.name] = cls

    @classmethod
    def examples(cls) -> Iterable[Algorithm]:
        """Instances that show the family, for tests and tables."""
        return [cls()]

    def client(self, round: Round) -> tuple[LocalTask, ...]:
        """What each client does; the first task is what the server aggregates."""
        return (LocalTask(),)

    @abstractmethod
    def server(self, received: Received) -> Aggregate:
        """Weights of the updates (m,), and the state from now on."""

    def start(self, clients: int, weights: Floats, params: Tensor) -> State:
        """The state before the first round; K clients with weights p_k, first parameters (P,)."""
        return {}

    @property
    def tilt(self) -> float:
        """tau of the client losses asked for, (1/tau) log mean exp(tau loss); 0 for the mean
        loss.
        """
        return 0.0

    def personal(self, state: State) -> Tensor | None:
        """Models of the clients' own (K, P), measured beside the global one; None where there are
        none.
        """
        return None
