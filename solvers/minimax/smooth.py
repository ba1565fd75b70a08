"""min over θ of A(f(θ)) for smooth losses given as functions, by BFGS or the method of multipliers.

Where A is smooth, BFGS and Newton's method on A(f(θ)). Where A has kinks (AFL, rank-weighted means:
maxima of λ.f over a polytope B of dual weights), the method of multipliers, which is the proximal
point method on λ: each round minimises

    φ(θ) = max over λ in B of λ.f(θ) - (μ/2) Σ_i (λ_i - λ_i^old)² / p_i,

smooth, with gradient Σ_i λ_i ∇f_i at its maximiser, a projection onto B; that becomes the next
λ^old. λ stays in B exactly, and the Fenchel gap A(f) - λ.f goes to 0 with the steps of λ, at a
fixed μ > 0, so that conditioning stays good. Source: Rockafellar (1976), proximal point and
multipliers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fairfl._support.checks import Array, finite
from fairfl.solvers.minimax.permutahedron import client_shares, project, shift, weighs_by_rank
from fairfl.solvers.minimax.quasi_newton import minimise
from fairfl.solvers.minimax.solution import MinimaxCertificate, MinimaxSolution, fenchel_gap
from fairfl.theory.aggregation import NotAttained, Objective

TOLERANCE = 1e-8
"""What is certified unless another tolerance is given, relative: stationarity and Fenchel gap."""
ROUNDS = 60  # of the method of multipliers
LARGE = 10.0  # the first μ, in ranges of the losses at the start
# of μ from round to round, where the round's minimum was found, and where not
SHRINK, GROW = 0.3, 10.0
# of the check of the Jacobian: relative step, and relative error let pass
SLOPE_STEP, SLOPE_ERROR = 1e-5, 1e-2
SMALLEST = 1e-4  # of μ, relative to the range of the losses after the first round

Losses = Callable[[Array], tuple[Array, Array]]
"""θ (d,) to losses (n,) and their Jacobian (n, d)."""
ADVICE = (
    "try another start, scale θ, or check the Jacobian; losses that have no minimum (a separable "
    "logistic regression) need a regulariser"
)


def solve_functions(
    losses: Any, jac: Any, objective: Objective, start: Any, tolerance: float
) -> MinimaxSolution:
    """See ``solve_minimax``."""
    theta = np.atleast_1d(finite("start", start))
    if theta.ndim != 1:
        raise ValueError(f"start must be a vector of shape (d,), got shape {theta.shape}")
    evaluate = _Counted(functions(losses, jac))
    f, J = evaluate(theta)
    _check(f, J, len(theta))
    _check_slope(evaluate, theta, J, f)
    try:
        objective.dual_weights(f)
    except ValueError as error:
        advice = (
            ""
            if np.isposinf(objective.domain.upper).all()
            else "; the minimiser for AFL() is as far below as any"
        )
        raise ValueError(
            f"start must have losses in the objective's domain: {error}{advice}"
        ) from None
    rank = not objective.traits.smooth
    if rank and not weighs_by_rank(objective):
        raise ValueError(f"objective must be smooth or weigh by rank, got {objective!r}")
    method = _by_multipliers if rank else _by_gradient
    theta, weights = method(evaluate, objective, theta, tolerance)
    return _certified(evaluate, objective, theta, weights, tolerance)


class _Counted:
    """The losses, NaN where they cannot be computed, and the number of evaluations."""

    def __init__(self, function: Losses) -> None:
        self.function, self.calls = function, 0

    def __call__(self, theta: Array) -> tuple[Array, Array]:
        self.calls += 1
        with np.errstate(all="ignore"):  # a step that overflows is cut, see quasi_newton
            return self.function(theta)


def _by_gradient(
    evaluate: _Counted, objective: Objective, theta: Array, tolerance: float
) -> tuple[Array, None]:
    def function(theta: Array) -> tuple[float, Array]:
        f, J = evaluate(theta)
        if not _inside(objective, f, J):
            return np.inf, theta
        try:
            value, weights = objective.value_and_dual_weights(f)
        except NotAttained:  # on the boundary
            return np.inf, theta
        return float(value), weights @ J

    return minimise(function, theta, tolerance / 10), None


def _by_multipliers(
    evaluate: _Counted, objective: Objective, theta: Array, tolerance: float
) -> tuple[Array, Array]:
    f, _ = evaluate(theta)
    n = len(f)
    p, away = client_shares(objective, n), shift(objective, n)
    weights = project(objective, np.asarray(objective.dual_weights(away)))
    mu, least = LARGE * _spread(f - away, 1e-3), 0.0

    def pulled(f: Array) -> Array:
        return project(objective, weights + p * (f - away) / mu)

    def function(theta: Array) -> tuple[float, Array]:
        f, J = evaluate(theta)
        if not (np.isfinite(f).all() and np.isfinite(J).all()):
            return np.inf, theta
        new = pulled(f)
        return float(new @ (f - away) - mu / 2 * ((new - weights) ** 2 / p).sum()), new @ J

    for _ in range(ROUNDS):
        theta = minimise(function, theta, tolerance / 10)
        f, J = evaluate(theta)
        new = pulled(f)
        if not _norm(new @ J) <= tolerance * (1 + _scale(new, J)):
            mu *= GROW  # too small for the minimisation to succeed: its θ is kept, its λ is not
            continue
        weights = new
        gap = float(objective.value(f)) - float(weights @ (f - away))
        if gap <= tolerance / 10 * (1 + np.abs(f).max()):
            break
        if least == 0:  # only near a minimum do the losses show by how much they differ there
            mu = min(mu, _spread(f - away, 1e-6))
            least = SMALLEST * mu
        else:
            mu = max(SHRINK * mu, least)
    return theta, weights


def _spread(f: Array, least: float) -> float:
    """The range of the losses, or ``least`` of their size where they hardly differ."""
    return max(float(np.ptp(f)), least * (1 + float(np.abs(f).max())))


def _certified(
    evaluate: _Counted, objective: Objective, theta: Array, weights: Array | None, tolerance: float
) -> MinimaxSolution:
    """``weights`` None stands for the gradient of A."""
    f, J = evaluate(theta)
    lam = np.asarray(objective.dual_weights(f)) if weights is None else weights
    value = float(objective.value(f))
    gap, stationarity = fenchel_gap(objective, f, lam, weights is None), _norm(lam @ J)
    radius = 1 + _norm(theta)
    certificate = MinimaxCertificate(
        value, stationarity, _scale(lam, J), gap, value - gap - radius * stationarity, radius
    )
    certificate.check(tolerance, ADVICE)
    return MinimaxSolution(objective, theta, f, lam, value, certificate, evaluate.calls)


def functions(losses: Any, jac: Any) -> Losses:
    """One function for values and Jacobian, from any of the ways in which ``solve_minimax`` takes
    them.
    """
    one = callable(losses)
    if not one and not _functions(losses):
        raise ValueError(
            f"losses must be a function, or a list of functions, one per client, got {losses!r}"
        )
    each, slopes = ([losses], [jac]) if one else (list(losses), jac)
    if jac is not True and not (_functions(slopes) and len(slopes) == len(each)):
        wanted = "a function θ -> (n, d), or True where losses returns both"
        wanted = wanted if one else f"True, or a list of {len(each)} gradients, one per loss"
        raise ValueError(f"jac must be {wanted}, got {jac!r}")

    def together(theta: Array) -> tuple[Array, Array]:
        if jac is True:
            pairs = [_pair(f(theta)) for f in each]
        else:
            pairs = [_pair((f(theta), g(theta))) for f, g in zip(each, slopes, strict=True)]
        if one:
            return pairs[0]
        slope = np.stack([np.atleast_1d(slope) for _, slope in pairs])
        return np.array([float(value) for value, _ in pairs]), slope

    return together


def _functions(given: Any) -> bool:
    return isinstance(given, (list, tuple)) and bool(given) and all(map(callable, given))


def _pair(got: Any) -> tuple[Array, Array]:
    if not isinstance(got, (list, tuple)) or len(got) != 2:
        raise ValueError(
            "losses must return the pair (values, Jacobian) where jac is True, got something else"
        )
    return np.asarray(got[0], dtype=np.float64), np.asarray(got[1], dtype=np.float64)


def _check(f: Array, J: Array, d: int) -> None:
    if f.ndim != 1 or f.size == 0:
        raise ValueError(f"losses must return values of shape (n,), n >= 1, got shape {f.shape}")
    if J.shape != (len(f), d):
        raise ValueError(f"jac must return shape (n, d) = ({len(f)}, {d}), got {J.shape}")
    for name, x in (("losses", f), ("jac", J)):
        if not np.isfinite(x).all():
            raise ValueError(f"{name} must be finite at start, got {x[~np.isfinite(x)][0]}")


def _check_slope(evaluate: _Counted, theta: Array, J: Array, f: Array) -> None:
    """One difference along a fixed direction: a certificate cannot tell a wrong Jacobian from a
    right one.
    """
    direction = np.cos(np.arange(1.0, len(theta) + 1))
    direction /= np.linalg.norm(direction)
    h = SLOPE_STEP * (1 + _norm(theta))
    ahead, behind = evaluate(theta + h * direction)[0], evaluate(theta - h * direction)[0]
    measured, claimed = (ahead - behind) / (2 * h), J @ direction
    allowed = SLOPE_ERROR * (np.linalg.norm(J, axis=1) + SLOPE_ERROR * (1 + np.abs(f)))
    wrong = np.abs(measured - claimed) > allowed  # a NaN, outside the domain of f, says nothing
    if wrong.any():
        i = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"jac must be the derivative of losses, got a slope of {claimed[i]:.6g} at start "
            f"along (cos 1, cos 2, ...) normalised, where losses change by {measured[i]:.6g}, "
            f"for client {i}"
        )


def _inside(objective: Objective, f: Array, J: Array) -> bool:
    return bool(objective.domain.contains(f)) and bool(np.isfinite(J).all())


def _norm(x: Array) -> float:
    return float(np.linalg.norm(x))


def _scale(weights: Array, J: Array) -> float:
    return float(weights @ np.linalg.norm(J, axis=1))
