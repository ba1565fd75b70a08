"""frontier(federation, scheme): one door to every frontier."""

from __future__ import annotations

from fairfl.solvers.api import SCHEMES
from fairfl.solvers.cfl_frontier import cfl_frontier
from fairfl.solvers.ensemble_frontier import ensemble_frontier
from fairfl.solvers.fedavg_frontier import fedavg_frontier
from fairfl.solvers.finite_fedavg_frontier import fedavg_frontier_finite
from fairfl.solvers.finite_frontier import ensemble_frontier_finite
from fairfl.solvers.frontier import Frontier
from fairfl.theory.checks import one_of, whole
from fairfl.theory.federation import Federation
from fairfl.theory.finite import FiniteModel
from fairfl.theory.notions import NOTIONS


def frontier(federation: Federation, scheme: str, points: int = 200, *, notion: str = "dp") -> Frontier:
    """The non-dominated (disparity, accuracy) pairs of a scheme over all budgets eps.

    Parameters
    ----------
    federation : laws or samples of the clients.
    scheme : "cfl", "lft_ensemble" or "lft_fedavg".
    points : how many points, at least 2 (dominated ones among them are dropped).
    notion : as in :func:`solve`; other than "dp" for "cfl" on a finite X only.

    Returns
    -------
    Frontier: every point is attained by its ``eps``; ``accuracy_at(d)`` solves for any other disparity.

    Notes
    -----
    CFL's frontier is optimal, and so is LFT+Ensemble's where the clients share q and η. In other ensembles a client's
    trade-off may be convex in part: a knapsack over all clients and Newton steps find the points off the majorants, and
    all pairs of rules of two clients were at most 7e-9 better on laws (in 1 of 520 federations). On a finite X of
    few points all vertices are combined; on many the search is local. LFT+FedAvg's on laws is the best that a search
    over multipliers found: attained everywhere, never above CFL's, not proven to be the last word: 3,000 eps were
    at most 1e-7 better on each panel of FedFB's figures 5 and 9. On a finite X it is exact, up to 20,000 multipliers at
    which rules tie (two clients with 400 points have some 2,000); beyond, a search over eps, rougher by some 1e-4.
    """
    if not isinstance(federation, Federation):
        raise ValueError(f"federation must be a Federation, got {type(federation).__name__}")
    one_of("scheme", scheme, SCHEMES)
    one_of("notion", notion, tuple(NOTIONS))
    whole("points", points, 2)
    model = federation.model
    if notion != "dp" and not (scheme == "cfl" and federation.is_finite):
        raise ValueError(f"notion {notion!r} is available for 'cfl' on a finite X, got scheme {scheme!r}")
    if federation.n_groups != 2 and scheme != "cfl":
        raise ValueError(f"scheme {scheme!r} takes two groups, this federation has {federation.n_groups}")
    if scheme == "cfl":
        return cfl_frontier(federation, points, notion)
    if isinstance(model, FiniteModel):
        finite = ensemble_frontier_finite if scheme == "lft_ensemble" else fedavg_frontier_finite
        return finite(federation, model, points)
    if scheme == "lft_ensemble":
        return ensemble_frontier(federation, model, points)
    return fedavg_frontier(federation, points)
