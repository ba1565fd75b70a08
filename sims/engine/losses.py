"""Losses and accuracies of every client on all of its data, of one model or of its own."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairfl.sims.engine.data import ClientData
from fairfl.sims.engine.kernels.model import Model, work_factor
from fairfl.sims.engine.task import Floats

ROWS = 1 << 14
"""Maximum number of samples in a forward pass on a CPU."""
MODELS = 32
"""Maximum number of models in a forward pass."""
LEAST = 64 << 20
"""Bytes that a forward pass may always take, so that no memory limit changes its last bits."""


@dataclass(frozen=True)
class SampleMeasures:
    """Loss of every sample, and whether it is classified correctly (None without classes); losses
    that were not asked for are empty.
    """

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
        top_of_sample = torch.repeat_interleave(top, self.lengths, output_size=len(scaled))
        return (top + _per_client((scaled - top_of_sample).exp(), self.lengths).log()) / tau

    def accuracies(self) -> Tensor | None:
        """Share of samples classified rightly (k,)."""
        right = self.correct
        return None if right is None else _per_client(right.to(torch.float64), self.lengths)


def tied(losses: Floats, rounding: float) -> Floats:
    """The losses (k,), with those that differ by rounding set to their smallest: a run of sorted
    losses, no wider than ``rounding`` of its size and at least as far from the others, gets one
    value. Equal losses differ by the order of summation, and ranks must not depend on it.
    """
    order = np.argsort(losses)
    rising = losses[order]
    is_jump = np.diff(rising) > rounding * np.abs(rising[1:])
    run = np.cumsum(np.append(False, is_jump))[: len(losses)]
    low = rising[np.searchsorted(run, run, "left")]
    high = rising[np.searchsorted(run, run, "right") - 1]
    merged = np.empty_like(losses)
    merged[order] = np.where(high - low <= rounding * np.abs(high), low, rising)
    return merged


def measure_models(
    model: Model,
    params: Tensor,
    data: ClientData,
    clients: NDArray[np.int64],
    *,
    personal: bool = False,
    loss: bool = True,
    right: bool = True,
    memory_limit: int = 1 << 30,
) -> SampleMeasures:
    """Measures of the clients (k,) by each of R models (R, P), or with ``personal`` of each client
    by its own models (R, k, P); ``loss``, ``right``: whether to compute losses and ``correct``.
    """
    if personal:
        repeated = np.tile(clients, len(params))
        models = params.flatten(0, 1)
        return _personal_measures(model, models, data, repeated, memory_limit, loss, right)
    index = data.index(clients)
    losses, correct = list[Tensor](), list[Tensor]()
    n_models, step = _at_once(model, params, memory_limit)
    for part in params.split(n_models):
        count, part_losses, part_correct = len(part), list[Tensor](), list[Tensor]()
        for row in range(0, len(data.x) if index is None else len(index), step):
            rows = slice(row, row + step) if index is None else index[row : row + step]
            x, y = (t[rows] for t in (data.x, data.y))
            x, y = x.expand(count, *x.shape), y.expand(count, *y.shape)
            part_losses += [model.losses(part, x, y)] if loss else []
            is_correct = model.correct(part, x, y) if right else None
            if is_correct is not None:
                part_correct.append(is_correct)
        losses += [torch.cat(part_losses, 1).flatten()] if part_losses else []
        correct += [torch.cat(part_correct, 1).flatten()] if part_correct else []
    lengths = data.lengths if index is None else _on_device(data.sizes[clients], params)
    all_losses = torch.cat(losses) if losses else params.new_empty(0)
    all_correct = torch.cat(correct) if correct else None
    return SampleMeasures(all_losses, all_correct, lengths.repeat(len(params)))


def _at_once(model: Model, params: Tensor, memory_limit: int) -> tuple[int, int]:
    """How many models, and how many samples of each, go through one forward pass."""
    bytes_of_one, bytes_of_two = (
        model.bytes_per_client(batch, params.element_size()) for batch in (1, 2)
    )
    model_bytes, sample_bytes = 2 * bytes_of_one - bytes_of_two, bytes_of_two - bytes_of_one
    n_models = max(1, min(len(params), MODELS, LEAST // max(1, model_bytes)))
    room = (max(memory_limit, LEAST) - n_models * model_bytes) // max(1, n_models * sample_bytes)
    return n_models, max(1, min(ROWS * work_factor(params.device) // n_models, room))


def _personal_measures(
    model: Model,
    params: Tensor,
    data: ClientData,
    clients: NDArray[np.int64],
    memory_limit: int,
    loss: bool,
    right: bool,
) -> SampleMeasures:
    """Each client by its own model: clients of equal size together, as far as memory allows."""
    sizes, element = data.sizes[clients], params.element_size()
    begins, output_begins = data.offsets[clients], np.cumsum(sizes) - sizes
    samples, losses, correct = int(sizes.sum()), None, None
    for size in np.unique(sizes[sizes > 0]).tolist():
        client_bytes = model.bytes_per_client(size, element) + element * model.size
        step = max(1, max(memory_limit, LEAST) // max(1, client_bytes))
        of_size = np.flatnonzero(sizes == size)
        for part in np.split(of_size, range(step, len(of_size), step)):
            rows, outputs = (
                _on_device((first[part][:, None] + np.arange(size)).ravel(), params)
                for first in (begins, output_begins)
            )
            models = params.index_select(0, _on_device(part, params))
            x, y = (
                values.index_select(0, rows).view(len(part), size, *values.shape[1:])
                for values in (data.x, data.y)
            )
            measures = model.losses(models, x, y) if loss else None
            is_correct = model.correct(models, x, y) if right else None
            losses = _put(losses, samples, outputs, measures)
            correct = _put(correct, samples, outputs, is_correct)
    losses = params.new_empty(0) if losses is None else losses
    return SampleMeasures(losses, correct, _on_device(sizes, params))


def _put(values: Tensor | None, samples: int, places: Tensor, part: Tensor | None) -> Tensor | None:
    """The samples' values with a ``part`` of them at its places; as they are without it."""
    if part is None:
        return values
    values = part.new_empty(samples) if values is None else values
    return values.index_copy_(0, places, part.flatten())


def _on_device(numbers: NDArray[np.int64], like: Tensor) -> Tensor:
    """Numbers on the device of ``like``."""
    return torch.from_numpy(numbers).to(like.device)


def _per_client(values: Tensor, lengths: Tensor) -> Tensor:
    """Means of consecutive runs; a client's mean depends on its own samples alone."""
    if not len(lengths):  # torch rejects empty lengths
        return values.new_empty(0)
    return torch.segment_reduce(values, "mean", lengths=lengths)
