"""Joins the tasks of many replicates to jobs that are trained together, and splits the updates."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import numpy as np
import torch
from torch import Tensor

from fairfl.sims.engine import round as rounds
from fairfl.sims.engine.data import ClientData
from fairfl.sims.engine.draws import counter
from fairfl.sims.engine.kernels.model import Model
from fairfl.sims.engine.loop import train_loop
from fairfl.sims.engine.round import Round
from fairfl.sims.engine.settings import Training
from fairfl.sims.engine.task import Floats, Ints, Jobs, LocalTask
from fairfl.sims.engine.train import train


def workload(
    sizes: Ints, effort: Floats | None, training: Training, whole: bool
) -> tuple[Ints, int, int]:
    """SGD steps (k,) of clients of these sizes, of which each does the share ``effort`` (k,), or
    ``whole`` one on all data; the batch size, and the samples of all steps.
    """
    batch = (not whole and training.batch_size) or int(sizes.max(initial=1))
    per_pass = (sizes + (batch - 1)) // batch
    if whole or training.steps is not None:
        steps = np.full(len(sizes), 1 if whole else training.steps)
    else:
        steps = per_pass * (training.epochs or 1)
    if effort is not None:
        steps = np.maximum(1, np.ceil(effort * steps).astype(np.int64))
    passes, extra_steps = np.divmod(steps, per_pass)
    samples = passes @ sizes + np.minimum(extra_steps * batch, sizes).sum()
    return steps, batch, int(samples)


@dataclass(frozen=True, eq=False)
class Assignment:
    """One task of one replicate's round: ``steps`` (k,) of SGD on batches of ``batch``; ``rates``
    are those of ``Jobs``, except for the clients' scales.
    """

    replicate: int
    number: int
    seed: int
    round: Round
    task: LocalTask
    steps: Ints
    batch: int
    rates: tuple[float, ...]

    def subset(self, rows: slice) -> Self:
        """The assignment of some of its clients."""
        fields = {name: getattr(self.task, name) for name in ("scale", "start", "linear")}
        taken = {name: None if values is None else values[rows] for name, values in fields.items()}
        memory = {name: values[rows] for name, values in self.task.memory.items()}
        task = replace(self.task, memory=memory, **taken)
        return replace(self, round=self.round.subset(rows), task=task, steps=self.steps[rows])


@dataclass(frozen=True, eq=False)
class Trainer:
    """Trains the tasks of all replicates within ``limit`` bytes."""

    model: Model
    data: ClientData
    limit: int
    is_loop: bool

    def arrivals(
        self, params: Tensor, by_replicate: Sequence[list[Assignment]]
    ) -> list[rounds.Arrivals]:
        """The updates of each replicate's tasks from ``params`` (R, P). Replicates train together
        where all updates take no more than half of the memory, else one after the other, some of
        their clients at a time.
        """
        assignments = [assignment for part in by_replicate for assignment in part]
        if 2 * self._bytes(params, assignments) > self.limit:
            return [partial(self._in_parts, params, part) for part in by_replicate]
        outcomes = iter(self._perform(params, assignments))
        tasks = [_received([next(outcomes) for _ in part]) for part in by_replicate]
        return [lambda updates=updates: [updates] for updates in tasks]

    def _bytes(self, params: Tensor, assignments: list[Assignment]) -> int:
        """Bytes of the updates of the assignments, and of their memories."""
        rows = sum(len(assignment.steps) for assignment in assignments)
        memories = [rows for assignment in assignments for rows in assignment.task.memory.values()]
        update_bytes = rows * self.model.size * params.element_size()
        return update_bytes + sum(rows.nbytes for rows in memories)

    def _in_parts(
        self, params: Tensor, assignments: list[Assignment]
    ) -> Iterator[tuple[Tensor, ...]]:
        """Updates (k', P) of one replicate's tasks: half of the limit each, or a block of a sum."""
        update_bytes = self.model.size * params.element_size()
        block = max(1, rounds.BLOCK // update_bytes)
        room = self.limit // 2 // (2 * update_bytes * len(assignments))
        step = max(block, room // block * block)
        for first in range(0, len(assignments[0].steps), step):
            part = [assignment.subset(slice(first, first + step)) for assignment in assignments]
            yield _received(self._perform(params, part))

    def _perform(self, params: Tensor, assignments: list[Assignment]) -> list[list[Tensor]]:
        """Of every assignment the updates (k, P), in the order of its clients, and the memory."""
        groups: dict[tuple[object, ...], list[int]] = defaultdict(list)
        for i, assignment in enumerate(assignments):
            task = assignment.task
            absent = [field is None for field in (task.start, task.linear, task.sample_weights)]
            widths = [(name, rows.shape[1], rows.dtype) for name, rows in task.memory.items()]
            groups[task.whole, type(task.batch_objective), task.step, *widths, *absent].append(i)
        outcomes = dict[int, list[Tensor]]()
        room = max(1, self.limit // 2, self.limit - self._bytes(params, assignments))
        for members in groups.values():
            jobs, order = _jobs([assignments[i] for i in members], self.data, params.dtype)
            back = order if isinstance(order, slice) else np.argsort(order)
            if self.is_loop:
                updates = train_loop(self.model, self.data, jobs, params)[back]
            else:
                updates = train(self.model, self.data, jobs, params, room, order)
            rows = [updates, *(values[back] for values in jobs.memory.values())]
            counts = [len(assignments[i].steps) for i in members]
            parts = zip(*(values.split_with_sizes(counts) for values in rows), strict=True)
            outcomes |= zip(members, map(list, parts), strict=True)
        return [outcomes[i] for i in range(len(assignments))]


def _received(outcomes: Sequence[list[Tensor]]) -> tuple[Tensor, ...]:
    """What one replicate's server receives of its tasks: all updates, then the memories."""
    memories = [rows for outcome in outcomes for rows in outcome[1:]]
    return *(outcome[0] for outcome in outcomes), *memories


def _jobs(
    members: list[Assignment], data: ClientData, dtype: torch.dtype
) -> tuple[Jobs, Ints | slice]:
    """Jobs of assignments of one kind, most work first, and the position of each before sorting."""
    client = np.concatenate([m.round.clients for m in members])
    steps = np.concatenate([m.steps for m in members])
    member = np.repeat(np.arange(len(members)), [len(m.steps) for m in members])
    order: Ints | slice
    order = np.lexsort((member, data.names[client], -data.sizes[client], -steps))
    if (order[1:] > order[:-1]).all():
        order = slice(None)  # what is sorted is not copied
    client, steps, member = client[order], steps[order], member[order]
    tasks = [assignment.task for assignment in members]
    rates = np.array([assignment.rates for assignment in members]).T.take(member, axis=1)
    if any(task.scale is not None for task in tasks):
        scales = [np.ones(len(m.steps)) if m.task.scale is None else m.task.scale for m in members]
        rates[4] = np.concatenate(scales)[order]
    objectives = [task.batch_objective for task in tasks if task.batch_objective is not None]
    table = [objective.parameters for objective in objectives]
    starts = [task.start for task in tasks if task.start is not None]
    linear = [task.linear for task in tasks if task.linear is not None]
    sample_weights = [task.sample_weights for task in tasks if task.sample_weights is not None]
    states = [counter.key(m.seed, counter.ORDER, m.number, m.round.number) for m in members]
    names = counter.hashed(data.names[client])
    jobs = Jobs(
        client=client,
        replicate=np.array([assignment.replicate for assignment in members])[member],
        keys=counter.following(np.concatenate(states)[member], names),
        sizes=data.sizes[client],
        steps=steps,
        batch=max(assignment.batch for assignment in members),
        rates=rates,
        objective=objectives[0] if objectives else None,
        parameters=np.array(table, np.float64).T.take(member, axis=1) if objectives else None,
        start=torch.cat(starts)[order] if starts else None,
        linear=torch.cat(linear)[order] if linear else None,
        sample_weights=torch.stack(sample_weights).to(dtype) if sample_weights else None,
        weights_of=member if sample_weights else None,
        step=tasks[0].step,
        memory={
            name: torch.cat([task.memory[name] for task in tasks])[order]
            for name in tasks[0].memory
        },
    )
    return jobs, order
