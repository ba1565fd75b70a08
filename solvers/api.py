"""solve, frontier and min_disparity: check the arguments, and call the solver of the scheme and of
the kind of X.

What frontiers alone need is imported by them: a first ``solve`` loads in two thirds of the time.
"""

from __future__ import annotations

import dataclasses
from contextlib import suppress
from typing import Any

import numpy as np

from fairfl._support.checks import Array, flag, one_of, whole
from fairfl._support.extras import extras_named
from fairfl._support.threads import one_thread
from fairfl.solvers.cfl.finite import solve_cfl_finite
from fairfl.solvers.cfl.laws import solve_cfl, solve_cfl_by_dual, threshold_model
from fairfl.solvers.frontier import REPRODUCED, Frontier, Points, points_of
from fairfl.solvers.lft_ensemble.finite import ensembles_at, solve_ensemble_finite
from fairfl.solvers.lft_ensemble.laws import solve_ensemble
from fairfl.solvers.lft_fedavg.finite import solve_fedavg_finite
from fairfl.solvers.lft_fedavg.laws import solve_fedavg
from fairfl.solvers.solution import CertificationError, MinDisparity, Solution
from fairfl.theory.populations.federation import Federation, check_eps
from fairfl.theory.populations.finite import FiniteModel
from fairfl.theory.populations.notions import NOTIONS

SCHEMES = ("cfl", "lft_ensemble", "lft_fedavg")
METHODS = ("exact", "lp")
MOST_POINTS = 10_000
"""Memory and time grow with them; ``Frontier.accuracy_at`` solves for whatever lies between."""


@one_thread()
def solve(
    federation: Federation,
    scheme: str,
    eps: Any,
    *,
    method: str = "exact",
    notion: str = "dp",
    grid: int = 2000,
) -> Solution:
    """The certified solution of CFL(eps), LFT+Ensemble(eps) or LFT+FedAvg(eps) on the population.

    Parameters
    ----------
    federation : laws or samples of the clients.
    scheme : "cfl" minimises P(ŷ≠y) subject to |MD| <= eps on the pooled law; "lft_ensemble"
        averages, by client weight, every client's own solution under |MD_i| <= eps_i on its own
        law; "lft_fedavg" minimises the pooled P(ŷ≠y) subject to |MD_i| <= eps_i for every client.
    eps : budget >= 0 (inf: none); one number, or one per client (I,) for the last two schemes.
    method : "exact", or "lp": an independent linear programme (cvxpy) on ``grid`` cells of X,
        accurate to the square of the cells' width; 2 to 100,000 of them.
    notion : "dp"; on a finite X, CFL also takes "eo" (equal opportunity) and "eodds" (equalised
        odds).

    Returns
    -------
    Solution, certified: duality gap and violation at most 1e-10 for laws, 1e-12 for a finite X.

    Raises
    ------
    ValueError : an argument out of range.  CertificationError : no solution could be certified.

    Notes
    -----
    A client with q_i = 0 or 1 has no MD_i; an undefined constraint binds nobody.
    """
    _check(federation, scheme, notion)
    one_of("method", method, METHODS)
    budget = check_eps(eps, scheme, federation.n_clients)
    if method == "lp":
        from fairfl.solvers.grid_lp import solve_lp  # cvxpy takes half a second to import

        return solve_lp(federation, scheme, budget, notion, grid)
    model = federation.model
    if isinstance(model, FiniteModel):
        if scheme == "cfl":
            return solve_cfl_finite(federation, model, budget, notion)
        solved = solve_ensemble_finite if scheme == "lft_ensemble" else solve_fedavg_finite
        return solved(federation, model, budget)
    if scheme == "lft_fedavg":
        return solve_fedavg(federation, budget)
    if scheme == "lft_ensemble":
        return solve_ensemble(federation, model, budget)
    shared = threshold_model(federation)
    return (
        solve_cfl(federation, shared, budget)
        if shared is not None
        else solve_cfl_by_dual(federation, budget)
    )


@one_thread()
def frontier(
    federation: Federation, scheme: str, points: int = 200, *, notion: str = "dp"
) -> Frontier:
    """The non-dominated (disparity, accuracy) pairs of a scheme over all budgets eps.

    Parameters
    ----------
    federation : laws or samples of the clients.
    scheme : "cfl", "lft_ensemble" or "lft_fedavg".
    points : how many points, from 2 to ``MOST_POINTS`` (dominated ones among them are dropped).
    notion : as in :func:`solve`; other than "dp" for "cfl" on a finite X only.

    Returns
    -------
    Frontier: every point is attained by its ``eps``, or where ``reproduced`` is False at least by
    its ``multipliers``; ``accuracy_at(d)`` solves for any other disparity.

    Notes
    -----
    CFL's frontier is optimal, and so is LFT+Ensemble's where all clients have the pooled q and η,
    and on a finite X: there the points are proven best by reduced costs, to 1e-10 (with hundreds of
    clients, 3e-7 was left at some). In other ensembles a client's trade-off may be convex in part,
    and MD of the best may have either sign: a knapsack over all clients and Newton steps find them;
    README says what was measured. LFT+FedAvg's on laws is the best that a search over multipliers
    found: attained everywhere, never above CFL's, not proven to be the last word. On 34 random
    federations of 2 to 8 clients, 100 random eps each (uniform; many of them 0 or 1; shares of the
    free |MD_i|) were at most 2e-9 more accurate where sd is in 0.5 to 2.5, 2.2e-7 where it runs
    from 0.05 to 50, and nowhere less disparate than the smallest disparity. Several local maxima
    lie up to 3e-3 apart in the latter, so that more may be missed where clients are many and sds
    extreme. On a finite X it is exact for up to five clients
    and 20,000 multipliers at which rules tie (two clients with 400 points have some 2,000). Beyond,
    rules climb from one optimal basis to the next: README says what was measured, CFL's frontier
    bounds what they may miss.
    """
    _check(federation, scheme, notion)
    whole("points", points, 2, MOST_POINTS)
    from fairfl.solvers.cfl.frontier import cfl_frontier
    from fairfl.solvers.frontier_checks import checked, filled
    from fairfl.solvers.lft_ensemble.finite_frontier import ensemble_frontier_finite
    from fairfl.solvers.lft_ensemble.laws_frontier import ensemble_frontier
    from fairfl.solvers.lft_fedavg.finite_frontier import fedavg_frontier_finite
    from fairfl.solvers.lft_fedavg.laws_frontier import fedavg_frontier

    model = federation.model
    if scheme == "cfl":  # each point is the solution at its own disparity
        return cfl_frontier(federation, points, notion)
    if isinstance(model, FiniteModel):
        searched = ensemble_frontier_finite if scheme == "lft_ensemble" else fedavg_frontier_finite
        found = searched(federation, model, points)
    elif scheme == "lft_ensemble":
        found = ensemble_frontier(federation, model, points)
    else:
        found = fedavg_frontier(federation, points)
    ends = _corners(federation, scheme)
    found = checked(federation, found if found.exact else filled(found, ends), ends)
    return dataclasses.replace(found, again=lambda points: _reproduced(federation, scheme, points))


@one_thread()
def min_disparity(federation: Federation, scheme: str, *, certify: bool = False) -> MinDisparity:
    """The smallest |MD| that a scheme reaches over all eps in [0, 1] (in [0, 1]^I), and the eps
    that reaches it.

    Parameters
    ----------
    federation : laws or samples, two groups.
    scheme : "cfl" (always 0), "lft_ensemble" (exact: MD ranges over an interval whose ends are
        known) or "lft_fedavg" (exact where q is common to all clients, and on a finite X as
        :func:`frontier` is; else the best that a search over multipliers found: how far random eps
        went below it is measured in :func:`frontier`).
    certify : add a rigorous enclosure by interval arithmetic; "lft_ensemble" with normal laws and
        logistic η only.

    Notes
    -----
    Where several eps reach the smallest disparity, one of (nearly) the highest accuracy is
    reported. A budget of 1 stands for "no constraint".
    """
    _check(federation, scheme)
    if federation.n_groups != 2:
        raise ValueError(
            f"min_disparity takes two groups, this federation has {federation.n_groups}"
        )
    if flag("certify", certify) and scheme != "lft_ensemble":
        raise ValueError(f"certify is available for 'lft_ensemble', got {scheme!r}")
    if scheme == "cfl":
        return MinDisparity(scheme, 0.0, np.zeros(1), solve(federation, "cfl", 0.0).accuracy)
    from fairfl.solvers.lft_ensemble.finite_frontier import ensemble_minimum_finite
    from fairfl.solvers.lft_ensemble.laws_frontier import ensemble_minimum
    from fairfl.solvers.lft_fedavg.finite_frontier import fedavg_minimum_finite
    from fairfl.solvers.lft_fedavg.laws_frontier import fedavg_minimum

    model = federation.model
    if isinstance(model, FiniteModel):
        if certify:
            raise ValueError(
                "certify takes normal laws and logistic eta, this federation has a finite X"
            )
        least = (ensemble_minimum_finite if scheme == "lft_ensemble" else fedavg_minimum_finite)(
            federation, model
        )
    else:
        least = (
            ensemble_minimum(federation, model)
            if scheme == "lft_ensemble"
            else fedavg_minimum(federation)
        )
    least = least.join(_corners(federation, scheme)).least
    lower = upper = None
    if certify:
        with extras_named():  # python-flint, for this alone
            from fairfl.solvers.lft_ensemble.enclosure import enclose_min_disparity

        box = enclose_min_disparity(federation)
        lower, upper = box.lower, box.upper
    return MinDisparity(
        scheme,
        float(least.disparity[0]),
        least.eps[0],
        float(least.accuracy[0]),
        lower,
        upper,
        None if least.multipliers is None else least.multipliers[0],
        bool(_reproduced(federation, scheme, least)[0]),
    )


def _check(federation: Federation, scheme: str, notion: str = "dp") -> None:
    """ValueError unless the scheme exists and can be solved on this federation for this notion."""
    if not isinstance(federation, Federation):
        raise ValueError(f"federation must be a Federation, got {type(federation).__name__}")
    one_of("scheme", scheme, SCHEMES)
    one_of("notion", notion, tuple(NOTIONS))
    if notion != "dp" and not (scheme == "cfl" and federation.is_finite):
        raise ValueError(
            f"notion {notion!r} is available for 'cfl' on a finite X, got scheme {scheme!r}"
        )
    if federation.n_groups != 2 and scheme != "cfl":
        raise ValueError(
            f"scheme {scheme!r} takes two groups, this federation has {federation.n_groups}"
        )


def _corners(fed: Federation, scheme: str) -> Points:
    """The solutions whose budgets are all zero and all one, that is none; those that are
    certified.
    """
    found = []
    for eps in (0.0, 1.0):
        with suppress(CertificationError):
            found.append(solve(fed, scheme, eps))
    return points_of(fed, found)


def _reproduced(fed: Federation, scheme: str, points: Points) -> Array:
    """(P,) whether the solutions at the points' budgets have their disparities and accuracies, to
    REPRODUCED.
    """
    disparity, accuracy = np.full((2, len(points.eps)), np.nan)
    if scheme == "lft_ensemble":
        from fairfl.solvers.lft_ensemble.laws_curve import EnsembleCurve

        model = fed.model
        finite = isinstance(model, FiniteModel)
        md, accuracy = (
            ensembles_at(fed, model, points.eps)
            if finite
            else EnsembleCurve(fed, model).solved(points.eps)
        )
        disparity = np.abs(md)
    else:
        for p, eps in enumerate(points.eps):
            with suppress(CertificationError):
                found = solve(fed, scheme, eps)
                disparity[p], accuracy[p] = found.disparity, found.accuracy
    off = np.maximum(np.abs(disparity - points.disparity), np.abs(accuracy - points.accuracy))
    return off <= REPRODUCED
