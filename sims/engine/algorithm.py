"""Algorithm: the tasks of the clients, and the server's step from their finite updates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairfl._support.checks import instance
from fairfl._support.registry import Named, Registry
from fairfl.sims.engine.round import Arrivals, Received, Round, State
from fairfl.sims.engine.task import Floats, Ints, LocalTask, sound

if TYPE_CHECKING:
    from fairfl.sims.engine.secure_sums import Summed

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


class NonFiniteUpdate(ArithmeticError):
    """A client's update or loss is NaN or infinite, and the policy is to stop."""


def finite(*tasks: Tensor) -> NDArray[np.bool_]:
    """Which rows (m,) hold neither NaN nor an infinity in any of the updates (m, P)."""
    is_finite = (torch.isfinite(updates).all(1).cpu().numpy() for updates in tasks)
    return reduce(np.logical_and, is_finite)


def refuse(ids: Ints, round: int, quantity: str) -> None:
    """Raise NonFiniteUpdate with the clients' ids and the round."""
    more_note = f" and {len(ids) - 5} more" if len(ids) > 5 else ""
    names = ", ".join(str(int(k)) for k in ids[:5]) + more_note
    raise NonFiniteUpdate(
        f"the {quantity} of client {names} is NaN or infinite in round {round}: lower the learning "
        "rate, or set non_finite='drop'"
    )


def finite_arrivals(
    train: Arrivals, ids: Ints, round: int, *, drop: bool
) -> Iterator[tuple[Tensor, ...]]:
    """The finite updates of the clients ``ids`` (k,); another raises without ``drop``."""
    first = 0
    for part in train():
        part_ids = ids[first : first + len(part[0])]
        first += len(part_ids)
        if all(map(sound, part)):
            yield part
            continue
        is_finite = finite(*part)
        if not drop:
            refuse(part_ids[~is_finite], round, "update")
        if is_finite.any():
            index = torch.from_numpy(np.flatnonzero(is_finite)).to(part[0].device)
            yield tuple(task[index] for task in part)


def server_step(
    server: Algorithm | Summed, received: Received, ids: Ints, *, drop: bool
) -> tuple[Received, Aggregate] | None:
    """The updates received and the server's aggregate; None if no update is finite.

    An update that is not finite stops the run; with ``drop`` a first pass finds such updates, and
    they are left out.
    """
    train = received.arrivals
    arrivals = partial(finite_arrivals, train, ids, received.number, drop=drop)
    received = replace(received, arrivals=arrivals)
    if drop:
        is_finite = np.concatenate([finite(*part) for part in train()])
        if not is_finite.any():
            return None
        received = received if is_finite.all() else received.among(is_finite)
    return received, _aggregate(server, received)


def _aggregate(server: Algorithm | Summed, received: Received) -> Aggregate:
    """The server's aggregate, with its step; ValueError unless each update has a weight."""
    aggregate = instance(f"server of {type(server).__name__}", server.server(received), Aggregate)
    weights = np.asarray(aggregate.weights, dtype=np.float64)
    if weights.shape != received.clients.shape:
        raise ValueError(f"weights must be one of each update, got {weights!r} from {server!r}")
    step = received.total(weights) if aggregate.step is None else aggregate.step
    return Aggregate(weights, aggregate.state, step)
