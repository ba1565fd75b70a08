"""Losses and accuracies of every client on all of its data, of one model or of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairfl.sims.engine.data import ClientData
from fairfl.sims.engine.kernels.model import Model, worth
from fairfl.sims.engine.task import Floats

ROWS = 1 << 14
"""Most samples in a forward pass on a CPU."""
MODELS = 32
"""Most models in a forward pass."""
LEAST = 64 << 20
"""Bytes that a forward pass may always take, so that no memory limit changes its last bits."""


@dataclass(frozen=True)
class SampleMeasures:
    """Loss, and whether it is classified rightly (None without classes), of every sample."""

    losses: Tensor
    correct: Tensor | None
    lengths: Tensor

    def means(self, tau: float = 0.0) -> Tensor:
        """F_k (k,), summed in float64; NaN without samples. ``tau``: TERM's tilted mean."""
        losses = self.losses.to(torch.float64)
        if not tau:
            return _per_client(losses, self.lengths)
        scaled = losses * tau
        if not len(scaled):
            return scaled
        top = torch.segment_reduce(scaled, "max", lengths=self.lengths)
        each = torch.repeat_interleave(top, self.lengths, output_size=len(scaled))
        return (top + _per_client((scaled - each).exp(), self.lengths).log()) / tau

    def accuracies(self) -> Tensor | None:
        """Share of samples classified rightly (k,)."""
        right = self.correct
        return None if right is None else _per_client(right.to(torch.float64), self.lengths)


def tied(losses: Floats, rounding: float) -> Floats:
    """The losses (k,), with one value for a run of them, in order, that is no wider than
    ``rounding`` of its size and as far from all others: equal losses differ by the order in which
    they are added up, and ranks must not depend on that.
    """
    order = np.argsort(losses)
    rising = losses[order]
    apart = np.diff(rising) > rounding * np.abs(rising[1:])
    run = np.cumsum(np.append(False, apart))[: len(losses)]
    ends = (np.searchsorted(run, run, side) for side in ("left", "right"))
    first, last = (rising[at - off] for at, off in zip(ends, (0, 1), strict=True))
    result = np.empty_like(losses)
    result[order] = np.where(last - first <= rounding * np.abs(last), first, rising)
    return result


def measure_models(
    model: Model,
    params: Tensor,
    data: ClientData,
    clients: NDArray[np.int64],
    *,
    own: bool = False,
    right: bool = True,
    memory_limit: int = 1 << 30,
) -> SampleMeasures:
    """Measures of the clients (k,) by each of R models (R, P), or with ``own`` each by its own, (R,
    k, P); ``right``: whether ``correct`` is wanted.
    """
    if own:
        every = np.tile(clients, len(params))
        return _measure_own(model, params.flatten(0, 1), data, every, memory_limit, right=right)
    index = data.index(clients)
    losses, correct = list[Tensor](), list[Tensor]()
    models, step = _at_once(model, params, memory_limit)
    for part in params.split(models):
        many, found, right_ = len(part), list[Tensor](), list[Tensor]()
        for first in range(0, len(data.x) if index is None else len(index), step):
            rows = slice(first, first + step) if index is None else index[first : first + step]
            x, y = (t[rows] for t in (data.x, data.y))
            x, y = x.expand(many, *x.shape), y.expand(many, *y.shape)
            found.append(model.losses(part, x, y))
            ok = model.correct(part, x, y) if right else None
            if ok is not None:
                right_.append(ok)
        losses += [torch.cat(found, 1).flatten()] if found else []
        correct += [torch.cat(right_, 1).flatten()] if right_ else []
    lengths = data.lengths if index is None else _there(data.sizes[clients], params)
    found = torch.cat(losses) if losses else params.new_empty(0)
    fine = torch.cat(correct) if correct else None
    return SampleMeasures(found, fine, lengths.repeat(len(params)))


def _at_once(model: Model, params: Tensor, memory_limit: int) -> tuple[int, int]:
    """Models, as many as are small together, and samples that they share in a forward pass."""
    one, two = (model.bytes_per_client(batch, params.element_size()) for batch in (1, 2))
    own, each = 2 * one - two, two - one
    many = max(1, min(len(params), MODELS, LEAST // max(1, own)))
    room = (max(memory_limit, LEAST) - many * own) // max(1, many * each)
    return many, max(1, min(ROWS * worth(params.device) // many, room))


def _measure_own(
    model: Model,
    params: Tensor,
    data: ClientData,
    clients: NDArray[np.int64],
    memory_limit: int,
    *,
    right: bool,
) -> SampleMeasures:
    """Each client on its own row: clients of one size together, as the memory has room."""
    sizes, element = data.sizes[clients], params.element_size()
    begins, places = data.offsets[clients], np.cumsum(sizes) - sizes
    losses, correct = params.new_empty(int(sizes.sum())), None
    for size in np.unique(sizes[sizes > 0]).tolist():
        one = model.bytes_per_client(size, element) + element * model.size
        step = max(1, max(memory_limit, LEAST) // max(1, one))
        alike = np.flatnonzero(sizes == size)
        for who in np.split(alike, range(step, len(alike), step)):
            read, out = (
                _there(first[who][:, None] + np.arange(size), params) for first in (begins, places)
            )
            own, x, y = params[_there(who, params)], data.x[read], data.y[read]
            losses[out] = model.losses(own, x, y)
            found = model.correct(own, x, y) if right else None
            if found is not None:
                correct = torch.empty_like(losses, dtype=torch.bool) if correct is None else correct
                correct[out] = found
    return SampleMeasures(losses, correct, _there(sizes, params))


def _there(numbers: NDArray[np.int64], like: Tensor) -> Tensor:
    """Numbers on the device of ``like``."""
    return torch.from_numpy(numbers).to(like.device)


def _per_client(values: Tensor, lengths: Tensor) -> Tensor:
    """Means of consecutive runs; a client's mean depends on its own samples alone."""
    if not len(lengths):  # what torch cannot do
        return values.new_empty(0)
    return torch.segment_reduce(values, "mean", lengths=lengths)
