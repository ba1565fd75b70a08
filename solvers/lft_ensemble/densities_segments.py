"""LFT+Ensemble over all budgets on densities, for every notion, cost and sight, any number of
groups: separable programming by branch and bound, then sequential quadratic programming.

Everybody's utility and rates are sums over clients, each a function of one budget, which
``densities_table`` tabulates: maximise Σ_i W_i(eps_i) subject to |r + Σ_i R_i(eps_i)| <= d. With
tables cut into lines, ``finite_branch_and_bound`` picks a line for each client: the best of all
budgets, up to ROUGH. No local search could tell. From there SLSQP goes on along the tables' cubics.
What it finds is solved and certified, for many disparities at once; where that is not what the
tables say it becomes a node of theirs, and they are searched again next to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import scipy

from fairfl._support.checks import Array
from fairfl.solvers.densities.rules import RuleFamily
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

NODES = 300
"""Parts that branch and bound may look at for one disparity: a start for the local search."""
REPEATS = 10  # times that budgets become nodes, where tables are not the truth there
NEWTON_STEPS = 3  # steps to what meets a disparity: where tables are steep SLSQP ends too early


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
        clients = ((fed.alone(i), task, float(w)) for i, w in enumerate(fed.weight))
        tables = [Table.of(*client, everybody, fed.n_clients) for client in clients]
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
        lam = np.stack([unit * own.reshape(len(eps), rates, -1) for own in lams], axis=2)
        disparity = np.abs(value[:, 1:]).max(axis=1, initial=0.0)
        disparity[disparity <= tolerance(self.fed)] = 0.0
        worth = 1.0 + unit * (value[:, 0] - 1.0)
        return value, Points(disparity, worth, budgets, lam.reshape(len(eps), -1))


def parts_at(tables: Sequence[Table], eps: Array, order: int = 0) -> Array:
    """(P, 1 + M, I) what clients add to worth and rates at budgets eps (P, I), or derivatives."""
    return np.stack([t.curve(e, order) for t, e in zip(tables, eps.T, strict=True)], axis=2)


def polished(tables: Sequence[Table], eps: Array, disparity: float | None) -> Array:
    """The best budgets (I,) next to ``eps`` with at most a disparity, or the least (None)."""
    ends = np.array([t.around(float(e)) for t, e in zip(tables, eps, strict=True)])
    low, size = ends[:, 0], np.ptp(ends, axis=1)
    moves, eps = np.flatnonzero(size > 0), np.clip(eps, *ends.T)
    return LocalProgramme(tables, eps, low, size, moves, disparity).best if moves.size else eps


@dataclass(frozen=True, eq=False)
class LocalProgramme:
    """The unknowns x are the places in [0, 1] of the budgets of clients that ``moves`` (J,), and
    the disparity, at most ``disparity``, or the least (None). ``eps``, ``low``, ``size`` (I,):
    budgets, and where and how wide the stretches are on which nothing jumps.
    """

    tables: Sequence[Table]
    eps: Array
    low: Array
    size: Array
    moves: Array
    disparity: float | None

    @property
    def limit(self) -> float:
        """The largest disparity allowed."""
        return 1.0 if self.disparity is None else self.disparity

    @property
    def signs(self) -> Array:
        """(1 + 2M, 1 + M) of the worth, if it counts, and of each difference and its negative."""
        identity = np.eye(self.tables[0].base.size)
        signs = np.concatenate([identity, -identity[1:]])
        signs[0, 0] = self.disparity is not None
        return signs

    def budgets(self, x: Array) -> Array:
        """(I,) at unknowns."""
        out, places = self.eps.copy(), np.clip(x[:-1], 0.0, 1.0)
        out[self.moves] = self.low[self.moves] + places * self.size[self.moves]
        return out

    @lru_cache(maxsize=4)  # noqa: B019 - SLSQP asks for values and slopes at one x by turns
    def model(self, key: bytes) -> tuple[Array, Array]:
        """What is minimised, and what each rate and its negative leave at x; their slopes."""
        x, signs = np.frombuffer(key), self.signs
        limited, eps = signs[:, 0] == 0.0, self.budgets(x)[None]
        value = parts_at(self.tables, eps)[0].sum(axis=1)
        slope = parts_at(self.tables, eps, 1)[0][:, self.moves] * self.size[self.moves]
        return limited * x[-1] - signs @ value, np.column_stack([-signs @ slope, limited])

    def met(self, x: Array) -> Array:
        """Unknowns that meet the disparity, by Newton's method."""
        for _ in range(0 if self.disparity is None else NEWTON_STEPS):
            room, slope = self.model(x.tobytes())
            missed = np.flatnonzero(room[1:] < 0.0) + 1
            if not missed.size:
                break
            box = -x[:-1], 1.0 - x[:-1]
            step = scipy.optimize.lsq_linear(slope[missed, :-1], -room[missed], box, "bvls")
            x = np.append(x[:-1] + step.x, x[-1])
        return x

    def merit(self, x: Array) -> tuple[float, float]:
        """First the disparity, as far as it counts, then what is minimised: larger is better."""
        goal, *room = self.model(x.tobytes())[0]
        floor = 0.0 if self.disparity is None else self.limit + MET / 2.0
        return -max(x[-1] - min(room), floor), -goal

    @property
    def best(self) -> Array:
        """(I,) the best budgets of where SLSQP ends and where it starts: it may end below."""
        moves, limit = self.moves, self.limit
        start = np.append((self.eps - self.low)[moves] / self.size[moves], limit)
        minimum = scipy.optimize.minimize(
            lambda x: self.model(x.tobytes())[0][0],
            start,
            jac=lambda x: self.model(x.tobytes())[1][0],
            bounds=[(0.0, 1.0)] * moves.size + [(limit * (self.disparity is not None), limit)],
            constraints={
                "type": "ineq",
                "fun": lambda x: self.model(x.tobytes())[0][1:],
                "jac": lambda x: self.model(x.tobytes())[1][1:],
            },
            method="SLSQP",
            options={"ftol": 1e-13, "maxiter": 60},
        )
        ends = [np.clip(x, 0.0, 1.0) for x in (minimum.x, start) if np.isfinite(x).all()]
        return self.budgets(max(map(self.met, ends), key=self.merit))
