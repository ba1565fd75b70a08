"""Joins the tasks of many replicates to jobs that are trained together, and splits the updates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from fairfl.sims.engine import updates_in_blocks
from fairfl.sims.engine.data import ClientData
from fairfl.sims.engine.draws import counter
from fairfl.sims.engine.kernels.model import Model
from fairfl.sims.engine.loop import train_loop
from fairfl.sims.engine.round import Round
from fairfl.sims.engine.settings import Computing, Training
from fairfl.sims.engine.task import Floats, Ints, Jobs, LocalTask
from fairfl.sims.engine.train import train


@dataclass(frozen=True, eq=False)
class Work:
    """SGD ``steps`` (k,) of each of the ``clients``, on batches of ``batch``; of all of them, the
    steps and their samples. Rounds of the same clients share it.
    """

    clients: Ints
    steps: Ints
    batch: int
    total_steps: int
    total_samples: int
    layouts: dict[tuple[int, ...], Layout] = field(default_factory=dict, init=False, repr=False)
    """Of its replicates, by their numbers: kept as long as rounds have these clients."""

    @classmethod
    def of(
        cls, clients: Ints, data: ClientData, effort: Floats | None, training: Training, whole: bool
    ) -> Work:
        """The work of the clients, of which each does the share ``effort`` (k,); ``whole``: one
        step on all data.
        """
        sizes = data.sizes[clients]
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
        return cls(clients, steps, batch, int(steps.sum()), int(samples))

    def subset(self, rows: slice) -> Work:
        """The work of some of the clients."""
        return replace(self, clients=self.clients[rows], steps=self.steps[rows])


@dataclass(frozen=True, eq=False)
class Assignment:
    """One task of one replicate's round, with its work and rates; ``rates`` are those of ``Jobs``,
    except for the clients' scales.
    """

    replicate: int
    number: int
    seed: int
    round: Round
    task: LocalTask
    work: Work
    rates: tuple[float, ...]

    def subset(self, rows: slice) -> Assignment:
        """The assignment of some of its clients."""
        fields = {name: getattr(self.task, name) for name in ("scale", "start", "linear")}
        rows_of_fields = {
            name: None if values is None else values[rows] for name, values in fields.items()
        }
        memory = {name: values[rows] for name, values in self.task.memory.items()}
        task, work = replace(self.task, memory=memory, **rows_of_fields), self.work.subset(rows)
        return replace(self, round=self.round.subset(rows), task=task, work=work)


def bytes_of(model: Model, params: Tensor, assignments: list[Assignment]) -> int:
    """Bytes of the updates of the assignments, and of their memories."""
    rows = sum(len(assignment.round.clients) for assignment in assignments)
    memories = [rows for assignment in assignments for rows in assignment.task.memory.values()]
    return rows * model.size * params.element_size() + sum(rows.nbytes for rows in memories)


def received_together(outcomes: Sequence[list[Tensor]]) -> tuple[Tensor, ...]:
    """What one replicate's server receives of its tasks: all updates, then the memories."""
    updates, memories = [rows[0] for rows in outcomes], [rows[1:] for rows in outcomes]
    return *updates, *(rows for memory in memories for rows in memory)


def perform_in_parts(
    model: Model,
    data: ClientData,
    params: Tensor,
    assignments: list[Assignment],
    computing: Computing,
    limit: int,
) -> Iterator[tuple[Tensor, ...]]:
    """Updates (k', P) of one replicate's tasks, and memories: half of the limit, or a block of a
    sum, each.
    """
    update_bytes = model.size * params.element_size()
    block = max(1, updates_in_blocks.BLOCK // update_bytes)
    room = limit // 2 // (2 * update_bytes * len(assignments))
    step = max(block, room // block * block)
    for first in range(0, len(assignments[0].round.clients), step):
        part = [assignment.subset(slice(first, first + step)) for assignment in assignments]
        yield received_together(perform(model, data, params, part, computing, limit))


def perform(
    model: Model,
    data: ClientData,
    params: Tensor,
    assignments: list[Assignment],
    computing: Computing,
    limit: int,
) -> list[list[Tensor]]:
    """Of every assignment the updates (k, P), in the order of its clients, and the memory."""
    groups: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for i, assignment in enumerate(assignments):
        task = assignment.task
        absent = [field is None for field in (task.start, task.linear, task.sample_weights)]
        widths = [(name, rows.shape[1], rows.dtype) for name, rows in task.memory.items()]
        groups[task.whole, type(task.batch_objective), task.step, *widths, *absent].append(i)
    outcomes = dict[int, list[Tensor]]()
    room = max(1, limit // 2, limit - bytes_of(model, params, assignments))
    for members in groups.values():
        jobs, order = _jobs([assignments[i] for i in members], data, params.dtype)
        back = slice(None) if order is None else np.argsort(order)
        if computing.backend == "loop":
            done = train_loop(model, data, jobs, params)[back]
        else:
            done = train(model, data, jobs, params, room, order)
        counts = [len(assignments[i].work.steps) for i in members]
        memories = [rows[back] for rows in jobs.memory.values()]
        parts = [[done, *memories]]
        if len(counts) > 1:
            parts = zip(*(rows.split_with_sizes(counts) for rows in parts[0]), strict=True)
        outcomes |= zip(members, map(list, parts), strict=True)
    return [outcomes[i] for i in range(len(assignments))]


class Layout(NamedTuple):
    """The order of jobs, most work first, and what stays the same in each round of their clients:
    the ``member`` (J,) of the group that a job is of, its client's name (``counter.hashed``), and
    its fields as ``Jobs`` has them. The position before sorting is ``order``; None if sorted.
    """

    order: Ints | None
    member: Ints
    names: counter.Words
    client: Ints
    replicate: Ints
    sizes: Ints
    steps: Ints


def _layout(members: list[Assignment], data: ClientData) -> Layout:
    """The layout of assignments of one kind, from its cache where they have the same work."""
    first, replicates = members[0].work, tuple(member.replicate for member in members)
    is_shared = all(member.work is first for member in members)
    if is_shared and replicates in first.layouts:
        return first.layouts[replicates]
    client, steps = first.clients, first.steps
    # of one assignment these are views: a round may be of a million clients
    member, replicate = (np.broadcast_to(n, len(steps)) for n in (0, replicates[0]))
    if len(members) > 1:
        client = np.concatenate([m.work.clients for m in members])
        steps = np.concatenate([m.work.steps for m in members])
        member = np.repeat(np.arange(len(members)), [len(m.work.steps) for m in members])
        replicate = np.array(replicates)[member]
    order = np.lexsort((replicate, data.names[client], -data.sizes[client], -steps))
    if (order[1:] > order[:-1]).all():
        order = None
    else:
        rows = member, client, steps, replicate
        member, client, steps, replicate = (values[order] for values in rows)
    names = counter.hashed(data.names[client])
    layout = Layout(order, member, names, client, replicate, data.sizes[client], steps)
    if is_shared:
        first.layouts[replicates] = layout
    return layout


def _jobs(
    members: list[Assignment], data: ClientData, dtype: torch.dtype
) -> tuple[Jobs, Ints | None]:
    """Jobs of assignments of one kind, most work first, and the position of each before sorting,
    None where they are sorted.
    """
    layout = _layout(members, data)
    member, order = layout.member, slice(None) if layout.order is None else layout.order
    tasks = [assignment.task for assignment in members]
    rates = np.array([assignment.rates for assignment in members]).T
    # rates that all jobs share are a view of one column
    rates = rates.take(member, 1) if len(rates.T) > 1 else np.broadcast_to(rates, (5, len(member)))
    if any(task.scale is not None for task in tasks):
        scales = [
            np.ones(len(m.work.steps)) if m.task.scale is None else m.task.scale for m in members
        ]
        rates = np.concatenate([rates[:4], [np.concatenate(scales)[order]]])
    objectives = [task.batch_objective for task in tasks if task.batch_objective is not None]
    table = [objective.parameters for objective in objectives]
    starts = [task.start for task in tasks if task.start is not None]
    linear = [task.linear for task in tasks if task.linear is not None]
    sample_weights = [task.sample_weights for task in tasks if task.sample_weights is not None]
    states = [counter.key(m.seed, counter.ORDER, m.number, m.round.number) for m in members]
    jobs = Jobs(
        client=layout.client,
        replicate=layout.replicate,
        keys=counter.following(np.concatenate(states)[member], layout.names),
        sizes=layout.sizes,
        steps=layout.steps,
        batch=max(assignment.work.batch for assignment in members),
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
    return jobs, layout.order
