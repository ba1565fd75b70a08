"""LFT+FedAvg's frontier and smallest disparity on a finite X: exact where the vertices are few,
else searched for.

Of several rules that are optimal for one eps each counts as attained, whatever its disparity:
``solve`` returns one. Where cells tie at too many multipliers (many clients, or thousands of
points), a search is used instead.
"""

from __future__ import annotations

from contextlib import suppress

from fairfl.solvers.frontier import Frontier, Points
from fairfl.solvers.lft_fedavg.finite_exact import ExactFedAvg
from fairfl.solvers.lft_fedavg.finite_search import FedAvgSearch
from fairfl.solvers.numerics.vertices import TooMany
from fairfl.solvers.problem import Task
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel


def _looked_at(fed: Federation, model: FiniteModel, task: Task) -> ExactFedAvg | FedAvgSearch:
    if not (task.several or task.affine):
        with suppress(TooMany):
            return ExactFedAvg.of(fed, model, task)
    return FedAvgSearch.of(fed, model, task)


def fedavg_frontier_finite(
    fed: Federation, model: FiniteModel, task: Task, points: int
) -> Frontier:
    """LFT+FedAvg's frontier on a finite X: exact, or as far as the search finds it; every point
    attained.
    """
    return _looked_at(fed, model, task).frontier(points)


def fedavg_minimum_finite(fed: Federation, model: FiniteModel, task: Task) -> Points:
    """The least disparate solution: exact, or the best that the search finds."""
    return _looked_at(fed, model, task).minimum()
