"""Distances of learned rules from the exact frontiers and optima, which no rule can exceed."""

from contextlib import suppress
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.checks import Array, as_floats
from fairfl.solvers.api import frontier, solve
from fairfl.solvers.frontier import Frontier
from fairfl.solvers.schemes import SchemeName
from fairfl.solvers.solution import CertificationError
from fairfl.studies.crosscheck.population.worlds import World
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import Notion

TOLERANCE = 1e-9
"""Tolerance of "no rule is above the frontier": rates are exact to 1e-13, the frontier to 1e-10."""


WIDER = (0.0, 1e-9, 1e-8, 1e-7)
"""Added to the budgets until a solution is certified; its accuracy is still an upper bound."""


@lru_cache(maxsize=128)
def exact(world: World, scheme: SchemeName = "cfl", notion: Notion = "dp") -> Frontier:
    """The frontier, solved once."""
    return frontier(world.federation, scheme, 20, notion=notion)


def below(
    world: World,
    disparity: ArrayLike,
    accuracy: ArrayLike,
    scheme: SchemeName = "cfl",
    notion: Notion = "dp",
) -> Array:
    """How much more accurate CFL's best rule with at most the same disparity is, or the scheme's.
    It is never negative: CFL's frontier bounds every rule of (x, a), and votes of several; the
    client-aware one every rule of (x, a, i).
    """
    best = exact(world, scheme, notion).accuracy_at(as_floats("disparity", disparity))
    return best - as_floats("accuracy", accuracy)


def optimum(world: World, scheme: SchemeName, budgets: ArrayLike, notion: Notion = "dp") -> float:
    """The scheme's largest accuracy under these budgets, or ones that are wider by ``WIDER``.

    At a rule's own disparities it bounds the rule's accuracy: the pooled one for "cfl", the
    clients' for "lft_fedavg" (NaN, of a client that has none, binds nobody).
    Errors: CertificationError where no solution is certified at the widest either.
    """
    limits = np.nan_to_num(as_floats("budgets", budgets), nan=np.inf)
    for wider in WIDER[:-1]:
        with suppress(CertificationError):
            return solve(world.federation, scheme, limits + wider, notion=notion).accuracy
    return solve(world.federation, scheme, limits + WIDER[-1], notion=notion).accuracy


@lru_cache(maxsize=128)
def _fairest(federation: Federation, notion: Notion) -> tuple[float, Array]:
    """CFL's accuracy at ε = 0, and the coefficient of each rate (E, A) in Σ_k λ_k D_k."""
    best = solve(federation, "cfl", 0.0, notion=notion)
    groups = federation.n_groups
    first, second = np.triu_indices(groups, 1)
    contrasts = np.eye(groups)[first] - np.eye(groups)[second]
    return best.accuracy, best.multipliers.reshape(-1, len(contrasts)) @ contrasts


def supporting_plane(federation: Federation, rates: ArrayLike, notion: Notion = "dp") -> float:
    """acc* - Σ_k λ_k D_k of a rule with these ``rates`` (E, A): acc* the accuracy of CFL at ε = 0,
    λ its multipliers, D_k the differences of two groups' rates that they belong to.

    For every rule f: acc(f) <= acc* - Σ_k λ_k D_k(f), for f* maximises the Lagrangian and D_k(f*) =
    0. Unlike the frontier in |MD| it has no kink at f*.
    """
    accuracy, counted = _fairest(federation, notion)
    return accuracy - float((counted * np.asarray(rates)).sum())
