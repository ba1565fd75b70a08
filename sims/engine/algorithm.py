"""Algorithm: what a client does, and what the server asks and makes of the updates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import inf
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairfl.sims.engine.by_name import ByName
from fairfl.sims.engine.task import Floats, LocalTask, as_floats, as_tensor

State = Mapping[str, Tensor]
PART = 1 << 16
"""Numbers that are taken to float64 at a time: more do not stay in a CPU's cache."""
BLOCK = 8 << 20
"""Bytes of updates added up at a time, while the next are trained: no sum depends on parts."""

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
    steps : array of int (k,)
        SGD steps that each of the clients makes in its first task; known to ``server``.
    layers : tuple of int
        Parameters of each layer of the model.
    joins : tuple of int
        The rounds up to this one in which clients joined, rising.
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
    steps: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64), kw_only=True)
    layers: tuple[int, ...] = field(default=(), kw_only=True)
    joins: tuple[int, ...] = field(default=(0,), kw_only=True)

    @cached_property
    def rows(self) -> Tensor:
        """``clients`` as an index on the device."""
        return torch.from_numpy(self.clients).to(self.params.device)

    def fields(self) -> dict[str, Any]:
        """The fields of a ``Round``, by name: to make a round of another class."""
        return {name: getattr(self, name) for name in Round.__dataclass_fields__}

    def known_losses(self) -> Floats:
        """The losses, of an algorithm that asked for them."""
        if self.losses is None:
            raise ValueError("losses must be asked for: the algorithm has needs_losses = False")
        return self.losses

    def over_draws(self, weigh: Callable[[Floats, Floats], Floats]) -> Floats:
        """Weights of the clients (k,): sums over draws of ``weigh`` of the draws' losses and p."""
        each = np.repeat(np.arange(len(self.clients)), self.draws)
        weights = weigh(self.known_losses()[each], (self.p / self.draws)[each])
        return np.bincount(each, weights, len(self.clients)).astype(np.float64)

    def among(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Self:
        """The round of some of its clients, their p scaled to sum one."""
        some = self.some(rows)
        return replace(some, p=some.p / some.p.sum())

    def some(self, rows: NDArray[np.int64] | NDArray[np.bool_] | slice, **changes: Any) -> Self:
        """The round of some of its clients, their p as they are, and with other ``changes``."""
        return replace(
            self,
            clients=self.clients[rows],
            p=self.p[rows],
            losses=None if self.losses is None else self.losses[rows],
            draws=self.draws[rows],
            steps=self.steps[rows] if len(self.steps) else self.steps,
            **changes,
        )


Arrivals = Callable[[], Iterable[tuple[Tensor, ...]]]
"""The updates of all tasks (m', P), of some clients at a time, in the order of the clients."""


@dataclass(frozen=True, eq=False)
class Received(Round):
    """What came back, m <= k clients: dropouts, and updates that were left out, are in none of the
    arrays.

    The updates w_k - w^t come in ``parts``, so that they need not be there all at once: where they
    do not fit into ``Computing.memory_limit`` a part is trained when it is asked for, and again
    when it is asked for again. ``total`` adds them up in one pass. ``updates`` and ``further`` hold
    all of them: ValueError where they take more than ``room`` bytes, the limit.
    """

    arrivals: Arrivals = field(kw_only=True)
    room: float = field(default=inf, kw_only=True)

    @cached_property
    def _all(self) -> tuple[Tensor, ...]:
        found, many, first = tuple[Tensor, ...](), len(self.clients), 0
        for part in self.arrivals():
            if len(part[0]) == many:
                found = part
                continue
            needed = sum(many * rows.shape[1] * rows.element_size() for rows in part)
            if needed > self.room:
                raise ValueError(
                    f"memory_limit must be at least {needed} bytes where a server looks at all "
                    f"updates at once, {len(part)} x {many} rows of {part[0].shape[1]} parameters, "
                    f"got {self.room}"
                )
            found = found or tuple(rows.new_empty(many, rows.shape[1]) for rows in part)
            last = first + len(part[0])
            for rows, some in zip(found, part, strict=True):
                rows[first:last] = some
            first = last
        return found

    @property
    def updates(self) -> Tensor:
        """w_k - w^t (m, P) after the first task."""
        return self._all[0]

    @property
    def further(self) -> tuple[Tensor, ...]:
        """The same of the other tasks, if any."""
        return self._all[1:]

    @cached_property
    def squares(self) -> Floats:
        """||w_k - w^t||² of each layer (m, L), on the host."""
        return as_floats(squared_norms(self.updates, self.layers or (len(self.params),)))

    def parts(self) -> Iterator[Self]:
        """The clients, some at a time: each part with its updates, its p not scaled."""
        first = 0
        for found in [self._all] if "_all" in self.__dict__ else self.arrivals():
            rows = slice(first, first + len(found[0]))
            first = rows.stop
            if len(found[0]) == len(self.clients):
                self.__dict__["_all"] = found
                yield self
            else:
                yield self.some(rows, arrivals=lambda found=found: [found])

    def changed(self, change: Callable[[Self], Tensor]) -> Self:
        """The same with the updates' rows (m', P) changed."""

        def arrivals() -> Iterator[tuple[Tensor, ...]]:
            for part in self.parts():
                yield change(part), *part.further

        return replace(self, arrivals=arrivals)

    def total(self, weights: Weigh) -> Tensor:
        """sum_k weights_k (w_k - w^t) (P,), in one pass over the parts.

        ``weights`` (m,), or (m, L) with a column a layer, or a function that gives those of a part.
        Added up in blocks of a fixed size, in the order of the clients.
        """
        done, first = None, 0
        block = max(1, BLOCK // self.params.nbytes)
        for part in self.parts():
            rows = slice(first, first := first + len(part.clients))
            own = weights(part) if callable(weights) else weights[rows]
            counted = on_device(own, self.params)
            for pair in zip(counted.split(block), part.updates.split(block), strict=True):
                more = _weighted(*pair, self.layers)
                done = more if done is None else done + more
        return torch.zeros_like(self.params) if done is None else done


Weigh = Floats | Callable[[Received], Floats]
"""Weights of the updates (m,), or (m, L) by layer, or a function that gives those of a part."""


def on_device(weights: Floats, like: Tensor) -> Tensor:
    """Weights on the device and in the dtype of ``like``; in float64 where they are too large."""
    largest = float(np.abs(weights).max(initial=0.0))
    if not np.isfinite(largest):
        raise ValueError(f"weights must be finite, one of each update received, got {weights!r}")
    # a weight of 1 / ||update|| can be too large for float32 where its product with the update
    # is not
    fits = largest <= torch.finfo(like.dtype).max
    return as_tensor(weights).to(like.device, like.dtype if fits else torch.float64)


def squared_norms(rows: Tensor, layers: tuple[int, ...]) -> Tensor:
    """||row||² of each layer (m, L), summed in float64, on the device."""
    if not len(rows):
        return rows.new_zeros(0, len(layers), dtype=torch.float64)
    norm = partial(torch.linalg.vector_norm, dim=1, dtype=torch.float64)
    some = rows.split(max(1, PART // rows.shape[1]))
    norms = [torch.stack([norm(p) for p in part.split(layers, 1)], 1) for part in some]
    return torch.cat(norms).square()


def _weighted(weights: Tensor, rows: Tensor, layers: tuple[int, ...]) -> Tensor:
    """sum_k weights_k rows_k (P,), weights (m,) or (m, L)."""
    rows = rows.to(weights.dtype)
    if weights.ndim == 1:
        return torch.mm(weights.unsqueeze(0), rows).squeeze(0)
    parts = zip(weights.unbind(1), rows.split(layers, 1), strict=True)
    return torch.cat([torch.mm(own[None], part) for own, part in parts], 1)[0]


@dataclass(frozen=True, eq=False)
class Aggregate:
    """w^(t+1) = w^t + server_lr step, and what to keep.

    Attributes
    ----------
    weights : array (m,)
        Of the updates: the step is sum_k weights_k (w_k - w^t) unless ``step`` is given.
    state : mapping
        What the algorithm keeps to the next round.
    step : tensor (P,), optional
        In place of that sum.
    """

    weights: Floats
    state: State = field(default_factory=dict)
    step: Tensor | None = None


@dataclass(frozen=True)
class Algorithm(ByName, ABC):
    """Two hooks: ``client`` says what each client does, ``server`` what is made of the updates.

    A new algorithm is a file in ``sims/algorithms`` with a frozen dataclass that has a ``name``:
    the registry finds it, and the tests take it up. Its fields are its parameters, checked in
    ``__post_init__``.
    """

    known = REGISTRY
    needs_losses: ClassVar[bool] = False

    @classmethod
    def examples(cls) -> Iterable[Algorithm]:
        """Instances that show the family, for tests and tables."""
        return [cls()]

    def client(self, round: Round) -> tuple[LocalTask, ...]:
        """What each client does; the first task is what the server aggregates."""
        return (LocalTask(),)

    @abstractmethod
    def server(self, received: Received) -> Aggregate:
        """Weights of the updates (m,), maybe the step, and the next state."""

    def start(self, clients: int, weights: Floats, params: Tensor) -> State:
        """The state before the first round; K clients with weights p_k, first parameters (P,)."""
        return {}

    @property
    def tilt(self) -> float:
        """tau of the losses asked for, (1/tau) log mean exp(tau loss); 0 for the mean loss."""
        return 0.0

    def personal(self, state: State) -> Tensor | None:
        """The clients' own models (K, P), which are measured too; None where there are none."""
        return None
