"""Bounds on LFT+FedAvg's worth and smallest disparity on densities, by branch and bound over boxes
of multipliers (FedFB, lemma 18; docs/lft_fedavg_search.md has the derivation).

A rule that is optimal for some budgets is f_λ = ⟦u + λ·v > 0⟧, and λ is complementary to its values
y. Over a box of λ the score lies between two combinations of the densities: f_λ accepts where the
lower one is positive and refuses where the upper one is not; between, in the *band*, it is unknown.
A linear programme bounds all f that differ in the band only, and whose values have the signs that
the box asks for. It is solved on parts of the line for its prices alone: at any prices the maximum
of the Lagrangian over f is a bound, as exact as the integrals. Prices of the pooled differences
make it linear in the disparity: one bound serves all. The boxes with the highest bounds are halved.

The first box: every rule f is a cut, u·f + λ·y(f) <= CFL's optimum, and cutting planes (Kelley,
1960) give the range of each λ_k. Several groups have multipliers by which none both gives and
takes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse

from fairfl._support.checks import Array
from fairfl.solvers.cfl.frontier import cfl_frontier
from fairfl.solvers.densities.rules import RuleFamily
from fairfl.solvers.lft_fedavg.law_cells import LawCells
from fairfl.solvers.numerics.accept_sets import AcceptSets, accept_sets
from fairfl.solvers.numerics.highs import Programme
from fairfl.solvers.task import Task
from fairfl.solvers.tolerances import BOUND_WRONG, MD_ROUNDING, PROVEN
from fairfl.theory.populations.federation import Federation

PROGRAMMES = 6_000  # linear programmes of a search, one a box: some four seconds
HALVED = 40
"""Boxes halved at once: more share the cost of a call, fewer go where the bound is highest."""
PARTS = 10  # parts of each interval of a band, for the prices
PENALTY = 100.0  # prices of constraints are at most this
FAR = 1e3  # where multipliers may be larger there is no first box
CUTS = 12  # rounds of cutting planes
CLOSE = 0.9 * PROVEN  # a box whose bound is this close to what is attained is not halved


@dataclass(frozen=True)
class Boxes:
    """Boxes of multipliers between corners ``low`` and ``high`` (B, K), and the ``bound`` (B, P) on
    what their rules attain of each aim; ``span`` (B, K) is what their values range over.
    """

    low: Array
    high: Array
    bound: Array
    span: Array

    @property
    def sign(self) -> Array:
        """(B, K) of the multipliers in each box, 0 where there are both, or zero alone."""
        return 1.0 * (self.low >= 0) - 1.0 * (self.high <= 0)

    def take(self, rows: Array) -> Boxes:
        """The boxes ``rows``."""
        return Boxes(self.low[rows], self.high[rows], self.bound[rows], self.span[rows])

    def join(self, other: Boxes) -> Boxes:
        """Both sets of boxes."""
        names = "low", "high", "bound", "span"
        return Boxes(*(np.concatenate([getattr(self, n), getattr(other, n)]) for n in names))

    def halves(self, links: Array) -> Boxes:
        """The boxes cut along one side, at 0 if it is inside; where two multipliers have signs that
        ``links`` (K, K) exclude, one or the other is 0.
        """
        # where a box is halved both λ_k and y_k come closer: their product is a worth
        rows, side = np.arange(len(self.low)), ((self.high - self.low) * self.span).argmax(axis=1)
        low, high = self.low[rows, side], self.high[rows, side]
        both, count = self.join(self), rows.size
        middle = np.where((low < 0) & (high > 0), 0.0, (low + high) / 2)
        both.high[rows, side] = both.low[count + rows, side] = middle
        is_excluded = self.sign[:, :, None] * self.sign[:, None, :] * links < 0
        first, second = np.divmod(is_excluded.reshape(count, -1).argmax(axis=1), len(links))
        for b in np.flatnonzero(is_excluded.any(axis=(1, 2))):
            for box, zero in ((b, first[b]), (count + b, second[b])):
                both.low[box], both.high[box] = self.low[b], self.high[b]
                both.low[box, zero] = both.high[box, zero] = 0.0
        return both


@dataclass(frozen=True)
class Restrictions:
    """What the rules of boxes satisfy: ``rows`` (B, R, 1 + K + M) of the worth, the values and the
    pooled differences are at most the aim's disparity where ``is_pooled`` (R,), else 0.
    """

    rows: Array
    is_pooled: Array

    @classmethod
    def of(cls, boxes: Boxes, client: Array, pooled: int) -> Restrictions:
        """Of the boxes, with so many ``pooled`` differences; rows of 0 where there is no sign."""
        unit, rows = np.eye(1 + client.size + pooled)[1:], []
        # where λ_j is not 0, |y_j| is the client's largest
        is_largest = (boxes.low > 0) | (boxes.high < 0)
        for j, sign in enumerate(boxes.sign.T):
            opposite = np.outer(sign, unit[j])
            others = np.flatnonzero((client == client[j]) & (np.arange(client.size) != j))
            larger = [opposite + s * unit[i] for i in others for s in (-1.0, 1.0)]
            rows += [opposite, *(is_largest[:, j, None] * row for row in larger)]
        is_pooled = np.arange(len(rows) + 2 * pooled) >= len(rows)
        both = np.concatenate([unit[client.size :], -unit[client.size :]])
        rows += list(np.broadcast_to(both[:, None], (2 * pooled, len(boxes.low), len(both[0]))))
        return cls(np.stack(rows, axis=1), is_pooled)


@dataclass
class BoxSearch:
    """Bounds on what solutions of disparities (P,) attain, the worth or, without ``of_worth``,
    minus the disparity; of what is known to be ``attained`` (P,), ``first`` bounds (P,) and CFL's
    ``optimum`` (P,); ``cuts`` (R, 1 + K) are the worths and the values of any rules.
    """

    cells: LawCells
    disparity: Array
    attained: Array
    first: Array
    optimum: Array
    of_worth: bool = True
    cuts: list[Array] = field(default_factory=list)
    programmes: int = 0

    @property
    def limits(self) -> Array:
        """(P,) what pooled differences are limited by."""
        return self.disparity * self.of_worth

    @property
    def constants(self) -> Array:
        """(1 + K + M,) the worth, the values and the pooled differences of f = 0."""
        family = self.cells.family
        return np.concatenate([[family.problem.base], family.problem.b, family.constant])

    def bounds(self) -> Array | None:
        """(P,) the bounds; None where multipliers are not bounded."""
        corners = self.range()
        if corners is None:
            return None
        boxes = self.evaluated(Boxes(*corners, self.first[None].copy(), 0.0 * corners[0]))
        while self.programmes < PROGRAMMES and boxes.low.size:
            rows = np.argsort(-(boxes.bound - self.attained).max(axis=1), kind="stable")[:HALVED]
            others = boxes.take(np.setdiff1d(np.arange(len(boxes.low)), rows))
            boxes = others.join(self.evaluated(boxes.take(rows).halves(self.cells.links)))
        bound = boxes.bound.max(axis=0, initial=-np.inf)
        return np.minimum(np.maximum(bound, self.attained + CLOSE), self.first)

    def range(self) -> tuple[Array, Array] | None:
        """(1, K) the smallest and the largest multipliers of solutions."""
        family = self.cells.family
        free, limit = FAR * family.bound, self.optimum.max() + BOUND_WRONG
        axes = self.cells.links * family.bound * family.bound[:, None]
        directions = np.concatenate([axes, -axes])
        ends = FAR * directions
        for _ in range(CUTS):
            rules = family.at(ends)
            self.cuts += list(np.concatenate([rules.accuracy[:, None], rules.values], axis=1))
            cuts = np.array(self.cuts)
            programme, room = Programme(cuts[:, 1:]), limit - cuts[:, 0]
            solved = [programme.best(aim, -free, free, room - np.inf, room) for aim in directions]
            if any(optimum is None for optimum in solved):
                return None
            ends = np.array([optimum.x for optimum in solved if optimum is not None])
        high, low = np.split((ends * directions).sum(axis=1)[None], 2, axis=1)
        is_bounded = max(high.max(initial=0.0), low.max(initial=0.0)) < FAR
        rounding = MD_ROUNDING * family.bound
        return (-low - rounding, high + rounding) if is_bounded else None

    def evaluated(self, boxes: Boxes) -> Boxes:
        """The boxes that may have solutions above what is attained, with their bounds."""
        sets, k = self.bands(boxes), boxes.low.shape[1]
        low, high = self.ranges(*sets)
        is_opposite = (boxes.sign > 0) & (low[:, :k] > MD_ROUNDING)
        is_opposite |= (boxes.sign < 0) & (high[:, :k] < -MD_ROUNDING)
        smallest = np.maximum(low[:, k:], -high[:, k:]).max(axis=1, initial=0.0)
        worth, values = np.split(np.array(self.cuts).T, [1])
        floor = boxes.low @ np.maximum(values, 0.0) + boxes.high @ np.minimum(values, 0.0) + worth
        no_sign = np.any(is_opposite, axis=1, keepdims=True)
        is_out = no_sign | (floor.max(axis=1)[:, None] > self.optimum + BOUND_WRONG)
        is_out |= smallest[:, None] > self.disparity + MD_ROUNDING
        bound = np.where(is_out, -np.inf, boxes.bound)
        boxes = Boxes(boxes.low, boxes.high, bound, (high - low)[:, :k])
        is_open = (bound > self.attained + CLOSE).any(axis=1)
        self.lower(boxes, *sets, np.flatnonzero(is_open))
        return boxes.take(np.flatnonzero((boxes.bound > self.attained + CLOSE).any(axis=1)))

    def bands(self, boxes: Boxes) -> tuple[list[AcceptSets], list[AcceptSets]]:
        """At each place what the rules of boxes surely accept, and the most that they accept."""
        problem = self.cells.family.problem
        sure, most = [], []
        for rows in problem.coefficients:
            rising, falling = np.maximum(rows, 0.0), np.minimum(rows, 0.0)
            for scores, a, b in ((sure, boxes.low, boxes.high), (most, boxes.high, boxes.low)):
                functions = a @ rising + b @ falling
                scores.append(np.pad(functions, ((0, 0), (1, 0)), constant_values=1.0))
        return accept_sets(problem.profiles, sure), accept_sets(problem.profiles, most)

    def ranges(self, sure: list[AcceptSets], most: list[AcceptSets]) -> tuple[Array, Array]:
        """(B, K + M) the smallest and the largest values and pooled differences of the boxes."""
        low = high = self.constants[1:]
        for table, surely, mostly in zip(self.cells.rows, sure, most, strict=True):
            rows, band = table[1:, 1:].T, (mostly.integrals - surely.integrals)[:, 1:]
            accepted = surely.integrals[:, 1:] @ rows
            low = low + accepted + band @ np.minimum(rows, 0.0)
            high = high + accepted + band @ np.maximum(rows, 0.0)
        return low, high

    def lower(
        self, boxes: Boxes, sure: list[AcceptSets], most: list[AcceptSets], rows: Array
    ) -> None:
        """Lower the bounds of the boxes ``rows``, by prices at the aim whose bound is worst."""
        if not rows.size:
            return
        family = self.cells.family
        limits = self.limits[(boxes.bound - self.attained)[rows].argmax(axis=1)]
        bands = [(s.take(rows), m.take(rows)) for s, m in zip(sure, most, strict=True)]
        restrictions = Restrictions.of(boxes.take(rows), family.client, family.constant.size)
        prices = self.prices(restrictions, *self.parts(bands, PARTS), limits)
        weights = -np.einsum("br,brv->bv", prices, restrictions.rows)
        weights[:, 0] += self.of_worth
        combinations = [weights @ table for table in self.cells.rows]
        maxima = accept_sets(family.problem.profiles, combinations)
        values, parts, owner = self.parts([(*b, m) for b, m in zip(bands, maxima, strict=True)])
        is_taken = np.einsum("nv,vn->n", weights[owner], parts) > 0
        np.add.at(values, owner[is_taken], parts[:, is_taken].T)
        slopes = prices @ restrictions.is_pooled
        bound = np.einsum("bv,bv->b", weights, values)[:, None] + np.outer(slopes, self.limits)
        boxes.bound[rows] = np.minimum(boxes.bound[rows], bound)
        self.cuts += list(values[:, : 1 + family.client.size])

    def prices(
        self, restrictions: Restrictions, sure: Array, parts: Array, owner: Array, limits: Array
    ) -> Array:
        """(B, R) prices of the restrictions at the pooled ``limits`` (B,), where boxes surely have
        ``sure``, and the ``parts`` of their bands are open: one programme of all boxes.
        """
        (n_boxes, n_rows, _), is_local = restrictions.rows.shape, ~restrictions.is_pooled
        # what each restriction may miss: the pooled ones of a box by the same
        n_slacks = is_local.sum() + 1
        slack = np.where(is_local, np.cumsum(is_local), n_slacks) - 1
        slack = owner.size + np.arange(n_boxes)[:, None] * n_slacks + slack
        values = np.empty((n_rows, owner.size))
        for b, rows in enumerate(restrictions.rows):
            values[:, owner == b] = rows @ parts[:, owner == b]
        row, part = np.nonzero(values)
        lines = np.arange(n_boxes * n_rows)
        entries = np.append(values[row, part], np.full(lines.size, -1.0))
        places = np.append(owner[part] * n_rows + row, lines), np.append(part, slack)
        shape = lines.size, owner.size + n_boxes * n_slacks
        programme = Programme(scipy.sparse.csr_array((entries, places), shape=shape))
        gain = np.append(self.of_worth * parts[0], np.full(n_boxes * n_slacks, -PENALTY))
        if not self.of_worth:
            gain[slack[:, -1]] = -1.0
        most = np.append(np.ones(owner.size), np.full(n_boxes * n_slacks, np.inf))
        room = np.outer(limits, restrictions.is_pooled)
        room = np.ravel(room - np.einsum("brv,bv->br", restrictions.rows, sure))
        optimum = programme.best(gain, 0.0 * gain, most, room - np.inf, room)
        self.programmes += n_boxes
        prices = 0.0 * room if optimum is None else np.maximum(optimum.y, 0.0)
        return prices.reshape(n_boxes, n_rows)

    def parts(
        self, bands: list[tuple[AcceptSets, ...]], count: int = 1
    ) -> tuple[Array, Array, Array]:
        """What B boxes surely have (B, 1 + K + M), the parts of their bands (1 + K + M, N), and
        whose these are (N,). ``bands`` are of each place what boxes surely accept, the most that
        they accept, and sets at whose ends bands are cut too; each interval is cut into ``count``
        parts.
        """
        surely, parts, owners = self.constants[:, None], [], []
        steps = np.linspace(0.0, 1.0, count + 1)
        places = zip(self.cells.family.problem.profiles, self.cells.rows, bands, strict=True)
        for profile, table, (sure, most, *others) in places:
            cuts = [np.where(s.sign != 0, s.cut, np.inf) for s in (sure, most, *others)]
            outer = np.full((1, len(sure.cut)), np.inf)
            x = np.concatenate([-outer.T, *cuts, outer.T], axis=1)
            x = np.sort(np.clip(x, profile.edges[0], profile.edges[-1]), axis=1)
            middle, width = (x[:, 1:] + x[:, :-1]) / 2, np.diff(x)
            accepts = sure.holds(middle)
            surely = surely + table @ (-np.diff(profile.above(x)) * accepts).sum(axis=2)
            is_open = most.holds(middle) & ~accepts & (width > 0)
            inside = x[:, :-1][is_open, None] + width[is_open, None] * steps
            parts.append(table @ -np.diff(profile.above(inside)).reshape(table.shape[1], -1))
            owners.append(np.repeat(np.nonzero(is_open)[0], count))
        return surely.T.copy(), np.concatenate(parts, axis=1), np.concatenate(owners)


def closer_bounds(
    fed: Federation, task: Task, disparity: Array, worth: Array, optimum: Array
) -> Array | None:
    """(P,) bounds on the worths of solutions with at most the disparities (P,), increasing, where
    worths (P,) are attained, and CFL's ``optimum`` (P,); None if multipliers are not bounded.
    """
    attained, first = (1.0 + (w - 1.0) / task.unit for w in (worth, optimum))
    bounds = BoxSearch(_cells(fed, task), disparity, attained, first, first).bounds()
    return None if bounds is None else np.maximum.accumulate(1.0 + task.unit * (bounds - 1.0))


def smallest_disparity(fed: Federation, task: Task, disparity: float) -> float:
    """A bound that no solution's disparity is below, where one attains ``disparity``."""
    known, cfl = np.array([disparity]), cfl_frontier(fed, 2, task)
    optimum = 1.0 + (cfl.accuracy_at(known) - 1.0) / task.unit
    search = BoxSearch(_cells(fed, task), known, -known, 0.0 * known, optimum, of_worth=False)
    bounds = search.bounds()
    return 0.0 if bounds is None else max(0.0, -float(bounds[0]))


def _cells(fed: Federation, task: Task) -> LawCells:
    return LawCells.of(RuleFamily.of(fed, task), fed, task)
