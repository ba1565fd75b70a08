"""solve_minimax: the model that minimises an objective, and its dual weights."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.checks import Array, finite, in_range
from fairfl.solvers.minimax.method_of_multipliers import (
    Losses,
    by_multipliers,
    composed,
    minimise,
    weighs_by_rank,
)
from fairfl.solvers.minimax.solution import MinimaxCertificate, MinimaxSolution
from fairfl.theory.aggregation import NoClosedForm, Objective

TOLERANCE = 1e-8
"""What is certified unless another tolerance is given, relative: stationarity and Fenchel gap."""
# of the check of the Jacobian: relative step, and relative error let pass
SLOPE_STEP, SLOPE_ERROR = 1e-5, 1e-2
Function = Callable[[Array], Any]
"""Of θ (d,): values, slopes, or both."""
LossFunctions = Function | Sequence[Function]
"""One for all clients, or a list with one for each."""
Pairs = list[tuple[ArrayLike, ArrayLike]]
"""Values and slopes."""
ADVICE = (
    "try another start, scale θ, or check the Jacobian; losses that have no minimum (a separable "
    "logistic regression) need a regulariser"
)


def solve_minimax(
    losses: LossFunctions,
    objective: Objective,
    start: ArrayLike | None = None,
    *,
    jac: LossFunctions | bool | None = None,
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
    _check_objective(objective)
    tolerance = float(in_range("tolerance", tolerance, 0.0, np.inf, open_low=True))
    theta = _first_theta(start)
    evaluate = _Counted(_together(losses, jac))
    f, J = evaluate(theta)
    _check(f, J, len(theta))
    _check_slope(evaluate, theta, J, f)
    _check_domain(objective, f)
    theta, weights = _minimised(evaluate, objective, theta, tolerance)
    return _certified(evaluate, objective, theta, weights, tolerance)


def _check_objective(objective: Objective) -> None:
    """ValueError for what is no convex objective."""
    if not isinstance(objective, Objective):
        raise ValueError(
            "objective must be an aggregation objective, such as AFL() or QFFL(q=1.0), got "
            f"{objective!r}"
        )
    if not objective.traits.convex:
        unknown = "not decided: KolmogorovMean takes convex=True"
        convexity = unknown if objective.traits.convex is None else "it is not"
        raise ValueError(f"objective must be convex, got {objective!r} ({convexity})")


def _first_theta(start: ArrayLike | None) -> Array:
    """(d,) the checked start."""
    if start is None:
        raise ValueError("start must be given, a first θ, got None")
    theta = np.atleast_1d(finite("start", start))
    if theta.ndim != 1:
        raise ValueError(f"start must be a vector of shape (d,), got shape {theta.shape}")
    return theta


def _check_domain(objective: Objective, f: Array) -> None:
    """ValueError for losses (n,) at the start outside the objective's domain."""
    try:
        objective.dual_weights(f)
    except ValueError as error:
        has_top = not np.isposinf(objective.domain.upper).all()
        advice = "; the minimiser for AFL() is as far below as any" * has_top
        raise ValueError(
            f"start must have losses in the objective's domain: {error}{advice}"
        ) from None


def _minimised(
    evaluate: Losses, objective: Objective, theta: Array, tolerance: float
) -> tuple[Array, Array | None]:
    """A candidate θ and its dual weights, None where A is smooth: then they are its gradient."""
    if objective.traits.smooth:
        smooth = partial(composed, evaluate, objective.value_and_dual_weights)
        return minimise(smooth, theta, tolerance / 10), None
    if weighs_by_rank(objective):
        return by_multipliers(evaluate, objective, theta, tolerance)
    raise ValueError(f"objective must be smooth or weigh by rank, got {objective!r}")


class _Counted:
    """The losses, NaN where they cannot be computed, and the number of evaluations."""

    def __init__(self, function: Losses) -> None:
        self.function, self.calls = function, 0

    def __call__(self, theta: Array) -> tuple[Array, Array]:
        self.calls += 1
        with np.errstate(all="ignore"):  # a step that overflows is cut, see quasi_newton
            return self.function(theta)


def _certified(
    evaluate: _Counted, objective: Objective, theta: Array, weights: Array | None, tolerance: float
) -> MinimaxSolution:
    """``weights`` None stands for the gradient of A."""
    f, J = evaluate(theta)
    lam = np.asarray(objective.dual_weights(f)) if weights is None else weights
    value, gap = float(objective.value(f)), 0.0
    with suppress(NoClosedForm):  # of a smooth A, whose gradient λ is
        gap = value + float(objective.conjugate(lam)) - float(lam @ f)
    stationarity, radius = float(np.linalg.norm(lam @ J)), 1 + float(np.linalg.norm(theta))
    scale = float(lam @ np.linalg.norm(J, axis=1))
    certificate = MinimaxCertificate(
        value, stationarity, scale, gap, value - gap - radius * stationarity, radius
    )
    certificate.check(tolerance, ADVICE)
    return MinimaxSolution(objective, theta, f, lam, value, certificate, evaluate.calls)


def _together(losses: LossFunctions, jac: LossFunctions | bool | None) -> Losses:
    """One function for values and Jacobian, from any form that ``solve_minimax`` takes."""
    is_single = callable(losses)
    if not is_single and not _functions(losses):
        raise ValueError(
            f"losses must be a function, or a list of functions, one per client, got {losses!r}"
        )
    functions, slopes = ([losses], [jac]) if is_single else (losses, jac)
    if jac is True:
        slopes = None
    elif not (_functions(slopes) and len(slopes) == len(functions)):
        allowed = "a function θ -> (n, d), or True where losses returns both"
        allowed = (
            allowed if is_single else f"True, or a list of {len(functions)} gradients, one per loss"
        )
        raise ValueError(f"jac must be {allowed}, got {jac!r}")
    pairs = partial(_pairs, functions, slopes)
    return partial(_of_all if is_single else _of_each, pairs)


def _pairs(functions: Sequence[Function], slopes: Sequence[Function] | None, theta: Array) -> Pairs:
    """What functions and slopes return at θ, or functions that return both."""
    if slopes is not None:
        return [(f(theta), g(theta)) for f, g in zip(functions, slopes, strict=True)]
    outputs = [f(theta) for f in functions]
    if any(not isinstance(pair, (list, tuple)) or len(pair) != 2 for pair in outputs):
        raise ValueError(
            "losses must return the pair (values, Jacobian) where jac is True, got something else"
        )
    return outputs


def _of_all(pairs: Callable[[Array], Pairs], theta: Array) -> tuple[Array, Array]:
    """Values and Jacobian of one function for all clients."""
    ((value, slope),) = pairs(theta)
    return np.asarray(value, dtype=np.float64), np.asarray(slope, dtype=np.float64)


def _of_each(pairs: Callable[[Array], Pairs], theta: Array) -> tuple[Array, Array]:
    """Values and Jacobian of a function for each client."""
    values, slopes = zip(*pairs(theta), strict=True)
    rows = [np.atleast_1d(slope) for slope in slopes]
    return np.array([*map(float, values)]), np.asarray(rows, dtype=np.float64)


def _functions(value: object) -> TypeGuard[Sequence[Function]]:
    return isinstance(value, (list, tuple)) and bool(value) and all(map(callable, value))


def _check(f: Array, J: Array, d: int) -> None:
    if f.ndim != 1 or f.size == 0:
        raise ValueError(f"losses must return values of shape (n,), n >= 1, got shape {f.shape}")
    if J.shape != (len(f), d):
        raise ValueError(f"jac must return shape (n, d) = ({len(f)}, {d}), got {J.shape}")
    for name, x in (("losses", f), ("jac", J)):
        if not np.isfinite(x).all():
            raise ValueError(f"{name} must be finite at start, got {x[~np.isfinite(x)][0]}")


def _check_slope(evaluate: _Counted, theta: Array, J: Array, f: Array) -> None:
    """One difference along a fixed direction: a certificate cannot tell a wrong Jacobian."""
    direction = np.cos(np.arange(1.0, len(theta) + 1))
    direction /= np.linalg.norm(direction)
    h = SLOPE_STEP * (1 + np.linalg.norm(theta))
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
