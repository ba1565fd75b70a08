"""solve(federation, scheme, eps): one door to every solver."""

from __future__ import annotations

from typing import Any

from fairfl._support.checks import one_of
from fairfl._support.threads import one_thread
from fairfl.solvers import finite
from fairfl.solvers.cfl.laws import solve_cfl, threshold_model
from fairfl.solvers.lft_ensemble.laws import solve_ensemble
from fairfl.solvers.lft_fedavg.laws import solve_cfl_by_dual, solve_fedavg
from fairfl.solvers.solution import Solution
from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.federation import Federation, check_eps
from fairfl.theory.populations.finite import FiniteModel
from fairfl.theory.populations.notions import NOTIONS

SCHEMES = ("cfl", "lft_ensemble", "lft_fedavg")
METHODS = ("exact", "lp")


@one_thread()
def solve(
    federation: Federation, scheme: str, eps: Any, *, method: str = "exact", notion: str = "dp", grid: int = 2000
) -> Solution:
    """The certified solution of CFL(eps), LFT+Ensemble(eps) or LFT+FedAvg(eps) on the population.

    Parameters
    ----------
    federation : laws or samples of the clients.
    scheme : "cfl" minimises P(ŷ≠y) subject to |MD| <= eps on the pooled law; "lft_ensemble" averages, by client
        weight, every client's own solution under |MD_i| <= eps_i on its own law; "lft_fedavg" minimises the pooled
        P(ŷ≠y) subject to |MD_i| <= eps_i for every client.
    eps : budget >= 0 (inf: none); one number, or one per client (I,) for the last two schemes.
    method : "exact", or "lp": an independent linear programme (cvxpy) on ``grid`` cells of X, accurate to the
        square of the cells' width; 2 to 100,000 of them.
    notion : "dp"; on a finite X, CFL also takes "eo" (equal opportunity) and "eodds" (equalised odds).

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
    if not isinstance(federation, Federation):
        raise ValueError(f"federation must be a Federation, got {type(federation).__name__}")
    one_of("scheme", scheme, SCHEMES)
    one_of("method", method, METHODS)
    one_of("notion", notion, tuple(NOTIONS))
    budget = check_eps(eps, scheme, federation.n_clients)
    if notion != "dp" and not (scheme == "cfl" and federation.is_finite):
        raise ValueError(f"notion {notion!r} is available for 'cfl' on a finite X, got scheme {scheme!r}")
    if federation.n_groups != 2 and scheme != "cfl":
        raise ValueError(f"scheme {scheme!r} takes two groups, this federation has {federation.n_groups}")
    if method == "lp":
        from fairfl.solvers.grid_lp import solve_lp  # cvxpy takes half a second to import

        return solve_lp(federation, scheme, budget, notion, grid)
    model = federation.model
    if isinstance(model, FiniteModel):
        if scheme == "cfl":
            return finite.solve_cfl_finite(federation, model, budget, notion)
        chosen = finite.solve_ensemble_finite if scheme == "lft_ensemble" else finite.solve_fedavg_finite
        return chosen(federation, model, budget)
    if scheme == "lft_fedavg":
        return solve_fedavg(federation, budget)
    if scheme == "lft_ensemble":
        return solve_ensemble(federation, model, budget)
    shared: ContinuousModel | None = threshold_model(federation)
    return solve_cfl(federation, shared, budget) if shared is not None else solve_cfl_by_dual(federation, budget)
