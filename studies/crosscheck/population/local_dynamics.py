r"""FedAvg with local fairness constraints on a whole population, step by step.

Each client i keeps a λ^(i), the dual variable of \|MD_i\| <= ε_i, which weighs its own people as
FairBatch does. How the model w of a round comes about is a *regime*:

- "pooled": w minimises Σ_i π_i L_i(w; λ^(i)). That is FedAvg with one local step before every
  averaging, many to a step of λ. Over all functions (degree 0) its rule at λ is the pointwise
  maximiser of LFT+FedAvg's Lagrangian at the multipliers π_i δ_i, so that a fixed point is
  LFT+FedAvg(ε)'s optimum, if its multipliers leave λ^(i) in its box.
- "steps": ``steps`` steps of gradient descent from the average at every client, then the average.
  Rates that shrink over the rounds (``fading``) are what Li et al.'s theorem 1 asks for, on which
  FedFB, remark 9, relies.
- "converged": every client minimises its own weighted loss, then the average. Where η is logistic
  client i's minimiser is z = x + log((2 - ρ_ia) / ρ_ia) whatever its law of x is, so the average is
  a threshold rule, of any degree >= 1: t_a = -Σ_i π_i log((2 - ρ_ia) / ρ_ia). No union of intervals
  is left.
- "locally-fair": λ^(i) converges as well before the average: t_a = Σ_i π_i t_a^(i) with the
  thresholds of client i's own CFL(ε_i). Nobody asks what the average does; it is the same in every
  round.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from fairfl._support.checks import Array, in_range, one_of, whole
from fairfl.solvers.api import solve
from fairfl.studies.crosscheck.population.fairbatch_step import Ascent
from fairfl.studies.crosscheck.population.features import Basis
from fairfl.studies.crosscheck.population.mean_field import (
    MeanField,
    any_rule,
    gradients,
    minimiser,
    rule_of,
)
from fairfl.studies.crosscheck.population.worlds import World
from fairfl.theory.populations.classifiers import Classifier

REGIMES = ("pooled", "steps", "converged", "locally-fair")
FAR = 20.0
"""Where one label of a group counts alone (ρ = 0 or 2) a score grows without end; its limit."""
LR, MOMENTUM = 0.5, 0.9
"""Of "steps", in a basis whose Hessian is about the identity, as in ``runs.py``."""


@dataclass(frozen=True)
class Dynamics:
    """One run of the population.

    Parameters
    ----------
    world : World
    budgets : (I,) ε_i >= 0.
    regime : one of ``REGIMES``.
    degree : of the polynomials for each group; 0, all functions, with "pooled" alone.
    steps, fading : of "steps"; the learning rate of round t is LR / (1 + fading · t).
    rounds : steps of λ.
    ascent : their lengths.

    Errors: ValueError for anything else.
    """

    world: World
    budgets: tuple[float, ...]
    regime: str
    degree: int = 1
    steps: int = 20
    rounds: int = 600
    ascent: Ascent = Ascent()
    fading: float = 0.0

    def __post_init__(self) -> None:
        one_of("regime", self.regime, REGIMES)
        in_range("budgets", self.budgets, 0.0, 1e300)
        if len(self.budgets) != self.world.clients:
            raise ValueError(
                f"budgets must be {self.world.clients}, one a client, got {len(self.budgets)}"
            )
        whole("degree", self.degree, 0 if self.regime == "pooled" else 1)
        whole("steps", self.steps, 1)
        whole("rounds", self.rounds, 1)
        in_range("fading", self.fading, 0.0, 1e300)

    def run(self) -> Iterator[tuple[Classifier, Array]]:
        """Each round's rule, and the λ (I, 2) it was found with; λ moves by exact MD_i."""
        share, budget = self.world.shares, np.array(self.budgets)
        lam, fed, rules = share.copy(), self.world.federation, self._rules()
        next(rules)
        for number in range(self.rounds):
            rule = rules.send(lam)
            yield rule, lam
            lam = self.ascent.step(lam, rule.local_mean_differences(fed), share, budget, number)

    def _rules(self) -> Any:
        """A coroutine: takes λ, gives the rule."""
        return {
            "pooled": self._pooled,
            "steps": self._stepped,
            "converged": self._converged,
            "locally-fair": self._locally_fair,
        }[self.regime]()

    def _pooled(self):  # type: ignore[no-untyped-def]
        lam = yield None
        if self.degree == 0:
            while True:
                lam = yield any_rule(self.world, lam)
        field, basis = MeanField.of(self.world), Basis.of(self.world, self.degree)
        tables, params = field.features(basis), np.zeros((2, self.degree + 1))
        while True:
            params = minimiser(field, tables, lam, params)
            lam = yield rule_of(basis, params)

    def _stepped(self):  # type: ignore[no-untyped-def]
        lam = yield None
        field, basis = MeanField.of(self.world), Basis.of(self.world, self.degree)
        tables, params = field.features(basis), np.zeros((2, self.degree + 1))
        weight = np.array(self.world.weight)
        for number in count():
            rate = LR / (1 + self.fading * number)
            own = np.repeat(params[None], self.world.clients, axis=0)
            speed = np.zeros_like(own)
            for _ in range(self.steps):
                speed = MOMENTUM * speed + gradients(field, tables, lam, own)
                own = own - rate * speed
            params = np.einsum("i,iak->ak", weight, own)
            lam = yield rule_of(basis, params)

    def _converged(self):  # type: ignore[no-untyped-def]
        lam = yield None
        while True:
            lam = yield Classifier.thresholds(converged(self.world, lam).tolist())

    def _locally_fair(self):  # type: ignore[no-untyped-def]
        yield None
        rule = Classifier.thresholds(locally_fair(self.world, self.budgets).tolist())
        while True:
            yield rule


def converged(world: World, lam: Array) -> Array:
    """Thresholds (2,) of the mean minimiser at λ (I, 2): -Σ_i π_i log((2 - ρ_ia) / ρ_ia)."""
    rho = lam / world.shares
    with np.errstate(divide="ignore"):
        own = np.clip(np.log(2 - rho) - np.log(rho), -FAR, FAR)
    return -(np.array(world.weight) @ own)


def locally_fair(world: World, budgets: tuple[float, ...]) -> Array:
    """Thresholds (2,) of the average of the clients' own CFL(ε_i): Σ_i π_i t_a^(i)."""
    own = []
    for i, eps in enumerate(budgets):
        rule = solve(world.alone(i).federation, "cfl", eps=eps).classifier
        own.append([float(rule.edges[a][0]) for a in (0, 1)])
    return np.array(world.weight) @ np.array(own)
