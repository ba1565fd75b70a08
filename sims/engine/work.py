"""From the tasks of many replicates to jobs that are trained together, and the results back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from fairfl.sims.engine import updates_in_blocks
from fairfl.sims.engine.data import ClientData
from fairfl.sims.engine.draws import counter
from fairfl.sims.engine.kernels.model import Model
from fairfl.sims.engine.loop import train_loop
from fairfl.sims.engine.round import Round
from fairfl.sims.engine.settings import Computing
from fairfl.sims.engine.task import Floats, Ints, Jobs, LocalTask
from fairfl.sims.engine.train import train


@dataclass(frozen=True, eq=False)
class Assignment:
    """One task of one replicate's round, with what the training and the replicate say of it;
    ``rates`` are those of ``Jobs``, but for its clients' own scales.
    """

    replicate: int
    number: int
    seed: int
    round: Round
    task: LocalTask
    steps: Ints
    batch: int
    rates: tuple[float, ...]

    def some(self, rows: slice) -> Assignment:
        """The assignment of some of its clients."""
        found = {name: getattr(self.task, name) for name in ("scale", "start", "linear")}
        own = {name: None if each is None else each[rows] for name, each in found.items()}
        task, steps = replace(self.task, **own), self.steps[rows]
        return replace(self, round=self.round.some(rows), task=task, steps=steps)


def bytes_of(model: Model, params: Tensor, assignments: list[Assignment]) -> int:
    """What the updates of the assignments take."""
    rows = sum(len(given.round.clients) for given in assignments)
    return rows * model.size * params.element_size()


def perform_in_parts(
    model: Model,
    data: ClientData,
    params: Tensor,
    assignments: list[Assignment],
    computing: Computing,
    limit: int,
) -> Iterator[tuple[Tensor, ...]]:
    """Updates (k', P) of one replicate's tasks: half of the limit, or a block of a sum, each."""
    each = model.size * params.element_size()
    block = max(1, updates_in_blocks.BLOCK // each)
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
        given_ = [each is None for each in (task.start, task.linear, task.sample_weights)]
        alike[task.whole, type(task.batch_objective), *given_].append(i)
    updates = dict[int, Tensor]()
    room = max(1, limit // 2, limit - bytes_of(model, params, assignments))
    for members in alike.values():
        jobs, order = _jobs([assignments[i] for i in members], data, params.dtype)
        if computing.backend == "loop":
            done = train_loop(model, data, jobs, params)[np.argsort(order)]
        else:
            done = train(model, data, jobs, params, room, order)
        counts = [len(assignments[i].steps) for i in members]
        parts = [done] if len(counts) == 1 else done.split_with_sizes(counts)
        updates |= zip(members, parts, strict=True)
    return [updates[i] for i in range(len(assignments))]


def work(
    sizes: Ints, effort: Floats, batch_size: int | None, epochs: int | None, steps: int | None
) -> tuple[Ints, int, int, int]:
    """SGD steps of each client and its batches' size; of all, the steps and their samples."""
    batch = batch_size or int(sizes.max(initial=1))
    per_pass = (sizes + (batch - 1)) // batch
    each = per_pass * (epochs or 1) if steps is None else steps
    own = np.maximum(1, np.ceil(effort * each).astype(np.int64))
    passes, more = np.divmod(own, per_pass)
    samples = passes @ sizes + np.minimum(more * batch, sizes).sum()
    return own, batch, int(own.sum()), int(samples)


def _jobs(members: list[Assignment], data: ClientData, dtype: torch.dtype) -> tuple[Jobs, Ints]:
    """The rows of work of like assignments, most work first, and where each one stood, in order."""
    member = np.repeat(np.arange(len(members)), [len(given.steps) for given in members])
    client = np.concatenate([given.round.clients for given in members])
    steps = np.concatenate([given.steps for given in members])
    replicate = np.array([given.replicate for given in members])[member]
    order = np.lexsort((replicate, data.names[client], -data.sizes[client], -steps))
    member, client = member[order], client[order]
    tasks = [given.task for given in members]
    rates = np.array([given.rates for given in members]).T.take(member, axis=1)
    if any(task.scale is not None for task in tasks):
        each = [np.ones(len(m.steps)) if m.task.scale is None else m.task.scale for m in members]
        rates[4] = np.concatenate(each)[order]
    objectives = [task.batch_objective for task in tasks if task.batch_objective is not None]
    table = [objective.parameters for objective in objectives]
    starts = [task.start for task in tasks if task.start is not None]
    linear = [task.linear for task in tasks if task.linear is not None]
    factors = [task.sample_weights for task in tasks if task.sample_weights is not None]
    states = [counter.key(m.seed, counter.ORDER, m.number, m.round.number) for m in members]
    jobs = Jobs(
        client=client,
        replicate=replicate[order],
        keys=counter.following(np.concatenate(states)[member], counter.hashed(data.names[client])),
        sizes=data.sizes[client],
        steps=steps[order],
        batch=max(given.batch for given in members),
        rates=rates,
        objective=objectives[0] if objectives else None,
        parameters=np.array(table, np.float64).T.take(member, axis=1) if objectives else None,
        start=torch.cat(starts)[order] if starts else None,
        linear=torch.cat(linear)[order] if linear else None,
        sample_weights=torch.stack(factors).to(dtype) if factors else None,
        weights_of=member if factors else None,
    )
    return jobs, order
