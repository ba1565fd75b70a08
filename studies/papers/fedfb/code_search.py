"""How FedFB's published code chooses: one seed, a grid of trials one after the other, some of them stopped half-way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from fairfl.sims.engine.task import Floats
from fairfl.sims.group_fairness import FairMeasures
from fairfl.studies.papers.fedfb.code_rules import vote
from fairfl.studies.papers.fedfb.code_training import Sample, World, accepted, losses

Point = tuple[float, object]
"""A rate, and what α is (a number, or one a client)."""
Grid = list[Point]
LEAST_SPREAD = 0.005
"""A published spread below it is taken for it: what rounding and the order of sums do."""
REDUCTION = 4
"""At a rung a trial is stopped unless it is among the best 1 / REDUCTION of those before it."""


@dataclass(frozen=True, eq=False)
class Choice:
    """A trial: its ``point`` of the grid and steps of λ, its ``mark`` (smaller is better), and its ``model``.

    ``model`` (1, P), or (K, 1, P), is the trial's last: it was ``stopped`` after so many iterations, if not 0.
    """

    point: Point
    steps: int
    mark: float
    model: Tensor
    stopped: int

    def words(self, kept: bool = True) -> str:
        """In words; ``kept`` is whether the model is seed 0's."""
        rate, alpha = self.point
        steps = f", {self.steps} steps of λ" if self.steps else ""
        stopped = f", seed 0 stopped after {self.stopped}" if kept and self.stopped else ""
        return f"lr {rate:g}, α {alpha}{steps}{stopped}"


@dataclass(frozen=True, eq=False)
class Trials:
    """A grid that was run with seed 0: ``models`` (R, P) or (K, R, P) after each of ``stops``, and their ``marks``.

    The first ``rungs`` of the stops are the scheduler's: its rung and its end, or its end alone. The last is the
    method's.
    """

    grid: Grid
    steps: int
    stops: tuple[int, ...]
    rungs: int
    marks: Floats
    models: tuple[Tensor, ...]

    @classmethod
    def of(
        cls, world: World, grid: Grid, runs: Iterator[Tensor], stops: tuple[int, ...], judged: Sample,
        loss: bool = False, steps: int = 0, rungs: int | None = None,
    ) -> Trials:  # fmt: skip
        """Marks are disparities on ``judged``, or with ``loss`` the sums of its losses."""
        marks, models = [], []
        for t, params in enumerate(runs, 1):
            if t in stops:
                models.append(params.clone())
                if loss:
                    marks.append(losses(world.model, params, judged).double().sum(1).numpy())
                else:
                    marks.append(disparities(accepts(world, params, judged), judged))
            if t == stops[-1]:
                break
        return cls(grid, steps, stops, len(stops) if rungs is None else rungs, np.array(marks), tuple(models))

    def chosen(self) -> Choice:
        """The trial with the smallest last mark."""
        at, when = best(self.marks[: self.rungs])
        early = when < len(self.stops) - 1
        model = self.models[when][..., at : at + 1, :]
        return Choice(self.grid[at], self.steps, float(self.marks[when][at]), model, self.stops[when] if early else 0)

    def near(self, world: World, published: Floats, spread: Floats) -> list[Choice]:
        """All trials, the nearest in last accuracy and disparity on test to the ``published`` first."""
        far = distances(measures(world, accepts(world, self.models[-1], world.test)), published, spread)
        return [
            Choice(self.grid[at], self.steps, float(far[at]), self.models[-1][..., at : at + 1, :], 0)
            for at in np.argsort(far, kind="stable")
        ]


def measures(world: World, accept: Floats) -> Floats:
    """Accuracy and disparity of ŷ (R, n) on test: (R, 2)."""
    return np.stack([(accept == world.test.y.numpy()).mean(1), disparities(accept, world.test)], 1)


def distances(found: Floats, published: Floats, spread: Floats) -> Floats:
    """How far accuracies and disparities (R, 2) are from the ``published``, in their spreads: (R,)."""
    return np.hypot(*((found - published) / np.maximum(spread, LEAST_SPREAD)).T)


def accepts(world: World, models: Tensor, sample: Sample) -> Floats:
    """ŷ (R, n) of models (R, P), or of ensembles (K, R, P)."""
    return vote(world, models, sample) if models.ndim == 3 else accepted(world.model, models, sample)


def disparities(accept: Floats, sample: Sample) -> Floats:
    """max_a |P(ŷ=1 | a) - P(ŷ=1)| of each row of ŷ (R, n): (R,)."""
    y, group = sample.y.numpy(), sample.a.numpy()
    return np.array([FairMeasures.of(row, y, group).dp for row in accept])


def best(marks: Floats) -> tuple[int, int]:
    """The trial with the smallest last mark, the first of equals, and where it ended, of ``marks`` (1 or 2, R).

    The asynchronous successive halving of the code's scheduler, trials one after the other: at the rung, marks[0], a
    trial ends if its mark is above the first quartile of the marks of those before it; the others end at marks[-1].
    """
    if len(marks) == 1:
        return int(np.argmin(marks[0])), 0
    before, last = list[float](), list[tuple[float, int]]()
    for rung, end in marks.T:
        stop = bool(before) and rung > np.percentile(before, 100 / REDUCTION)
        before.append(float(rung))
        last.append((float(rung), 0) if stop else (float(end), 1))
    at = min(range(len(last)), key=lambda trial: last[trial][0])
    return at, last[at][1]
