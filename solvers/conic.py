"""Convex programmes by an interior-point code (Clarabel through cvxpy), with the dual value that cvxpy keeps to itself.

The code is asked for more digits than it usually has, and returns the best it found: what that is worth is for the
caller's certificate to say, from the point returned and the dual value, and never from the code's own status.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
from cvxpy import settings as names

from fairfl.solvers.solution import CertificationError

TIGHT = 1e-12  # asked for
LOOSE = 1e-5  # accepted, where the code stalls: certificates are checked against tolerances of their own
OPTIONS: dict[str, Any] = {
    **dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), TIGHT),
    **dict.fromkeys(("reduced_tol_gap_abs", "reduced_tol_gap_rel", "reduced_tol_feas"), LOOSE),
    "accept_unknown": True,
    "max_iter": 200,
}
PRESENT = ("optimal", "optimal_inaccurate")


@dataclass(frozen=True)
class Answer:
    """The two values of a minimisation: ``value`` at the point found, ``dual`` from the multipliers.

    In exact arithmetic dual <= optimum <= value; the code leaves residuals of about 1e-9 in both.
    """

    value: float
    dual: float


def minimise(cost: Any, constraints: Sequence[Any], what: str, *, unbounded: str = "bound the set") -> Answer:
    """Solve min cost over the constraints; the point is left in the variables.

    ``what`` names the programme in errors, ``unbounded`` says what to do where its infimum is -inf.
    Errors: CertificationError where there is no point, or no minimum, or the code fails.
    """
    problem = cp.Problem(cp.Minimize(cost), list(constraints))
    with warnings.catch_warnings():
        # "may be inaccurate" is judged by the certificate; the rational powers of convex_forms.py are exact.
        warnings.filterwarnings("ignore", message=r".*(may be inaccurate|being approximated)", category=UserWarning)
        data, chain, inverse = problem.get_problem_data(cp.CLARABEL, solver_opts=dict(OPTIONS))
        raw = chain.solve_via_data(problem, data, warm_start=False, verbose=False, solver_opts=dict(OPTIONS))
        try:
            problem.unpack_results(raw, chain, inverse)
        except cp.SolverError as error:
            raise CertificationError(f"{what}: the interior-point code failed ({raw.status}); rescale it") from error
    if problem.status in ("infeasible", "infeasible_inaccurate"):
        raise CertificationError(f"{what}: no point meets the constraints; loosen them")
    if problem.status in ("unbounded", "unbounded_inaccurate"):
        raise CertificationError(f"{what}: unbounded below; {unbounded}")
    if problem.status not in PRESENT or problem.value is None:
        raise CertificationError(f"{what}: ended with status {problem.status!r}; rescale it")
    return Answer(float(problem.value), float(raw.obj_val_dual + inverse[-1][names.OFFSET]))


def violation(constraints: Sequence[Any]) -> float:
    """The largest amount by which a constraint is missed at the variables' values, 0 where all hold."""
    return max((float(abs(c.violation()).max()) for c in constraints), default=0.0)
