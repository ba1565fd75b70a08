"""The five methods as FedFB's published code runs them: its steps of λ, its starts, and its averages.

Every method is an iterator of the models (R, P) after what the code's search counts as an iteration: a round, or a step
of λ of what trains in one place.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairfl.sims.engine.task import Floats
from fairfl.studies.papers.fedfb.code_training import (
    Adam,
    Momentum,
    Sample,
    Streams,
    World,
    average,
    losses,
    outputs,
    streams,
    train,
)
from fairfl.studies.papers.fedfb.runs import BATCH, EPOCHS, ROUNDS

TOTAL = 300
"""Epochs of what does not train in rounds."""


@dataclass(frozen=True)
class Code:
    """Where the code departs from the paper, or from what it leaves open; each can be mended alone.

    Attributes
    ----------
    first_client : one client's model counts once in averages, whatever its people (``average``): client 0, in FedAvg
        the first of a permutation that hangs on the seed.
    every_constant : FedFB adds F's constant n_00/n_0 - n_0a/n_a once a client.
    one_cap : λ_a is held in [0, 2 n_0/n] for every group a, in place of [0, 2 n_a/n].
    decay : Adam's weight decay; beside a loss over n that is small it is strong.
    other_branch : the signed step of two groups sets λ of (0, y=1) where it is to set λ of (1, y=0).
    short : CFL of more than two groups trains one epoch a step of λ, 1 or 10 in all.
    adam : FedAvg trains by Adam on sums of losses, in place of SGD with momentum on their means.
    """

    first_client: bool = True
    every_constant: bool = True
    one_cap: bool = True
    decay: float = 1e-4
    other_branch: bool = True
    short: bool = True
    adam: bool = True


@dataclass(frozen=True, eq=False)
class Run:
    """R runs of one method: ``codes``, ``seeds``, rates ``lr`` (R,), and ``alpha`` (R,) or, trained locally, (R, K)."""

    world: World
    codes: Sequence[Code]
    seeds: Sequence[int]
    lr: Floats
    alpha: Floats

    def adam(self, params: Tensor) -> Adam:
        """A fresh optimiser."""
        decay = torch.tensor([code.decay for code in self.codes], dtype=torch.float64)
        return Adam(params, torch.from_numpy(self.lr), decay)

    def flag(self, name: str) -> NDArray[np.bool_]:
        """Which runs depart so: (R,)."""
        return np.array([getattr(code, name) for code in self.codes], dtype=bool)

    def streams(self) -> Streams:
        """Fresh ones: the code seeds its stream anew at every client in every round."""
        return streams(self.seeds)

    def mass(self) -> Floats:
        """n_a (A,) of all training rows."""
        return self.world.people.sum(1)

    def cap(self, people: float | None = None) -> Floats:
        """2 n_a / n, or the code's 2 n_0 / n, (R, A); n is all people unless ``people`` are named."""
        mass = self.mass()
        top = np.where(self.flag("one_cap")[:, None], mass[0], mass)
        return 2 * top / (mass.sum() if people is None else people)

    def even(self) -> Floats:
        """λ of label 0 and of label 1 at the start, n_a / n: (R, A, 2)."""
        mass = self.mass()
        return np.tile((mass / mass.sum())[None, :, None], (len(self.seeds), 1, 2))

    def shares(self) -> Floats:
        """n_ay / n_a: (R, A, 2)."""
        return np.tile(self.world.people / self.mass()[:, None], (len(self.seeds), 1, 1))

    def join(self, models: Sequence[Tensor], weights: Floats, skipped: Sequence[int] | None = None) -> Tensor:
        """The clients' average; with ``skipped`` (R,) FedAvg's."""
        once = np.where(self.flag("first_client"), 0 if skipped is None else np.array(skipped), -1)
        return average(models, weights, once, skipped is not None)


def fedavg(run: Run) -> Iterator[Tensor]:
    """FedAvg: the sum of a batch's losses, Adam afresh in each round. All runs have ``adam``, or none."""
    world, params = run.world, run.world.start(run.seeds)
    sizes = np.tile(world.sizes[:, None], (1, len(run.seeds)))
    skipped = [skipped_client(seed, len(world.train)) for seed in run.seeds]
    for _ in range(ROUNDS):
        models = []
        for sample in world.train:
            models.append(params.clone())
            adam = bool(run.flag("adam").all())
            optimiser = run.adam(params) if adam else Momentum(params, torch.from_numpy(run.lr))
            train(world.model, models[-1], sample, EPOCHS, optimiser, run.seeds, run.streams())
        params = run.join(models, sizes, skipped)
        yield params


def skipped_client(seed: int, clients: int) -> int:
    """The first of the code's permutation of the clients, the same in every round."""
    return int(np.random.RandomState(seed).choice(clients, clients, replace=False)[0])


def fedfb(run: Run) -> Iterator[Tensor]:
    """FedFB: weights λ / n_a, so that a loss over n; steps α / sqrt(t) F of the log loss, not over ||F||."""
    world, params, lam, cap = run.world, run.world.start(run.seeds), run.even(), run.cap()
    mass, everyone = run.mass(), Sample.join(world.train)
    constant = world.people[0, 0] / mass[0] - world.people[:, 0] / mass
    times = np.where(run.flag("every_constant"), len(world.train), 1)[:, None]
    for t in range(ROUNDS):
        params = _round(run, params, lam / mass[:, None])
        yield params
        found = losses(world.model, params, everyone)
        level = np.stack([everyone.sums(world.groups, row) for row in found]) / mass[:, None]
        gap = level[:, :, 0] - level[:, :, 1]
        move = (run.alpha / (t + 1) ** 0.5)[:, None] * (gap - gap[:, :1] + times * constant)
        move[:, 0] = -move[:, 1:].sum(1)
        lam = complement(lam[:, :, 0] + move, cap)


def _round(run: Run, params: Tensor, table: Floats, relative: bool = False) -> Tensor:
    """One round of the clients with weights ``table`` (R, A, 2), and the average by the weights that they saw."""
    world, models, weights = run.world, [], []
    for sample in world.train:
        models.append(params.clone())
        train(world.model, models[-1], sample, EPOCHS, run.adam(models[-1]), run.seeds, run.streams(), table, relative)
        weights.append(EPOCHS * (table * sample.sums(world.groups)).sum((1, 2)))
    return run.join(models, np.array(weights))


def fedfb_first(run: Run) -> Iterator[Tensor]:
    """FedFB's earlier version: F of the losses of being accepted, on the clients' sums.

    Two groups: signed steps α / t by the held people, weights over their sum in a batch, the rate over t. More: steps
    α / sqrt(t) by differences, as ``by_differences``.
    """
    world, params, mass, people = run.world, run.world.start(run.seeds), run.mass(), run.world.people
    two = world.groups == 2
    lam = run.shares() if two else run.even()
    judged = Sample.join(world.held if two else world.train)
    for t in range(ROUNDS):
        table = lam * people.sum(0) / people if two else lam / mass[:, None]
        params = _round(replace(run, lr=run.lr / (t + 1)) if two else run, params, table, two)
        yield params
        level = accepting(world, params, judged, mass)
        if two:
            lam = signed(lam, level, run.alpha / (t + 1), run.flag("other_branch"))
        else:
            lam = by_differences(lam, level.sum(2), run.alpha / (t + 1) ** 0.5, run.cap())


def complement(negative: Floats, cap: Floats) -> Floats:
    """λ (R, A, 2) from that of label 0 (R, A), clipped to [0, cap]: label 1 has the rest."""
    inside = np.clip(negative, 0.0, cap)
    return np.stack([inside, cap - inside], axis=2)


def accepting(world: World, params: Tensor, sample: Sample, mass: Floats) -> Floats:
    """Losses of being accepted, summed by group and label, over n_a: (R, A, 2)."""
    found = losses(world.model, params, sample, label=1)
    return np.stack([sample.sums(world.groups, row) for row in found]) / mass[:, None]


def signed(lam: Floats, gap: Floats, step: Floats, other_branch: NDArray[np.bool_]) -> Floats:
    """Two groups: λ of (a, y) in [0, 1] (R, 2, 2), a step along a sign; ``gap`` (R, 2, 2) as ``accepting`` gives it."""
    up = gap[:, 0, 0] - gap[:, 1, 0] > gap[:, 0, 1] - gap[:, 1, 1]
    falling, rising = (np.clip(lam[:, a, 0] + s * step, 0, 1) for a, s in ((0, -1), (1, 1)))
    found = np.stack([np.stack([falling, 1 - falling], 1), np.stack([rising, 1 - rising], 1)], 1)
    high, low = np.clip(lam[:, 0, 0] + step, 0, 1), np.clip(lam[:, 1, 0] - step, 0, 1)
    right = np.stack([np.stack([high, 1 - high], 1), np.stack([low, 1 - low], 1)], 1)
    low = np.clip(lam[:, 0, 1] - step, 0, 1)  # the code: λ(1, y=0) and λ(0, y=1) have changed places
    wrong = np.stack([np.stack([high, low], 1), np.stack([1 - high, 1 - low], 1)], 1)
    other = np.where(other_branch[:, None, None], wrong, right)
    return np.where(up[:, None, None], found, other)


def by_differences(lam: Floats, level: Floats, step: Floats, cap: Floats) -> Floats:
    """More groups: λ_a of label 0 rises by ``step`` (R,) times D_0 - D_a, D = ``level`` (R, A) of being accepted."""
    away = level[:, :1] - level
    away[:, 0] = -away.sum(1)
    return complement(lam[:, :, 0] + step[:, None] * away, cap)


def fairbatch(run: Run, sample: Sample, judged: Sample, steps: int, each: int) -> Iterator[Tensor]:
    """FairBatch on one sample: ``each`` epochs, then a step of λ by the losses of ``judged``; one optimiser throughout.

    Two groups: λ_(a, y) = n_ay / n_a at the start, weights λ_(a, y) n_y / n_ay over their sum in a batch, signed steps.
    """
    world, mass, people = run.world, run.mass(), run.world.people
    params, two, drawn = world.start(run.seeds), world.groups == 2, run.streams()
    optimiser = run.adam(params)
    lam = run.shares() if two else run.even()
    for t in range(steps):
        table = lam * people.sum(0) / people if two else lam / mass[:, None]
        train(world.model, params, sample, each, optimiser, run.seeds, drawn, table, two)
        yield params
        for stream in drawn.values():
            stream.passed(2 if judged is sample else 1)
        level = accepting(world, params, judged, mass)
        if two:
            lam = signed(lam, level, run.alpha / (t + 1), run.flag("other_branch"))
        else:
            lam = by_differences(lam, level.sum(2), run.alpha / (t + 1) ** 0.5, run.cap())


def cfl(run: Run, steps: int) -> Iterator[Tensor]:
    """FairBatch on the pooled people; λ is judged by the held ones. All runs are ``short``, or none."""
    short = run.world.groups > 2 and bool(run.flag("short").all())
    sample, held = run.world.whole
    return fairbatch(run, sample, held, steps, 1 if short else TOTAL // steps)


def cfl_first(run: Run, steps: int) -> Iterator[Tensor]:
    """CFL's earlier version, TOTAL steps of λ judged by the people that it trains on; or fewer, with epochs between."""
    sample, _ = run.world.whole
    return fairbatch(run, sample, sample, steps, TOTAL // steps)


def ensemble(run: Run) -> Iterator[Tensor]:
    """FairBatch at every client on its own people, a step of λ an epoch: models (K, R, P), once."""
    found = []
    for k, sample in enumerate(run.world.train):
        world = replace(run.world, people=sample.sums(run.world.groups))
        own = replace(run, world=world, alpha=run.alpha[:, k])
        found.append(final(fairbatch(own, sample, sample, TOTAL, 1)))
    yield torch.stack(found)


def final(models: Iterator[Tensor]) -> Tensor:
    """The last of a method's models."""
    return deque(models, maxlen=1)[0]


def vote(world: World, models: Tensor, sample: Sample) -> Floats:
    """The ensemble's ŷ (R, n): the larger of the clients' mean outputs, each over its sum in a batch of the test."""
    shares, found = world.sizes / world.sizes.sum(), []
    for run in range(models.shape[1]):
        total = torch.zeros(len(sample), 2, dtype=torch.float64)
        for share, params in zip(shares, models[:, run], strict=True):
            for part, batch in zip(total.split(BATCH), outputs(world.model, params, sample).split(BATCH), strict=True):
                part += float(share) * (batch / batch.sum()).double()
        found.append((total[:, 1] > total[:, 0]).double().numpy())
    return np.stack(found)


def lft_fedavg(run: Run) -> Iterator[Tensor]:
    """FairBatch at the clients, λ_(a, y) started at n_ay / n_a and weights λ / n_a, models averaged every round."""
    world, params, mass = run.world, run.world.start(run.seeds), run.mass()
    two = world.groups == 2
    lam = [run.shares() for _ in world.train]
    for _ in range(ROUNDS):
        models, weights = [], []
        for k, sample in enumerate(world.train):
            own, drawn = params.clone(), run.streams()
            optimiser, weight = run.adam(own), np.zeros(len(run.seeds))
            for each, t in ((1, t) for t in range(EPOCHS)) if two else ((EPOCHS, 0),):
                table = lam[k] / mass[:, None]
                weight += each * (table * sample.sums(world.groups)).sum((1, 2))
                train(world.model, own, sample, each, optimiser, run.seeds, drawn, table)
                for stream in drawn.values():
                    stream.passed(2)
                lam[k] = _moved(run, lam[k], own, sample, run.alpha[:, k], t)
            models.append(own)
            weights.append(weight)
        params = run.join(models, np.array(weights))
        yield params


def _moved(run: Run, lam: Floats, params: Tensor, sample: Sample, alpha: Floats, t: int) -> Floats:
    """Two groups: four signed steps, one after each cell's sum has been divided by n_a; more: one by differences,
    whose cap is over the client's own people.
    """
    world, mass = run.world, run.mass()
    if world.groups > 2:
        return by_differences(lam, accepting(world, params, sample, mass).sum(2), alpha**0.5, run.cap(len(sample)))
    level = accepting(world, params, sample, np.ones_like(mass))
    for y, a in ((0, 0), (0, 1), (1, 0), (1, 1)):
        level[:, a, y] /= mass[a]
        lam = signed(lam, level, alpha / (t + 1), run.flag("other_branch"))
    return lam
