"""From the tasks of many replicates to jobs that are trained together, and the results back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairfl.sims.engine import algorithm
from fairfl.sims.engine.algorithm import Round
from fairfl.sims.engine.data import ClientData
from fairfl.sims.engine.draws import counter
from fairfl.sims.engine.loop import train_loop
from fairfl.sims.engine.model import Model
from fairfl.sims.engine.plan import by_work
from fairfl.sims.engine.remembered import remembered
from fairfl.sims.engine.settings import Computing
from fairfl.sims.engine.task import Floats, Jobs, LocalTask, Spread
from fairfl.sims.engine.train import train
from fairfl.sims.engine.transfers import sent

Ints = NDArray[np.int64]
scattered = remembered(counter.scattered)


@dataclass(frozen=True, eq=False)
class Assignment:
    """One task of one replicate's round, with what the training and the replicate say of it."""

    replicate: int
    number: int
    seed: int
    round: Round
    task: LocalTask
    sizes: Ints
    steps: Ints
    batch: int
    momentum: float
    weight_decay: float

    def some(self, rows: slice) -> Assignment:
        """The same of some of its clients."""
        task = self.task
        task = replace(
            task,
            scale=None if task.scale is None else task.scale[rows],
            start=None if task.start is None else task.start[rows],
        )
        sizes, steps = self.sizes[rows], self.steps[rows]
        return replace(self, round=self.round.some(rows), task=task, sizes=sizes, steps=steps)

    def rates(self) -> Floats:
        """lr, momentum, weight decay, prox and scale of its clients (5, k)."""
        task, result = self.task, np.empty((5, len(self.steps)))
        momentum = 0.0 if task.whole else self.momentum
        scale = 1.0 if task.scale is None else task.scale
        every = self.round.lr, momentum, self.weight_decay, task.prox, scale
        for row, values in enumerate(every):
            result[row] = values
        return result


def bytes_of(model: Model, params: Tensor, assignments: list[Assignment]) -> int:
    """What the updates of the assignments take, sorted by work and by client."""
    rows = sum(len(given.round.clients) for given in assignments)
    return 2 * rows * model.size * params.element_size()


def perform_in_parts(
    model: Model,
    data: ClientData,
    params: Tensor,
    assignments: list[Assignment],
    computing: Computing,
    limit: int,
) -> Iterator[tuple[Tensor, ...]]:
    """Updates (k', P) of each task of one replicate, of k' clients at a time: as many as take half
    of the memory limit, or a block of a sum.
    """
    each = model.size * params.element_size()
    block = max(1, algorithm.BLOCK // each)
    room = limit // 2 // (2 * each * len(assignments))
    step = max(block, room // block * block)
    for first in range(0, len(assignments[0].round.clients), step):
        some = [given.some(slice(first, first + step)) for given in assignments]
        yield tuple(perform(model, data, params, some, computing, limit))


def perform(
    model: Model,
    data: ClientData,
    params: Tensor,
    assignments: list[Assignment],
    computing: Computing,
    limit: int,
) -> list[Tensor]:
    """Updates (k, P) of every assignment, in the order of its clients."""
    alike: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for i, given in enumerate(assignments):
        task = given.task
        kind = (
            task.whole,
            type(task.batch_objective),
            task.start is None,
            task.sample_weights is None,
        )
        alike[kind].append(i)
    updates: list[Tensor] = [params.new_empty(0, model.size)] * len(assignments)
    room = max(1, limit // 2, limit - bytes_of(model, params, assignments))
    for members in alike.values():
        jobs = _jobs([assignments[i] for i in members], data, params.dtype)
        if len(jobs) == 0:
            continue
        order = packing(jobs.steps, jobs.sizes, data.names[jobs.client], jobs.replicate)
        packed = jobs if order is None else jobs.take(order)
        if computing.backend == "loop":
            done = train_loop(model, data, packed, params)
        else:
            done = train(model, data, packed, params, room)
        if order is not None:
            place = np.empty(len(order), np.int64)
            place[order] = np.arange(len(order))
            done = done.index_select(0, torch.from_numpy(place).to(done.device))
        parts = done.split_with_sizes([len(assignments[i].steps) for i in members])
        for i, part in zip(members, parts, strict=True):
            updates[i] = part
    return updates


@remembered
def packing(steps: Ints, sizes: Ints, ids: Ints, replicate: Ints) -> Ints | None:
    """The order in which jobs are packed, None where they are in it."""
    order = by_work(steps, sizes, ids, replicate)
    return None if (order[:-1] < order[1:]).all() else order


@remembered
def work(
    sizes: Ints, effort: Floats, batch_size: int | None, epochs: int | None, steps: int | None
) -> tuple[Ints, int]:
    """SGD steps of each client, and the size of their batches."""
    batch = batch_size or int(sizes.max(initial=1))
    each = -(-sizes // batch) * (epochs or 1) if steps is None else np.full(len(sizes), steps)
    return np.maximum(1, np.ceil(effort * each).astype(np.int64)), batch


@remembered
def cost(steps: Ints, sizes: Ints, batch: int) -> tuple[int, int]:
    """SGD steps of all clients, and samples whose gradient is taken."""
    passes, more = np.divmod(steps, -(-sizes // batch))
    samples = passes * sizes + np.minimum(more * batch, sizes)
    return int(steps.sum()), int(samples.sum())


def _spread(factors: list[Tensor | Spread], dtype: torch.dtype) -> Tensor:
    """Weights of all rows of the data (T, N); the tables are sent in one piece."""
    given = [each for each in factors if isinstance(each, Spread)]
    tables = iter(sent([each.table for each in given], given[0].cells.device) if given else ())
    return torch.stack(
        [
            next(tables).to(dtype).index_select(0, each.cells) if isinstance(each, Spread) else each
            for each in factors
        ]
    )


def _jobs(members: list[Assignment], data: ClientData, dtype: torch.dtype) -> Jobs:
    """The rows of work of like assignments, one assignment's after the other's."""
    counts = [len(given.steps) for given in members]
    objectives = [given.task.batch_objective for given in members]
    first = objectives[0]
    table = (
        None
        if first is None
        else np.array([o.parameters for o in objectives if o is not None], dtype=np.float64).T
    )

    starts = [given.task.start for given in members if given.task.start is not None]
    factors = [
        given.task.sample_weights for given in members if given.task.sample_weights is not None
    ]
    keys = [
        counter.following(
            counter.key(m.seed, counter.ORDER, m.number, m.round.number),
            scattered(data.names[m.round.clients]),
        )
        for m in members
    ]
    return Jobs(
        client=np.concatenate([given.round.clients for given in members]),
        replicate=np.repeat([given.replicate for given in members], counts),
        keys=np.concatenate(keys),
        sizes=np.concatenate([given.sizes for given in members]),
        steps=np.concatenate([given.steps for given in members]),
        batch=max(given.batch for given in members),
        rates=np.concatenate([given.rates() for given in members], axis=1),
        even=len({m.round.lr for m in members}) == 1 and all(m.task.scale is None for m in members),
        apart=len({(m.seed, m.number) for m in members}) == len(members),
        objective=first,
        parameters=None if table is None else np.repeat(table, counts, axis=1),
        start=torch.cat(starts) if starts else None,
        sample_weights=_spread(factors, dtype) if factors else None,
        weights_of=np.repeat(np.arange(len(members)), counts) if factors else None,
    )
