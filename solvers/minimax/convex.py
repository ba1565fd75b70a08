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
    variables = _variables(f, limits)
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
    _in_domain(objective, values, missed)
    if objective.traits.smooth:
        weights = np.asarray(objective.dual_weights(inside))
    elif weighs_by_rank(objective):
        weights = project(objective, np.asarray(cover.dual_value, dtype=np.float64))
    else:
        raise ValueError(f"objective must be smooth or weigh by rank, got {objective!r}")
    theta = _flat([v.value for v in variables])
    slope = (
        _gradients(f, variables)
        if not limits and not any(any(v.attributes.values()) for v in variables)
        else None
    )
    value = float(objective.value(inside))
    radius = 1 + float(np.linalg.norm(theta))
    gap = fenchel_gap(objective, inside, weights, bool(objective.traits.smooth))
    missed = max(missed, conic.violation(limits))
    below = _lower(f, limits, variables, weights, radius)  # moves the variables
    _restore(variables, theta)
    certificate = MinimaxCertificate(
        value,
        float("nan") if slope is None else float(np.linalg.norm(weights @ slope)),
        float("nan") if slope is None else float(weights @ np.linalg.norm(slope, axis=1)),
        gap,
        missed,
        value - gap - (float(weights @ inside) - below),  # = below - A*(λ)
        radius,
    )
    # by the gap: at a kink of a loss cvxpy's gradient is but one of several
    certificate.check(TOLERANCE if tolerance is None else tolerance, ADVICE, by_gap=True)
    names = tuple(v.name() for v in variables)
    return MinimaxSolution(objective, theta, inside, weights, value, certificate, 2, names)


def _in_domain(objective: Objective, values: Array, missed: float) -> None:
    if missed > TOLERANCE * (1 + np.abs(values).max()):
        raise ValueError(
            f"losses must lie in {{{objective.domain.words}}} for {objective!r}, got "
            f"{values.tolist()} at the minimum"
        )


def _variables(f: Any, limits: Sequence[Any]) -> list[Any]:
    found: dict[int, Any] = {}
    for part in (f, *limits):
        for variable in part.variables():
            if (
                variable.attributes["integer"]
                or variable.attributes["boolean"]
                or variable.is_complex()
            ):
                raise ValueError(
                    f"losses must have real, continuous variables, got {variable.name()!r}"
                )
            found.setdefault(variable.id, variable)
    return list(found.values())


def _flat(values: Sequence[Any]) -> Array:
    return np.concatenate([np.asarray(v, dtype=np.float64).ravel() for v in values])


def _restore(variables: Sequence[Any], theta: Array) -> None:
    """Put θ back into the variables, as cvxpy's users expect of a solver; rounding of attributes is
    no error.
    """
    at = 0
    for variable in variables:
        variable.save_value(theta[at : at + variable.size].reshape(variable.shape))
        at += variable.size


def _gradients(f: Any, variables: Sequence[Any]) -> Array | None:
    """(n, d) the gradients where cvxpy has them (at a kink: a subgradient)."""
    table = f.grad
    if any(table.get(v) is None for v in variables):
        return None
    rows = []
    for v in variables:  # (size of v, n), the entries of v column by column
        block = np.asarray(
            table[v].todense() if hasattr(table[v], "todense") else table[v]
        ).reshape(v.size, f.size)
        order = (
            np.arange(v.size).reshape(v.shape, order="F").ravel()
            if v.ndim > 1
            else np.arange(v.size)
        )
        rows.append(block[order])
    return np.concatenate(rows).T


def _lower(
    f: Any, limits: Sequence[Any], variables: Sequence[Any], weights: Array, radius: float
) -> float:
    """min of λ.f over the θ' that meet the constraints within ``radius``: from the dual side."""
    steps = [cp.vec(v - np.array(v.value), order="C") for v in variables]
    ball = cp.norm(cp.hstack(steps)) <= radius
    kept = weights > 0
    answer = conic.minimise(weights[kept] @ f[kept], [*limits, ball], "the lower bound")
    return min(answer.value, answer.dual)
