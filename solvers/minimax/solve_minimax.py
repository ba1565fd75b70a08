"""solve_minimax: the model that minimises an objective of fair federated learning, and its dual
weights.
"""

from __future__ import annotations

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
    tolerance: float = TOLERANCE,
) -> MinimaxSolution:
    """min over θ of A(f(θ)) = min over θ of max over λ of λ.f(θ) - A*(λ), certified.

    Parameters
    ----------
    losses : the losses f_1..f_n of the clients, smooth functions: one θ -> (n,), or a list of n
        functions θ -> number.
    objective : A, convex (``objective.traits.convex``).
    start : (d,) a first θ; its losses must lie in the objective's domain (PropFair: below M).
    jac : θ -> (n, d), or a list of n gradients θ -> (d,), or True where ``losses`` returns pairs
        (value, gradient).
    tolerance : what the certificate must close to, relative.

    Returns
    -------
    MinimaxSolution: θ, losses, dual weights λ, value, certificate. For losses that are not convex
    it is a KKT point.

    Raises
    ------
    ValueError : an objective that is not convex; a start outside the domain; shapes that do not
        fit; losses that are not finite at the start.
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
    tolerance = float(in_range("tolerance", tolerance, 0.0, np.inf, open_low=True))
    if start is None:
        raise ValueError("start must be given, a first θ, got None")
    return solve_functions(losses, jac, objective, start, tolerance)
