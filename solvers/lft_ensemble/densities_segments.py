"""LFT+Ensemble over all budgets on densities, for every notion, cost and sight, any number of
groups: separable programming by branch and bound, then sequential quadratic programming.

An ensemble is one budget for each client, and everybody's utility and rates are sums over clients,
each a function of one budget, which ``densities_table`` tabulates:

    maximise Σ_i W_i(eps_i)  subject to  |r + Σ_i R_i(eps_i)| <= d.

*Branch and bound.* With tables cut into lines, ``finite_branch_and_bound`` picks a line for
each client: the best of all budgets, up to ROUGH. No local search could tell.

*Sequential quadratic programming* (scipy's SLSQP) on the tables' cubics goes on from there. What it
finds is solved and certified, for many disparities at once; where that is not what the tables say
it becomes a node of theirs, and they are searched again next to it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from fairfl._support.checks import Array
from fairfl.solvers.density_rules import RuleFamily
from fairfl.solvers.frontier import SLACK_BUDGET, Points, points_of
from fairfl.solvers.lft_ensemble.densities_table import Table
from fairfl.solvers.lft_ensemble.finite_branch_and_bound import Segments
from fairfl.solvers.lft_ensemble.search import EnsembleSearch
from fairfl.solvers.problem import Problem
from fairfl.solvers.solution import tolerance
from fairfl.solvers.task import Task
from fairfl.solvers.tolerances import MET, SAME_BUDGET, SEGMENTS_ROOM, TABLES_TRUE
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import NOTIONS

REPEATS = 10
"""Times that budgets become nodes, where tables are not the truth there."""
CLOSER = 3
"""Newton steps to what meets a disparity."""


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
        weights = enumerate(fed.weight)
        tables = [Table.of(fed.alone(i), task, float(w), *everybody) for i, w in weights]
        lines = [table.lines() for table in tables]
        client = np.repeat(np.arange(len(lines)), [len(ends) for ends, _ in lines])
        ends, values = (np.concatenate(v) for v in zip(*lines, strict=True))
        gain, rows = values[..., 0], np.moveaxis(values[..., 1:], -1, 0)
        nothing: Any = np.zeros((len(rows), 0))
        pooled = Problem(np.zeros(0), nothing, np.zeros(len(rows)), np.ones(len(rows)))
        return cls(fed, task, tables, Segments(fed, task, client, ends, gain, rows, pooled))

    def parts_at(self, eps: Array, order: int = 0) -> Array:
        """What each client adds to everybody's worth and rates, (P, 1 + M, I), by the tables at
        budgets eps (P, I), or its derivatives in the client's own budget.
        """
        parts = [t.curve(e, order) for t, e in zip(self.tables, eps.T, strict=True)]
        return np.stack(parts, axis=2)

    def polished(self, eps: Array, disparity: float | None) -> Array:
        """The best budgets next to others by the tables, with at most a disparity; the least
        disparate ones (None). The unknowns are the places of the budgets that may move, and the
        disparity.
        """
        ends = np.array([t.around(float(e)) for t, e in zip(self.tables, eps, strict=True)])
        low, size = ends[:, 0], np.ptp(ends, axis=1)
        moves, eps = np.flatnonzero(size > 0), np.clip(eps, *ends.T)
        if not moves.size:
            return eps
        seeks_smallest, limit = disparity is None, 1.0 if disparity is None else disparity
        identity = np.eye(self.tables[0].base.size)
        signs = np.concatenate([identity, -identity[1:]])
        signs[0, 0] = not seeks_smallest
        limited = signs[:, 0] == 0.0

        def budgets(x: Array) -> Array:
            out = eps.copy()
            out[moves] = low[moves] + np.clip(x[:-1], 0.0, 1.0) * size[moves]
            return out

        @functools.lru_cache(maxsize=4)
        def model(key: bytes) -> tuple[Array, Array]:
            """What is minimised, and what each rate and its negative leave of the disparity at x;
            their slopes.
            """
            x = np.frombuffer(key)
            at = budgets(x)[None]
            value, slope = self.parts_at(at)[0].sum(axis=1), self.parts_at(at, 1)[0][:, moves]
            slope = -signs @ (slope * size[moves])
            return limited * x[-1] - signs @ value, np.column_stack([slope, limited])

        start = np.append((eps - low)[moves] / size[moves], limit)
        minimum = scipy.optimize.minimize(
            lambda x: model(x.tobytes())[0][0],
            start,
            jac=lambda x: model(x.tobytes())[1][0],
            bounds=[(0.0, 1.0)] * moves.size + [(0.0 if seeks_smallest else limit, limit)],
            constraints={
                "type": "ineq",
                "fun": lambda x: model(x.tobytes())[0][1:],
                "jac": lambda x: model(x.tobytes())[1][1:],
            },
            method="SLSQP",
            options={"ftol": 1e-13, "maxiter": 60},
        )
        candidates = [np.clip(x, 0.0, 1.0) for x in (minimum.x, start) if np.isfinite(x).all()]
        for x in candidates:
            for _ in range(
                0 if seeks_smallest else CLOSER
            ):  # where tables are steep SLSQP ends too early
                room, slope = model(x.tobytes())
                missed = np.flatnonzero(room[1:] < 0.0) + 1
                if not missed.size:
                    break
                box = -x[:-1], 1.0 - x[:-1]
                step = scipy.optimize.lsq_linear(slope[missed, :-1], -room[missed], box, "bvls")
                x[:-1] += step.x

        def merit(x: Array) -> tuple[float, float]:
            goal, *room = model(x.tobytes())[0]
            return -max(x[-1] - min(room), 0.0 if seeks_smallest else limit + MET / 2.0), -goal

        return budgets(max(candidates, key=merit))  # SLSQP may end below its start

    def attained(self, disparities: Sequence[float | None]) -> Points:
        """What the best budgets for the disparities attain, or the least disparate ones (None), and
        what was tried before. Where that is not what the tables say the budgets become nodes, and
        where it misses the disparity a smaller one is asked for.
        """
        targets = [None if d is None else d + SEGMENTS_ROOM for d in disparities]
        best = {k: self.segments.best(d) for k, d in enumerate(targets)}
        left = {k: eps for k, eps in best.items() if eps is not None}
        points = points_of(self.fed, [])
        for repeat in range(REPEATS):
            if not left:
                break
            eps = self._at_nodes([self.polished(e, targets[k]) for k, e in left.items()])
            predictions, (value, tried) = self.parts_at(eps).sum(axis=2), self.tried(eps)
            points = points.join(tried.take(~np.isnan(value).any(axis=1)))
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
        """What the best budgets attain, each on a copy of the tables: what one search adds to them
        changes no other answer.
        """
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
