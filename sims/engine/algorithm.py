"""Algorithm: the tasks of the clients, and the server's step from their updates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

from torch import Tensor

from fairfl._support.registry import Named, Registry
from fairfl.sims.engine.round import Round, State
from fairfl.sims.engine.task import Floats, LocalTask
from fairfl.sims.engine.updates_in_blocks import Received

ALGORITHMS: Registry[type[Algorithm]] = Registry("algorithms", "fairfl.sims.algorithms")
"""Algorithms by the names that files give them."""


@dataclass(frozen=True, eq=False)
class Aggregate:
    """w^(t+1) = w^t + server_lr step, and the next state.

    Attributes
    ----------
    weights : (m,) of the updates: the step is sum_k weights_k (w_k - w^t) unless ``step`` is given.
    state : the algorithm's state for the next round.
    step : (P,) in place of that sum.
    """

    weights: Floats
    state: State = field(default_factory=dict)
    step: Tensor | None = None


@dataclass(frozen=True)
class Algorithm(Named, ABC):
    """Two hooks: ``client`` returns the tasks of each client, ``server`` aggregates the updates.

    A new algorithm is a file in ``sims/algorithms`` with a frozen dataclass that has a ``name``:
    the registry finds it, and the tests take it up. Its fields are its parameters, checked in
    ``__post_init__``.
    """

    registry = ALGORITHMS
    needs_losses: ClassVar[bool] = False

    def client(self, round: Round) -> tuple[LocalTask, ...]:
        """The tasks of each client; the server aggregates the updates of the first."""
        return (LocalTask(),)

    @abstractmethod
    def server(self, received: Received) -> Aggregate:
        """Weights of the updates (m,), maybe the step, and the next state."""

    def start(self, clients: int, weights: Floats, params: Tensor) -> State:
        """The state before the first round; K clients with weights p_k, first parameters (P,)."""
        return {}

    @property
    def tilt(self) -> float:
        """tau of the losses that it needs, (1/tau) log mean exp(tau loss); 0 for the mean loss."""
        return 0.0

    def personal(self, state: State) -> Tensor | None:
        """The clients' own models (K, P), each measured on its client; None if there are none."""
        return None

    @property
    def is_ensemble(self) -> bool:
        """Whether there is no global model: client k's own classifies a person with chance p_k."""
        return False
