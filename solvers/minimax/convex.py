"""min over θ of A(f(θ)) for convex losses and constraints given as cvxpy expressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cvxpy as cp
import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.minimax import conic
from fairfl.solvers.minimax.convex_forms import convex_form
from fairfl.solvers.minimax.rank_projection import client_shares, project, weighs_by_rank
from fairfl.solvers.minimax.solution import MinimaxCertificate, MinimaxSolution, fenchel_gap
from fairfl.theory.aggregation import Objective

TOLERANCE = 1e-6
"""What is certified unless another tolerance is given, relative: duality gap, Fenchel gap,
violation.
"""
ADVICE = "rescale losses and θ to about 1, bound θ by constraints, or give the losses as functions"


def solve_expressions(
    losses: Any, constraints: Any, objective: Objective, tolerance: float | None
) -> MinimaxSolution:
    """See ``solve_minimax``.

    Two convex programmes. The first, min A(t) over f(θ) <= t, gives θ, and the multipliers of f <=
    t are λ, projected onto where A* is finite (for a smooth A, λ is its gradient at f(θ), which is
    sharper). The second, min of λ.f(θ') - A*(λ) over the θ' within ``radius``, is the certificate:
    a lower bound, taken from its multipliers.
    """
    f = conic.stacked("losses", losses, "convex")
    if not f.variables():
        raise ValueError("losses must depend on a variable, got constants only")
    n, limits = f.shape[0], conic.checked(constraints)
    p = client_shares(objective, n)
    if len(p) != n:
        raise ValueError(f"losses must be n = {len(p)}, as many as client_weights, got {n}")
    variables: list[Any] = cp.Problem(cp.Minimize(cp.sum(f)), limits).variables()
    for v in variables:
        if v.attributes["integer"] or v.attributes["boolean"] or v.is_complex():
            raise ValueError(f"losses must have real, continuous variables, got {v.name()!r}")
    t = cp.Variable(n)
    cover = f <= t
    lower = np.broadcast_to(objective.domain.lower, (n,))
    bounded = (
        [t[np.isfinite(lower)] >= lower[np.isfinite(lower)]] if np.isfinite(lower).any() else []
    )
    conic.minimise(
        convex_form(objective, t, p),
        [cover, *bounded, *limits],
        f"{objective!r} of the losses",
        unbounded="bound θ or add a regulariser to the losses",
    )
    values = np.asarray(f.value, dtype=np.float64)
    inside = np.clip(values, objective.domain.lower, objective.domain.upper)
    missed = float(np.abs(values - inside).max())
    if missed > TOLERANCE * (1 + np.abs(values).max()):
        raise ValueError(
            f"losses must lie in {{{objective.domain.words}}} for {objective!r}, got "
            f"{values.tolist()} at the minimum"
        )
    if objective.traits.smooth:
        weights = np.asarray(objective.dual_weights(inside))
    elif weighs_by_rank(objective):
        weights = project(objective, np.asarray(cover.dual_value, dtype=np.float64))
    else:
        raise ValueError(f"objective must be smooth or weigh by rank, got {objective!r}")
    theta = np.concatenate([np.ravel(v.value) for v in variables])
    value = float(objective.value(inside))
    radius = 1 + float(np.linalg.norm(theta))
    gap = fenchel_gap(objective, inside, weights, bool(objective.traits.smooth))
    missed = max(missed, conic.violation(limits))
    found = [v.value for v in variables]
    below = _lower(f, limits, variables, weights, radius)  # moves the variables
    for variable, own in zip(variables, found, strict=True):
        variable.save_value(own)  # as cvxpy's users expect; rounding of attributes is no error
    certificate = MinimaxCertificate(
        value,
        np.nan,
        np.nan,
        gap,
        missed,
        value - gap - (float(weights @ inside) - below),  # = below - A*(λ)
        radius,
    )
    certificate.check(TOLERANCE if tolerance is None else tolerance, ADVICE, by_gap=True)
    names = tuple(v.name() for v in variables)
    return MinimaxSolution(objective, theta, inside, weights, value, certificate, 2, names)


def _lower(
    f: Any, limits: Sequence[Any], variables: Sequence[Any], weights: Array, radius: float
) -> float:
    """min of λ.f over the θ' that meet the constraints within ``radius``: from the dual side."""
    steps = [cp.vec(v - np.array(v.value), order="C") for v in variables]
    ball = cp.norm(cp.hstack(steps)) <= radius
    kept = weights > 0
    answer = conic.minimise(weights[kept] @ f[kept], [*limits, ball], "the lower bound")
    return min(answer.value, answer.dual)
