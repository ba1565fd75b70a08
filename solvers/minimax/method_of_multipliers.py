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

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.minimax.permutahedron import client_shares, project, shift
from fairfl.solvers.minimax.quasi_newton import minimise
from fairfl.theory.aggregation import Objective

ROUNDS = 60  # of the method of multipliers
LARGE = 10.0  # the first μ, in ranges of the losses at the start
# of μ from round to round, where the round's minimum was found, and where not
SHRINK, GROW = 0.3, 10.0
SMALLEST = 1e-4  # of μ, relative to the range of the losses after the first round

Losses = Callable[[Array], tuple[Array, Array]]
"""θ (d,) to losses (n,) and their Jacobian (n, d)."""


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
    """The dual weights, and μ, of one round: A(f) = max over B of λ.(f - shift).

    Attributes
    ----------
    shares, shift : (n,) p and the shift.
    weights : (n,) λ of the round before.  mu : μ.
    """

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
