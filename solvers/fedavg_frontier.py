"""LFT+FedAvg over all eps in [0, 1]^I on continuous laws: smallest disparity and frontier."""

from __future__ import annotations

import numpy as np

from fairfl.solvers.batch import minimise_duals
from fairfl.solvers.dual import ENOUGH, dual_point, fedavg_constraints, hessian
from fairfl.solvers.finite_frontier import frontier_of, minimum_of
from fairfl.solvers.frontier import Frontier
from fairfl.solvers.search import Family, Points, attain, corner_budgets, first_points, search_frontier, search_minimum
from fairfl.theory.checks import Array
from fairfl.theory.federation import Federation

SLICES = 32
"""Slices of disparity that the search improves; more points than these are not asked of it."""
ROUGH = 1e-7
"""Optimality residual of the points that a search tries; those that it keeps are solved again to rounding."""
CHUNK = 400
"""Problems solved in one batch: bounds the memory."""


def fedavg_family(fed: Federation) -> Family:
    """LFT+FedAvg as a function of budgets, many at once."""
    problem = fedavg_constraints(fed)
    pooled = (fed.within[:, 0], -fed.within[:, 1])
    free = dual_point(problem, np.zeros((1, problem.count)))
    md = sum(float(free.sets[a].integrals[0, 1:] @ pooled[a]) for a in (0, 1))
    # a client that is nearly fair when nobody is constrained may be far from it when another is: look at all corners
    corners = corner_budgets(np.flatnonzero(fed.defined), problem.count)
    reach = np.abs(minimise_duals(problem, corners, np.zeros_like(corners)).values).max(axis=0)
    family_reach = np.minimum(1.02 * reach, 1.0)

    def solve(eps: Array, start: Array, enough: float = ROUGH) -> tuple[Array, Array, Array]:
        out = []
        for b in range(0, len(eps), CHUNK):
            found = minimise_duals(problem, eps[b : b + CHUNK], start[b : b + CHUNK], enough)
            out.append((found.rates[:, 0] @ pooled[0] + found.rates[:, 1] @ pooled[1], found.accuracy, found.lam))
        return tuple(np.concatenate([o[k] for o in out]) for k in range(3))  # type: ignore[return-value]

    sign = 1.0 if md >= 0 else -1.0

    def slopes(lam: Array, hold: bool) -> tuple[Array, Array]:
        # on the active constraints MD_k = -sign(λ_k) eps_k, so dλ = -H⁻¹ (sign(λ) d eps) there
        point = dual_point(problem, lam)
        own = hessian(problem, point)
        cross = hessian(problem, point, np.stack([pooled[0][None], pooled[1][None]]))[:, 0]
        side = np.where(lam != 0, np.sign(lam), -np.sign(point.values) if hold else 0.0) * (family_reach > 0)
        active = side != 0
        both = active[:, :, None] & active[:, None, :]
        ridge = 1e-12 * np.maximum(np.trace(own, axis1=1, axis2=2), 1e-6)[:, None, None] * np.eye(lam.shape[1])
        system = np.where(both, own, 0.0) + np.where(active, 0.0, 1.0)[:, :, None] * np.eye(lam.shape[1]) + ridge
        carried = np.linalg.solve(system, np.where(active, cross, 0.0)[..., None])[..., 0]
        return np.where(active, -sign * side * carried, 0.0), np.abs(point.values)

    return Family(solve, family_reach, sign, slopes, lambda eps, start: solve(eps, start, ENOUGH))


def common_shares(fed: Federation) -> bool:
    """Whether P(i | a) is the same for both groups: then MD = Σ w_i MD_i, and eps = 0 is fair (FedFB, theorem 21)."""
    return bool(fed.defined.all() and np.abs(fed.within[:, 0] - fed.within[:, 1]).max() <= 1e-15)


def fedavg_frontier(fed: Federation, points: int) -> Frontier:
    """LFT+FedAvg's frontier: attained points, the best that a search over eps found."""
    family = fedavg_family(fed)
    grid = {1: 33, 2: 15, 3: 7, 4: 5}.get(fed.n_clients, 4)
    found = search_frontier(family, min(points, SLICES), grid=grid, limit=400, rounds=8)
    if found.md[0] > 0:
        low = _lowest(fed, family)
        if low.md[0] < found.md[0]:
            found = low.join(found)
    return frontier_of(family, found)


def _lowest(fed: Federation, family: Family) -> Points:
    if common_shares(fed):
        zero = np.zeros((1, fed.n_clients))
        return attain(family, zero, zero)
    return search_minimum(family, grid=5, limit=130, rounds=32)


def fedavg_minimum(fed: Federation) -> tuple[float, float, Array]:
    """(disparity, accuracy, eps) of the least disparate solution; of several fair ones an accurate one."""
    family = fedavg_family(fed)
    lowest = _lowest(fed, family)
    if lowest.md[0] <= 1e-12:
        tried = first_points(family, 7 if fed.n_clients <= 2 else 4, 130, np.random.default_rng(0)).join(lowest)
        fair = tried.take(np.flatnonzero(tried.md <= 1e-12))
        lowest = fair.take(np.array([int(fair.accuracy.argmax())]))
    return minimum_of(family, lowest)
