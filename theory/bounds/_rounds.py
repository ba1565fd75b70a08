"""The common part of PropFair's theorems A.1 and 3.3: checks, the condition on step sizes, the
bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import e, sqrt

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support import checks
from fairfl._support.checks import Array, shown
from fairfl.theory.aggregation._checks import probabilities

SLACK = 1e-12  # relative: a step size computed as the limit itself passes
HIGH = float(np.finfo(float).max)


@dataclass(frozen=True)
class Convergence:
    """A bound of min_t E||grad F(theta_t)||^2 over T rounds, and what it is made of.

    Attributes
    ----------
    value : optimisation + noise.
    optimisation : 12 / ((11 mu - 9) eta) (F_0 - F*) / T, which vanishes as T grows.
    noise : 12 / ((11 mu - 9) eta) Psi, the size of the neighbourhood that is reached.
    psi : Psi, what a round may lose.
    mu : the mean (or least) number of local steps.
    step_limit : the largest step size that the theorem allows.
    """

    value: float
    optimisation: float
    noise: float
    psi: float
    mu: float
    step_limit: float


@dataclass(frozen=True)
class Rounds:
    """The local steps K_i, how numbers of the clients are averaged, and mu."""

    steps: Array
    average: Callable[[Array], float]
    mu: float
    biased: bool

    def step_limit(self, first: float, second: float) -> float:
        """min_i 1/(6 L K_i) with L = first, and 1/(L sqrt(24 (e-2) a(K_i^4))) (biased: 48) with L =
        second.
        """
        other = (48 if self.biased else 24) * (e - 2) * self.average(self.steps**4)
        return min(1 / (6 * first * float(self.steps.max())), 1 / (second * sqrt(other)))


def rounds_of(
    steps: ArrayLike,
    shares: ArrayLike | None,
    participation: str,
    variant: str,
    biased: bool = False,
) -> Rounds:
    """Check what a round consists of; averages as the variant takes them (see averaging.py)."""
    k = checks.finite("steps", steps)
    if k.ndim != 1 or k.size == 0 or (k < 1).any() or (k != np.round(k)).any():
        raise ValueError(
            f"steps must be a vector of whole numbers >= 1, one a client, got {shown(steps)}"
        )
    checks.one_of("participation", participation, ("full", "partial"))
    checks.one_of("variant", variant, ("printed", "repaired"))
    if biased and variant == "printed":
        raise ValueError(
            "biased must be False for the printed variant: the theorem supposes unbiased gradients"
        )
    p = (
        np.full(len(k), 1 / len(k))
        if shares is None
        else np.asarray(probabilities("shares", shares, positive=True))
    )
    if p.shape != k.shape:
        raise ValueError(f"shares must be {len(k)} numbers, one a client, got {len(p)}")
    squares = float((p**2).sum())

    def weighed(c: Array) -> float:
        return squares * float(c.sum())

    def largest(c: Array) -> float:
        return float(c.max())

    if participation == "full":
        return Rounds(k, weighed, float(p @ k), biased)
    return Rounds(k, largest if variant == "repaired" else weighed, float(k.min()), biased)


def convergence(
    made: Rounds,
    *,
    gap: float,
    rounds: int,
    eta: float,
    first: float,
    L: float,
    local: ArrayLike,
    between: float,
) -> Convergence:
    """The bound; ``first`` is the smoothness in the first condition on eta, L that in the second
    and in Psi.
    """
    start = float(checks.in_range("gap", gap, 0.0, HIGH))
    total, rate = checks.whole("rounds", rounds, 1), float(checks.positive("eta", eta))
    k, a = made.steps, made.average
    noise = checks.in_range("local", local, 0.0, HIGH)
    noise2 = checks.broadcast("local", noise, k.shape, f"() or {k.shape}") ** 2
    between2 = float(checks.in_range("between", between, 0.0, HIGH)) ** 2
    limit = made.step_limit(first, L)
    if rate > limit * (1 + SLACK):
        raise ValueError(
            f"eta must be at most {limit:.6g} for this bound (its step-size condition), got "
            f"{rate:g}"
        )
    drift = (e - 2) * (rate * L) ** 2
    if made.biased:
        both = noise2 + between2
        psi = 1.5 * rate * (a(k**2 * both) + 8 * drift * a(k**4 * both))
    else:
        psi = (
            rate
            / 2
            * (
                a(k**2 * (noise2 + 2 * between2))
                + 2 * drift * a(k**3 * (noise2 + 6 * k * between2))
            )
        )
    factor = 12 / ((11 * made.mu - 9) * rate)
    return Convergence(
        factor * (start / total + psi), factor * start / total, factor * psi, psi, made.mu, limit
    )
