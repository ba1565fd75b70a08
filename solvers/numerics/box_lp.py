"""max u·f subject to |V f + b| <= eps and 0 <= f <= 1, certified: by HiGHS, refined, and where
double precision does not do in rationals.

Unknowns are the cells' f times a power of two near their largest coefficient, since HiGHS takes
small coefficients for zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from fairfl._support.checks import Array
from fairfl.solvers.numerics import highs
from fairfl.solvers.problem import Problem
from fairfl.solvers.solution import ADVICE, FINITE_TOLERANCE, CertificationError

SETTLED, ENTRIES = FINITE_TOLERANCE / 2, 100_000
"""A larger gap or violation is settled in rationals, where V has no more entries than this: that
takes some ten products with V.
"""
ZERO = 1e-15
"""Multipliers up to this are rounding."""


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


def solve_box(problem: Problem, *, settle: bool = True) -> BoxSolution:
    """Solve one linear programme.

    ``settle``: whether what double precision leaves is solved in rationals.

    Raises
    ------
    CertificationError : HiGHS ends undecided.
    """
    v, b = problem.v, problem.b
    total, size = (np.asarray(w.sum(axis=1)).ravel() for w in (v, abs(v)))
    # larger budgets limit nothing
    k = np.flatnonzero(problem.eps < np.maximum((size + total) / 2 + b, (size - total) / 2 - b))
    full, f = np.zeros(problem.eps.size), (problem.u > 0).astype(np.float64)
    dual, missed = None, 0.0
    if k.size:
        rows = problem.taking(k)
        f, full[k], _ = _solved(rows)
        missed = max(abs(problem.dual(full) - float(problem.u @ f)), problem.violation(f))
        if settle and missed > SETTLED and np.prod(rows.v.shape) <= ENTRIES:
            f, full[k], dual = _solved(rows, exact=True)
    dual = problem.dual(full) if dual is None else dual
    return BoxSolution(f, full, float(problem.u @ f), dual, problem.violation(f))


def _solved(problem: Problem, *, exact: bool = False) -> tuple[Array, Array, float | None]:
    """f (N,), multipliers (K,), and with ``exact`` the dual value of the multipliers before they
    were rounded.
    """
    u, v, b, eps = problem.u, problem.v, problem.b, problem.eps
    size = np.maximum(np.abs(u), highs.dense(abs(v).max(axis=0)).ravel())
    size = np.ldexp(1.0, np.frexp(size)[1])
    table = v @ scipy.sparse.diags_array(1.0 / size) if scipy.sparse.issparse(v) else v / size
    found = highs.maximise(u / size, table, -eps - b, eps - b, size, exact=exact)
    if found is None:
        raise CertificationError(f"HiGHS did not solve the linear programme; {ADVICE}")
    x, lam = found[0] / size, -found[1]
    dual = None
    if exact:  # weak duality on the given numbers
        u, v, b, eps = (highs.rational(w) for w in (u, highs.dense(v), b, eps))
        dual = float(np.maximum(u + lam @ v, 0).sum() + lam @ b + abs(lam) @ eps)
        x, lam = x.astype(np.float64), lam.astype(np.float64)
    return x, np.where(np.abs(lam) <= ZERO, 0.0, lam), dual
