"""frontier(federation, scheme): one door to every frontier."""

from __future__ import annotations

import dataclasses
import functools

from fairfl._support.checks import one_of, whole
from fairfl._support.threads import one_thread
from fairfl.solvers.api import SCHEMES
from fairfl.solvers.cfl.frontier import cfl_frontier
from fairfl.solvers.frontier import Frontier
from fairfl.solvers.frontier_checks import checked, filled
from fairfl.solvers.lft_ensemble.finite_frontier import ensemble_frontier_finite
from fairfl.solvers.lft_ensemble.laws_frontier import ensemble_frontier
from fairfl.solvers.lft_fedavg.finite_frontier import fedavg_frontier_finite
from fairfl.solvers.lft_fedavg.laws_frontier import fedavg_frontier
from fairfl.solvers.solve_again import reproduced
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel
from fairfl.theory.populations.notions import NOTIONS

MOST_POINTS = 10_000
"""Memory and time grow with them; ``Frontier.accuracy_at`` solves for whatever lies between."""


@one_thread()
def frontier(federation: Federation, scheme: str, points: int = 200, *, notion: str = "dp") -> Frontier:
    """The non-dominated (disparity, accuracy) pairs of a scheme over all budgets eps.

    Parameters
    ----------
    federation : laws or samples of the clients.
    scheme : "cfl", "lft_ensemble" or "lft_fedavg".
    points : how many points, from 2 to ``MOST_POINTS`` (dominated ones among them are dropped).
    notion : as in :func:`solve`; other than "dp" for "cfl" on a finite X only.

    Returns
    -------
    Frontier: every point is attained by its ``eps``, or where ``reproduced`` is False at least by its ``multipliers``;
    ``accuracy_at(d)`` solves for any other disparity.

    Notes
    -----
    CFL's frontier is optimal, and so is LFT+Ensemble's where all clients have the pooled q and η, and on a finite X:
    there the points are proven best by reduced costs, to 1e-10 (with a thousand clients, 2e-8 was left at some). In
    other ensembles a client's trade-off may be convex in part, and MD of the best may have either sign: a knapsack over
    all clients and Newton steps find them; README says what was measured. LFT+FedAvg's on laws is the best that a
    search over multipliers found: attained everywhere, never above CFL's, not proven to be the last word. On 34 random
    federations of 2 to 8 clients, 100 random eps each (uniform; many of them 0 or 1; shares of the free |MD_i|) were at
    most 2e-9 more accurate where sd is in 0.5 to 2.5, 2.2e-7 where it runs from 0.05 to 50, and nowhere less disparate
    than the smallest disparity. Several local maxima lie up to 3e-3 apart in the latter, so that more may be missed
    where clients are many and sds extreme. On a finite X it is exact for up to five clients
    and 20,000 multipliers at which rules tie (two clients with 400 points have some 2,000). Beyond, rules climb from
    one optimal basis to the next: README says what was measured, CFL's frontier bounds what they may miss.
    """
    if not isinstance(federation, Federation):
        raise ValueError(f"federation must be a Federation, got {type(federation).__name__}")
    one_of("scheme", scheme, SCHEMES)
    one_of("notion", notion, tuple(NOTIONS))
    whole("points", points, 2, MOST_POINTS)
    model = federation.model
    if notion != "dp" and not (scheme == "cfl" and federation.is_finite):
        raise ValueError(f"notion {notion!r} is available for 'cfl' on a finite X, got scheme {scheme!r}")
    if federation.n_groups != 2 and scheme != "cfl":
        raise ValueError(f"scheme {scheme!r} takes two groups, this federation has {federation.n_groups}")
    if scheme == "cfl":  # each point is the solution at its own disparity
        return cfl_frontier(federation, points, notion)
    if isinstance(model, FiniteModel):
        finite = ensemble_frontier_finite if scheme == "lft_ensemble" else fedavg_frontier_finite
        found = finite(federation, model, points)
    elif scheme == "lft_ensemble":
        found = ensemble_frontier(federation, model, points)
    else:
        found = fedavg_frontier(federation, points)
    found = checked(federation, found if found.exact else filled(federation, found))
    return dataclasses.replace(found, again=functools.partial(reproduced, federation, scheme))
