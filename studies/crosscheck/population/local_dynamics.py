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
from dataclasses import dataclass

import numpy as np

from fairfl._support.checks import Array, in_range, one_of, whole
from fairfl.studies.crosscheck.population.fairbatch_step import Ascent
from fairfl.studies.crosscheck.population.pointwise_rule import any_rule
from fairfl.studies.crosscheck.population.worlds import World
from fairfl.theory.populations.classifiers import Classifier

FAR = 20.0
"""Where one label of a group counts alone (ρ = 0 or 2) a score grows without end; its limit."""


def converged(world: World, lam: Array) -> Classifier:
    """Thresholds of the mean minimiser at λ (I, 2): -Σ_i π_i log((2 - ρ_ia) / ρ_ia)."""
    rho = lam / world.shares
    with np.errstate(divide="ignore"):
        own = np.clip(np.log(2 - rho) - np.log(rho), -FAR, FAR)
    return Classifier.thresholds((-(np.array(world.weight) @ own)).tolist())


REGIMES = {"pooled": any_rule, "converged": converged}


@dataclass(frozen=True)
class Dynamics:
    """One run of the population.

    Parameters
    ----------
    world : World
    budgets : (I,) ε_i >= 0.
    regime : one of ``REGIMES``.
    rounds : steps of λ.
    ascent : their lengths.

    Errors: ValueError for anything else.
    """

    world: World
    budgets: tuple[float, ...]
    regime: str
    rounds: int = 600
    ascent: Ascent = Ascent()

    def __post_init__(self) -> None:
        one_of("regime", self.regime, tuple(REGIMES))
        in_range("budgets", self.budgets, 0.0, 1e300)
        if len(self.budgets) != self.world.clients:
            raise ValueError(
                f"budgets must be {self.world.clients}, one a client, got {len(self.budgets)}"
            )
        whole("rounds", self.rounds, 1)

    def run(self) -> Iterator[tuple[Classifier, Array]]:
        """Each round's rule, and the λ (I, 2) it was found with; λ moves by exact MD_i."""
        share, budget = self.world.shares, np.array(self.budgets)
        lam, federation = share.copy(), self.world.federation
        for number in range(self.rounds):
            rule = REGIMES[self.regime](self.world, lam)
            yield rule, lam
            local = rule.local_mean_differences(federation)
            lam = self.ascent.step(lam, local, share, budget, number)
