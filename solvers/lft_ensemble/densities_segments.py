"""LFT+Ensemble over all budgets on densities, for every notion, cost and sight, any number of
groups: separable programming by branch and bound, then sequential quadratic programming.

An ensemble is one budget for each client, and everybody's utility and rates are sums over clients,
each a function of one budget, which ``densities_table`` tabulates:

    maximise Σ_i W_i(eps_i)  subject to  |r + Σ_i R_i(eps_i)| <= d.

*Branch and bound.* With tables cut into lines, ``finite_branch_and_bound`` picks a line for
each client: the best of all budgets, up to ROUGH. No local search could tell.

*Sequential quadratic programming* (``densities_local``) goes on from there. What it finds is solved
and certified, for many disparities at once; where that is not what the tables say it becomes a node
of theirs, and they are searched again next to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.densities.rules import RuleFamily
from fairfl.solvers.frontier import SLACK_BUDGET, Points, points_of
from fairfl.solvers.lft_ensemble.densities_local import parts_at, polished
from fairfl.solvers.lft_ensemble.densities_table import Table
from fairfl.solvers.lft_ensemble.finite_branch_and_bound import Segments
from fairfl.solvers.lft_ensemble.search import EnsembleSearch
from fairfl.solvers.problem import Problem
from fairfl.solvers.solution import tolerance
from fairfl.solvers.task import Task
from fairfl.solvers.tolerances import MET, SAME_BUDGET, SEGMENTS_ROOM, TABLES_TRUE
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import NOTIONS

NODES = 300
"""Parts that branch and bound may look at for one disparity: a start for the local search."""
REPEATS = 10
"""Times that budgets become nodes, where tables are not the truth there."""


@dataclass(frozen=True)
class SegmentSearch(EnsembleSearch):
    """The clients' tables, one each, and their lines, for branch and bound."""

    fed: Federation
    task: Task
    tables: list[Table]
    segments: Segments

    @classmethod
    def of(cls, fed: Federation, task: Task) -> SegmentSearch:
        """Tabulate all clients' solutions."""
        everybody = RuleFamily.of(fed, task).everybody
        tables = [
            Table.of(fed.alone(i), task, float(w), everybody, fed.n_clients)
            for i, w in enumerate(fed.weight)
        ]
        lines = [table.lines() for table in tables]
        client = np.repeat(np.arange(len(lines)), [len(ends) for ends, _ in lines])
        ends, values = (np.concatenate(v) for v in zip(*lines, strict=True))
        gain, rows = values[..., 0], np.moveaxis(values[..., 1:], -1, 0)
        nothing = np.zeros((len(rows), 0))
        pooled = Problem(np.zeros(0), nothing, np.zeros(len(rows)), np.ones(len(rows)))
        segments = Segments(fed, task, client, ends, gain, rows, pooled, nodes=NODES)
        return cls(fed, task, tables, segments)

    def attained(self, disparities: Sequence[float | None]) -> Points:
        """What the best budgets for the disparities attain, or the least disparate ones (None), and
        what was tried before. Where the tables are wrong the budgets become nodes, and where the
        disparity is missed a smaller one is asked for.
        """
        targets = [None if d is None else d + SEGMENTS_ROOM for d in disparities]
        best = {k: self.segments.best(d) for k, d in enumerate(targets)}
        left = {k: eps for k, eps in best.items() if eps is not None}
        points = points_of(self.fed, [])
        for repeat in range(REPEATS):
            if not left:
                break
            eps = self._at_nodes([polished(self.tables, e, targets[k]) for k, e in left.items()])
            predictions, (value, tried) = parts_at(self.tables, eps).sum(axis=2), self.tried(eps)
            points = points.join(tried.take(np.all(~np.isnan(value), axis=1)))
            predicted, reached = (
                np.abs(v[:, 1:]).max(axis=1, initial=0.0) for v in (predictions, value)
            )
            error = np.maximum(predicted - reached, np.abs(predictions[:, 0] - value[:, 0]))
            limits = np.array([1.0 if (d := disparities[k]) is None else d for k in left])
            excess = reached - np.minimum(predicted, limits)
            is_exact = (error <= TABLES_TRUE) & (excess <= MET / 2.0)
            for k, miss in zip(left, excess, strict=True):
                if repeat >= REPEATS // 2 and miss > MET / 2.0 and (goal := targets[k]) is not None:
                    targets[k] = max(goal - 2.0 * miss, 0.0)
            left = {k: e for k, e, is_met in zip(left, eps, is_exact, strict=True) if not is_met}
            if left:
                for table, budgets in zip(self.tables, np.array([*left.values()]).T, strict=True):
                    table.add(budgets)
        return points

    def answers(self, disparities: Sequence[float]) -> Points:
        """What the best budgets attain, each on a copy of the tables: no answer changes another."""
        points = points_of(self.fed, [])
        for disparity in disparities:
            search = replace(self, tables=[copy(table) for table in self.tables])
            points = points.join(search.attained([disparity]))
        return points

    def _at_nodes(self, eps: Sequence[Array]) -> Array:
        """(P, I) budgets, those next to a node moved there."""
        out = np.array(eps)
        for i, table in enumerate(self.tables):
            node = table.eps[np.abs(table.eps - out[:, i, None]).argmin(axis=1)]
            out[:, i] = np.where(np.abs(node - out[:, i]) <= SAME_BUDGET, node, out[:, i])
        return out

    def tried(self, eps: Array) -> tuple[Array, Points]:
        """Worth and rates (P, 1 + M) at budgets (P, I), NaN if uncertified; what is attained."""
        free = np.array([table.eps[-1] for table in self.tables])
        budgets = np.where(eps >= free, SLACK_BUDGET, eps)
        pairs = zip(self.tables, budgets.T, strict=True)
        solutions = [table.solved(budget, certify=True) for table, budget in pairs]
        lams, values, _, is_certified = zip(*solutions, strict=True)
        value = np.where(np.all(is_certified, axis=0)[:, None], np.sum(values, axis=0), np.nan)
        rates, unit = len(NOTIONS[self.task.notion].rates), self.task.unit
        lam = np.stack(
            [unit * multipliers.reshape(len(eps), rates, -1) for multipliers in lams], axis=2
        )
        disparity = np.abs(value[:, 1:]).max(axis=1, initial=0.0)
        disparity[disparity <= tolerance(self.fed)] = 0.0
        worth = 1.0 + unit * (value[:, 0] - 1.0)
        return value, Points(disparity, worth, budgets, lam.reshape(len(eps), -1))
