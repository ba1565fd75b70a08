"""Randomised optima of the dual by column generation: a feasible mixture of the classifiers of
several λ.

Newton's method on the dual ends at one deterministic rule. Where scores tie on a set of positive
mass, or where the dual is so curved that a rounding of λ breaks a constraint, the optimum is a
mixture of rules with almost the same λ. The worth and the constraints are sums over the rule's
places, so each place has a mixture of its own: the master problem maximises Σ_p Σ_j θ_pj worth_pj
over mixtures that satisfy the constraints; its dual proposes the next λ.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from fairfl._support.checks import Array
from fairfl.solvers.numerics import highs
from fairfl.solvers.numerics.accept_sets import AcceptSets
from fairfl.solvers.numerics.dual import Constraints, DualPoint, dual_point
from fairfl.solvers.numerics.newton import settled

ROUNDS = 80
RECENT = 20
"""Points of a failed descent whose sets are the first columns."""
GAP = 2e-12
STEPS = np.array([1.0, 0.3, 0.1, 0.03])
"""Where rules are proposed between the best known multipliers and the master's."""
KEPT = 1e-13
"""Columns with less weight than this are dropped from the mixture (the rest is renormalised)."""
FINE = 1e4, 1e2, 1.0
"""Scales of the master problem: HiGHS is content with a constraint that is broken by 1e-10, and
with a rule outside the mixture that would add 1e-10 to its worth; at the first it may give up.
"""
CLOSE = 1e-8
"""Constraints within this of their budgets are met exactly by the mixture."""


Sets = Sequence[AcceptSets]
"""One set at each place."""


def mix(
    problem: Constraints, eps: Array, visited: list[DualPoint]
) -> tuple[list[Sets], Array, DualPoint]:
    """The N sets of the mixture, shares (P, N) of each at each place, and the dual point with the
    best bound.

    Parameters
    ----------
    eps : (K,) budgets.
    visited : dual points of a failed descent; their rules follow those that accept nobody,
        everybody, and the most useful one.
    """
    free = dual_point(problem, np.zeros((1, problem.count))).sets
    none = [AcceptSets.nobody(f.totals.size) for f in problem.profiles]
    sets = [
        none,
        [own.opposite(f.totals) for own, f in zip(none, problem.profiles, strict=True)],
        free,
        *(point.sets for point in visited[-RECENT:]),
    ]
    best = min(visited[-RECENT:], key=lambda p: _bound(p, eps))
    shares = np.full((len(problem.profiles), 2), 0.5)  # feasible, as in each master problem
    for _ in range(ROUNDS):
        found = _master(problem, eps, sets)
        if found is None:
            break
        shares, lam, value = found
        if _bound(best, eps) - value <= GAP:
            break
        # in-out separation: proposals on the way to the best known multipliers are steadier than
        # the master's own
        centre = best.lam[0]
        tried = dual_point(problem, centre + STEPS[:, None] * (lam - centre))
        own = [tried.take(np.array([k])) for k in range(STEPS.size)]
        best = min([best, *own], key=lambda p: _bound(p, eps))
        found, better = settled(problem, best, eps[None])
        if better[0]:
            best = min(best, found, key=lambda p: _bound(p, eps))
            own.append(found)
        sets += [point.sets for point in own]
    sets = sets[: shares.shape[1]]
    return sets, shares, best


def _bound(point: DualPoint, eps: Array) -> float:
    return float(point.dual(eps[None])[0])


def _columns(problem: Constraints, sets: list[Sets]) -> tuple[Array, Array]:
    """Worth (P, N) and values (K, P, N) of the sets at each place."""
    worth, values = [], []
    places = zip(problem.coefficients, problem.nobody, strict=True)
    for p, (rows, nobody) in enumerate(places):
        served = np.stack([own[p].integrals[0] for own in sets])
        worth.append(served[:, 0] * (not nobody))
        values.append(rows @ served[:, 1:].T)
    return np.stack(worth), np.stack(values, axis=1)


def _master(
    problem: Constraints, eps: Array, sets: list[Sets]
) -> tuple[Array, Array, float] | None:
    """Best feasible mixtures: shares, multipliers (K,), worth; None where HiGHS gives up."""
    worth, values = _columns(problem, sets)
    places, count = worth.shape
    bounded = np.flatnonzero(np.isfinite(eps))
    table, budgets, b = values[bounded].reshape(-1, worth.size), eps[bounded], problem.b[bounded]
    ones = np.kron(np.eye(places), np.ones(count))
    for fine in FINE:
        result = scipy.optimize.linprog(
            -fine * worth.ravel(),
            A_ub=fine * np.concatenate([table, -table]),
            b_ub=fine * np.concatenate([budgets - b, budgets + b]),
            A_eq=ones,
            b_eq=np.ones(places),
            method="highs",
            options=highs.OPTIONS,
        )
        if result.success:
            break
    else:
        return None
    lam = np.zeros(eps.size)
    theta = _polished(np.where(result.x > KEPT, result.x, 0.0), ones, table, b, budgets)
    marginals = result.ineqlin.marginals
    lam[bounded] = marginals[: bounded.size] - marginals[bounded.size :]
    return theta.reshape(worth.shape), lam, problem.base + float(worth.ravel() @ theta)


def _polished(theta: Array, ones: Array, values: Array, b: Array, eps: Array) -> Array:
    """The basis of HiGHS solved again: it is content with constraints that are broken by some
    1e-10.
    """
    basic = np.flatnonzero(theta)
    mixed = values @ theta + b
    active = np.flatnonzero(np.abs(np.abs(mixed) - eps) <= CLOSE)
    table = np.concatenate([ones, values[active]])
    target = np.append(np.ones(len(ones)), np.sign(mixed[active]) * eps[active] - b[active])
    exact = highs.solve_again(theta, basic, table, target, rounds=2, rcond=1e-14)
    return exact if exact.min() >= 0 else theta / np.repeat(ones @ theta, theta.size // len(ones))
