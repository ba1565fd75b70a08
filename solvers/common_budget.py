"""The frontier of local training at one budget for all clients: the non-dominated points of the
path eps -> solution, 0 <= eps <= 1.

On a finite X the path is piecewise linear where two groups have one rate. LFT+Ensemble's breaks
where a client's own path does. LFT+FedAvg's does where its utility, which is concave in eps, does,
and where the pooled difference still bends between these the interval is halved. On laws the path
is solved at even budgets, and again beside each smallest disparity and largest utility. Between two
of these budgets a disparity is met by a root of the path. An ensemble of more groups or rates on a
finite X may jump in many places: of it the solutions at breaks and at even budgets are the points.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.cfl.budget_path import BudgetPath
from fairfl.solvers.common_path import Path
from fairfl.solvers.frontier import Frontier, Points, build
from fairfl.solvers.lft_ensemble.densities_curve import EnsembleCurve
from fairfl.solvers.lft_ensemble.finite_branch_and_bound import Segments
from fairfl.solvers.numerics.concave_breaks import concave_breaks
from fairfl.solvers.problem import Task, clients_problem
from fairfl.solvers.solution import FINITE_TOLERANCE, CertificationError, Solution, tolerance
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel

EVEN = 64
"""Even budgets, at least: a disparity that falls and rises between two of them is not seen."""
BEND = 1e-6
"""Of several differences the largest may miss its chord by this: each bend takes 10 solutions then,
and 40 to rounding.
"""
Solve = Callable[[Array], Solution]
"""The certified solution at budgets (I,)."""


def common_frontier(fed: Federation, task: Task, points: int, solve: Solve) -> Frontier:
    """The frontier of LFT+FedAvg or LFT+Ensemble at one budget for all clients."""
    path = _path(fed, task, points, solve)

    def evaluate(disparity: Array) -> Points:
        eps, md, worth = path.meet(disparity)
        apart = np.where(np.abs(md) <= tolerance(fed), 0.0, np.abs(md))
        return Points(apart, worth, _all(eps, fed.n_clients))

    wanted = np.linspace(path.segments.smallest, path.segments.largest, points)
    return build(task.scheme, evaluate(wanted), evaluate, fed.is_finite and not task.several)


def _path(fed: Federation, task: Task, points: int, solve: Solve) -> Path:
    """The path at the budgets between which it is, or is taken to be, linear."""
    model, solved, averaged = fed.model, Solved(fed, task, solve), task.scheme == "lft_ensemble"
    if not isinstance(model, FiniteModel):
        path = Path(solved if averaged else BudgetPath.of(fed, task).signed)
        if averaged and task.plain:
            curve = EnsembleCurve(fed, model)
            path = Path(lambda eps: curve.solved(_all(eps, fed.n_clients)))
        top = float(np.nan_to_num(solved.at(1.0).local_disparities).max())
        path.add(np.append(np.linspace(0.0, min(top, 1.0), max(points, EVEN)), 1.0))
        path.cross_zero()
        path.refine()
        return path
    path = Path(solved, between=not (averaged and task.several))
    if not averaged:
        at, problem = solved.at, clients_problem(fed, task)
        path.add(concave_breaks(lambda e: (at(e).utility, problem.slope(at(e).multipliers))))
        path.halve_bends(BEND if task.several else FINITE_TOLERANCE)
    else:  # a client's rule may jump just below a break of its own
        breaks = np.unique(np.clip(np.append([0.0, 1.0], Segments.of(fed, task).eps), 0.0, 1.0))
        if task.several:
            even = np.linspace(0.0, 1.0, EVEN)
            path.add(even)
            breaks = breaks[np.unique((even * (breaks.size - 1)).round().astype(int))]
        path.add(np.append(breaks, np.nextafter(breaks[1:], 0.0)))
    if path.between:
        path.cross_zero()
    return path


class Solved:
    """The path by one certified solution at a time, each kept."""

    def __init__(self, fed: Federation, task: Task, solve: Solve) -> None:
        self.fed, self.task, self.solve = fed, task, solve
        self.known: dict[float, Solution] = {}

    def at(self, eps: float) -> Solution:
        """The solution at one budget."""
        if eps not in self.known:
            self.known[eps] = self.solve(np.full(self.fed.n_clients, eps))
        return self.known[eps]

    def __call__(self, eps: Array) -> tuple[Array, Array]:
        out = np.full((2, eps.size), np.nan)
        for k, budget in enumerate(eps):
            with suppress(CertificationError):
                found = self.at(float(budget))
                out[:, k] = found.signed, 1.0 + found.utility
        return out[0], out[1]


def _all(eps: Array, clients: int) -> Array:
    """(P, I) the same budgets (P,) for all clients."""
    return np.repeat(eps[:, None], clients, axis=1)
