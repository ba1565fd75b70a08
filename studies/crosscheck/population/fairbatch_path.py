r"""FairBatch's λ for two groups on the line λ_0 + λ_1 = 1, the inner problem solved on the
population.

With logistic η the minimiser of the weighted log loss over group-specific logistic models is z_a =
x + log((2 - ρ_a) / ρ_a), ρ_a = λ_a / P(a): the same rule, η > ρ_a / 2, as the weighted 0-1 loss has
over all functions. So F_1(w_λ) is a matter of tail probabilities for the 0-1 surrogate, and of
quadrature for those made of losses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import optimize

from fairfl._support.checks import Array, one_of
from fairfl.studies.crosscheck.population.mean_field import MeanField
from fairfl.studies.crosscheck.population.worlds import World
from fairfl.theory.populations.classifiers import Classifier

SURROGATES = ("zero_one", "loss", "acceptance")
"""As ``fairfl.sims.group_fairness.FairBatch`` has them."""
EDGE = 1e-9
"""How far inside of the box λ is held, as a share of its width: at its ends one label has no
weight.
"""
Gap = Callable[[float], float]


def masses(world: World) -> Array:
    """(2,) P(a)."""
    return np.array(world.weight) @ world.shares


def scores(world: World, lam: float) -> Array:
    """(2,) log((2 - ρ_a) / ρ_a) at λ_1 = ``lam`` on the line; minus the thresholds of x."""
    mass = masses(world)
    rho = np.array([1 - lam, lam]) / mass
    return np.log(2 - rho) - np.log(rho)


def rule_at(world: World, lam: float) -> Classifier:
    """The rule of w_λ."""
    return Classifier.thresholds((-scores(world, lam)).tolist())


def line(world: World) -> tuple[float, float]:
    """The least and the largest λ_1 with λ on the line and, by a hair, inside of the box [0, 2
    P(0)] x [0, 2 P(1)].
    """
    first, second = masses(world).tolist()
    low, high = max(0.0, 1 - 2 * first), min(1.0, 2 * second)
    return low + EDGE * (high - low), high - EDGE * (high - low)


def gap(world: World, surrogate: str = "zero_one") -> Gap:
    r"""F_1(w_λ) as a function of λ_1.

    "zero_one": P(ŷ=1 | 1) - P(ŷ=1 | 0). "loss": D_1 - D_0 + n_00/n_0 - n_01/n_1, D_a = L'_0a -
    L'_1a with log loss, FedFB's F. "acceptance": E[ℓ(1, ŷ) | 0] - E[ℓ(1, ŷ) | 1].

    Errors: ValueError for another surrogate.
    """
    one_of("surrogate", surrogate, SURROGATES)
    if surrogate == "zero_one":
        return lambda lam: -rule_at(world, lam).mean_difference(world.federation)
    field, mass = MeanField.of(world), masses(world)
    yes = [field.accepted[a].sum(axis=0) / mass[a] for a in (0, 1)]
    no = [field.refused[a].sum(axis=0) / mass[a] for a in (0, 1)]

    def level(lam: float, a: int) -> float:
        z = field.nodes[a] + scores(world, lam)[a]
        if surrogate == "acceptance":
            return -float((yes[a] + no[a]) @ np.logaddexp(0, -z))
        return float(no[a] @ np.logaddexp(0, z) - yes[a] @ np.logaddexp(0, -z) - no[a].sum())

    return lambda lam: level(lam, 1) - level(lam, 0)


def zero(world: World, found: Gap) -> float | None:
    """λ_1* with F_1 = 0 on the line within the box; None where F_1 has one sign there. F_1 falls
    (lemma 23).
    """
    low, high = line(world)
    if found(low) <= 0 or found(high) >= 0:
        return None
    solver: Any = optimize.brentq  # its stub knows no plain float
    return float(solver(found, low, high, xtol=1e-15, rtol=8.9e-16))


def walk(
    start: float, steps: Sequence[float], found: Gap, ends: tuple[float, float]
) -> tuple[list[float], list[float]]:
    """λ_1 after each of the moves a_t = ``steps[t]`` of update (85), the start first; and F_1
    before each of them.

    A move beyond ``ends`` stops there (projection "sum"): nearer to every λ* between them than
    without.
    """
    places, gaps = [start], []
    for step in steps:
        gaps.append(found(places[-1]))
        places.append(float(np.clip(places[-1] + step * np.sign(gaps[-1]), *ends)))
    return places, gaps


def printed(distance: float, alphas: Sequence[float]) -> Array:
    """FedFB (88) after T = 1, 2, ... updates: max{d_0 - Σ_{t<=T} α_t, α_T}."""
    alpha = np.asarray(alphas, dtype=np.float64)
    return np.maximum(distance - np.cumsum(alpha), alpha)


def repaired(distance: float, alphas: Sequence[float]) -> Array:
    """max{d_0 - Σ_{t<=T} a_t, max_{s<=T} (a_s - Σ_{s<t<=T} a_t)}, a_t = α_t / √2: claim
    fedfb/theorem-24/repaired.
    """
    steps = np.asarray(alphas, dtype=np.float64) / np.sqrt(2)
    bound, found = distance, []
    for step in steps:
        bound = max(bound - step, step)
        found.append(bound)
    return np.array(found)
