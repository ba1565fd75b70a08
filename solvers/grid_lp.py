"""The schemes by a linear programme (cvxpy) on a finite or discretised X: slow, and independent of
all other solvers, with which it shares no code.

Every constraint is a pair of groups, or a group and everybody, summed from the definition of its
rates. On laws cells are intervals of X with exact masses and mean η by Gauss-Legendre integrals:
the best classifier that is constant on cells is off by the order of their width squared.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import cvxpy as cp
import numpy as np

from fairfl._support.checks import Array, whole
from fairfl.solvers.solution import Certificate, CertificationError, Solution
from fairfl.solvers.task import Task
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.client_classifiers import ClientClassifiers
from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel
from fairfl.theory.populations.notions import NOTIONS

MOST_CELLS = 100_000
"""Cells of a grid: the linear programme has a variable for each, and group, and client."""
FEW = 1e-9
"""On laws the programme's f is a rounding of the solver's where no more people are than this."""
NOBODY = 1e-200
"""On laws masses up to this are nobody's: every cell has as much, one person in proportion."""
TIGHT = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}
HIGHS = TIGHT | {"small_matrix_value": 1e-12}
"""By itself HiGHS takes coefficients below 1e-9 for zero: multipliers of 1e8 make 0.05 of them."""
SLACK = 2.0  # a larger budget, of a difference of rates, limits no more than this one
LP_TOLERANCE = 1e-6
"""Gap and violation allowed to the interior-point and simplex codes behind cvxpy."""


def solve_lp(
    fed: Federation, task: Task, eps: Array, local_eps: Array | None, grid: int
) -> Solution:
    """Solve on ``grid`` cells (continuous X) or on the points themselves (finite X)."""
    whole("grid", grid, 2, MOST_CELLS)
    model = fed.model
    if isinstance(model, FiniteModel):
        edges, people, eta = None, fed.mass[:, :, None] * model.conditional, model.eta
        few = nobody = 0.0
    else:
        edges, people, eta = _cells(fed, model, grid)
        few, nobody = FEW, NOBODY
    clients, groups, n = people.shape
    sees_client = task.scheme.sees_client
    variable = np.zeros((clients if sees_client else 1, groups, n), int) + np.arange(n)
    if task.sees == "xa":
        variable += n * np.arange(groups)[:, None]
    variable += (variable.max() + 1) * np.arange(len(variable))[:, None, None]
    programme = _Programme(task, people, eta, np.broadcast_to(variable, people.shape), few, nobody)
    everybody = range(clients)
    if task.scheme.is_averaged:
        solutions = [programme.solved([i], [([i], float(eps[i]))]) for i in everybody]
        f = np.einsum("i,iN->N", fed.weight, np.stack([rates for rates, _, _ in solutions]))
    else:
        budgets: list[tuple[Sequence[int], float]] = []
        local_budgets = eps
        if task.scheme.is_pooled:
            budgets.append((everybody, float(eps[0])))
            local_budgets = local_eps
        if local_budgets is not None:
            budgets += [([i], float(local_budgets[i])) for i in everybody]
        solutions = [programme.solved(everybody, budgets)]
        f = solutions[0][0]
    table = np.clip(f, 0.0, 1.0)[variable]
    lam = np.concatenate([multipliers for _, multipliers, _ in solutions])
    certificates = tuple(certificate for _, _, certificate in solutions)
    if edges is None:
        return Solution(fed, task, eps, table, lam, certificates, local_eps)
    rules = [Classifier([edges[1:-1]] * groups, list(rows)) for rows in table]
    rule = ClientClassifiers(rules) if sees_client else rules[0]
    return Solution(fed, task, eps, rule, lam, certificates, local_eps)


@dataclass(frozen=True)
class _Programme:
    """Masses ``people``, ``eta`` and the rule's cell ``number`` (I, A, n); masses near zero."""

    task: Task
    people: Array
    eta: Array
    number: Array
    few: float
    nobody: float

    def functional(self, table: Array) -> Array:
        """The coefficients of Σ table·f, by cell of the rule."""
        return np.bincount(self.number.ravel(), table.ravel(), int(self.number.max()) + 1)

    def solved(
        self, clients_of_rule: Sequence[int], budgets: Sequence[tuple[Sequence[int], float]]
    ) -> tuple[Array, Array, Certificate]:
        """The best rule for the clients ``clients_of_rule`` under budgets of clients. At a cell
        with almost none of their people it is what the multipliers give, and 0 without anybody.
        """
        people = np.isin(np.arange(len(self.people)), clients_of_rule)[:, None, None] * self.people
        people = people / people.sum()
        miss_cost, alarm_cost = self.task.costs[:, :, None]
        gain = self.functional(people * (miss_cost * self.eta - alarm_cost * (1.0 - self.eta)))
        limits = [(*limit, eps) for clients, eps in budgets for limit in self.differences(clients)]
        count = len(limits)
        if self.task.monotone:
            cells = np.unique(self.number.reshape(-1, self.number.shape[-1]), axis=0)
            steps = np.eye(gain.size)[cells[:, :-1]] - np.eye(gain.size)[cells[:, 1:]]
            limits += [(row, 0.5, 0.5) for row in steps.reshape(-1, gain.size)]
        table = np.reshape([row for row, _, _ in limits], (len(limits), gain.size))
        offsets, eps = (np.array([limit[k] for limit in limits]) for k in (1, 2))
        f, lam, certificate = _linear_programme(gain, table, eps, offsets)
        if not self.task.monotone:
            f = np.where(self.functional(people) <= self.few, gain + lam @ table > 0, f)
        base = 1.0 - float((people * self.eta * miss_cost).sum())
        worth = {"primal": base + certificate.primal, "dual": base + certificate.dual}
        return f, lam[:count], replace(certificate, **worth)

    def differences(self, clients: Sequence[int]) -> list[tuple[Array, float]]:
        """The differences that the notion limits among ``clients``: coefficients and constants."""
        out = []
        for rate in NOTIONS[self.task.notion].rates:
            rates = []
            for group in [*([a] for a in range(self.people.shape[1])), range(self.people.shape[1])]:
                people = np.zeros_like(self.people)
                people[np.ix_(clients, group)] = self.people[np.ix_(clients, group)]
                of, counted, constant = (
                    people if pair == (1.0, 0.0) else people * (pair[0] + pair[1] * self.eta)
                    for pair in (rate.mass, rate.linear, rate.constant)
                )
                if of.sum() > self.nobody:
                    rates.append((self.functional(counted) / of.sum(), constant.sum() / of.sum()))
            *group_rates, overall = rates or [None]
            pairs = [(first, overall) for first in group_rates]
            if self.task.difference == "pairwise":
                pairs = list(combinations(group_rates, 2))
            if len(group_rates) > 1:
                out += [(a - b, float(c - d)) for (a, c), (b, d) in pairs]
        return out


def _linear_programme(
    gain: Array, table: Array, eps: Array, b: Array
) -> tuple[Array, Array, Certificate]:
    """max gain·f, |table·f + b| <= eps, 0 <= f <= 1: f (N,), multipliers (K,), certificate."""
    eps = np.minimum(eps, SLACK)
    f = cp.Variable(gain.size, bounds=[0, 1])
    limits: list[Any] = [table @ f + b <= eps, -(table @ f) - b <= eps] if eps.size else []
    problem = cp.Problem(cp.Maximize(gain @ f), limits)
    with suppress(ValueError):  # cvxpy's, where HiGHS ends undecided
        problem.solve(solver=cp.HIGHS, **HIGHS)
    if f.value is None:
        raise CertificationError(
            f"the linear programme ended with status {problem.status!r}; try another grid"
        )
    best = np.clip(f.value, 0.0, 1.0)  # the solver's own feasibility tolerance
    lam = limits[1].dual_value - limits[0].dual_value if limits else np.zeros(0)
    dual = np.maximum(gain + lam @ table, 0.0).sum() + lam @ b + np.abs(lam) @ eps
    violation = np.maximum(np.abs(table @ best + b) - eps, 0.0).max(initial=0.0)
    certificate = Certificate(float(gain @ best), float(dual), float(violation))
    certificate.check(LP_TOLERANCE, "try another grid")
    return best, lam, certificate


def _cells(fed: Federation, model: ContinuousModel, grid: int) -> tuple[Array, Array, Array]:
    """Edges of cells of about equal pooled mass, their masses, and their mean η (I, A, n)."""
    groups = range(fed.n_groups)
    laws = [law for client_laws in model.laws for law in client_laws]
    low, high = min(law.low for law in laws), max(law.high for law in laws)
    fine = np.unique(np.concatenate([np.linspace(law.low, law.high, 4000) for law in laws]))
    below = np.sum(
        [np.einsum("i,ix->x", fed.mass[:, a], 1.0 - model.sf(a, fine)) for a in groups], axis=0
    )
    keep = np.append(np.diff(below) > 0, True)  # np.interp needs an increasing function
    edges = np.interp(np.linspace(0, 1, grid + 1)[1:-1], below[keep], fine[keep])
    edges = np.unique(np.concatenate([[low], edges, [high]]))
    nodes, weights = np.polynomial.legendre.leggauss(8)
    half = np.diff(edges)[:, None] / 2
    x = edges[:-1, None] + half * (nodes + 1)
    people, eta = [], []
    for a in groups:
        eta_at_nodes = model.eta(a, x)
        mass = model.interval_masses(a, edges[:-1], edges[1:])
        positive = np.einsum("n,icn->ic", weights, model.pdf(a, x) * eta_at_nodes) * half[:, 0]
        mean = np.divide(positive, mass, out=eta_at_nodes[:, :, 4].copy(), where=mass > NOBODY)
        people.append(np.maximum(fed.mass[:, a, None] * mass, NOBODY / MOST_CELLS**2))
        eta.append(np.clip(mean, 0.0, 1.0))
    return edges, np.stack(people, axis=1), np.stack(eta, axis=1)
