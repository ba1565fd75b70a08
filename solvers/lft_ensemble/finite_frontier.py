"""LFT+Ensemble's frontier and smallest disparity over all budgets on a finite X."""

from __future__ import annotations

from fairfl.solvers.frontier import Frontier, Points
from fairfl.solvers.lft_ensemble.finite_segments import Segments
from fairfl.solvers.problem import Task
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel


def ensemble_frontier_finite(
    fed: Federation, model: FiniteModel, task: Task, points: int
) -> Frontier:
    """LFT+Ensemble's frontier over all eps on a finite X; every point attained."""
    return Segments.of(fed, model, task).frontier(points)


def ensemble_minimum_finite(fed: Federation, model: FiniteModel, task: Task) -> Points:
    """The least disparate ensemble, of several the most accurate."""
    return Segments.of(fed, model, task).minimum()
