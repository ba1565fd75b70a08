"""Convex programmes by an interior-point solver (Clarabel through cvxpy), with the dual value.

The code is asked for more digits than it usually has, and returns the best it found: what that is
worth is for the caller's certificate to say, from the point returned and the dual value, and never
from the code's own status.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy import settings as names

from fairfl.solvers.solution import CertificationError

# asked for, one after the other: too many digits may end in a numerical failure
LADDER = (1e-12, 1e-10, 1e-8)
ENOUGH = 1e-9  # of the residuals and of the gap, relative, with which no other rung is tried
LOOSE = 1e-5  # accepted from a run that stalls: certificates have tolerances of their own


@dataclass(frozen=True)
class Answer:
    """The two values of a minimisation: ``value`` at the point found, ``dual`` from the
    multipliers.

    In exact arithmetic dual <= optimum <= value; the code leaves residuals of about 1e-9 in both.
    """

    value: float
    dual: float


def minimise(
    cost: Any, constraints: Sequence[Any], what: str, *, unbounded: str = "bound the set"
) -> Answer:
    """Solve min cost over the constraints; the point is left in the variables.

    ``what`` names the problem in errors, ``unbounded`` says what to do where its infimum is -inf.
    Errors: CertificationError where there is no point, or no minimum, or the code fails.
    """
    problem = cp.Problem(cp.Minimize(cost), list(constraints))
    tried: list[tuple[float, Any, Any, Any]] = []
    with warnings.catch_warnings(), np.errstate(over="ignore", under="ignore"):
        # "may be inaccurate" is judged by the certificate; the rational powers of convex_forms.py
        # are exact.
        warnings.filterwarnings(
            "ignore", message=r".*(may be inaccurate|being approximated)", category=UserWarning
        )
        for digits in LADDER:
            options = _options(digits)
            data, made, inverse = problem.get_problem_data(cp.CLARABEL, solver_opts=options)
            chain: Any = made
            raw = chain.solve_via_data(
                problem, data, warm_start=False, verbose=False, solver_opts=options
            )
            tried.append((_residual(raw), raw, chain, inverse))
            if tried[-1][0] <= ENOUGH or "Infeasible" in str(raw.status):
                break
        _, raw, chain, inverse = (
            tried[-1] if "Infeasible" in str(tried[-1][1].status) else min(tried, key=_first)
        )
        try:
            problem.unpack_results(raw, chain, inverse)
        except cp.SolverError as error:
            raise CertificationError(
                f"{what}: the interior-point code failed ({raw.status}); rescale it"
            ) from error
    if problem.status in ("infeasible", "infeasible_inaccurate"):
        raise CertificationError(f"{what}: no point meets the constraints; loosen them")
    if problem.status in ("unbounded", "unbounded_inaccurate"):
        raise CertificationError(f"{what}: unbounded below; {unbounded}")
    if problem.status not in ("optimal", "optimal_inaccurate"):
        raise CertificationError(f"{what}: ended with status {problem.status!r}; rescale it")
    offset = float(inverse[-1][names.OFFSET])
    return Answer(float(raw.obj_val) + offset, float(raw.obj_val_dual) + offset)


def _options(digits: float) -> dict[str, Any]:
    return {
        **dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), digits),
        **dict.fromkeys(("reduced_tol_gap_abs", "reduced_tol_gap_rel", "reduced_tol_feas"), LOOSE),
        "accept_unknown": True,
        "max_iter": 200,
    }


def _residual(raw: Any) -> float:
    """The worst of the residuals and the gap, relative; inf where the run failed."""
    if str(raw.status) not in ("Solved", "AlmostSolved", "InsufficientProgress"):
        return float("inf")
    gap = abs(raw.obj_val - raw.obj_val_dual) / (1 + abs(raw.obj_val))
    worst = max(gap, raw.r_prim, raw.r_dual)
    return float(worst) if np.isfinite(worst) else float("inf")


def _first(entry: tuple[float, Any, Any, Any]) -> float:
    return entry[0]


def violation(constraints: Sequence[Any]) -> float:
    """The largest amount by which a constraint is missed at the variables' values, 0 where all
    hold.
    """
    return max((float(abs(c.violation()).max()) for c in constraints), default=0.0)


def stacked(name: str, given: Any, curvature: str) -> Any:
    """Expressions, n scalars or one vector, as one vector (n,), each of the ``curvature``, "convex"
    or "concave"; ValueError for others.
    """
    parts = [
        cp.Expression.cast_to_const(part)
        for part in (given if isinstance(given, (list, tuple)) else [given])
    ]
    for k, part in enumerate(parts):
        if part.ndim > 1 or part.size == 0 or (len(parts) > 1 and part.size != 1):
            raise ValueError(
                f"{name} must be n scalars or one vector (n,), got shape {part.shape} at index {k}"
            )
        if not (part.is_convex() if curvature == "convex" else part.is_concave()):
            raise ValueError(
                f"{name} must be {curvature} by cvxpy's rules, got {part.curvature.lower()} at "
                f"index {k}"
            )
    if not parts:
        raise ValueError(f"{name} must be at least one, got {given!r}")
    return cp.hstack([cp.reshape(part, (part.size,), order="C") for part in parts])


def checked(constraints: Any) -> list[Any]:
    """The constraints; ValueError unless they are convex."""
    for k, limit in enumerate(constraints):
        if not isinstance(limit, cp.Constraint) or not limit.is_dcp():
            raise ValueError(
                f"constraints must be convex by cvxpy's rules, got {limit} at index {k}"
            )
    return list(constraints)
