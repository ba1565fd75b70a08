"""solve_minimax: the model that minimises an objective of fair federated learning, and its dual
weights.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from fairfl._support.checks import in_range
from fairfl.solvers.minimax.smooth import TOLERANCE, solve_functions
from fairfl.solvers.minimax.solution import MinimaxSolution
from fairfl.theory.aggregation import Objective


def solve_minimax(
    losses: Any,
    objective: Objective,
    start: Any = None,
    *,
    jac: Any = None,
    constraints: Any = (),
    tolerance: float | None = None,
) -> MinimaxSolution:
    """min over θ of A(f(θ)) = min over θ of max over λ of λ.f(θ) - A*(λ), certified.

    Parameters
    ----------
    losses : the losses f_1..f_n of the clients, either as convex expressions of cvxpy (a list of n
        scalars, or one vector), or as smooth functions: one θ -> (n,), or a list of n functions θ
        -> number.
    objective : A, convex (``objective.traits.convex``).
    start : (d,) a first θ, for functions only; its losses must lie in the objective's domain
        (PropFair: below M).
    jac : for functions: θ -> (n, d), or a list of n gradients θ -> (d,), or True where ``losses``
        returns pairs (value, gradient).
    constraints : convex constraints of cvxpy on θ, for expressions only.
    tolerance : what the certificate must close to, relative; default 1e-8 for functions, 1e-6 for
        expressions (an interior-point code, whose θ is good to about the root of that where the
        minimum is flat).

    Returns
    -------
    MinimaxSolution: θ, losses, dual weights λ, value, certificate. For functions that are not
    convex it is a KKT point.

    Raises
    ------
    ValueError : losses or constraints that are not convex by cvxpy's rules; an objective that is
        not convex, or has no form for cvxpy; a start outside the domain; shapes that do not fit;
        losses that are not finite at the start.
    CertificationError : the certificate does not close to the tolerance; the message says what is
        left and what to try.

    Source: PropFair, eqs. (9)-(14).

    Examples
    --------
    >>> import fairfl as ff
    >>> from fairfl.theory.aggregation import AFL
    >>> losses = lambda t: [(t[0] - 1) ** 2, (t[0] + 2) ** 2 + 1]
    >>> slopes = lambda t: [[2 * (t[0] - 1)], [2 * (t[0] + 2)]]
    >>> found = ff.solve_minimax(losses, AFL(), [0.0], jac=slopes)
    >>> round(float(found.theta[0]), 4), found.dual_weights.round(4).tolist()
    (-0.6667, [0.4444, 0.5556])
    """
    if not isinstance(objective, Objective):
        raise ValueError(
            "objective must be an aggregation objective, such as AFL() or QFFL(q=1.0), got "
            f"{objective!r}"
        )
    if not objective.traits.convex:
        known = (
            "it is not"
            if objective.traits.convex is False
            else "not decided: KolmogorovMean takes convex=True"
        )
        raise ValueError(f"objective must be convex, got {objective!r} ({known})")
    if tolerance is not None:
        tolerance = float(in_range("tolerance", tolerance, 0.0, np.inf, open_low=True))
    if _from_cvxpy(losses):
        for name, given in (("start", start), ("jac", jac)):
            if given is not None:
                raise ValueError(
                    f"{name} must be left out where losses are expressions of cvxpy, got {given!r}"
                )
        from fairfl.solvers.minimax import convex as minimax_convex

        return minimax_convex.solve_expressions(losses, constraints, objective, tolerance)
    if len(constraints):
        raise ValueError(
            f"constraints must be empty where losses are functions, got {len(constraints)} of them"
        )
    if start is None:
        raise ValueError("start must be given where losses are functions, got None")
    return solve_functions(
        losses, jac, objective, start, TOLERANCE if tolerance is None else tolerance
    )


def _from_cvxpy(losses: Any) -> bool:
    """Whether there is an expression of cvxpy: nobody has one who has not imported it."""
    cvxpy = sys.modules.get("cvxpy")
    if cvxpy is None:
        return False
    parts = losses if isinstance(losses, (list, tuple)) else [losses]
    return any(isinstance(part, cvxpy.Expression) for part in parts)
