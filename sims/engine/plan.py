"""Which clients step when, and on which samples: the active clients of a chunk, in groups of equal
batch sizes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairfl.sims.engine.draws.device_order import orders_on
from fairfl.sims.engine.draws.order import orders
from fairfl.sims.engine.task import Jobs

Ints = NDArray[np.int64]
# rows that may be padded rather than start a group of their own: a call costs about as much
SPARE = 512
SHARE = 0.25  # or this part of the rows that are real
BLOCK = 1 << 21  # samples planned at a time
KEPT = 1 << 24  # samples of the plans that are kept for the next rounds, 8 or 16 bytes a sample


class Group(NamedTuple):
    """The step of clients first..last-1 of a chunk: rows (last - first, width) of the data, flat.

    ``counts`` is None where every row is full; else row i has counts[i] samples, and its own first
    sample again after them; ``share`` (last - first, width) is then 1 / counts[i] on the samples
    and 0 after them. Where jobs have ``sample_weights``, ``share`` is there for all groups, each
    entry times the weight of its row.
    """

    first: int
    last: int
    width: int
    rows: Tensor
    counts: Ints | None
    share: Tensor | None = None


def by_work(steps: Ints, sizes: Ints, ids: Ints, replicate: Ints) -> Ints:
    """The order in which jobs are packed: most steps first, then most samples, then by id."""
    return np.lexsort((replicate, ids, -sizes, -steps))


def plan(
    jobs: Jobs, offsets: Ints, like: Tensor, most: int | None = None, in_turn: bool = False
) -> Iterator[Group]:
    """The groups that take a step, one step after the other; ``jobs`` are sorted ``by_work``.
    Tensors are on the device of ``like``. With ``in_turn`` a group is one client, who takes all
    steps that are planned before the next one does.

    Up to ``most`` samples (BLOCK by default, and never more) are planned at a time, or a pass of
    all.
    """
    block = BLOCK if most is None else min(BLOCK, most)
    per_pass = -(-jobs.sizes // jobs.batch)
    last = int(jobs.steps[0]) if len(jobs) else 0
    begin = 0
    while begin < last:
        active = int(np.searchsorted(-jobs.steps, -begin))
        width = int(np.minimum(jobs.sizes[:active], jobs.batch).max())
        length = max(int(per_pass[:active].max()), block // max(1, active * width))
        end = min(last, begin + length)
        some = jobs.take(slice(0, active))
        planned = _block(some, per_pass[:active], offsets, begin, end, like)
        yield from _alone(planned) if in_turn else planned
        begin = end


def _alone(planned: list[Group]) -> list[Group]:
    """The same for each client alone, one client after the other; no row is padded."""
    result = list[Group]()
    for first, last, width, rows, counts, share in planned:
        for k in range(last - first):
            count = width if counts is None else int(counts[k])
            own = None if share is None else share[k : k + 1, :count]
            some = rows[k * width : k * width + count]
            result.append(Group(first + k, first + k + 1, count, some, None, own))
    return sorted(result, key=lambda group: group.first)


def _block(
    jobs: Jobs, per_pass: Ints, offsets: Ints, begin: int, end: int, like: Tensor
) -> list[Group]:
    """Steps begin..end-1, their rows and shares on the device in one piece each."""
    first = begin // per_pass
    passes = (np.minimum(jobs.steps, end) - 1) // per_pass - first + 1
    drawn = jobs.keys, jobs.sizes, first, passes, jobs.sizes > jobs.batch
    weighted = jobs.sample_weights is not None
    what = jobs.sizes.tobytes(), jobs.steps.tobytes(), jobs.batch, begin, end, weighted
    base = offsets[jobs.client]
    if like.device.type == "cpu":
        order = orders(*drawn)
        order += np.repeat(base, jobs.sizes * passes)
        shape = _kept(what)
        places = torch.from_numpy(shape.places)
        shares = torch.from_numpy(shape.shares).to(like.dtype)
        there = torch.from_numpy(order)
    else:
        shape, places, shares = _shape_there(*what, like.device, like.dtype)
        there = orders_on(like.device, *drawn, base)
    rows = there.index_select(0, places)
    if weighted:
        shares = shares * _weights(jobs, there, jobs.sizes * passes).index_select(0, places)
    result, position, shared = list[Group](), 0, 0
    for a, b, width, counts in shape.pieces:
        many, share = (b - a) * width, None
        if weighted or counts is not None:
            share = shares[shared : shared + many].view(b - a, width)
            shared += many
        result.append(Group(a, b, width, rows[position : position + many], counts, share))
        position += many
    return result


def _weights(jobs: Jobs, rows: Tensor, lengths: Ints) -> Tensor:
    """Each row's weight, of the table of the job that it is drawn for; the jobs' rows have these
    lengths.
    """
    assert jobs.sample_weights is not None and jobs.weights_of is not None  # they come together
    starts = torch.from_numpy(jobs.weights_of * jobs.sample_weights.shape[1]).to(rows.device)
    table = torch.repeat_interleave(
        starts, torch.from_numpy(lengths).to(rows.device), output_size=len(rows)
    )
    return jobs.sample_weights.flatten().index_select(0, table.add_(rows))


Piece = tuple[int, int, int, Ints | None]
"""First and last client, width and counts of a group."""


@dataclass(frozen=True, eq=False)
class _Shape:
    """What stays from round to round: who steps with how many samples, where these stand in the
    orders, and the shares of the groups that have padded rows, or of all, one after the other.
    """

    pieces: list[Piece]
    places: Ints
    shares: NDArray[np.float64]


What = tuple[bytes, bytes, int, int, int, bool]
"""The arguments of ``_shape``."""
_plans: OrderedDict[What, _Shape] = OrderedDict()


def _kept(what: What) -> _Shape:
    """The plan, made once for as long as it is among the last that were asked for."""
    shape = _plans.pop(what) if what in _plans else _shape(*what)
    _plans[what] = shape
    while sum(len(plan.places) for plan in _plans.values()) > KEPT:
        _plans.popitem(last=False)
    return shape


def _shape(
    size_bytes: bytes, step_bytes: bytes, batch: int, begin: int, end: int, shared: bool
) -> _Shape:
    """The plan of clients with these sizes and numbers of steps, which are bytes so that they can
    be looked up.

    With ``shared`` every group has its shares.
    """
    sizes, last = np.frombuffer(size_bytes, np.int64), np.frombuffer(step_bytes, np.int64)
    per_pass = -(-sizes // batch)
    first = begin // per_pass
    lengths = sizes * ((np.minimum(last, end) - 1) // per_pass - first + 1)
    starts = np.cumsum(lengths) - lengths - first * sizes
    places: list[Ints] = []
    shares: list[NDArray[np.float64]] = [np.zeros(0)]
    pieces: list[Piece] = []
    for t in range(begin, end):
        active = int(np.searchsorted(-last, -t))
        number, within = np.divmod(t, per_pass[:active])
        at = starts[:active] + number * sizes[:active] + within * batch
        counts = np.minimum(batch, sizes[:active] - within * batch)
        for a, b in groups(counts):
            width = int(counts[a:b].max())
            full = bool((counts[a:b] == width).all())
            reach, own = np.arange(width), counts[a:b, None]
            pieces.append((a, b, width, None if full else counts[a:b]))
            if shared or not full:
                shares.append(((reach < own) / own).ravel())
            if not full:
                reach = np.where(reach < own, reach, 0)
            places.append((at[a:b, None] + reach).ravel())
    return _Shape(pieces, np.concatenate(places), np.concatenate(shares))


@lru_cache(maxsize=4)
def _shape_there(
    size_bytes: bytes,
    step_bytes: bytes,
    batch: int,
    begin: int,
    end: int,
    shared: bool,
    device: torch.device,
    dtype: torch.dtype,
) -> tuple[_Shape, Tensor, Tensor]:
    """The same with places and shares on a device, where they stay for the next rounds with the
    same clients.
    """
    shape = _shape(size_bytes, step_bytes, batch, begin, end, shared)
    places = torch.from_numpy(shape.places).to(device)
    shares = torch.from_numpy(shape.shares).to(device, dtype)
    return shape, places, shares


def groups(counts: Ints) -> list[tuple[int, int]]:
    """Cut clients into runs of like batch sizes, so that at most SPARE rows, or SHARE of the real
    ones, are padded.
    """
    if len(counts) == 0:
        return []
    most = int(counts.max())
    if most * len(counts) - int(counts.sum()) <= max(SPARE, SHARE * int(counts.sum())):
        return [(0, len(counts))]
    if len(counts) == 1:
        return [(0, 1)]
    result: list[tuple[int, int]] = []
    start, widest, real = 0, int(counts[0]), int(counts[0])
    for k in range(1, len(counts)):
        count = int(counts[k])
        wider, more = max(widest, count), real + count
        if wider * (k + 1 - start) - more > max(SPARE, SHARE * more):
            result.append((start, k))
            start, widest, real = k, count, count
        else:
            widest, real = wider, more
    result.append((start, len(counts)))
    return result
