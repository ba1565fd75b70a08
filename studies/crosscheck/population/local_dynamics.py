r"""FedAvg with local fairness constraints on a whole population, step by step.

Each client i keeps a λ^(i), the dual variable of \|MD_i\| <= ε_i, which weighs its own people as
FairBatch does. How the model of a round comes about is a *regime*:

- "pooled": it minimises Σ_i π_i L_i(f; λ^(i)) over all functions of x and a. That is FedAvg with
  one local step before every averaging, many to a step of λ. A fixed point is LFT+FedAvg(ε)'s
  optimum, if its multipliers leave λ^(i) in its box.
- "converged": every client minimises its own weighted loss, then the average is taken. Where η is
  logistic client i's minimiser is z = x + log((2 - ρ_ia) / ρ_ia) whatever its law of x is, so the
  average is a threshold rule: t_a = -Σ_i π_i log((2 - ρ_ia) / ρ_ia).

With some local steps, or with clients that are each fair before the average:
docs/results/finished_studies.md, which names the last commit that ran them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fairfl._support.checks import Array, in_range, one_of, whole
from fairfl.studies.crosscheck.population.pointwise_rule import any_rule
from fairfl.studies.crosscheck.population.worlds import World
from fairfl.theory.numerics.projections import soft_threshold
from fairfl.theory.populations.classifiers import Classifier

FAR = 20.0
"""Score where one label of a group has all the weight (ρ = 0 or 2): its minimiser is infinite."""
ALPHA = 0.3
"""The steps are α_t = 0.3 / (t + 1). Theorem 24 needs steps whose sum diverges."""
ROUNDING = 1e-12
"""Multipliers smaller than this are zero."""


def converged(world: World, lam: Array) -> Classifier:
    """Thresholds of the mean minimiser at λ (I, 2): -Σ_i π_i log((2 - ρ_ia) / ρ_ia)."""
    rho = lam / world.shares
    with np.errstate(divide="ignore"):
        logits = np.clip(np.log(2 - rho) - np.log(rho), -FAR, FAR)
    return Classifier.thresholds((-(np.array(world.weight) @ logits)).tolist())


REGIMES = {"pooled": any_rule, "converged": converged}


def trained(
    world: World, budgets: tuple[float, ...], regime: str, rounds: int = 600
) -> Iterator[tuple[Classifier, Array]]:
    """Each round's rule, and the λ (I, 2) it was trained with; λ moves by exact MD_i. ``budgets``
    (I,): ε_i >= 0.
    """
    one_of("regime", regime, tuple(REGIMES))
    whole("rounds", rounds, 1)
    budget = in_range("budgets", budgets, 0.0, 1e300)
    if len(budget) != world.clients:
        raise ValueError(f"budgets must be {world.clients}, one for each client, got {len(budget)}")
    lam = world.shares.copy()
    for number in range(rounds):
        rule = REGIMES[regime](world, lam)
        yield rule, lam
        local = rule.local_mean_differences(world.federation)
        lam = stepped(lam, local, world.shares, budget, number)


def stepped(lam: Array, difference: Array, share: Array, budget: Array, number: int) -> Array:
    r"""The next λ (I, 2), from λ (I, 2), MD (I,), the groups' shares m (I, 2), and ε (I,) >= 0.

    δ = λ_1 - m_1 is the multiplier of F = -MD; it moves by a_t = α_t / √2 where |F| is not what its
    budget allows, up where F is above the end of [-ε, ε] that δ stands for, down below it, and
    stops at 0 where it would change its sign for no reason; λ_0 moves by the opposite. Both are
    clipped to [0, 2 m_a], each for itself.

    Source: FedFB, eqs. (8)-(9), (85); the twin of ``fairfl.sims.group_fairness.FairBatch``.
    """
    gap, offset = -difference, lam[:, 1] - share[:, 1]
    offset = np.where(np.abs(offset) < ROUNDING, 0.0, offset)
    pressing = np.where(offset == 0, soft_threshold(gap, budget), gap - np.sign(offset) * budget)
    size = np.abs(pressing)
    rate = ALPHA / (number + 1) / 2**0.5 / np.where(size > 0, size, np.inf)
    moved = np.where(
        budget == 0, offset + rate * gap, soft_threshold(offset + rate * gap, rate * budget)
    )
    change = np.where(size > 0, moved - offset, 0.0)
    return np.clip(lam + np.stack([-change, change], axis=1), 0.0, 2 * share)
