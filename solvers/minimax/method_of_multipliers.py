"""min over θ of A(f(θ)) for smooth losses given as functions, by BFGS or the method of multipliers.

Where A is smooth, BFGS and Newton's method on A(f(θ)). Where A has kinks (AFL, rank-weighted
means), it is the support function of a permutahedron B = conv{dual_weights(f)}. The method of
multipliers, the proximal point method on λ (Rockafellar, 1976), minimises φ(θ) = max over λ in B of
λ.f(θ) - (μ/2) Σ_i (λ_i - λ_i^old)² / p_i in each round: smooth, with gradient Σ_i λ_i ∇f_i at its
maximiser, a projection onto B, which becomes the next λ^old. λ stays in B exactly, and the Fenchel
gap A(f) - λ.f goes to 0 at a fixed μ > 0, so that conditioning stays good.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import optimize

from fairfl._support.checks import Array
from fairfl.theory.aggregation import AFL, Objective, RankWeighted
from fairfl.theory.aggregation.calculus import Transformed

ROUNDS = 60  # of the method of multipliers
LARGE = 10.0  # the first μ, in ranges of the losses at the start
# of μ from round to round, where the round's minimum was found, and where not
SHRINK, GROW = 0.3, 10.0
SMALLEST = 1e-4  # of μ, relative to the range of the losses after the first round

FIRST = 1.0, 1e-3, 1e-6  # first steps, by turns: one may end far outside the domain
HUGE = 1e15  # a value below -HUGE is on its way to -inf
LARGEST = 300  # unknowns up to which Newton's matrix is formed

Function = Callable[[Array], tuple[float, Array]]
"""θ (d,) to (value, gradient (d,)); (inf, anything) outside the domain."""
Losses = Callable[[Array], tuple[Array, Array]]  # θ (d,) to losses (n,) and their Jacobian (n, d)


def composed(
    evaluate: Losses, outer: Callable[[Array], tuple[float, Array]], theta: Array
) -> tuple[float, Array]:
    """The value of ``outer`` at f(θ) and its gradient, from those of ``outer`` in f."""
    f, J = evaluate(theta)
    if np.isfinite(f).all() and np.isfinite(J).all():
        with suppress(ValueError):  # outside the domain of ``outer``, or on its boundary
            value, weights = outer(f)
            return float(value), weights @ J
    return np.inf, theta


@dataclass
class Multipliers:
    """One round's p, shift and λ before it, (n,), and μ: A(f) = max over B of λ.(f - shift)."""

    objective: Objective
    shares: Array
    shift: Array
    weights: Array
    mu: float

    def ascended(self, f: Array) -> Array:
        """The maximiser λ (n,) of φ at losses f (n,)."""
        return project(self.objective, self.weights + self.shares * (f - self.shift) / self.mu)

    def augmented(self, f: Array) -> tuple[float, Array]:
        """φ at losses f (n,), and its gradient in f."""
        new = self.ascended(f)
        penalty = ((new - self.weights) ** 2 / self.shares).sum()
        return new @ (f - self.shift) - self.mu / 2 * penalty, new


def by_multipliers(
    evaluate: Losses, objective: Objective, theta: Array, tolerance: float
) -> tuple[Array, Array]:
    """θ and dual weights where A weighs by rank."""
    f, _ = evaluate(theta)
    n = len(f)
    p, shifts = client_shares(objective, n), shift(objective, n)
    weights = project(objective, np.asarray(objective.dual_weights(shifts)))
    dual = Multipliers(objective, p, shifts, weights, LARGE * _spread(f - shifts, 1e-3))
    smallest_mu = 0.0
    for _ in range(ROUNDS):
        theta = minimise(partial(composed, evaluate, dual.augmented), theta, tolerance / 10)
        f, J = evaluate(theta)
        ascent = dual.ascended(f)
        size = ascent @ np.linalg.norm(J, axis=1)
        if not np.linalg.norm(ascent @ J) <= tolerance * (1 + size):
            dual.mu *= (
                GROW  # too small for the minimisation to succeed: its θ is kept, its λ is not
            )
            continue
        dual.weights = ascent
        gap = float(objective.value(f)) - float(ascent @ (f - shifts))
        if gap <= tolerance / 10 * (1 + np.abs(f).max()):
            break
        if smallest_mu == 0:  # only near a minimum do the losses show by how much they differ there
            dual.mu = min(dual.mu, _spread(f - shifts, 1e-6))
            smallest_mu = SMALLEST * dual.mu
        else:
            dual.mu = max(SHRINK * dual.mu, smallest_mu)
    return theta, dual.weights


def _spread(f: Array, smallest_share: float) -> float:
    """The range of the losses, or ``smallest_share`` of their size where they hardly differ."""
    return max(float(np.ptp(f)), smallest_share * (1 + float(np.abs(f).max())))


def weighs_by_rank(
    objective: Objective, kinds: type | tuple[type, ...] = (AFL, RankWeighted)
) -> bool:
    """Whether A is AFL or a rank-weighted mean, or one shifted, scaled or in perspective."""
    return isinstance(getattr(objective, "inner", objective), kinds)


def client_shares(objective: Objective, n: int) -> Array:
    """The client weights p (n,), 1/n each unless given, and of AFL, which uses none."""
    even = objective.client_weights is None or weighs_by_rank(objective, AFL)
    return np.full(n, 1.0 / n) if even else np.asarray(objective.client_weights)


def shift(objective: Objective, n: int) -> Array:
    """s (n,) such that A(f) = max over B of λ.(f - s)."""
    return np.zeros(n) + (objective.shift if isinstance(objective, Transformed) else 0.0)


def project(objective: Objective, target: Array) -> Array:
    """The λ in B nearest to ``target`` (n,), in the norm (Σ_i λ_i² / p_i)^(1/2).

    With y = target/p, λ = p (y - x), where x is nearest to y - v/p among those in the order of y, v
    in B the vertex for that order, by isotonic regression: λ/p decreases along each pooled block,
    so that λ is in B, and λ.x = max over B.
    """
    n = len(target)
    p = client_shares(objective, n)
    y = target / p
    y -= p @ y  # all of B has one sum, so that a common shift of y is lost on it; digits are not
    order = np.argsort(-y, kind="stable")
    ranks = np.empty(n)
    ranks[order] = np.arange(n, 0, -1.0)
    vertex = np.asarray(objective.dual_weights(shift(objective, n) + ranks))
    z = (y - vertex / p)[order]
    x = np.empty(n)
    x[order] = optimize.isotonic_regression(z, weights=p[order], increasing=False).x
    nearest = p * (y - x)
    return nearest + p * (vertex.sum() - nearest.sum())  # rounding of the sum


def minimise(function: Function, start: Array, gradient_tolerance: float) -> Array:
    """Where the gradient's norm is ``gradient_tolerance``, or the best point on the way there."""
    x = start
    for first_step in FIRST:
        size = float(np.linalg.norm(function(x)[1]))
        if gradient_tolerance < size < np.inf:
            inverse_hessian = np.eye(x.size) * first_step / size
            options = {"gtol": gradient_tolerance, "norm": 2, "hess_inv0": inverse_hessian}
            with np.errstate(all="ignore"):
                minimum = optimize.minimize(function, x, jac=True, method="BFGS", options=options)
            x = minimum.x if minimum.fun > -HUGE else x
    return _newton(function, x, gradient_tolerance) if len(x) <= LARGEST else x


def _newton(function: Function, x: Array, tolerance: float) -> Array:
    """The gradient's root next to x, by Powell's hybrid method, if its norm is at most a half."""
    slope = partial(_gradient, function)
    norm = np.linalg.norm(slope(x))
    if norm <= 1e-3 * tolerance:
        return x
    root = optimize.root(slope, x, options={"xtol": 1e-15}).x
    return root if np.linalg.norm(slope(root)) <= norm / 2 else x


def _gradient(function: Function, x: Array) -> Array:
    """Its gradient at x, NaN outside the domain."""
    value, gradient = function(x)
    return gradient if np.isfinite(value) else np.full(x.size, np.nan)
