"""LFT+FedAvg's most useful rule at a disparity on a finite X, with the proof that it is: a
mixed-integer programme of rules, budgets and multipliers at once (docs/lft_fedavg_search.md).

A rule f is optimal for some budgets iff multipliers λ are complementary to it (``finite_faces``).
Switches say which: one of each cell allows its score s = u + λV to be positive and asks for f = 1,
one allows it to be negative and asks for f = 0, and one of each constraint and sign allows its
multiplier to have that sign and asks for a value at the budget. Reduced costs of CFL at the
disparity fix most cells, and weak duality bounds the multipliers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.finite_x.linear_programme import solve_box
from fairfl.solvers.lft_fedavg.finite_faces import Face, Faces
from fairfl.solvers.numerics.highs import MixedOptimum, Programme, Rows, best_mixed, picked, rounded
from fairfl.solvers.solution import CertificationError
from fairfl.solvers.tolerances import MIXED_MET

LARGEST = 1e3
"""Multipliers that linear programmes do not bound by less, in utility for a unit of a rate, are
taken to be unbounded: clients are alike, say. Then nothing is proven.
"""
SIGNS = 30  # a constraint that is one of several of its client counts as so many switches of cells
LOOSE = 1e-6
"""Cells of what the programme finds tie up to this, and its multipliers are zero: what ties is then
solved for, to rounding.
"""


class TooLarge(Exception):
    """A programme of more switches or cells than there is time for."""


@dataclass(frozen=True)
class Effort:
    """The ``switches`` and ``cells`` of a programme, and ``nodes`` of branch and bound."""

    switches: int
    nodes: int
    cells: int = 4_000


@dataclass(frozen=True)
class Relaxed:
    """CFL with at most one disparity, with any where it is None: no rule has more than ``bound``,
    and ``reduced`` (N,) is what a cell loses by leaving CFL's rule; a level loses nothing.
    """

    disparity: float | None
    bound: float
    reduced: Array

    def box(self, gap: float) -> tuple[Array, Array]:
        """The smallest and largest f (N,) of rules that are worth ``bound - gap`` or more."""
        size = np.abs(self.reduced)
        room = np.divide(gap, size, out=np.full(size.size, np.inf), where=size > 0) + MIXED_MET
        accepted = self.reduced > 0
        return np.where(accepted, np.maximum(0.0, 1.0 - room), 0.0), np.where(
            accepted, 1.0, np.minimum(1.0, room)
        )


class OpenCells(NamedTuple):
    """The ``lowest`` and ``highest`` of the rule (N,); multipliers' largest positive and negative
    ``parts`` (2 K,), and the scores (N,) that they allow; whose scores are ``certain`` to be
    positive or zero. Of cells open to more than one of acceptance, a tie and refusal those that are
    not refused, or not accepted; and the positions of those whose score has a switch that lets it
    be positive, or negative, or is ``uncertain`` to be positive.
    """

    lowest: Array
    highest: Array
    parts: Array
    low: Array
    high: Array
    certain: Array
    is_positive: Array
    is_negative: Array
    may_be_positive: Array
    may_be_negative: Array
    uncertain: Array


@dataclass(frozen=True)
class FedAvgProgramme:
    """The programmes of the ``faces``' problems."""

    faces: Faces

    @cached_property
    def scores(self) -> tuple[Array, Array]:
        """The scores' coefficients (N, 2 K) of the multipliers' parts, and constants (N,)."""
        _, rows, gain = self.faces.dual
        return rows.T, gain

    @cached_property
    def has_no_score(self) -> Array:
        """(N,) which unknowns have scores of zero at all multipliers: levels of rates, and cells
        without gain of clients without a group, which still move the pooled rates.
        """
        local, cells = self.faces.local, self.faces.local.u.size
        is_level = np.arange(cells) >= cells - local.levels
        return is_level | (local.u == 0) & (local.v == 0).all(axis=0)

    @cached_property
    def is_alone(self) -> Array:
        """(K,) which constraints are the only ones of their client: λ has one sign or the other."""
        owner, limited = self.faces.local.owner, self.faces.scale > 0
        count = np.bincount(owner[limited & (owner >= 0)], minlength=int(owner.max()) + 1)
        return limited & (owner >= 0) & (count[owner] == 1)

    @cached_property
    def fixed_budgets(self) -> Array:
        """(K,) the budgets of constraints that no client's budget limits."""
        return np.where(self.faces.has_budget, 0.0, self.faces.scale)

    def relaxed(self, disparity: float | None) -> Relaxed:
        """CFL at a disparity; None: at any."""
        pooled = self.faces.pooled.at(np.array([1.0 if disparity is None else disparity]))
        path = pooled.path
        lam = solve_box(pooled)[1] if path is None else path.classifier(float(pooled.eps[0]))[1]
        reduced = np.zeros(self.faces.local.u.size)
        cells = pooled.u.size - pooled.levels
        reduced[:cells] = 0.0 if disparity is None else pooled.scores(lam)[:cells]
        return Relaxed(disparity, pooled.dual(lam), reduced)

    def score_range(
        self, relaxed: Relaxed, lowest: Array, highest: Array
    ) -> tuple[Array, Array, Array]:
        """The parts and scores of multipliers of a box's rules, as in ``OpenCells``."""
        faces, (rows, gain) = self.faces, self.scores
        positive, negative = lowest > 0, (highest < 1) & (lowest <= 0)
        may_be_positive = np.flatnonzero(~(positive | negative | self.has_no_score))
        (cells, parts), extra = rows.shape, may_be_positive.size
        table = np.zeros((cells + extra + 1, parts + extra))
        table[:cells, :parts] = rows
        table[cells:-1] = np.hstack([rows[may_be_positive], -np.eye(extra)])
        table[-1] = np.append(self.duality(positive)[0], faces.size[may_be_positive])
        lowest_row = np.where(positive | self.has_no_score, -gain, -np.inf)
        low = np.concatenate([lowest_row, np.full(extra + 1, -np.inf)])
        dual_limit = relaxed.bound - self.duality(positive)[1] + MIXED_MET
        greatest = np.where(negative | self.has_no_score, -gain, np.inf)
        high = np.concatenate([greatest, -gain[may_be_positive], [dual_limit]])
        programme, zero = Programme(table), np.zeros(table.shape[1])
        above = np.full(table.shape[1], np.inf)
        above[:parts] = np.where(np.tile(faces.scale > 0, 2), LARGEST, 0.0)
        largest, is_empty = np.zeros(parts), True
        for k in np.flatnonzero(above[:parts]):
            one_sign = above.copy()
            one_sign[(k + parts // 2) % parts] = 0.0
            aim = zero.copy()
            aim[k] = 1.0
            optimum = programme.best(aim, zero, one_sign, low, high)
            if optimum is None and not programme.is_infeasible:
                raise CertificationError("HiGHS did not bound the multipliers")
            if optimum is not None:
                is_empty = False
                largest[k] = optimum.value * (1.0 + MIXED_MET) + MIXED_MET
        above[:parts][above[:parts] > 0] = np.inf
        is_larger = is_empty and (
            programme.best(zero, zero, above, low, high) is not None or not programme.is_infeasible
        )
        if is_larger or largest.max(initial=0.0) > LARGEST * (1.0 - MIXED_MET):
            raise CertificationError("the multipliers are not bounded")
        low, high = np.maximum(-rows, 0.0) @ largest, np.maximum(rows, 0.0) @ largest
        return largest, gain - low, gain + high

    def duality(self, positive: Array) -> tuple[Array, float]:
        """Coefficients (2 K,) of the multipliers' parts, and the constant, in Σ s_+ + λ·b + what
        fixed budgets are worth, of cells whose scores are ``positive``.
        """
        local = self.faces.local
        slope = local.v[:, positive].sum(axis=1) + local.b
        parts = np.concatenate([slope + self.fixed_budgets, self.fixed_budgets - slope])
        return parts, float(local.u[positive].sum())

    def within(
        self, relaxed: Relaxed, gap: float, effort: Effort, start_face: Face | None = None
    ) -> tuple[Face | None, float]:
        """The face of the most useful rule that is worth ``relaxed.bound - gap`` or more, where any
        disparity is allowed of the fairest, None where none is found; and what such rules are worth
        at most, or minus the disparity that they have at least. ``start_face`` has such a rule.

        TooLarge where it needs more switches or cells than ``effort`` has; CertificationError where
        the multipliers are not bounded.
        """
        optimum = self.optimum(relaxed, gap, effort, start_face)
        if optimum.x is None:
            return None, optimum.bound
        f = rounded(optimum.x[: self.faces.local.u.size], LOOSE)
        rows, gain = self.scores
        parts = optimum.x[self.faces.last + 1 :][: rows.shape[1]]
        lam, s = np.subtract(*np.split(parts, 2)), gain + rows @ parts
        tied = (np.abs(s) <= LOOSE) | ((f > 0) & (f < 1))
        lam = np.where(np.abs(lam) > LOOSE, lam, 0.0)
        return Face(self.faces, tied, np.where(tied, 0.0, s > 0), lam), optimum.bound

    def optimum(
        self, relaxed: Relaxed, gap: float, effort: Effort, start_face: Face | None = None
    ) -> MixedOptimum:
        """What the programme of ``within`` ends with."""
        several = SIGNS * int(((self.faces.scale > 0) & ~self.is_alone).sum())
        if self.faces.local.u.size > effort.cells or several > effort.switches:
            raise TooLarge
        cells = self.open_cells(relaxed, gap)
        if (cells.lowest > cells.highest).any():
            return MixedOptimum(None, -np.inf)
        if several + cells.may_be_positive.size + cells.may_be_negative.size > effort.switches:
            raise TooLarge
        below, above = np.zeros(self.faces.last + 1), np.ones(self.faces.last + 1)
        below[: cells.lowest.size], above[: cells.lowest.size] = cells.lowest, cells.highest
        signs = cells.parts.size
        rows = Rows(
            rule=below.size, parts=signs, sign=signs, positive=cells.may_be_positive.size,
            negative=cells.may_be_negative.size, excess=cells.uncertain.size,
        )  # fmt: skip
        utility, fairness = np.zeros((2, 1, below.size))
        utility[0, : cells.lowest.size], fairness[0, -1] = self.faces.local.u, -1.0
        aim = {"rule": fairness}
        if relaxed.disparity is not None:
            above[-1] = relaxed.disparity
            aim = {"rule": utility}
            rows.add(relaxed.bound - gap - MIXED_MET, np.inf, **aim)
        self.add_rule_rows(rows, cells, below, above)
        self.add_score_rows(rows, cells)
        self.add_duality(rows, cells, utility)
        parts = cells.parts
        most = rows.join(1.0, rule=above, parts=parts, sign=parts > 0, excess=np.inf)
        is_whole = rows.join(sign=1.0, positive=1.0, negative=1.0) > 0
        start = None
        if start_face is not None:
            start = rows.join(
                sign=np.concatenate([start_face.lam > 0, start_face.lam < 0]),
                positive=(~start_face.tied & (start_face.rest > 0))[cells.may_be_positive],
                negative=(~start_face.tied & (start_face.rest == 0))[cells.may_be_negative],
            )
        gains = rows.join(**{name: table[0] for name, table in aim.items()})
        box = rows.join(rule=below), most
        return best_mixed(gains, box, *rows.stacked, is_whole, effort.nodes, start)

    def open_cells(self, relaxed: Relaxed, gap: float) -> OpenCells:
        """What rules worth ``relaxed.bound - gap`` or more leave open."""
        lowest, highest = relaxed.box(gap)
        parts, low, high = self.score_range(relaxed, lowest, highest)
        refused, accepted = ((v < 0) & ~self.has_no_score for v in (high, -low))
        lowest, highest = np.where(accepted, 1.0, lowest), np.where(refused, 0.0, highest)
        is_open = ~(accepted | refused | self.has_no_score)
        positive, negative = is_open & (lowest > 0), is_open & (highest < 1) & (lowest <= 0)
        certain, may_be = accepted | positive, is_open & ~negative
        return OpenCells(
            lowest, highest, parts, low, high, certain, positive, negative,
            may_be_positive=np.flatnonzero(may_be & (lowest < 1)),
            may_be_negative=np.flatnonzero(is_open & ~positive & (highest > 0)),
            uncertain=np.flatnonzero(may_be & ~certain),
        )  # fmt: skip

    def add_rule_rows(self, rows: Rows, cells: OpenCells, below: Array, above: Array) -> None:
        """The rule's budgets and disparity; values at the budgets where multipliers are not 0."""
        (_, table, low), signs = self.faces.programme, cells.parts.size
        room = np.maximum(table, 0.0) @ above - np.maximum(-table, 0.0) @ below - low
        rows.add(low, np.inf, rule=table)
        sign = np.diag(room[:signs])
        rows.add(-np.inf, low[:signs] + room[:signs], rule=table[:signs], sign=sign)
        rows.add(-np.inf, 0.0, parts=np.eye(signs), sign=-np.diag(cells.parts))
        rows.add(self.is_alone * 1.0, 1.0, sign=np.tile(np.eye(signs // 2), 2))

    def add_score_rows(self, rows: Rows, cells: OpenCells) -> None:
        """Scores of the sign that the rule asks for."""
        coefficients, constants = self.scores
        for chosen, low, high in (
            (self.has_no_score, 0.0, 0.0),
            (cells.is_positive, 0.0, np.inf),
            (cells.is_negative, -np.inf, 0.0),
        ):
            limits = low - constants[chosen], high - constants[chosen]
            rows.add(*limits, parts=coefficients[chosen])
        for name, chosen, score, side in (
            ("positive", cells.may_be_positive, cells.high, 1.0),
            ("negative", cells.may_be_negative, cells.low, -1.0),
        ):  # s is no further from zero than the switch allows, where f is 1, or 0
            switch = {name: np.diag(-side * score[chosen])}
            limit = -side * constants[chosen]
            rows.add(-np.inf, limit, parts=side * coefficients[chosen], **switch)
            rule = side * picked(chosen, self.faces.last + 1)
            rows.add((side - 1.0) / 2.0, np.inf, rule=rule, **{name: -np.eye(chosen.size)})
        either = np.intersect1d(cells.may_be_positive, cells.may_be_negative)[:, None]
        pair = {"positive": cells.may_be_positive, "negative": cells.may_be_negative}
        rows.add(-np.inf, 1.0, **{name: (either == chosen) * 1.0 for name, chosen in pair.items()})

    def add_duality(self, rows: Rows, cells: OpenCells, utility: Array) -> None:
        """Weak duality."""
        (coefficients, gain), uncertain = self.scores, cells.uncertain
        slope, constant = self.duality(cells.certain)
        excess = -np.eye(uncertain.size)
        rows.add(-np.inf, -gain[uncertain], parts=coefficients[uncertain], excess=excess)
        dual = {"parts": slope[None], "excess": self.faces.size[uncertain][None]}
        rows.add(-np.inf, MIXED_MET - constant, rule=-utility, **dual)
