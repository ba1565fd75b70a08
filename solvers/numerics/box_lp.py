"""max u·f subject to |V f| <= eps and 0 <= f <= 1, for many cells and few constraints: HiGHS with
sifting, certified.

HiGHS solves the problem on the cells whose sign is in doubt, the others are fixed by the current
multipliers, and more cells are released until no fixed cell disagrees (sifting). The basis is then
solved again to full precision, and where that does not do, in exact rationals.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import scipy

from fairfl._support.checks import Array
from fairfl.solvers.numerics import highs
from fairfl.solvers.numerics.exact_lp import solve_exactly
from fairfl.solvers.solution import FINITE_TOLERANCE, CertificationError, budget_term

WHOLE = 6000
"""Linear programmes with at most this many cells go to HiGHS as a whole."""
GOOD = 1e-13
"""Gap and violation at which a basis is not read again."""
SETTLED, ENTRIES = FINITE_TOLERANCE / 2, 100_000
"""A larger gap or violation is settled in exact rationals, where V has no more entries than this.
"""
ROWS = 1e3
"""Constraints are scaled up by this: HiGHS takes coefficients below 1e-9 for zero."""
DROPPED = 1e-9
"""Cells with no larger coefficient are decided by the multipliers, and not by HiGHS."""
PENALTY = 1e3
"""Penalty of violating a constraint while sifting. Many tight budgets have larger multipliers."""


@dataclass(frozen=True)
class BoxSolution:
    """Primal f (N,), multipliers (K,) with Lagrangian u·f + λ·Vf, and both values (without the
    constant). Where the multipliers are exact rationals, ``dual`` is their value, and not that of
    the doubles next to them.
    """

    f: Array
    multipliers: Array
    primal: float
    dual: float
    violation: float


def dual_value(u: Array, v: Array, eps: Array, lam: Array) -> float:
    """Σ (u + λ·v)_+ + Σ eps |λ|: an upper bound on every feasible u·f."""
    return float(np.maximum(u + lam @ v, 0.0).sum()) + float(budget_term(lam, eps).sum())


def solve_box(
    u: Array, v: Array, eps: Array, start: Array | None = None, *, settle: bool = True
) -> BoxSolution:
    """Solve one linear programme.

    Parameters
    ----------
    u : (N,) gains.  v : (K, N) constraint rows.  eps : (K,) non-negative, inf for none.
    start : (K,) multipliers near the solution's.
    settle : whether what double precision leaves is solved in exact rationals.
    """
    k = np.flatnonzero(eps < np.abs(v).sum(axis=1))  # larger budgets limit nothing
    rows, budget = v[k], eps[k]
    lam = np.zeros(k.size) if start is None else start[k].astype(np.float64)
    if k.size == 0:
        f = (u > 0).astype(np.float64)
        return BoxSolution(f, np.zeros(eps.size), float(u @ f), float(u @ f), 0.0)
    if u.size <= WHOLE:
        f, lam = _highs(u, rows, budget, np.arange(u.size), np.zeros(u.size))
    else:
        f, lam = _sift(u, rows, budget, lam if start is not None else _sampled(u, rows, budget))
    f, lam = _polished(u, rows, budget, f, lam)
    dual, violation = dual_value(u, rows, budget, lam), _violation(rows, budget, f)
    missed = max(abs(dual - float(u @ f)), violation)
    if settle and missed > SETTLED and rows.size <= ENTRIES:
        f, lam, dual = solve_exactly(u, rows, budget, f)
        violation = _violation(rows, budget, f)
    full = np.zeros(eps.size)
    full[k] = lam
    return BoxSolution(f, full, float(u @ f), dual, violation)


def _violation(v: Array, eps: Array, f: Array) -> float:
    return float(np.maximum(np.abs(v @ f) - eps, 0.0).max(initial=0.0))


def _highs(u: Array, v: Array, eps: Array, cells: Array, fixed: Array) -> tuple[Array, Array]:
    """Optimise the ``cells`` while the others, if any, keep ``fixed``: then constraints may be
    broken at PENALTY.
    """
    sifting = cells.size < u.size
    base = (
        v @ np.where(np.isin(np.arange(u.size), cells), 0.0, fixed)
        if sifting
        else np.zeros(eps.size)
    )
    k, m = eps.size, cells.size
    scale = float(np.abs(u).max()) or 1.0
    inner = np.concatenate([v[:, cells], -v[:, cells]])
    slack = -np.concatenate([np.eye(k), np.eye(k)])[:, : k if sifting else 0]
    solve = functools.partial(
        scipy.optimize.linprog,
        np.concatenate([-u[cells] / scale, np.full(slack.shape[1], PENALTY / scale)]),
        A_ub=ROWS * np.concatenate([inner, slack], axis=1),
        b_ub=ROWS * np.concatenate([eps - base, eps + base]),
        bounds=np.concatenate(
            [np.tile([[0.0, 1.0]], (m, 1)), np.tile([[0.0, np.inf]], (slack.shape[1], 1))]
        ),
        options=highs.OPTIONS,
    )
    result = solve(method="highs")
    if not result.success:  # the simplex lost its way among nearly equal rows
        result = solve(method="highs-ipm")
    if not result.success:
        raise CertificationError(
            f"the linear programme was not solved: {result.message}; use method='lp'"
        )
    f = fixed.copy()
    f[cells] = np.clip(result.x[:m], 0.0, 1.0)  # HiGHS' own feasibility tolerance
    marginals = result.ineqlin.marginals * scale * ROWS
    return f, marginals[:k] - marginals[k:]


def _sampled(u: Array, v: Array, eps: Array) -> Array:
    """Multipliers from every s-th cell in the order of |u|, scaled up: a start for sifting."""
    step = max(1, u.size // 3000)
    pick = np.argsort(np.abs(u), kind="stable")[step // 2 :: step]
    scale = np.abs(v).sum(axis=1, keepdims=True) / np.maximum(
        np.abs(v[:, pick]).sum(axis=1, keepdims=True), 1e-300
    )
    return _highs(
        u[pick] * step, v[:, pick] * scale, eps, np.arange(pick.size), np.zeros(pick.size)
    )[1]


def _sift(u: Array, v: Array, eps: Array, lam: Array) -> tuple[Array, Array]:
    size = np.abs(v).sum(axis=0) + np.abs(u) + 1e-300
    count = 2000
    for _ in range(60):
        s = (u + lam @ v) / size
        fixed = (s > 0).astype(np.float64)
        cells = np.argpartition(np.abs(s), count)[:count] if count < u.size else np.arange(u.size)
        f, new = _highs(u, v, eps, cells, fixed)
        mask = np.ones(u.size, bool)
        mask[cells] = False
        wrong = (
            mask
            & (((u + new @ v) / size > 1e-15) != (fixed > 0))
            & (np.abs((u + new @ v) / size) > 1e-13)
        )
        if (
            not wrong.any()
            and np.abs(v @ f).max() <= eps.max() + 1
            and (np.abs(v @ f) <= eps + 1e-8).all()
        ):
            return f, new
        moved = np.abs(new) > 2.0 * max(1.0, float(np.abs(lam).max()))
        lam = np.where(moved, lam, new)
        count = min(u.size, int(count * 1.5))
    raise CertificationError("sifting did not settle; use method='lp'")


def _polished(u: Array, v: Array, eps: Array, f: Array, lam: Array) -> tuple[Array, Array]:
    """The best of three readings of the basis: budgets of 1e-9 make cells as fractional as that,
    and cells that tie may stand at 0 or 1.
    """
    tried = []
    for whole, tie in ((1e-9, 0.0), (1e-14, 0.0), (1e-9, 1e-9)):
        g, mu = _exact(u, v, eps, f, lam, whole, tie)
        off = max(abs(dual_value(u, v, eps, mu) - float(u @ g)), _violation(v, eps, g))
        tried.append((off, g, mu))
        if tried[-1][0] <= GOOD:
            break
    return min(tried, key=lambda t: t[0])[1:]


def _exact(
    u: Array, v: Array, eps: Array, f: Array, lam: Array, whole: float, tie: float
) -> tuple[Array, Array]:
    """Solve the final basis again: fractional cells from the active constraints, multipliers from
    the fractional cells.

    Cells within ``whole`` of 0 or 1 are not fractional; those whose score is within ``tie`` of 0,
    as a share of the largest gain (HiGHS' own tolerance), count with them for the multipliers.
    """
    clean, basic = highs.rounded(f, whole)
    small = np.abs(v).max(axis=0) <= DROPPED
    basic = basic[~small[basic]]
    values = v @ clean
    active = np.flatnonzero((np.abs(np.abs(values) - eps) <= 1e-7) & (np.abs(lam) > 1e-12))
    lam = np.where(np.isin(np.arange(lam.size), active), lam, 0.0)
    near = (np.abs(u + lam @ v) <= tie * np.abs(u).max()) & ~small
    tied = np.union1d(basic, np.flatnonzero(near)) if tie else basic
    # minimum-norm corrections: ties may leave more fractional cells than active constraints, or
    # fewer
    if active.size and tied.size:
        lam = highs.solve_again(lam, active, v[:, tied].T, -u[tied], rounds=3, rcond=1e-13)
    clean[small] = (u + lam @ v)[small] > 0
    if active.size == 0 or tied.size == 0:
        return clean, lam
    target = np.sign(-lam[active]) * eps[active]
    clean = highs.solve_again(clean, basic, v[active], target, rounds=3, rcond=1e-13)
    if clean[basic].min(initial=0.0) < -1e-9 or clean[basic].max(initial=1.0) > 1 + 1e-9:
        return np.clip(f, 0, 1), lam  # the certificate will tell
    return np.clip(clean, 0.0, 1.0), lam  # rounding of the solve only
