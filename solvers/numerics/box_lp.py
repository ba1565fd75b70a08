"""max u·f subject to |V f + b| <= eps and 0 <= f <= 1, for many cells and few constraints: HiGHS
with sifting, certified.

HiGHS solves the problem on the cells whose sign is in doubt, the others are fixed by the current
multipliers, and more cells are released until no fixed cell disagrees (sifting). The basis is then
solved again to full precision.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from fairfl._support.checks import Array
from fairfl.solvers.numerics import highs
from fairfl.solvers.numerics.exact_lp import solve_exactly
from fairfl.solvers.problem import Problem
from fairfl.solvers.solution import FINITE_TOLERANCE, CertificationError

WHOLE = 6000
"""Linear programmes with at most this many cells go to HiGHS as a whole."""
GOOD = 1e-13
"""Gap and violation at which a basis is not refined."""
SETTLED, ENTRIES = FINITE_TOLERANCE / 2, 100_000
"""A larger gap or violation is settled in exact rationals, where V has no more entries than this.
"""
ROWS = 1e3
"""Constraints are scaled up by this: HiGHS takes coefficients below 1e-9 for zero."""
REFINED = 1e5
"""How much larger the scale of each refinement is."""
DROPPED = 1e-9
"""Cells with no larger coefficient are decided by the multipliers, and not by HiGHS."""
PENALTY = 1e3
"""Penalty of violating a constraint while sifting. Many tight budgets have larger multipliers."""


@dataclass(frozen=True)
class BoxSolution:
    """Primal f (N,), multipliers (K,) with Lagrangian u·f + λ·Vf, and both values (without the
    constant).
    """

    f: Array
    multipliers: Array
    primal: float
    dual: float
    violation: float


def solve_box(problem: Problem, start: Array | None = None, *, settle: bool = True) -> BoxSolution:
    """Solve one linear programme.

    Parameters
    ----------
    start : (K,) multipliers near the solution's.
    settle : whether what double precision leaves is solved in exact rationals.
    """
    size = problem.v.shape[1]
    most = np.maximum(_bound(problem.v) + problem.b, _bound(-problem.v) - problem.b)
    k = np.flatnonzero(problem.eps < most)  # larger budgets limit nothing
    rows = problem.taking(k)
    full, dual = np.zeros(problem.eps.size), None
    if k.size == 0:
        f = (problem.u > 0).astype(np.float64)
    else:
        settle &= bool(np.prod(rows.v.shape) <= ENTRIES)
        try:
            if size <= WHOLE:
                f, lam = _highs(rows, np.arange(size), np.zeros(size))
            else:
                f, lam = _sift(rows, _sampled(rows) if start is None else start[k])
            f, full[k] = _polished(rows, f, lam)
            missed = _miss(problem, f, full)
        except CertificationError:  # HiGHS ended undecided
            if not settle:
                raise
            f, missed = (rows.u > 0).astype(np.float64), np.inf
        if settle and missed > SETTLED:
            f, full[k], dual = solve_exactly(rows.u, _dense(rows.v), rows.b, rows.eps, f)
    dual = problem.dual(full) if dual is None else dual
    return BoxSolution(f, full, float(problem.u @ f), dual, problem.violation(f))


def _bound(v: Any) -> Array:
    """(K,) the largest v f over rules."""
    return np.asarray((v + abs(v)).sum(axis=1)).ravel() / 2.0


def _dense(v: Any) -> Array:
    return v.toarray() if scipy.sparse.issparse(v) else v


def _highs(problem: Problem, cells: Array, fixed: Array) -> tuple[Array, Array]:
    """Optimise the ``cells`` while the others, if any, keep ``fixed``: then constraints may be
    broken at PENALTY.
    """
    u, v, eps = problem.u, problem.v, problem.eps
    sifting = cells.size < u.size
    rest = np.where(np.isin(np.arange(u.size), cells), 0.0, fixed) if sifting else np.zeros(u.size)
    base = problem.values(rest)
    k, m = eps.size, cells.size
    scale = float(np.abs(u).max()) or 1.0
    inner = v[:, cells]
    slack = -np.tile(np.eye(k), (2, 1))[:, : k if sifting else 0]
    join = scipy.sparse if scipy.sparse.issparse(v) else np
    limits = join.hstack([join.vstack([inner, -inner]), slack])
    for rows in (ROWS, 1.0):  # scaled up, nearly dependent constraints may seem to contradict
        result = scipy.optimize.linprog(
            np.concatenate([-u[cells] / scale, np.full(slack.shape[1], PENALTY / scale)]),
            A_ub=rows * limits,
            b_ub=rows * np.concatenate([eps - base, eps + base]),
            bounds=np.concatenate(
                [np.tile([[0.0, 1.0]], (m, 1)), np.tile([[0.0, np.inf]], (slack.shape[1], 1))]
            ),
            method="highs",
            options=highs.OPTIONS,
        )
        if result.success:
            break
    else:
        raise CertificationError(
            f"the linear programme was not solved: {result.message}; use method='lp'"
        )
    f = fixed.copy()
    f[cells] = np.clip(result.x[:m], 0.0, 1.0)  # HiGHS' own feasibility tolerance
    marginals = result.ineqlin.marginals * scale * rows
    return f, marginals[:k] - marginals[k:]


def _sampled(problem: Problem) -> Array:
    """Multipliers from every s-th cell in the order of |u|, scaled up, and all levels: a start for
    sifting.
    """
    u, v = problem.u, problem.v
    cells = u.size - problem.levels
    step = max(1, cells // 3000)
    pick = np.argsort(np.abs(u[:cells]), kind="stable")[step // 2 :: step]
    part = _dense(v[:, pick])
    scale = np.asarray(abs(v[:, :cells]).sum(axis=1)).reshape(-1, 1) / np.maximum(
        np.abs(part).sum(axis=1, keepdims=True), 1e-300
    )
    small = replace(
        problem,
        u=np.append(u[pick] * step, np.zeros(problem.levels)),
        v=np.concatenate([part * scale, _dense(v[:, cells:])], axis=1),
    )
    size = pick.size + problem.levels
    return _highs(small, np.arange(size), np.zeros(size))[1]


def _sift(problem: Problem, lam: Array) -> tuple[Array, Array]:
    u, eps = problem.u, problem.eps
    size = np.asarray(abs(problem.v).sum(axis=0)).ravel() + np.abs(u) + 1e-300
    size[u.size - problem.levels :] = np.inf  # levels are always in doubt
    count = 2000
    for _ in range(60):
        s = problem.scores(lam) / size
        fixed = (s > 0).astype(np.float64)
        cells = np.argpartition(np.abs(s), count)[:count] if count < u.size else np.arange(u.size)
        f, new = _highs(problem, cells, fixed)
        mask = np.ones(u.size, bool)
        mask[cells] = False
        now = problem.scores(new) / size
        wrong = mask & ((now > 1e-15) != (fixed > 0)) & (np.abs(now) > 1e-13)
        values = np.abs(problem.values(f))
        if not wrong.any() and (values <= eps + 1e-8).all():
            return f, new
        moved = np.abs(new) > 2.0 * max(1.0, float(np.abs(lam).max()))
        lam = np.where(moved, lam, new)
        count = min(u.size, int(count * 1.5))
    raise CertificationError("sifting did not settle; use method='lp'")


def _polished(problem: Problem, f: Array, lam: Array) -> tuple[Array, Array]:
    """The basis read again, or where that is not enough, refined."""
    read = _exact(problem, f, lam)
    if _miss(problem, *read) <= GOOD:
        return read
    return min(read, _refined(problem, f, lam), key=lambda found: _miss(problem, *found))


def _miss(problem: Problem, f: Array, lam: Array) -> float:
    """The larger of gap and violation."""
    return max(abs(problem.dual(lam) - float(problem.u @ f)), problem.violation(f))


def _refined(problem: Problem, f: Array, lam: Array) -> tuple[Array, Array]:
    """Iterative refinement (Gleixner, Steffy and Wolter, 2016): what is missing of the primal and
    of the dual is a linear programme of the same matrix, solved at a larger scale and added.
    """
    v, k = problem.v, problem.eps.size
    join = scipy.sparse if scipy.sparse.issparse(v) else np
    rows = ROWS * join.hstack([v, -np.eye(k)])  # v f - z = 0, |z + b| <= eps
    z = np.clip(v @ f, -problem.eps - problem.b, problem.eps - problem.b)
    for scale in (REFINED, REFINED**2):
        bounds = np.stack(
            [
                np.concatenate([-f, -problem.eps - problem.b - z]),
                np.concatenate([1.0 - f, problem.eps - problem.b - z]),
            ],
            axis=1,
        )
        found = scipy.optimize.linprog(
            scale * np.concatenate([-problem.scores(lam), lam]),
            A_eq=rows,
            b_eq=ROWS * scale * (z - v @ f),
            bounds=scale * bounds,
            method="highs",
            options=highs.OPTIONS,
        )
        if not found.success:
            break
        f = np.clip(f + found.x[:-k] / scale, 0.0, 1.0)
        z = z + found.x[-k:] / scale
        lam = lam + ROWS * found.eqlin.marginals / scale
    return f, lam


def _exact(problem: Problem, f: Array, lam: Array) -> tuple[Array, Array]:
    """Solve the final basis again: fractional cells from the active constraints, multipliers from
    the fractional cells.
    """
    u, v, eps = problem.u, problem.v, problem.eps
    clean, basic = highs.rounded(f)
    small = _dense(abs(v).max(axis=0)).ravel() <= DROPPED
    basic = basic[~small[basic]]
    values = problem.values(clean)
    active = np.flatnonzero((np.abs(np.abs(values) - eps) <= 1e-7) & (np.abs(lam) > 1e-12))
    lam = np.where(np.isin(np.arange(lam.size), active), lam, 0.0)
    # minimum-norm corrections: ties may leave more fractional cells than active constraints, or
    # fewer
    columns = _dense(v[:, basic]).T
    lam = highs.solve_again(lam, active, columns, -u[basic], rounds=3, rcond=1e-13)
    clean[small] = problem.scores(lam)[small] > 0
    target = np.sign(-lam[active]) * eps[active] - problem.b[active]
    clean = highs.solve_again(clean, basic, _dense(v[active]), target, rounds=3, rcond=1e-13)
    return np.clip(clean, 0.0, 1.0), lam
