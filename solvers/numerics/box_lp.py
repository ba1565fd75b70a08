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
from fairfl.solvers.numerics.exact_lp import solve_exactly
from fairfl.solvers.problem import Problem
from fairfl.solvers.solution import ADVICE, FINITE_TOLERANCE, CertificationError

SETTLED = FINITE_TOLERANCE / 2
"""A larger gap or violation is settled in rationals."""
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
    dual = None
    if k.size:
        rows = problem.taking(k)
        f, full[k] = _solved(rows)
        if settle:
            missed = max(abs(problem.dual(full) - float(problem.u @ f)), problem.violation(f))
            if missed > SETTLED:
                f, full[k], dual = solve_exactly(rows.u, highs.dense(rows.v), rows.b, rows.eps, f)
    dual = problem.dual(full) if dual is None else dual
    return BoxSolution(f, full, float(problem.u @ f), dual, problem.violation(f))


def _solved(problem: Problem) -> tuple[Array, Array]:
    """f (N,) and multipliers (K,)."""
    u, v, b, eps = problem.u, problem.v, problem.b, problem.eps
    size = np.maximum(np.abs(u), highs.dense(abs(v).max(axis=0)).ravel())
    size = np.ldexp(1.0, np.frexp(size)[1])
    table = v @ scipy.sparse.diags_array(1.0 / size) if scipy.sparse.issparse(v) else v / size
    found = highs.maximise(u / size, table, -eps - b, eps - b, size)
    if found is None:
        raise CertificationError(f"HiGHS did not solve the linear programme; {ADVICE}")
    x, lam = found
    return x / size, np.where(np.abs(lam) <= ZERO, 0.0, -lam)
