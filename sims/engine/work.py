"""From the tasks of many replicates to jobs that are trained together, and the results back."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairfl.sims.engine.algorithm import Round
from fairfl.sims.engine.data import ClientData
from fairfl.sims.engine.draws import counter
from fairfl.sims.engine.loop import train_loop
from fairfl.sims.engine.model import Model
from fairfl.sims.engine.plan import by_work
from fairfl.sims.engine.settings import Computing, Training
from fairfl.sims.engine.task import Floats, Jobs, LocalTask
from fairfl.sims.engine.train import train


@dataclass(frozen=True, eq=False)
class Assignment:
    """One task of one replicate's round, with what the training and the replicate say of it."""

    replicate: int
    number: int
    seed: int
    round: Round
    task: LocalTask
    effort: Floats
    momentum: float
    weight_decay: float


@dataclass(frozen=True)
class Cost:
    """SGD steps of all clients, and samples whose gradient was taken."""

    steps: int
    samples: int


def perform(
    model: Model,
    data: ClientData,
    params: Tensor,
    assignments: list[Assignment],
    training: Training,
    computing: Computing,
) -> tuple[list[Tensor], list[Cost]]:
    """Updates (k, P) of every assignment, in the order of its clients, and what they cost."""
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
    costs: list[Cost] = [Cost(0, 0)] * len(assignments)
    for members in alike.values():
        jobs, owner = _jobs([assignments[i] for i in members], data, training)
        if len(jobs) == 0:
            continue
        order = by_work(jobs.steps, jobs.sizes, data.names[jobs.client], jobs.replicate)
        packed = jobs.take(order)
        if computing.backend == "loop":
            done = train_loop(model, data, packed, params)
        else:
            done = train(model, data, packed, params, computing.memory_limit)
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        for position, i in enumerate(members):
            mine = owner == position
            updates[i] = done[torch.from_numpy(place[mine]).to(done.device)]
            costs[i] = _cost(jobs, mine)
    return updates, costs


def _jobs(
    members: list[Assignment], data: ClientData, training: Training
) -> tuple[Jobs, NDArray[np.int64]]:
    """The rows of work of like assignments, and whose they are."""
    counts = [len(given.round.clients) for given in members]
    owner = np.repeat(np.arange(len(members)), counts)
    client = np.concatenate([given.round.clients for given in members])
    sizes = data.sizes[client]
    whole = members[0].task.whole
    batch = (
        int(sizes.max(initial=1)) if whole or training.batch_size is None else training.batch_size
    )
    per_pass = -(-sizes // batch)
    steps = (
        per_pass * (training.epochs or 1)
        if training.steps is None
        else np.full(len(client), training.steps)
    )
    if whole:
        steps = np.ones_like(sizes)
    effort = np.concatenate([given.effort for given in members])
    objectives = [given.task.batch_objective for given in members]
    first = objectives[0]
    table = (
        None
        if first is None
        else np.array([o.parameters for o in objectives if o is not None], dtype=np.float64).T
    )

    def each(values: list[float]) -> Floats:
        return np.repeat(np.array(values, dtype=np.float64), counts)

    scale = [
        np.ones(n) if m.task.scale is None else m.task.scale
        for m, n in zip(members, counts, strict=True)
    ]
    starts = [given.task.start for given in members if given.task.start is not None]
    factors = [
        given.task.sample_weights for given in members if given.task.sample_weights is not None
    ]
    words = [(given.seed, given.number, given.round.number) for given in members]
    seed, number, round = np.repeat(np.array(words, np.uint64), counts, axis=0).T
    jobs = Jobs(
        client=client,
        replicate=np.repeat([given.replicate for given in members], counts),
        keys=counter.key(seed, counter.ORDER, number, round, data.names[client]),
        sizes=sizes,
        steps=np.maximum(1, np.ceil(effort * steps).astype(np.int64)),
        batch=batch,
        lr=each([given.round.lr for given in members]),
        momentum=each([0.0 if whole else given.momentum for given in members]),
        weight_decay=each([given.weight_decay for given in members]),
        prox=each([given.task.prox for given in members]),
        scale=np.concatenate(scale),
        objective=first,
        parameters=None if table is None else np.repeat(table, counts, axis=1),
        start=torch.cat(starts) if starts else None,
        sample_weights=torch.stack(factors) if factors else None,
        weights_of=owner if factors else None,
    )
    return jobs, owner


def _cost(jobs: Jobs, mine: NDArray[np.bool_]) -> Cost:
    sizes, steps = jobs.sizes[mine], jobs.steps[mine]
    per_pass = -(-sizes // jobs.batch)
    samples = steps // per_pass * sizes + np.minimum(steps % per_pass * jobs.batch, sizes)
    return Cost(int(steps.sum()), int(samples.sum()))
