"""max u·f subject to |V f + b| <= eps and 0 <= f <= 1, certified: by one sort where there is one
constraint, else by HiGHS, refined, and where double precision does not do in rationals.

Unknowns of HiGHS are the cells' f times a power of two near their largest coefficient, since it
takes small coefficients for zero.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from fairfl._support.checks import Array
from fairfl.solvers.numerics import highs
from fairfl.solvers.numerics.cell_toss import nearest_to_toss
from fairfl.solvers.numerics.exact_lp import solve_exactly
from fairfl.solvers.problem import Problem
from fairfl.solvers.solution import ADVICE, FINITE_TOLERANCE, Certificate, CertificationError

SETTLED = FINITE_TOLERANCE / 2
"""A larger gap or violation is settled in rationals."""
ZERO = 1e-15
"""Multipliers up to this are rounding."""


class Optimum(NamedTuple):
    """Primal f (N,), multipliers (K,) with Lagrangian u·f + λ·Vf, and their dual value (without the
    constant).
    """

    f: Array
    multipliers: Array
    dual: float


def optimum(problem: Problem, budgets: Array) -> tuple[Array, Array, Certificate]:
    """The rule f (N,) for budgets of a problem, its multipliers (K,), and its certificate.

    Of several optima it is the one nearest to a coin toss; where nobody is, what the multipliers
    say of one person.
    """
    posed = problem.at(budgets)
    if problem.path is not None:
        f, lam = problem.path.classifier(float(posed.eps[0]))
        found = Optimum(f, np.array([lam]), posed.dual(np.array([lam])))
    else:
        found = solve_box(posed)
        f = nearest_to_toss(posed, found.f, found.multipliers)
    certificate = certified(posed, f, found.dual)
    if problem.path is None and problem.unit is not None:
        f = np.where(problem.nobody, problem.unit.scores(found.multipliers) > 0, f)
    return f, found.multipliers, certificate


def certified(problem: Problem, f: Array, dual: float) -> Certificate:
    """The certificate of a rule f (N,) and a dual value, without the constant."""
    value, bound = problem.base + float(problem.u @ f), problem.base + dual
    found = Certificate(value, bound, problem.violation(f))
    found.check(FINITE_TOLERANCE, ADVICE)
    return found


def solve_box(problem: Problem, *, settle: bool = True) -> Optimum:
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
    if not k.size:
        return Optimum(f, full, problem.dual(full))
    rows = problem.taking(k)
    f, full[k] = _solved(rows)
    dual = problem.dual(full)
    if settle and max(abs(dual - float(problem.u @ f)), problem.violation(f)) > SETTLED:
        f, full[k], dual = solve_exactly(rows.u, highs.dense(rows.v), rows.b, rows.eps, f)
    return Optimum(f, full, dual)


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
