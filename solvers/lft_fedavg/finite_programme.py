"""LFT+FedAvg's most useful rule at a disparity on a finite X, with the proof that it is: a
mixed-integer programme of rules, budgets and multipliers at once.

A rule f is optimal for some budgets iff multipliers λ are complementary to it (``finite_faces``).
Switches say which: one of each cell allows its score s = u + λV to be positive and asks for f = 1,
one allows it to be negative and asks for f = 0, and one of each constraint and sign allows its
multiplier to have that sign and asks for a value at the budget. Three inequalities make the
programme small:

- *Fixing by reduced costs.* With CFL's multipliers at the disparity, reduced costs s* and bound D,
  every rule has u·f <= D - Σ |s*_c| |f_c - f*_c|. One that is worth D - γ or more has f within
  γ/|s*_c| of f*. So most cells are fixed where γ is small, and of one that cannot leave f*_c = 1
  (or 0) the score is not negative (or positive), which is linear in λ.
- *Weak duality.* Budgets |y| = |Vf + b| and λ complementary to f have Σ s_+ + λ·b = u·f - Σ |λ||y|,
  which is at most u·f. This bounds the multipliers, by a linear programme each.
- *Iterative deepening.* γ grows until a rule is found. The first programmes are the smallest: they
  find the rules of CFL that are optimal for some budgets.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from fairfl._support.checks import Array
from fairfl.solvers.finite_x.linear_programme import solve_box
from fairfl.solvers.lft_fedavg.finite_faces import Face, Faces
from fairfl.solvers.numerics.highs import Programme, Table, best_mixed, rounded
from fairfl.solvers.solution import CertificationError
from fairfl.solvers.tolerances import MIXED_MET

LARGEST = 1e3
"""Multipliers that linear programmes do not bound by less, in utility for a unit of a rate, are
taken to be unbounded: clients are alike, say. Then nothing is proven.
"""
SIGNS = 30
"""A constraint that is one of several of its client counts as so many switches of cells."""
LOOSE = 1e-6
"""Cells of what the programme finds tie up to this, and its multipliers are zero: what ties is then
solved for, to rounding.
"""


class TooLarge(Exception):
    """A programme of more switches or cells than there is time for."""


@dataclass(frozen=True)
class Effort:
    """The ``switches`` and ``cells`` that a programme may have, and the ``nodes`` of branch and
    bound.
    """

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


@dataclass(frozen=True)
class Spread:
    """What is not one number in a cell of a law: of a part t of its people, 0 < t < 1, the values
    and the utility depend on who is in it.

    Attributes
    ----------
    rows : (R, N) by which each row of ``Faces.programme`` may be off, per min(t, 1 - t).
    utility : (N,) likewise.
    low, high : the smallest and largest score in the cell in the parts of the multipliers,
        coefficients (N, 2 K) and constants (N,), in units of ``Faces.size``.
    """

    rows: Array
    utility: Array
    low: tuple[Array, Array]
    high: tuple[Array, Array]


@dataclass(frozen=True)
class ScoreRange:
    """Multipliers' largest positive and negative parts (2 K,), and the smallest and largest scores
    (N,) in units of ``Faces.size`` that they allow.
    """

    parts: Array
    low: Array
    high: Array


@dataclass(frozen=True)
class FedAvgProgramme:
    """The programmes of the ``faces``' problems; on laws, whose cells have a ``spread``, what they
    give are bounds.
    """

    faces: Faces
    spread: Spread | None = None

    @cached_property
    def scores(self) -> tuple[tuple[Array, Array], tuple[Array, Array], tuple[Array, Array]]:
        """The cells' scores, and their smallest and largest in a cell: coefficients (N, 2 K) of the
        multipliers' parts, and constants (N,), in units of ``Faces.size``.
        """
        _, rows, gain = self.faces.dual
        mean = rows.T, gain
        return mean, *((self.spread.low, self.spread.high) if self.spread else (mean, mean))

    @cached_property
    def is_exact(self) -> Array:
        """(N,) which cells have one score."""
        (_, low), (_, high) = self.scores[1:]
        return low == high

    @cached_property
    def has_no_score(self) -> Array:
        """(N,) which unknowns of a rule have scores of zero at all multipliers: levels of rates, as
        they may be moved where they limit nothing, and cells without gain of clients without a
        group, which still move the pooled rates.
        """
        local, cells = self.faces.local, self.faces.local.u.size
        is_level = np.arange(cells) >= cells - local.levels
        return is_level | (local.u == 0) & (local.v == 0).all(axis=0)

    @cached_property
    def is_alone(self) -> Array:
        """(K,) which constraints are the only ones of their client: their multipliers have one sign
        or the other.
        """
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

    def score_range(self, relaxed: Relaxed, lowest: Array, highest: Array) -> ScoreRange:
        """What multipliers of the rules of a box may be.

        Raises
        ------
        CertificationError : they are not bounded, or HiGHS gives up.
        """
        faces, ((rows, gain), lowest_score, highest_score) = self.faces, self.scores
        positive, negative = lowest > 0, (highest < 1) & (lowest <= 0)
        certain = positive & self.is_exact
        may_be_positive = np.flatnonzero(~(certain | negative | self.has_no_score))
        (cells, parts), extra = rows.shape, may_be_positive.size
        table = np.zeros((cells + extra + 1, parts + extra))
        table[:cells, :parts] = np.where(
            positive[:, None], highest_score[0], np.where(negative[:, None], lowest_score[0], rows)
        )
        table[cells:-1] = np.hstack([rows[may_be_positive], -np.eye(extra)])
        table[-1] = np.append(self.duality(certain)[0], faces.size[may_be_positive])
        lowest_row = np.where(
            positive, -highest_score[1], np.where(self.has_no_score, -gain, -np.inf)
        )
        low = np.concatenate([lowest_row, np.full(extra + 1, -np.inf)])
        dual_limit = relaxed.bound - self.duality(certain)[1] + MIXED_MET
        greatest = np.where(negative, -lowest_score[1], np.where(self.has_no_score, -gain, np.inf))
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
        return ScoreRange(
            largest,
            lowest_score[1] - np.maximum(-lowest_score[0], 0.0) @ largest,
            highest_score[1] + np.maximum(highest_score[0], 0.0) @ largest,
        )

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
        disparity is allowed of the fairest; None where none is found. And what such rules are worth
        at most, or minus the disparity that they have at least. ``start_face`` has such a rule.

        Raises
        ------
        TooLarge : it needs more switches or cells than ``effort`` has.
        CertificationError : the multipliers are not bounded.
        """
        optimum = self.optimum(relaxed, gap, effort, start_face)
        if optimum.f is None:
            return None, optimum.bound
        f = rounded(optimum.f, LOOSE)
        (rows, gain), *_ = self.scores
        lam, s = np.subtract(*np.split(optimum.parts, 2)), gain + rows @ optimum.parts
        tied = (np.abs(s) <= LOOSE) | ((f > 0) & (f < 1))
        lam = np.where(np.abs(lam) > LOOSE, lam, 0.0)
        return Face(self.faces, tied, np.where(tied, 0.0, s > 0), lam), optimum.bound

    def optimum(
        self, relaxed: Relaxed, gap: float, effort: Effort, start_face: Face | None = None
    ) -> RuleOptimum:
        """What the programme of ``within`` ends with."""
        faces, local, last = self.faces, self.faces.local, self.faces.last
        if local.u.size > effort.cells:
            raise TooLarge
        lowest, highest = relaxed.box(gap)
        scores = self.score_range(relaxed, lowest, highest)
        refused = (scores.high < 0) & ~self.has_no_score
        accepted = (scores.low > 0) & ~self.has_no_score
        lowest, highest = np.where(accepted, 1.0, lowest), np.where(refused, 0.0, highest)
        if (lowest > highest).any():
            return RuleOptimum(None, np.zeros(0), -np.inf)
        is_open = ~(accepted | refused | self.has_no_score)
        is_positive = is_open & (lowest > 0)
        is_negative = is_open & (highest < 1) & ~is_positive
        may_be_positive = np.flatnonzero(is_open & ~is_negative & (lowest < 1))
        may_be_negative = np.flatnonzero(is_open & ~is_positive & (highest > 0))
        either = is_open & ~is_positive & ~is_negative
        switches = may_be_positive.size + may_be_negative.size
        switches += SIGNS * int(((faces.scale > 0) & ~self.is_alone).sum())
        if switches > effort.switches:
            raise TooLarge

        (score_rows, gain), lowest_score, highest_score = self.scores
        _, rule_rows, rule_low = faces.programme
        spread = self.spread or _no_spread(rule_rows.shape[0], gain.size)
        divided = np.flatnonzero(is_open & ((spread.utility > 0) | (spread.rows > 0).any(axis=0)))
        off, utility_off = spread.rows[:, divided], spread.utility[None, divided]
        below, above = np.zeros(last + 1), np.ones(last + 1)
        below[: lowest.size], above[: lowest.size], above[last] = (
            lowest,
            highest,
            1.0 if relaxed.disparity is None else relaxed.disparity,
        )
        signs = 2 * local.owner.size
        room = np.maximum(rule_rows, 0.0) @ above - np.maximum(-rule_rows, 0.0) @ below - rule_low
        utility = np.zeros((1, last + 1))
        utility[0, : local.u.size] = local.u
        certain = accepted | (is_positive & self.is_exact)
        slope, constant = self.duality(certain)
        uncertain = np.flatnonzero(is_open & ~is_negative & ~certain)

        rows = Rows(
            rule=last + 1, parts=signs, sign=signs, positive=may_be_positive.size,
            negative=may_be_negative.size, excess=uncertain.size, divided=divided.size,
        )  # fmt: skip
        rows.add(rule_low, np.inf, rule=rule_rows, divided=off)
        binding = rule_low[:signs] + room[:signs]
        binding_tables = {"sign": np.diag(room[:signs]), "divided": -off[:signs]}
        rows.add(-np.inf, binding, rule=rule_rows[:signs], **binding_tables)
        part = _picked(divided, last + 1)
        rows.add(-np.inf, 0.0, rule=-part, divided=np.eye(divided.size))
        rows.add(-np.inf, 1.0, rule=part, divided=np.eye(divided.size))
        rows.add(-np.inf, 0.0, parts=np.eye(signs), sign=-np.diag(scores.parts))
        rows.add(self.is_alone * 1.0, 1.0, sign=np.tile(np.eye(signs // 2), 2))
        for cells, low, high, (coefficients, constants) in (
            (self.has_no_score, 0.0, 0.0, (score_rows, gain)),
            (is_positive, 0.0, np.inf, highest_score),
            (is_negative, -np.inf, 0.0, lowest_score),
        ):
            rows.add(low - constants[cells], high - constants[cells], parts=coefficients[cells])
        for name, cells, score, side, (coefficients, constants) in (
            ("positive", may_be_positive, scores.high, 1.0, lowest_score),
            ("negative", may_be_negative, scores.low, -1.0, highest_score),
        ):  # s is no further from zero than the switch allows, where f is 1, or 0
            switch = {name: np.diag(-side * score[cells])}
            limit = -side * constants[cells]
            rows.add(-np.inf, limit, parts=side * coefficients[cells], **switch)
            rule = side * _picked(cells, last + 1)
            rows.add((side - 1.0) / 2.0, np.inf, rule=rule, **{name: -np.eye(cells.size)})
        excess = -np.eye(uncertain.size)
        rows.add(-np.inf, -gain[uncertain], parts=score_rows[uncertain], excess=excess)
        pair = {
            name: (cells == np.flatnonzero(either)[:, None]) * 1.0
            for name, cells in (("positive", may_be_positive), ("negative", may_be_negative))
        }
        rows.add(-np.inf, 1.0, **pair)
        dual = {"parts": slope[None], "excess": faces.size[uncertain][None]}
        rows.add(-np.inf, MIXED_MET - constant, rule=-utility, **dual, divided=-utility_off)
        if relaxed.disparity is not None:
            worth_limit = relaxed.bound - gap - MIXED_MET
            rows.add(worth_limit, np.inf, rule=utility, divided=utility_off)

        boxes = (
            rows.join(rule=below),
            rows.join(1.0, rule=above, parts=scores.parts, excess=np.inf, sign=scores.parts > 0),
        )
        fairness = -1.0 * (np.arange(last + 1) == last)
        if relaxed.disparity is None:
            aim = rows.join(rule=fairness)
        else:
            aim = rows.join(rule=utility[0], divided=utility_off[0])
        is_whole = rows.join(sign=1.0, positive=1.0, negative=1.0) > 0
        start = None
        if start_face is not None:
            start = rows.join(
                sign=np.concatenate([start_face.lam > 0, start_face.lam < 0]),
                positive=(~start_face.tied & (start_face.rest > 0))[may_be_positive],
                negative=(~start_face.tied & (start_face.rest == 0))[may_be_negative],
            )
        optimum = best_mixed(aim, boxes, *rows.stacked, is_whole, effort.nodes, start)
        if optimum.x is None:
            return RuleOptimum(None, np.zeros(0), optimum.bound)
        parts = optimum.x[last + 1 : last + 1 + signs]
        return RuleOptimum(optimum.x[: local.u.size], parts, optimum.bound)


class RuleOptimum(NamedTuple):
    """A rule (N,), None where none is found, the parts (2 K,) of its multipliers, and a bound."""

    f: Array | None
    parts: Array
    bound: float


def _no_spread(rows: int, cells: int) -> Spread:
    """Of a finite X."""
    none = np.zeros((cells, 0)), np.zeros(cells)
    return Spread(np.zeros((rows, cells)), np.zeros(cells), none, none)


def _picked(cells: Array, size: int) -> sp.csr_array:
    """Rows (R, size) that are one at ``cells`` (R,)."""
    ones = np.ones(cells.size), (np.arange(cells.size), cells)
    return sp.csr_array(ones, shape=(cells.size, size))


class Rows:
    """Rows of a programme whose unknowns are named blocks."""

    def __init__(self, **sizes: int) -> None:
        self.sizes = sizes
        self.tables: list[list[sp.csr_array]] = []
        self.limits: list[Array] = []

    def add(self, low: Array | float, high: Array | float, **tables: Table) -> None:
        """Rows with coefficients ``tables`` (R, size) of some blocks, and their limits (R,)."""
        count = next(iter(tables.values())).shape[0]
        if count:
            self.tables.append(
                [sp.csr_array(tables.get(k, (count, size))) for k, size in self.sizes.items()]
            )
            self.limits.append(np.stack([np.broadcast_to(v, count) for v in (low, high)]))

    def join(self, default: float = 0.0, **values: Array | float) -> Array:
        """(n,) of all unknowns: the blocks' ``values``, and of others ``default``."""
        return np.concatenate(
            [np.broadcast_to(values.get(k, default), size) for k, size in self.sizes.items()]
        ).astype(np.float64)

    @property
    def stacked(self) -> tuple[sp.csr_array, tuple[Array, Array]]:
        """All rows, and their limits."""
        low, high = np.concatenate(self.limits, axis=1)
        return sp.csr_array(sp.block_array(self.tables)), (low, high)
