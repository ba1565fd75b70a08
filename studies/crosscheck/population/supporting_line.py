r"""The plane acc* - Σ λ_k D_k through CFL's optimum, of two groups the line acc* - λ MD: no rule
exceeds it, and it has no kink at MD = 0.

CFL's frontier is a function of \|MD\|. A rule that was fair on its sample has an MD of either sign
on the population. If its sign is the one that costs accuracy, 2 \|λ MD\| of the measured gap came
from the sign of MD, not from lost accuracy.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.checks import Array
from fairfl.solvers.api import solve
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import Notion


@lru_cache(maxsize=128)
def _optimum(federation: Federation, notion: Notion) -> tuple[float, Array]:
    """CFL's accuracy at ε = 0, and what each rate (E, A) counts in Σ_k λ_k D_k."""
    best = solve(federation, "cfl", 0.0, notion=notion)
    groups = federation.n_groups
    first, second = np.triu_indices(groups, 1)
    contrasts = np.eye(groups)[first] - np.eye(groups)[second]
    return best.accuracy, best.multipliers.reshape(-1, len(contrasts)) @ contrasts


def supporting_plane(federation: Federation, rates: ArrayLike, notion: Notion = "dp") -> float:
    """acc* - Σ_k λ_k D_k of a rule with these ``rates`` (E, A): acc* the accuracy of CFL at ε = 0,
    λ its multipliers, D_k the differences of two groups' rates that they belong to.

    For every rule f: acc(f) <= acc* - Σ_k λ_k D_k(f), for f* maximises the Lagrangian acc + Σ λ_k
    D_k over all rules and D_k(f*) = 0. Equal at f*; the distance of rules near f* is of second
    order.
    """
    accuracy, counted = _optimum(federation, notion)
    return accuracy - float((counted * np.asarray(rates)).sum())
