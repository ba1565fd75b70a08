"""Randomised optima of the dual by column generation: a feasible mixture of the classifiers of
several λ.

Newton's method on the dual ends at one deterministic rule. Where scores tie on a set of positive
mass, or where the dual is so curved that a rounding of λ breaks a constraint, the optimum is a
mixture of rules with almost the same λ. The master problem maximises Σ θ_j acc(f_j) over mixtures
that satisfy the constraints; its dual proposes the next λ.
"""

from __future__ import annotations

import numpy as np
import scipy

from fairfl._support.checks import Array
from fairfl.solvers.numerics import highs
from fairfl.solvers.numerics.dual import Constraints, DualPoint, dual_point

ROUNDS = 80
GAP = 2e-12
KEPT = 1e-13
"""Columns with less weight than this are dropped from the mixture (the rest is renormalised)."""
FINE = 1e4
"""Scale of the constraints: HiGHS is content with one that is broken by 1e-10, and would call one
rule optimal.
"""
CLOSE = 1e-8
"""Constraints within this of their budgets are met exactly by the mixture."""


def mix(
    problem: Constraints, eps: Array, visited: list[DualPoint]
) -> tuple[Array, list[DualPoint], float]:
    """Weights, their dual points, and the best dual bound.

    Parameters
    ----------
    eps : (K,) budgets.
    visited : dual points of a failed descent; their rules are the first columns.
    """
    points = list(visited)
    bound = min(float(p.dual(eps[None])[0]) for p in points)
    theta = np.zeros(0)
    for _ in range(ROUNDS):
        theta, lam, value = _master(problem, eps, points)
        if bound - value <= GAP:
            break
        best = points[int(np.argmin([float(p.dual(eps[None])[0]) for p in points]))].lam[0]
        # in-out separation: proposals halfway to the best known multipliers are steadier than the
        # master's own
        for step in (1.0, 0.3):
            point = dual_point(problem, (best + step * (lam - best))[None])
            bound = min(bound, float(point.dual(eps[None])[0]))
            points.append(point)
    columns = theta[1:-1]
    trivial = np.array([theta[0], theta[-1]])
    return np.concatenate([trivial, columns]), points[: columns.size], bound


def _master(
    problem: Constraints, eps: Array, points: list[DualPoint]
) -> tuple[Array, Array, float]:
    """Best feasible mixture of: reject everybody, the points' rules, accept everybody."""
    fed = problem.fed
    accuracy = np.array([1 - fed.base_rate, *(float(p.accuracy[0]) for p in points), fed.base_rate])
    values = np.stack(
        [np.zeros(eps.size), *(p.values[0] for p in points), np.zeros(eps.size)], axis=1
    )
    bounded = np.flatnonzero(np.isfinite(eps))
    rows = np.concatenate([values[bounded], -values[bounded]])
    result = scipy.optimize.linprog(
        -accuracy,
        A_ub=FINE * rows,
        b_ub=FINE * np.concatenate([eps[bounded]] * 2),
        A_eq=np.ones((1, accuracy.size)),
        b_eq=[1.0],
        method="highs",
        options=highs.OPTIONS,
    )
    if not result.success:  # reject-everybody is always feasible, so this is HiGHS giving up
        theta = np.zeros(accuracy.size)
        theta[0] = 1.0
        return theta, np.zeros(eps.size), float(accuracy[0])
    theta = _polished(np.where(result.x > KEPT, result.x, 0.0), values[bounded], eps[bounded])
    lam = np.zeros(eps.size)
    marginals = FINE * result.ineqlin.marginals
    lam[bounded] = marginals[: bounded.size] - marginals[bounded.size :]
    return theta, lam, float(accuracy @ theta)


def _polished(theta: Array, values: Array, eps: Array) -> Array:
    """The basis of HiGHS solved again: it is content with constraints that are broken by some
    1e-10.
    """
    basic = np.flatnonzero(theta)
    mixed = values @ theta
    active = np.flatnonzero(np.abs(np.abs(mixed) - eps) <= CLOSE)
    table = np.concatenate([np.ones((1, theta.size)), values[active]])
    target = np.append(1.0, np.sign(mixed[active]) * eps[active])
    exact = highs.solve_again(theta, basic, table, target, rounds=2, rcond=1e-14)
    return exact if exact.min() >= 0 else theta / theta.sum()
