"""Round and Received: what an algorithm sees before and after its clients train. Updates come in
blocks, so that those which do not fit into memory are trained some clients at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import inf
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairfl.sims.engine.kernels.model import work_factor
from fairfl.sims.engine.step import Memory
from fairfl.sims.engine.task import Floats, Ints, as_floats, sound

State = Mapping[str, Tensor]
PART = 1 << 16
"""Numbers converted to float64 at a time on a CPU: they stay in its cache."""
BLOCK = 8 << 20
"""Bytes of updates that are summed at a time, while the next are trained. The blocks, and so the
sums, do not depend on the parts in which clients are trained.
"""
Arrivals = Callable[[], Iterable[tuple[Tensor, ...]]]
"""Yields the updates of all tasks (m', P) of some clients at a time, in the order of the clients.
"""


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


@dataclass(frozen=True, eq=False)
class Received(Round):
    """The updates that the server receives, of m <= k clients: without dropouts and updates that
    were left out.

    The updates w_k - w^t come in ``parts``, so that they need not be in memory all at once: where
    they do not fit into ``Computing.memory_limit`` each pass over the parts trains them again.
    ``total`` adds them up in one pass. ``updates`` and ``further`` hold all of them: ValueError
    where they take more than ``room`` bytes, the limit. ``steps`` (m,) counts the SGD steps that
    each of the clients made in its first task. ``memory`` holds the rows (m, S) of the tasks' steps
    after training, by name.
    """

    by_client = *Round.by_client, "steps"
    steps: Ints = field(kw_only=True)
    arrivals: Arrivals = field(kw_only=True)
    room: float = field(default=inf, kw_only=True)
    names: tuple[str, ...] = field(default=(), kw_only=True)
    """Of the memory, whose rows arrive after the updates."""

    @cached_property
    def _all(self) -> tuple[Tensor, ...]:
        """All updates, and memories, in memory together."""
        updates, n_clients, first = tuple[Tensor, ...](), len(self.clients), 0
        for part in self.arrivals():
            if len(part[0]) == n_clients:
                return part
            needed = sum(n_clients * rows.shape[1] * rows.element_size() for rows in part)
            if needed > self.room:
                raise ValueError(
                    f"memory_limit must be at least {needed} bytes where a server looks at all "
                    f"updates at once, {len(part)} x {n_clients} rows of {part[0].shape[1]} "
                    f"parameters, got {self.room}"
                )
            updates = updates or tuple(rows.new_empty(n_clients, rows.shape[1]) for rows in part)
            last = first + len(part[0])
            for rows, part_rows in zip(updates, part, strict=True):
                rows[first:last] = part_rows
            first = last
        return updates

    @property
    def updates(self) -> Tensor:
        """w_k - w^t (m, P) after the first task."""
        return self._all[0]

    @property
    def further(self) -> tuple[Tensor, ...]:
        """The updates of the other tasks, if any."""
        return self._all[1 : len(self._all) - len(self.names)]

    @property
    def memory(self) -> Memory:
        """Each client's rows (m, S) after its steps, by name."""
        return dict(zip(reversed(self.names), reversed(self._all), strict=False))

    @cached_property
    def squares(self) -> Floats:
        """||w_k - w^t||² of each layer (m, L), on the host."""
        return as_floats(squared_norms(self.updates, self.layers or (len(self.params),)))

    def parts(self) -> Iterator[Self]:
        """The clients, some at a time: each part with its updates, its p not scaled."""
        first = 0
        for updates in [self._all] if "_all" in vars(self) else self.arrivals():
            rows = slice(first, first + len(updates[0]))
            first = rows.stop
            if len(updates[0]) == len(self.clients):
                vars(self)["_all"] = updates  # so that they are not trained again
                yield self
            else:
                yield self.subset(rows, arrivals=lambda updates=updates: [updates])

    def changed(self, change: Callable[[Self], Tensor]) -> Self:
        """The same with the updates' rows (m', P) changed."""

        def arrivals() -> Iterator[tuple[Tensor, ...]]:
            for part in self.parts():
                yield change(part), *part._all[1:]

        return replace(self, arrivals=arrivals)

    def total(self, weights: Weigh) -> Tensor:
        """sum_k weights_k (w_k - w^t) (P,), in one pass over the parts.

        ``weights`` (m,), or (m, L) with a column for each layer, or a function that gives those of
        a part. Added up in blocks of a fixed size, in the order of the clients.
        """
        done, first = None, 0
        block = max(1, BLOCK // self.params.nbytes)
        for part in self.parts():
            rows = slice(first, first := first + len(part.clients))
            part_weights = weights(part) if callable(weights) else weights[rows]
            counted = on_device(part_weights, self.params)
            for k in range(0, len(counted), block):
                block_sum = _weighted(
                    counted[k : k + block], part.updates[k : k + block], self.layers
                )
                done = block_sum if done is None else done + block_sum
        return torch.zeros_like(self.params) if done is None else done


Weigh = Floats | Callable[[Received], Floats]
"""Weights of the updates (m,), or (m, L) by layer, or a function that gives those of a part."""


def on_device(weights: Floats, like: Tensor) -> Tensor:
    """Weights on the device and in the dtype of ``like``; in float64 where they are too large."""
    # a weight of 1 / ||update|| can be too large for float32 where its product with the update
    # is not
    for dtype in (like.dtype, torch.float64):
        converted = torch.tensor(weights, dtype=dtype)
        if sound(converted):
            return converted.to(like.device)
    raise ValueError(f"weights must be finite, one of each update received, got {weights!r}")


def squared_norms(rows: Tensor, layers: tuple[int, ...]) -> Tensor:
    """||row||² of each layer (m, L), summed in float64, on the device."""
    if not len(rows):
        return rows.new_zeros(0, len(layers), dtype=torch.float64)
    norm = partial(torch.linalg.vector_norm, dim=1, dtype=torch.float64)
    row_parts = rows.split(max(1, PART * work_factor(rows.device) // rows.shape[1]))
    norms = [torch.stack([norm(p) for p in part.split(layers, 1)], 1) for part in row_parts]
    return torch.cat(norms).square()


def _weighted(weights: Tensor, rows: Tensor, layers: tuple[int, ...]) -> Tensor:
    """sum_k weights_k rows_k (P,), weights (m,) or (m, L)."""
    rows = rows.to(weights.dtype)
    if weights.ndim == 1:
        return torch.mv(rows.mT, weights)
    parts = zip(weights.unbind(1), rows.split(layers, 1), strict=True)
    return torch.cat([torch.mv(part.mT, layer_weights) for layer_weights, part in parts])
