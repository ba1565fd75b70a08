"""Upper bounds on LFT+FedAvg's utility on densities, by the mixed-integer programme of a finite X
(``finite_programme``) on cells of the line, whose slack is what may vary within a cell.

With a reference density p, the ratios u/p and v_k/p of a cell have a smallest and a largest value.
Of any rule that accepts the share t of p in a cell, ∫ v_k f is within min(t, 1 - t) E_k of its mean
part t ∫ v_k, where E_k is the most that the ratios allow; and the score s = u + λ·v has a largest
value in the cell of at least 0 where t > 0, a smallest of at most 0 where t < 1. So every true rule
is feasible, and the optimum is an upper bound. It falls as the cells are halved in which the slack
counts: those that CFL's reduced costs leave open, near the ends of its accept sets.

The ratios are read off at NODES points of a cell and widened by a tenth: the bound is as exact as
that, and not an enclosure.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.densities.problem import DensityProblem
from fairfl.solvers.densities.rules import RuleFamily, Rules
from fairfl.solvers.densities.solve_by_dual import solve_by_dual
from fairfl.solvers.lft_fedavg.finite_faces import Faces
from fairfl.solvers.lft_fedavg.finite_programme import (
    Effort,
    FedAvgProgramme,
    Relaxed,
    Spread,
    TooLarge,
)
from fairfl.solvers.numerics.descent import on_cells
from fairfl.solvers.numerics.dual import dual_point
from fairfl.solvers.problem import Problem
from fairfl.solvers.schemes import CFL
from fairfl.solvers.solution import CertificationError
from fairfl.solvers.task import Task
from fairfl.solvers.tolerances import PROVEN
from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.federation import Federation

NODES = np.cos(np.pi * np.arange(9) / 8)[::-1]
"""Where ratios are read off in a cell, from -1 to 1."""
WIDENED = 0.1
"""Share of the range between nodes that may be beyond it."""
EVEN, MOST = 24, 600
"""Cells of a place at first, and of all places at most."""
SLACK = 0.2
"""Cells are halved until their slack is this share of the gap to CFL."""
ROUNDS = 16
"""Rounds of one disparity."""
HALVINGS = 10
"""Rounds in which cells are halved, before a programme is solved in each of the others."""
TOUCHED = 1e-6
"""Cells of which the programme accepts a larger part, and not all, are cut in eight."""
KNOWN = 1e-7
"""What a known rule may miss of the programme's rows: its rounding, and that of the cells."""
EFFORT = Effort(240, 3)
"""What a programme may take."""


@dataclass(frozen=True)
class LawCells:
    """A task's problem on densities, to be cut into cells.

    Attributes
    ----------
    family : the clients' constraints and the pooled differences.
    cfl : CFL's rules.
    rows : of each place what is made of its functions: the gain, the K constraints and the M pooled
        differences, (1 + K + M, J).
    """

    family: RuleFamily
    cfl: RuleFamily
    rows: tuple[Array, ...]

    @classmethod
    def of(cls, family: RuleFamily, fed: Federation, task: Task) -> LawCells:
        """The problem of a task, whose rules are a ``family``."""
        rows, problem = [], family.problem
        places = zip(problem.coefficients, family.pooled, problem.nobody, strict=True)
        for coefficients, pooled, nobody in places:
            table = np.pad(np.concatenate([coefficients, pooled]), ((1, 0), (1, 0)))
            table[0, 0] = not nobody
            rows.append(table)
        return cls(family, RuleFamily.of(fed, replace(task, scheme=CFL)), tuple(rows))

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

    def ratios(self, edges: list[Array], integrals: Array) -> Array:
        """(1 + K + M, N, 9) what each function has at nodes of the cells over the reference
        density, times the reference's mass.

        Raises
        ------
        CertificationError : a pooled density has either sign in a place: it is no reference.
        """
        values, pooled = [], slice(-self.family.constant.size, None)
        for profile, table, ends in zip(
            self.family.problem.profiles, self.rows, edges, strict=True
        ):
            middle, half = (ends[1:] + ends[:-1]) / 2, np.diff(ends) / 2
            at_nodes = profile.values(middle[:, None] + half[:, None] * NODES)
            values.append(np.einsum("rj,jnq->rnq", table, at_nodes))
            signs = values[-1][pooled]
            if ((signs.max(axis=(1, 2)) > 0) & (signs.min(axis=(1, 2)) < 0)).any():
                raise CertificationError("a pooled density changes its sign")
        over, mass = np.concatenate(values, axis=1), np.abs(integrals[pooled]).sum(axis=0)
        reference = np.abs(over[pooled]).sum(axis=0)
        over = np.divide(over, reference, out=np.zeros_like(over), where=reference > 0)
        return over * mass[:, None]

    def reduced(self, mu: Array, values: Array) -> Array:
        """CFL's scores, of integrals or ratios (1 + K + M, ...), at its multipliers (M,)."""
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

    def programme(self, integrals: Array, low: Array, high: Array) -> FedAvgProgramme:
        """The programme of the cells; their functions are between ``low`` and ``high``."""
        k, faces = self.family.problem.count, self.faces(integrals)
        off = np.maximum(np.maximum(high - integrals, integrals - low), 0.0)
        off_local = np.where(self.family.bound[:, None], off[1 : k + 1], 0.0)
        rows = np.concatenate([off_local, off_local, off[k + 1 :], off[k + 1 :]])
        low_scores, high_scores = low / faces.size, high / faces.size
        spread = Spread(
            rows,
            off[0],
            (np.concatenate([low_scores[1 : k + 1], -high_scores[1 : k + 1]]).T, low_scores[0]),
            (np.concatenate([high_scores[1 : k + 1], -low_scores[1 : k + 1]]).T, high_scores[0]),
        )
        return FedAvgProgramme(faces, spread)

    def bound(self, disparity: float, worth: float, bound: float, cfl: Array) -> float:
        """A bound on u·f of rules with at most ``disparity``, where one of ``worth`` is known;
        ``bound`` is CFL's, by multipliers ``cfl`` (M,).
        """
        edges, closest = self.ends(EVEN), bound
        gap = bound - worth + KNOWN
        local = np.full(self.family.client.size, np.abs(cfl).max(initial=0.0))  # of like size
        weights = np.concatenate([[1.0], local, np.abs(cfl)])
        for attempt in range(ROUNDS):
            integrals = self.integrals(edges)
            ratios = self.ratios(edges, integrals)
            low, high = _range(ratios)
            low_score, high_score = _range(self.reduced(cfl, ratios))
            reduced = np.where(low_score > 0, low_score, np.where(high_score < 0, high_score, 0.0))
            open_share = np.divide(
                gap, np.abs(reduced), out=np.ones(reduced.size), where=reduced != 0
            )
            off = weights @ np.maximum(high - integrals, integrals - low)
            slack = np.minimum(open_share, 0.5) * off
            is_wide = slack > SLACK * gap
            if attempt < HALVINGS and is_wide.any():
                edges = _halved(edges, is_wide)
                continue
            relaxed = Relaxed(disparity, bound, reduced)
            programme = self.programme(integrals, low, high)
            try:
                optimum = programme.optimum(relaxed, gap, EFFORT)
            except TooLarge:
                break
            if optimum.bound < worth - KNOWN:
                break  # a known rule is not in the programme, or above its bound
            closest = min(closest, max(optimum.bound, worth))
            if optimum.f is None:
                break  # nothing says which cells to halve
            smallest, largest = (
                constants + coefficients @ optimum.parts
                for coefficients, constants in programme.scores[1:]
            )
            is_divided = (optimum.f > TOUCHED) & (optimum.f < 1.0 - TOUCHED)
            is_divided |= (smallest < 0) & (largest > 0)
            is_divided &= off > PROVEN / 100.0
            if closest - worth <= PROVEN / 2.0 or not is_divided.any():
                break
            for _ in range(3):
                sizes = is_divided * 1
                edges, is_divided = _halved(edges, is_divided), np.repeat(is_divided, 1 + sizes)
        return closest


def _range(values: Array) -> tuple[Array, Array]:
    """The smallest and the largest of values at nodes (..., 9), and a share more."""
    low, high = values.min(axis=-1), values.max(axis=-1)
    more = WIDENED * (high - low)
    return low - more, high + more


def _halved(edges: list[Array], is_wide: Array) -> list[Array]:
    """The edges of all places, with the middles of wide cells."""
    sizes = np.cumsum([ends.size - 1 for ends in edges])[:-1]
    return [
        np.sort(np.append(ends, (ends[1:] + ends[:-1])[wide] / 2))
        for ends, wide in zip(edges, np.split(is_wide, sizes), strict=True)
    ]


def closer_bounds(fed: Federation, task: Task, disparity: Array, worth: Array) -> Array:
    """(P,) bounds on the worths of rules with at most the disparities (P,), where worths (P,) are
    attained.
    """
    assert isinstance(fed.model, ContinuousModel)
    cells, pooled_task = LawCells.of(RuleFamily.of(fed, task), fed, task), replace(task, scheme=CFL)
    cfl = DensityProblem.of(pooled_task, fed.model, np.ones(1))
    base, is_limited, bounds = cells.family.problem.base, np.isfinite(cfl.eps), []
    for d, value in zip(disparity, worth, strict=True):
        attained, bound = 1.0 + (value - 1.0) / task.unit - base, np.inf
        with suppress(CertificationError):
            mu = solve_by_dual(fed, pooled_task, np.array([d])).multipliers[None] / task.unit
            bound = float(dual_point(cfl.constraints, mu).dual(d * is_limited)[0]) - base
            bound = cells.bound(float(d), attained, bound, mu[0][is_limited])
        bounds.append(1.0 + task.unit * (base + bound - 1.0))
    return np.array(bounds)
