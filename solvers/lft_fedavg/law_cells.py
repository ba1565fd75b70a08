"""A problem on densities cut into cells of the line, whose rules have one rate in each cell: the
start of searches.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.densities.rules import RuleFamily, Rules
from fairfl.solvers.lft_fedavg.finite_faces import Faces
from fairfl.solvers.numerics.descent import on_cells
from fairfl.solvers.problem import Problem
from fairfl.solvers.schemes import CFL
from fairfl.solvers.task import Task
from fairfl.theory.populations.federation import Federation


@dataclass(frozen=True)
class LawCells:
    """A task's problem on densities, to be cut into cells.

    Attributes
    ----------
    family : the clients' constraints and the pooled differences.
    cfl : CFL's rules.
    rows : of each place what is made of its functions: the gain, the K constraints and the M pooled
        differences, (1 + K + M, J).
    links : (K, K) of two differences of groups, a - b: 1 where they are one, 1/2 where they share
        the first group or the second, -1/2 where one's first group is the other's second, else 0.
    """

    family: RuleFamily
    cfl: RuleFamily
    rows: tuple[Array, ...]
    links: Array

    @classmethod
    def of(cls, family: RuleFamily, fed: Federation, task: Task) -> LawCells:
        """The problem of a task, whose rules are a ``family``."""
        rows, problem = [], family.problem
        places = zip(problem.coefficients, family.pooled, problem.nobody, strict=True)
        for coefficients, pooled, nobody in places:
            table = np.pad(np.concatenate([coefficients, pooled]), ((1, 0), (1, 0)))
            table[0, 0] = not nobody
            rows.append(table)
        links = np.eye(1)
        if task.difference == "pairwise":
            first, second = np.triu_indices(fed.n_groups, 1)
            signs = np.eye(fed.n_groups)[first] - np.eye(fed.n_groups)[second]
            links = signs @ signs.T / 2.0
        links = np.kron(np.eye(problem.count // len(links)), links)
        return cls(family, RuleFamily.of(fed, replace(task, scheme=CFL)), tuple(rows), links)

    def ends(self, count: int) -> list[Array]:
        """The edges of ``count`` even cells of each place."""
        profiles = self.family.problem.profiles
        return [np.linspace(f.edges[0], f.edges[-1], count + 1) for f in profiles]

    def cfl_rules(self, disparities: Array) -> Rules:
        """CFL's rules with at most the disparities (P,)."""
        eps = disparities[:, None]
        start = on_cells(self.cfl.problem, self.cfl.limits(eps))
        return self.cfl.follow(self.cfl.at(start), eps)[0]

    def integrals(self, edges: list[Array]) -> Array:
        """(1 + K + M, N) what each function has in the cells between edges (N,)."""
        profiles = self.family.problem.profiles
        parts = zip(profiles, self.rows, edges, strict=True)
        return np.concatenate([rows @ -np.diff(f.above(x), axis=1) for f, rows, x in parts], axis=1)

    def reduced(self, mu: Array, values: Array) -> Array:
        """CFL's scores, of integrals (1 + K + M, N), at its multipliers (M,)."""
        return values[0] + np.tensordot(mu, values[-mu.size :], 1)

    def faces(self, integrals: Array) -> Faces:
        """The problem whose rules have one rate in each cell."""
        family, problem = self.family, self.family.problem
        k, limits = problem.count, np.where(self.family.bound, 1.0, np.inf)
        u, v, w = integrals[0], integrals[1 : k + 1], integrals[k + 1 :]
        shape, pooled_ones = (1, 1, u.size), np.ones(len(w))
        local = Problem(
            u, v, problem.b, limits, problem.base, shape, owner=family.client, zero=0.0 * limits
        )
        owner = np.zeros(len(w), int)
        pooled = Problem(
            u, w, family.constant, pooled_ones, problem.base, shape, owner=owner, zero=0.0 * owner
        )
        return Faces(local, pooled)
