"""F_k(w^t) on all data of each client, before training; its samples are counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairfl.sims.engine.data import ClientData
from fairfl.sims.engine.model import Model
from fairfl.sims.engine.task import Floats

ROWS = 1 << 14  # samples in a forward pass at most
MODELS = 32  # models in a forward pass at most
# bytes that a forward may always take: with a tighter limit its last bits would depend on it
LEAST = 64 << 20


@dataclass(frozen=True)
class SampleMeasures:
    """Loss, and whether it is classified rightly (None without classes), of every sample."""

    losses: Tensor
    correct: Tensor | None
    lengths: Tensor

    def of_each(self, models: int) -> list[SampleMeasures]:
        """Those of each of so many models, of the same clients."""
        parts = zip(
            self.losses.chunk(models),
            [None] * models if self.correct is None else self.correct.chunk(models),
            self.lengths.chunk(models),
            strict=True,
        )
        return [SampleMeasures(*part) for part in parts]

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


def measure(
    model: Model,
    params: Tensor,
    data: ClientData,
    clients: NDArray[np.int64],
    *,
    own: bool = False,
    **options: Any,
) -> SampleMeasures:
    """Measures of the clients, on the same parameters (P,) or, with ``own``, a row (k, P) each."""
    return measure_models(model, params[None], data, clients, own=own, **options)


def measure_models(
    model: Model,
    params: Tensor,
    data: ClientData,
    clients: NDArray[np.int64],
    *,
    own: bool = False,
    right: bool = True,
    memory_limit: int = 1 << 30,
    there: Tensor | None = None,
) -> SampleMeasures:
    """The same of R models (R, P), or own (R, k, P). ``there``: ``clients`` on the device."""
    there = torch.from_numpy(clients).to(params.device) if there is None else there
    if own:
        every = np.tile(clients, len(params)), there.repeat(len(params))
        return _measure_own(model, params.flatten(0, 1), data, *every, right, memory_limit)
    lengths = data.there[1][there].repeat(len(params))
    whole = len(clients) == data.clients and (clients == np.arange(data.clients)).all()
    index = None if whole else data.rows_there(there, int(data.sizes[clients].sum()))
    some = models_at_once(model, params)
    losses, correct = [], []
    for part in params.split(some):
        found, fine = _measure_shared(model, part, data, index, right, memory_limit)
        losses += found
        correct += fine
    return SampleMeasures(
        _join(losses, params), _join(correct, params) if correct else None, lengths
    )


def _measure_shared(
    model: Model,
    params: Tensor,
    data: ClientData,
    index: Tensor | None,
    right: bool,
    memory_limit: int,
) -> tuple[list[Tensor], list[Tensor]]:
    """Losses (R n,) of models on the same rows, and where they are right; in lists, or none."""
    many, count = len(params), len(data.x) if index is None else len(index)
    step = rows_at_once(model, params, memory_limit)
    losses, correct = [], []
    for first in range(0, count, step):
        part = slice(first, min(first + step, count))
        if index is None:
            x, y = data.x[part], data.y[part]
        else:
            x, y = data.x.index_select(0, index[part]), data.y.index_select(0, index[part])
        x, y = x.expand(many, *x.shape), y.expand(many, *y.shape)
        losses.append(model.losses(params, x, y))
        found = model.correct(params, x, y) if right else None
        if found is not None:
            correct.append(found)
    return _joined(losses), _joined(correct)


def models_at_once(model: Model, params: Tensor) -> int:
    """Models of a forward pass of shared samples: as many as are small together."""
    return max(1, min(len(params), MODELS, LEAST // max(1, _alone(model, params)[0])))


def rows_at_once(model: Model, params: Tensor, memory_limit: int) -> int:
    """Samples of a forward pass of all models (R, P), beside the parameters, there once."""
    many, (own, each) = len(params), _alone(model, params)
    room = (max(memory_limit, LEAST) - many * own) // max(1, many * each)
    return max(1, min(ROWS // many, room))


def _alone(model: Model, params: Tensor) -> tuple[int, int]:
    """Bytes that one model takes, and each sample besides."""
    one, two = (model.bytes_per_client(batch, params.element_size()) for batch in (1, 2))
    return 2 * one - two, two - one


def _measure_own(
    model: Model,
    params: Tensor,
    data: ClientData,
    clients: NDArray[np.int64],
    there: Tensor,
    right: bool,
    memory_limit: int,
) -> SampleMeasures:
    """Each client on its own row: clients of one size together, as the memory has room."""
    sizes = data.sizes[clients]
    several, counts = np.unique(sizes, return_counts=True)
    begins = data.offsets[clients][np.argsort(sizes, kind="stable")]
    first, lengths, _ = data.there[:, there]
    shift = lengths.cumsum(0) - lengths - first  # from the rows of the data to those of the result
    order, total = torch.sort(lengths, stable=True).indices, int(sizes.sum())
    rows = data.rows_there(there[order], total)
    back = rows + torch.repeat_interleave(shift[order], lengths[order], output_size=total)
    losses, correct = params.new_empty(total), None
    each = zip(
        several.tolist(),
        np.split(begins, np.cumsum(counts)[:-1]),
        order.split(counts.tolist()),
        *(of.split((counts * several).tolist()) for of in (back, rows)),
        strict=True,
    )
    for size, begin, who, places, read in each:
        if size == 0:
            continue
        one = (
            model.bytes_per_client(size, params.element_size()) + params.element_size() * model.size
        )
        step = max(1, max(memory_limit, LEAST) // max(1, one))
        for at in range(0, len(begin), step):
            part = slice(at, at + step)
            begins, samples = begin[part], slice(at * size, (at + step) * size)
            if (begins == begins[0]).all():  # one client's rows, of several models
                x, y = (
                    t[begins[0] : begins[0] + size].expand(len(begins), *t[:size].shape)
                    for t in (data.x, data.y)
                )
            else:
                x, y = (
                    t.index_select(0, read[samples]).view(len(begins), size, *t.shape[1:])
                    for t in (data.x, data.y)
                )
            own, out = params[who[part]], places[samples]
            losses[out] = model.losses(own, x, y).reshape(-1)
            found = model.correct(own, x, y) if right else None
            if found is not None:
                correct = torch.empty_like(losses, dtype=torch.bool) if correct is None else correct
                correct[out] = found.reshape(-1)
    return SampleMeasures(losses, correct, lengths)


def _join(parts: list[Tensor], like: Tensor) -> Tensor:
    return torch.cat(parts) if parts else like.new_empty(0)


def _joined(parts: list[Tensor]) -> list[Tensor]:
    """Pieces (R, b) as one run after the other, (R n,)."""
    return [torch.cat(parts, 1).flatten()] if parts else []


def _per_client(values: Tensor, lengths: Tensor) -> Tensor:
    """Means of consecutive runs; a client's mean depends on its own samples alone."""
    if not len(lengths):  # what torch cannot do
        return values.new_empty(0)
    return torch.segment_reduce(values, "mean", lengths=lengths)
