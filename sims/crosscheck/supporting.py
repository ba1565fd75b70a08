r"""What accuracy is worth at the price of MD at CFL's optimum: a line that no rule exceeds, with no kink at MD = 0.

CFL's frontier takes \|MD\|. A rule that was fair on its sample has an MD of either sign on the population, and where it
is on the side of 0 on which fairness costs, the frontier holds its better side against it: of the distance 2 \|λ MD\|
are due to the sign alone. No torch here.
"""

from __future__ import annotations

from functools import lru_cache

from fairfl.solvers.api import solve
from fairfl.theory.federation import Federation


@lru_cache(maxsize=128)
def _optimum(federation: Federation) -> tuple[float, float]:
    best = solve(federation, "cfl", 0.0)
    return best.accuracy, float(best.multipliers[0])


def supporting_line(federation: Federation, difference: float) -> float:
    """acc* - λ MD at MD = ``difference``: acc* the accuracy of CFL at ε = 0, λ its multiplier, with its sign.

    For every rule f: acc(f) <= acc* - λ MD(f), for f* maximises the Lagrangian acc + λ MD over all rules and
    MD(f*) = 0. Equal at f*; the distance of rules near f* is of second order.
    """
    accuracy, multiplier = _optimum(federation)
    return accuracy - multiplier * difference
