"""The steps of a chunk's clients and their samples, grouped by similar batch sizes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairfl.sims.engine.data import ClientData
from fairfl.sims.engine.draws.order import Passes, device_orders, orders
from fairfl.sims.engine.kernels.model import work_factor
from fairfl.sims.engine.task import Ints, Jobs

SPARE = 512
"""Other batch sizes share a group up to so many rows of padding, the cost of a call on a CPU."""
SHARE = 0.25
"""Clients share a group also with padding up to this share of the real rows."""
BLOCK = 1 << 21
"""Samples planned at a time."""
FEW = 1 << 16
"""Samples that the host orders in the time of a call to the GPU."""
KEPT = 16
"""Bytes of plans kept for later rounds, for each sample that may be planned at a time."""


class Run(NamedTuple):
    """Steps that clients first..last-1 of a chunk take, one after the other, on batches of
    ``width``: rows of the data (steps, (last - first) * width), with a stride of 0 where each batch
    has all samples of its client, so that all steps have the same rows.

    ``share`` (steps, last - first, width) is None where every batch is full; else it is 1 / count
    on the samples of a batch, and 0 after them, where its own first sample stands again. Where jobs
    have ``sample_weights``, it is there for all, each entry times the weight of its row.
    """

    first: int
    last: int
    width: int
    rows: Tensor
    share: Tensor | None = None


def plan(jobs: Jobs, data: ClientData, like: Tensor, limit: int = BLOCK) -> Iterator[Run]:
    """The runs of steps, one after the other; ``jobs`` with most steps come first, among equals
    those with most samples. Tensors are on the device of ``like``.

    Up to ``limit`` samples, and BLOCK, are planned at a time, or a pass of all. What stays from
    round to round is kept in ``data.plans``, the last KEPT ``limit`` bytes of it.
    """
    plans, room, is_weighted = data.plans, KEPT * limit, jobs.sample_weights is not None
    for active, begin, end in _cut(jobs.sizes, jobs.steps, jobs.batch, min(BLOCK, limit)):
        active_jobs = jobs.take(slice(0, active))
        sizes_and_steps = active_jobs.sizes.tobytes(), active_jobs.steps.tobytes()
        key = *sizes_and_steps, jobs.batch, is_weighted, begin, end, like.device, like.dtype
        shape = plans[key] = plans.pop(key, None) or _shape(active_jobs, begin, end, like)
        while sum(kept.positions.nbytes + kept.shares.nbytes for kept in plans.values()) > room:
            plans.pop(next(iter(plans)))
        yield from _block(active_jobs, shape, data.offsets[active_jobs.client], like)


def _cut(sizes: Ints, steps: Ints, batch: int, block: int) -> Iterator[tuple[int, int, int]]:
    """Steps begin..end-1 that are planned together, and how many clients take some of them."""
    begin, last = 0, int(steps[0]) if len(steps) else 0
    while begin < last:
        active = int(np.searchsorted(-steps, -begin))
        largest = int(sizes[:active].max())
        length = max(-(-largest // batch), block // (active * min(largest, batch)))
        yield active, begin, min(last, begin + length)
        begin += length


def _block(jobs: Jobs, shape: _Shape, base: Ints, like: Tensor) -> list[Run]:
    """The runs of a plan, their rows and shares on the device in one piece each."""
    if like.device.type == "cpu" or shape.lengths.sum() < FEW:
        order = orders(jobs.keys, shape.passes)
        order += np.repeat(base, shape.lengths)
        order_rows = torch.from_numpy(order).to(like.device)
    else:
        order_rows = device_orders(jobs.keys, shape.passes, base, like.device)
    rows, shares = order_rows.index_select(0, shape.positions), shape.shares
    if jobs.sample_weights is not None:
        shares = shares * _weights(jobs, order_rows, shape.lengths).index_select(0, shape.positions)
    runs, used = list[Run](), 0
    lengths = [planned * (b - a) * width for _, planned, (a, b, width, _) in shape.pieces]
    parts = zip(shape.pieces, rows.split_with_sizes(lengths), strict=True)
    for (steps, planned, (a, b, width, has_shares)), part in parts:
        share = None
        if has_shares:
            share = shares[used : used + len(part)].view(planned, b - a, width)
            share = share.expand(steps, -1, -1)
            used += len(part)
        runs.append(Run(a, b, width, part.view(planned, -1).expand(steps, -1), share))
    return runs


def _weights(jobs: Jobs, rows: Tensor, lengths: Ints) -> Tensor:
    """Each row's weight, from the table of its job; ``lengths`` are the rows of each job."""
    assert jobs.sample_weights is not None and jobs.weights_of is not None  # they come together
    starts = torch.from_numpy(jobs.weights_of * jobs.sample_weights.shape[1]).to(rows.device)
    counts = torch.from_numpy(lengths).to(rows.device)
    table = torch.repeat_interleave(starts, counts, output_size=len(rows))
    return jobs.sample_weights.flatten().index_select(0, table.add_(rows))


Piece = tuple[int, int, int, bool]
"""First and last client of a run, its width, and whether it has shares."""


@dataclass(frozen=True, eq=False)
class _Shape:
    """The part of a plan that is the same in every round: the runs, the passes, the samples of each
    client (J,) in them, and on the device the positions of the batches in the orders, and the
    shares of the runs that have some, one after the other. A run has its steps, and how many of
    them are planned: one, which stands for all, where each batch has all samples of its client.
    """

    pieces: list[tuple[int, int, Piece]]
    passes: Passes
    lengths: Ints
    positions: Tensor
    shares: Tensor


def _shape(jobs: Jobs, begin: int, end: int, like: Tensor) -> _Shape:
    """The plan for these sizes and steps. With ``sample_weights`` every run has its shares."""
    sizes, step_counts, batch_size = jobs.sizes, jobs.steps, jobs.batch
    is_weighted = jobs.sample_weights is not None
    batches_per_pass = -(-sizes // batch_size)
    is_whole = bool((batches_per_pass == 1).all())
    first_pass = begin // batches_per_pass
    passes = (np.minimum(step_counts, end) - 1) // batches_per_pass - first_pass + 1
    if is_whole:
        passes = np.ones_like(passes)
    lengths = sizes * passes
    starts = np.cumsum(lengths) - lengths - first_pass * sizes
    steps: list[list[tuple[Piece, Ints, NDArray[np.float64]]]] = []
    for t in range(begin, end):
        active = int(np.searchsorted(-step_counts, -t))
        pass_number, batch_number = np.divmod(begin if is_whole else t, batches_per_pass[:active])
        batch_starts = starts[:active] + pass_number * sizes[:active] + batch_number * batch_size
        counts = np.minimum(batch_size, sizes[:active] - batch_number * batch_size)
        steps.append([])
        for first, stop in groups(counts, SPARE * work_factor(like.device)):
            width = int(counts[first:stop].max())
            is_full = bool((counts[first:stop] == width).all())
            has_shares = is_weighted or not is_full
            columns, batch_sizes = np.arange(width), counts[first:stop, None]
            is_real = columns < batch_sizes
            share = (is_real / batch_sizes).ravel() if has_shares else np.zeros(0)
            if not is_full:
                columns = np.where(is_real, columns, 0)
            piece = first, stop, width, has_shares
            steps[-1].append((piece, (batch_starts[first:stop, None] + columns).ravel(), share))
    # steps in a row with the same clients and widths are one run for each of these
    alike = groupby(steps, key=lambda step: [piece for piece, _, _ in step])
    runs = [run for _, same in alike for run in zip(*same, strict=True)]
    kept = [run[:1] if is_whole else run for run in runs]
    planned = [step for run in kept for step in run]
    return _Shape(
        [(len(run), len(part), run[0][0]) for run, part in zip(runs, kept, strict=True)],
        Passes.of(sizes, first_pass, passes, sizes > batch_size),
        lengths,
        torch.from_numpy(np.concatenate([places for _, places, _ in planned])).to(like.device),
        torch.from_numpy(np.concatenate([share for _, _, share in planned])).to(like),
    )


def groups(counts: Ints, spare: int = SPARE) -> list[tuple[int, int]]:
    """Ranges of clients of similar batch sizes, padded by ``spare`` rows or a SHARE of all."""
    if len(counts) == 0:
        return []
    largest = int(counts.max())
    if largest * len(counts) - int(counts.sum()) <= max(spare, SHARE * int(counts.sum())):
        return [(0, len(counts))]
    ranges: list[tuple[int, int]] = []
    start, widest, real = 0, int(counts[0]), int(counts[0])
    for k in range(1, len(counts)):
        count = int(counts[k])
        wider, total = max(widest, count), real + count
        if wider * (k + 1 - start) - total > max(spare, SHARE * total):
            ranges.append((start, k))
            start, widest, real = k, count, count
        else:
            widest, real = wider, total
    ranges.append((start, len(counts)))
    return ranges
