"""LFT+FedAvg over all eps on a finite X: frontier and smallest disparity, exact unless there is too much to look at.

Of several rules that are optimal for one eps each counts as attained, whatever its disparity: ``solve`` returns one.
Where cells tie at too many multipliers (many clients, or thousands of points), a search over budgets takes over.
"""

from __future__ import annotations

import numpy as np

from fairfl.solvers.box_lp import solve_box
from fairfl.solvers.budgets import corner_budgets
from fairfl.solvers.finite import local_rows, pooled_row
from fairfl.solvers.finite_fedavg_exact import ExactFedAvg
from fairfl.solvers.frontier import Frontier
from fairfl.solvers.search import Family, search_frontier, search_minimum
from fairfl.solvers.search_results import frontier_of, minimum_of
from fairfl.solvers.tie_vertices import TooMany
from fairfl.theory.checks import Array
from fairfl.theory.federation import Federation
from fairfl.theory.finite import FiniteModel


def _family(fed: Federation, model: FiniteModel) -> Family:
    gain, v = model.gain(fed.mass).ravel(), local_rows(fed, model)
    pooled = pooled_row(fed, model)
    base = 1.0 - fed.base_rate
    free = (gain > 0).astype(np.float64)
    corners = corner_budgets(np.flatnonzero(fed.defined), fed.n_clients)
    reach = np.max([np.abs(v @ solve_box(gain, v, eps).f) for eps in corners], axis=0)

    def solve(eps: Array, start: Array) -> tuple[Array, Array, Array]:
        md, accuracy, lam = np.empty(len(eps)), np.empty(len(eps)), np.empty(eps.shape)
        for b in range(len(eps)):
            found = solve_box(gain, v, eps[b], start[b] if start[b].any() else None)
            md[b], accuracy[b], lam[b] = float(pooled @ found.f), base + found.primal, found.multipliers
        return md, accuracy, lam

    return Family(solve, np.minimum(1.02 * reach, 1.0), 1.0 if pooled @ free >= 0 else -1.0)


def fedavg_frontier_finite(fed: Federation, model: FiniteModel, points: int) -> Frontier:
    """LFT+FedAvg's frontier on a finite X: exact, or as far as a search over eps finds it; every point attained."""
    try:
        return ExactFedAvg.of(fed, model).frontier(points)
    except TooMany:
        return searched_frontier(fed, model, points)


def searched_frontier(fed: Federation, model: FiniteModel, points: int) -> Frontier:
    """The frontier as far as a search over eps finds it."""
    small = model.points.size <= 200
    family = _family(fed, model)
    found = search_frontier(family, min(points, 60), grid=9 if small else 6, limit=90, rounds=6 if small else 2)
    return frontier_of(family, found)


def fedavg_minimum_finite(fed: Federation, model: FiniteModel) -> tuple[float, float, Array]:
    """(disparity, accuracy, eps) of the least disparate solution: exact, or the best that a search over eps finds."""
    try:
        return ExactFedAvg.of(fed, model).minimum()
    except TooMany:
        return searched_minimum(fed, model)


def searched_minimum(fed: Federation, model: FiniteModel) -> tuple[float, float, Array]:
    """(disparity, accuracy, eps) of the least disparate solution that a search over eps finds."""
    family = _family(fed, model)
    return minimum_of(family, search_minimum(family, grid=6, limit=60, rounds=12))
