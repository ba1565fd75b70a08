"""LFT+Ensemble's frontier and smallest disparity over all budgets on a finite X, by exact splits of
MD.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.frontier import Frontier, Points, build, non_dominated
from fairfl.solvers.lft_ensemble.finite import everybody, local_paths
from fairfl.solvers.lft_ensemble.finite_client_path import ClientPath, client_path
from fairfl.solvers.lft_ensemble.finite_segments import Segments
from fairfl.solvers.lft_ensemble.finite_splits import CLOSE, SLACK, Splits
from fairfl.solvers.problem import Task
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel


@dataclass(frozen=True)
class FiniteEnsemble:
    """All ensembles: the clients' paths, and the best splits of MD between them."""

    fed: Federation
    model: FiniteModel
    task: Task

    @cached_property
    def paths(self) -> list[ClientPath]:
        """One path per client."""
        problem = self.fed, self.model, self.task
        whole = everybody(*problem)
        return [client_path(path, whole) for path in local_paths(*problem)]

    @cached_property
    def splits(self) -> Splits:
        """The clients' broken lines, weighted."""
        return Splits.of(self.paths, self.fed.weight)

    def best(self, wanted: Array) -> tuple[Points, Array]:
        """The most accurate ensembles with |MD| at most ``wanted`` (P,), and by how much others may
        be better.
        """
        found = [self.splits.best(float(d)) for d in wanted]
        return self.read(np.stack([place for place, _ in found])), np.array(
            [missed for _, missed in found]
        )

    def read(self, places: Array) -> Points:
        """The ensembles at fractional vertices (P, I)."""
        got = [[path.at(p) for path, p in zip(self.paths, row, strict=True)] for row in places]
        md, accuracy, local, lam = np.array(got).reshape(*places.shape, 4).transpose(2, 0, 1)
        disparity = np.abs(md @ self.fed.weight)
        eps = np.where(places > 0, local, 1.0)
        return Points(
            np.where(disparity <= SLACK, 0.0, disparity), accuracy @ self.fed.weight, eps, lam
        )

    @property
    def least(self) -> Points:
        """The least disparate ensemble, of several the most accurate.

        Where clients jump, the reachable MD are not an interval: 0 may be left out.
        """
        fair = self.read(self.splits.fairest[None])
        found = self.best(fair.disparity)[0].join(fair)
        return found.take(non_dominated(found.disparity, found.worth)[:1])


def ensemble_frontier_finite(
    fed: Federation, model: FiniteModel, task: Task, points: int
) -> Frontier:
    """LFT+Ensemble's frontier over all eps on a finite X; every point attained."""
    if task.several:
        return Segments.of(fed, model, task).frontier(points)
    family = FiniteEnsemble(fed, model, task)
    first = family.least
    bottom = float(first.disparity[0])
    found, missed = family.best(np.linspace(bottom, max(family.splits.top, bottom), points))
    return build(
        "lft_ensemble",
        first.join(found),
        lambda d: family.best(d)[0],
        bool((missed <= CLOSE).all()),
    )


def ensemble_minimum_finite(fed: Federation, model: FiniteModel, task: Task) -> Points:
    """The least disparate ensemble, of several the most accurate."""
    if task.several:
        return Segments.of(fed, model, task).minimum()
    return FiniteEnsemble(fed, model, task).least
