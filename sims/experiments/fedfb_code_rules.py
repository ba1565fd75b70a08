"""The five methods as FedFB's published code runs them: its steps of λ, its starts, and its choices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from fairfl.sims.engine.task import Floats
from fairfl.sims.experiments.fedfb_code_training import Adam, Sample, World, accepted, average, losses, train
from fairfl.sims.experiments.fedfb_runs import EPOCHS, ROUNDS
from fairfl.sims.group_fairness import FairMeasures

TOTAL = 300
"""Epochs of what does not train in rounds."""


@dataclass(frozen=True)
class Code:
    """Where the code departs from the paper, or from what it leaves open; each can be mended alone.

    Attributes
    ----------
    first_client : client 0's model counts once in averages, whatever its people (``average``).
    every_constant : FedFB adds F's constant n_00/n_0 - n_0a/n_a once a client.
    one_cap : λ_a is held in [0, 2 n_0/n] for every group a, in place of [0, 2 n_a/n].
    decay : Adam's weight decay; beside a loss over n that is small it is strong.
    other_branch : the signed step of two groups sets λ of (0, y=1) where it is to set λ of (1, y=0).
    short : CFL of more than two groups trains one epoch a step of λ, 1 or 10 in all.
    """

    first_client: bool = True
    every_constant: bool = True
    one_cap: bool = True
    decay: float = 1e-4
    other_branch: bool = True
    short: bool = True


@dataclass(frozen=True, eq=False)
class Run:
    """R runs of one method: their ``seeds``, rates ``lr`` (R,), and ``alpha`` (R,) or, of local training, (R, K)."""

    world: World
    code: Code
    seeds: Sequence[int]
    lr: Floats
    alpha: Floats

    def adam(self, params: Tensor) -> Adam:
        """A fresh optimiser."""
        return Adam(params, torch.from_numpy(self.lr), self.code.decay)

    def mass(self) -> Floats:
        """n_a (A,) of all training rows."""
        return self.world.people.sum(1)

    def cap(self) -> Floats:
        """2 n_a / n, or the code's 2 n_0 / n, (A,)."""
        mass = self.mass()
        return 2 * (np.full_like(mass, mass[0]) if self.code.one_cap else mass) / mass.sum()

    def even(self) -> Floats:
        """λ of label 0 and of label 1 at the start, n_a / n: (R, A, 2)."""
        mass = self.mass()
        return np.tile((mass / mass.sum())[None, :, None], (len(self.seeds), 1, 2))

    def join(self, models: Sequence[Tensor], weights: Floats, fair: bool) -> Tensor:
        """The clients' average."""
        slip = ("all" if fair else "others") if self.code.first_client else ""
        return average(models, weights, slip)


def fedavg(run: Run) -> Tensor:
    """FedAvg: the sum of a batch's losses, Adam afresh in each round."""
    world, params = run.world, run.world.start(run.seeds)
    sizes = np.array([[len(s)] * len(run.seeds) for s in world.train], dtype=np.float64)
    for _ in range(ROUNDS):
        models = []
        for k, sample in enumerate(world.train):
            models.append(params.clone())
            train(world.model, models[-1], sample, EPOCHS, run.adam(models[-1]), run.seeds, k)
        params = run.join(models, sizes, fair=False)
    return params


def fedfb(run: Run) -> Tensor:
    """FedFB: weights λ / n_a, so that a loss over n; steps α / sqrt(t) F of the log loss, not over ||F||."""
    world, params, lam, cap = run.world, run.world.start(run.seeds), run.even(), run.cap()
    mass, everyone = run.mass(), Sample.join(world.train)
    constant = world.people[0, 0] / mass[0] - world.people[:, 0] / mass
    times = len(world.train) if run.code.every_constant else 1
    for t in range(ROUNDS):
        table, models, weights = lam / mass[:, None], [], []
        for k, sample in enumerate(world.train):
            models.append(params.clone())
            train(world.model, models[-1], sample, EPOCHS, run.adam(models[-1]), run.seeds, k, table)
            weights.append(EPOCHS * (table * sample.sums(world.groups)).sum((1, 2)))
        params = run.join(models, np.array(weights), fair=True)
        found = losses(world.model, params, everyone)
        level = np.stack([everyone.sums(world.groups, row) for row in found]) / mass[:, None]
        gap = level[:, :, 0] - level[:, :, 1]
        move = (run.alpha / (t + 1) ** 0.5)[:, None] * (gap - gap[:, :1] + times * constant)
        move[:, 0] = -move[:, 1:].sum(1)
        lam = complement(lam[:, :, 0] + move, cap)
    return params


def fedfb_first(run: Run) -> Tensor:
    """FedFB in the code's first version: FairBatch's own steps by the losses of being accepted, on the clients' sums.

    Two groups: signed steps α / t by the held people, weights over their sum in a batch, the rate over t. More: steps
    α / sqrt(t) by differences, as ``by_differences``.
    """
    world, params, mass, people = run.world, run.world.start(run.seeds), run.mass(), run.world.people
    two = world.groups == 2
    lam = np.tile(people / mass[:, None], (len(run.seeds), 1, 1)) if two else run.even()
    judged = Sample.join(world.held if two else world.train)
    for t in range(ROUNDS):
        table, models, weights = lam * people.sum(0) / people if two else lam / mass[:, None], [], []
        now = replace(run, lr=run.lr / (t + 1)) if two else run
        for k, sample in enumerate(world.train):
            models.append(params.clone())
            train(world.model, models[-1], sample, EPOCHS, now.adam(models[-1]), run.seeds, k, table, relative=two)
            weights.append(EPOCHS * (table * sample.sums(world.groups)).sum((1, 2)))
        params = run.join(models, np.array(weights), fair=True)
        level = accepting(world, params, judged, mass)
        if two:
            lam = signed(lam, level, run.alpha / (t + 1), run.code.other_branch)
        else:
            lam = by_differences(lam, level.sum(2), run.alpha / (t + 1) ** 0.5, run.cap())
    return params


def complement(negative: Floats, cap: Floats) -> Floats:
    """λ (R, A, 2) from that of label 0 (R, A), clipped to [0, cap]: label 1 has the rest."""
    inside = np.clip(negative, 0.0, cap)
    return np.stack([inside, cap - inside], axis=2)


def accepting(world: World, params: Tensor, sample: Sample, mass: Floats) -> Floats:
    """Losses of being accepted, summed by group and label, over n_a: (R, A, 2)."""
    found = losses(world.model, params, sample, label=1)
    return np.stack([sample.sums(world.groups, row) for row in found]) / mass[:, None]


def signed(lam: Floats, gap: Floats, step: Floats, other_branch: bool) -> Floats:
    """Two groups: λ of (a, y) in [0, 1] (R, 2, 2), a step along a sign; ``gap`` (R, 2, 2) as ``accepting`` gives it."""
    up = gap[:, 0, 0] - gap[:, 1, 0] > gap[:, 0, 1] - gap[:, 1, 1]
    falling, rising = (np.clip(lam[:, a, 0] + s * step, 0, 1) for a, s in ((0, -1), (1, 1)))
    found = np.stack([np.stack([falling, 1 - falling], 1), np.stack([rising, 1 - rising], 1)], 1)
    if other_branch:  # λ(1, y=0) and λ(0, y=1) have changed places
        high, low = np.clip(lam[:, 0, 0] + step, 0, 1), np.clip(lam[:, 0, 1] - step, 0, 1)
        other = np.stack([np.stack([high, low], 1), np.stack([1 - high, 1 - low], 1)], 1)
    else:
        high, low = np.clip(lam[:, 0, 0] + step, 0, 1), np.clip(lam[:, 1, 0] - step, 0, 1)
        other = np.stack([np.stack([high, 1 - high], 1), np.stack([low, 1 - low], 1)], 1)
    return np.where(up[:, None, None], found, other)


def by_differences(lam: Floats, level: Floats, step: Floats, cap: Floats) -> Floats:
    """More groups: λ_a of label 0 rises by ``step`` (R,) times D_0 - D_a, D = ``level`` (R, A) of being accepted."""
    away = level[:, :1] - level
    away[:, 0] = -away.sum(1)
    return complement(lam[:, :, 0] + step[:, None] * away, cap)


def fairbatch(run: Run, sample: Sample, judged: Sample, steps: int, each: int, key: int) -> Tensor:
    """FairBatch on one sample: ``each`` epochs, then a step of λ by the losses of ``judged``; one optimiser throughout.

    Two groups: λ_(a, y) = n_ay / n_a at the start, weights λ_(a, y) n_y / n_ay over their sum in a batch, signed steps.
    """
    world, mass, people = run.world, run.mass(), run.world.people
    params, two = world.start(run.seeds), world.groups == 2
    optimiser = run.adam(params)
    lam = np.tile(people / mass[:, None], (len(run.seeds), 1, 1)) if two else run.even()
    for t in range(steps):
        table = lam * people.sum(0) / people if two else lam / mass[:, None]
        train(world.model, params, sample, each, optimiser, run.seeds, key + t, table, relative=two)
        level = accepting(world, params, judged, mass)
        if two:
            lam = signed(lam, level, run.alpha / (t + 1), run.code.other_branch)
        else:
            lam = by_differences(lam, level.sum(2), run.alpha / (t + 1) ** 0.5, run.cap())
    return params


def cfl(run: Run, steps: int) -> Tensor:
    """FairBatch on the pooled people; λ is judged by the held ones."""
    short = run.world.groups > 2 and run.code.short
    sample, held = Sample.join(run.world.train), Sample.join(run.world.held)
    return fairbatch(run, sample, held, steps, 1 if short else TOTAL // steps, 0)


def ensemble(run: Run) -> Tensor:
    """FairBatch at every client on its own people, a step of λ an epoch: models (K, R, P)."""
    found = []
    for k, sample in enumerate(run.world.train):
        world = replace(run.world, people=sample.sums(run.world.groups))
        own = replace(run, world=world, alpha=run.alpha[:, k])
        found.append(fairbatch(own, sample, sample, TOTAL, 1, 1000 * k))
    return torch.stack(found)


def vote(world: World, models: Tensor, sample: Sample) -> Floats:
    """The ensemble's ŷ (R, n): whether the clients' mean P(y=1), by their people, is above 1/2."""
    shares = np.array([len(s) for s in world.train]) / sum(len(s) for s in world.train)
    chances = [torch.exp(-losses(world.model, params, sample, label=1)).double().numpy() for params in models]
    return (np.tensordot(shares, np.stack(chances), 1) > 0.5).astype(np.float64)


def lft_fedavg(run: Run) -> Tensor:
    """FairBatch at the clients, λ_(a, y) started at n_ay / n_a and weights λ / n_a, models averaged every round."""
    world, params, mass = run.world, run.world.start(run.seeds), run.mass()
    lam = [np.tile(world.people / mass[:, None], (len(run.seeds), 1, 1)) for _ in world.train]
    for _ in range(ROUNDS):
        models, weights = [], []
        for k, sample in enumerate(world.train):
            own = params.clone()
            optimiser, weight = run.adam(own), np.zeros(len(run.seeds))
            for each, t in ((1, t) for t in range(EPOCHS)) if world.groups == 2 else ((EPOCHS, 0),):
                table = lam[k] / mass[:, None]
                weight += each * (table * sample.sums(world.groups)).sum((1, 2))
                train(world.model, own, sample, each, optimiser, run.seeds, 1000 * k + t, table)
                lam[k] = _moved(run, lam[k], own, sample, run.alpha[:, k], t)
            models.append(own)
            weights.append(weight)
        params = run.join(models, np.array(weights), fair=True)
    return params


def _moved(run: Run, lam: Floats, params: Tensor, sample: Sample, alpha: Floats, t: int) -> Floats:
    """Two groups: four signed steps, one after each cell's sum has been divided by n_a; more: one by differences."""
    world, mass = run.world, run.mass()
    if world.groups > 2:
        return by_differences(lam, accepting(world, params, sample, mass).sum(2), alpha**0.5, run.cap())
    level = accepting(world, params, sample, np.ones_like(mass))
    for y, a in ((0, 0), (0, 1), (1, 0), (1, 1)):
        level[:, a, y] /= mass[a]
        lam = signed(lam, level, alpha / (t + 1), run.code.other_branch)
    return lam


def score(world: World, params: Tensor) -> tuple[Floats, Floats]:
    """What the code chooses by: the held people's mean loss, and their disparity, of each run."""
    held = Sample.join(world.held)
    found = accepted(world.model, params, held)
    gaps = [FairMeasures.of(row, held.y.numpy(), held.a.numpy()).dp for row in found]
    return losses(world.model, params, held).mean(1).double().numpy(), np.array(gaps)
