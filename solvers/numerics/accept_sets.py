"""Accept sets {s > 0} of linear combinations of expanded functions, by isolating roots in Chebyshev
series.

Roots are isolated, not searched on a grid: a panel (or its half, and so on) is discarded only when
its Chebyshev or Bernstein coefficients prove that the series has no root there, and handed to
Newton only when they prove that it is monotone, convex or concave.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from fairfl._support.checks import Array
from fairfl.theory.numerics.piecewise import (
    DEGREE,
    DERIVATIVE,
    NODES,
    TO_COEFFICIENTS,
    Piecewise,
    chebyshev_values,
)

_N = DEGREE + 1
_SIGNS = (-1.0) ** np.arange(_N)
_ENDS = np.column_stack([_SIGNS, np.ones(_N)])
"""c @ _ENDS: the values of a series at -1 and 1."""


def _restriction(center: float) -> Array:
    """Matrix R with c @ R the coefficients of a series on the half of [-1, 1] around ``center``."""
    return chebyshev_values(center + 0.5 * NODES, _N) @ TO_COEFFICIENTS


_LEFT, _RIGHT = _restriction(-0.5), _restriction(0.5)
_BERNSTEIN = np.array(
    [
        [
            sum(
                (-1) ** (j - i) * comb(2 * j, 2 * i) * comb(DEGREE - j, k - i)
                for i in range(j + 1)
                if i <= k
            )
            / comb(DEGREE, k)
            for k in range(_N)
        ]
        for j in range(_N)
    ]
)
"""c @ _BERNSTEIN: the coefficients in the Bernstein basis, whose signs bound those of the series:
in tails they decide at once, where Chebyshev coefficients need four halvings.
"""
_GROWTH = np.abs(_BERNSTEIN).sum(axis=0)
"""What a rounding of Chebyshev coefficients may become in each of Bernstein's."""
NOISE = 4e-16
"""Rounding of a series relative to the terms that were added up: below it a sign means nothing."""
MAX_DEPTH = 45
"""Halvings of a panel before a root that still looks multiple is cut where its ends differ in
sign.
"""


@dataclass(frozen=True)
class AcceptSets:
    """The sets {s_b > 0}, b = 0..B-1.

    Attributes
    ----------
    owner, cut, rising : (R,) sign changes sorted by owner and position; ``rising``: s > 0 to the
        right.
    first : (B,) bool, whether the set reaches -inf.
    integrals : (B, J) ∫ F_j over the set.
    """

    owner: Array
    cut: Array
    rising: Array
    first: Array
    integrals: Array

    def intervals(self, b: int) -> list[tuple[float, float]]:
        """The accept set of combination ``b`` as disjoint increasing intervals."""
        cuts = [float(c) for c in self.cut[self.owner == b]]
        ends = [-np.inf, *cuts, np.inf]
        start = 0 if self.first[b] else 1
        return [(ends[k], ends[k + 1]) for k in range(start, len(ends) - 1, 2)]

    @property
    def counts(self) -> Array:
        """(B,) how many cuts each set has."""
        return np.bincount(self.owner, minlength=self.first.size)

    def beside(self, table: Array) -> Array:
        """(B, C, n) values (n, R) of all cuts, those of each set side by side and 0 after them."""
        counts = self.counts
        out = np.zeros((counts.size, counts.max(initial=0), len(table)))
        out[self.owner, self.place] = table.T
        return out

    @property
    def place(self) -> Array:
        """(R,) of each cut, how many of its own set are before it."""
        return np.arange(self.cut.size) - np.searchsorted(self.owner, self.owner)

    def line(self, b: int) -> tuple[Array, Array]:
        """The cuts (R_b,) of combination ``b``, and whether (R_b + 1,) it accepts between them, 1
        or 0.
        """
        cut = self.cut[self.owner == b]
        return cut, (self.first[b] + np.arange(cut.size + 1)) % 2.0

    @property
    def steps(self) -> tuple[Array, Array]:
        """All cuts (R,), increasing, and whether (R + 1, B) each set holds what is between them, 1
        or 0.
        """
        order = np.argsort(self.cut, kind="stable")
        jumps = np.zeros((order.size + 1, self.first.size))
        jumps[0] = self.first
        jumps[1 + np.arange(order.size), self.owner[order]] = np.where(self.rising[order], 1, -1)
        return self.cut[order], jumps.cumsum(axis=0)

    def take(self, rows: Array) -> AcceptSets:
        """The sets ``rows`` (positions), in that order."""
        size = self.counts[rows]
        owner = np.repeat(np.arange(len(rows)), size)
        first = np.searchsorted(self.owner, rows)[owner]
        at = first + np.arange(owner.size) - np.searchsorted(owner, owner)
        return AcceptSets(
            owner, self.cut[at], self.rising[at], self.first[rows], self.integrals[rows]
        )

    def join(self, other: AcceptSets) -> AcceptSets:
        """Both, one after the other."""
        return AcceptSets(
            np.concatenate([self.owner, other.owner + self.first.size]),
            np.concatenate([self.cut, other.cut]),
            np.concatenate([self.rising, other.rising]),
            np.concatenate([self.first, other.first]),
            np.concatenate([self.integrals, other.integrals]),
        )


def accept_sets(functions: Sequence[Piecewise], weights: Sequence[Array]) -> list[AcceptSets]:
    """The sets where Σ_j weights[a][b, j] F_a,j > 0, for every b, for each group a.

    Candidates for cuts are collected generously (every isolated root, every panel end with a change
    of sign); between two candidates the *integral* of s decides, and cuts between parts of one sign
    are dropped.

    Parameters
    ----------
    functions : J expanded functions of each group.
    weights : (B, J) of each group.
    """
    found = sign_changes(
        functions,
        [f.combined(w) for f, w in zip(functions, weights, strict=True)],
        [NOISE * (np.abs(w) @ f.sizes) for f, w in zip(functions, weights, strict=True)],
    )
    return [_between(*each) for each in zip(functions, weights, *found, strict=True)]


def _between(functions: Piecewise, weights: Array, owner: Array, x: Array) -> AcceptSets:
    """The sets of one group, whose ends are among the candidates x of combinations ``owner``."""
    count = weights.shape[0]
    everyone = np.arange(count)
    owner = np.concatenate([everyone, owner, everyone])
    x = np.concatenate([np.full(count, -np.inf), x, np.full(count, np.inf)])
    order = np.lexsort((x, owner))
    owner, x = owner[order], x[order]
    above = functions.above(x)  # (J, T)
    inner = owner[1:] == owner[:-1]
    parts = np.where(inner, above[:, :-1] - above[:, 1:], 0.0)
    value = np.einsum("tj,jt->t", weights[owner[:-1]], parts)
    # a gap of width 1e-5 changes an accuracy by 1e-17, but a client's acceptance rate by 1e-6: its
    # integral drowns in the rounding of cumulative ones, and the score in its middle decides
    panel = np.searchsorted(functions.edges, x, side="right")
    faint = np.flatnonzero(
        inner & (np.abs(value) < 1e-13) & (panel[:-1] == panel[1:]) & np.isfinite(x[1:] - x[:-1])
    )
    middle = functions.values((x[faint] + x[faint + 1]) / 2)
    value[faint] = np.einsum("tj,jt->t", weights[owner[faint]], middle)
    positive = value > 0
    starts = np.searchsorted(owner, everyone)
    silent = inner & (np.abs(value) <= 1e-300)
    if silent.any():  # no mass, or s is zero: as the part before, or after at the start
        told = np.where(silent | ~inner, 0, np.arange(silent.size) + 1)
        before = np.maximum.accumulate(told)
        after = np.minimum.accumulate(np.where(told, told, told.size)[::-1])[::-1]
        kin = np.where(before > starts[owner[:-1]], before, after) - 1
        positive = positive[kin] & (owner[kin] == owner[:-1])
    integrals = np.zeros((count, weights.shape[1]))
    np.add.at(integrals, owner[:-1][positive & inner], parts[:, positive & inner].T)
    change = inner[1:] & inner[:-1] & (positive[1:] != positive[:-1])
    at = np.flatnonzero(change) + 1
    return AcceptSets(owner[at], x[at], positive[at], positive[starts], integrals)


def sign_changes(
    functions: Sequence[Piecewise], series: Sequence[Array], noise: Sequence[Array]
) -> tuple[list[Array], list[Array]]:
    """Owners and positions of all points where series (B, P, 16) on the panels of ``functions`` may
    change sign.

    A value within ``noise`` (B, P) has no sign. The groups are isolated together: for few
    combinations the time goes into calls of numpy, not into numbers.
    """
    parts, jumps, count = [], [], len(series[0])
    for a, (f, c, tiny) in enumerate(zip(functions, series, noise, strict=True)):
        size = np.abs(c)
        rows, panels = np.nonzero(2.0 * size[..., 0] <= size @ _ENDS[:, 1] + tiny)
        span = np.diff(f.edges)[panels]
        parts.append((c[rows, panels], tiny[rows, panels], f.edges[panels], span, a * count + rows))
        # densities may jump at panel ends, and a root may sit exactly there
        positive = c @ _ENDS > 0
        owner, panel = np.nonzero(positive[:, :-1, 1] != positive[:, 1:, 0])
        jumps.append((owner, f.edges[1:-1][panel]))
    owner, x = _isolate(*(np.concatenate(v) for v in zip(*parts, strict=True)))
    group = owner // max(count, 1)
    mine = [group == a for a in range(len(functions))]
    return (
        [np.concatenate([owner[m] - a * count, jumps[a][0]]) for a, m in enumerate(mine)],
        [np.concatenate([x[m], jumps[a][1]]) for a, m in enumerate(mine)],
    )


def _isolate(c: Array, noise: Array, low: Array, span: Array, owner: Array) -> tuple[Array, Array]:
    """Halve parts until each is free of roots, monotone, or convex (concave); then find the roots
    of all of these.
    """
    kept: list[tuple[Array, ...]] = []
    for depth in range(MAX_DEPTH + 1):
        size = np.abs(c)
        total = size @ _ENDS[:, 1]
        # a root at the end of a part makes both equal, up to rounding
        live = (2.0 * size[:, 0] <= total + noise) & (total > noise)
        if not live.any():
            break
        live = np.flatnonzero(live)
        b, tiny = c[live] @ _BERNSTEIN, noise[live, None] * _GROWTH
        open_ = ~_signed(b, tiny)
        live, b, tiny = live[open_], b[open_], tiny[open_]
        c, noise, low, span, owner = c[live], noise[live], low[live], span[live], owner[live]
        simple = np.full(owner.size, depth == MAX_DEPTH)
        for _ in range(2):  # monotone; convex or concave
            b, tiny = np.diff(b), tiny[:, 1:] + tiny[:, :-1]
            simple |= _signed(b, tiny)
        kept.append(tuple(v[simple] for v in (c, noise, low, span, owner)))
        k = ~simple
        if not k.any():
            break
        c, noise, low, span, owner = c[k], noise[k], low[k], span[k] / 2, owner[k]
        c = np.concatenate([c @ _LEFT, c @ _RIGHT])
        low = np.concatenate([low, low + span])
        noise, owner, span = np.tile(noise, 2), np.tile(owner, 2), np.tile(span, 2)
    if not kept:
        return owner[:0], low[:0]
    c, noise, low, span, owner = (np.concatenate(v) for v in zip(*kept, strict=True))
    rows, xi = _simple_roots(c, noise * _GROWTH[-1])
    return owner[rows], low[rows] + span[rows] * (xi + 1) / 2


def _signed(b: Array, tiny: Array) -> Array:
    return np.all(b > tiny, axis=1) | np.all(b < -tiny, axis=1)


def _simple_roots(c: Array, tiny: Array) -> tuple[Array, Array]:
    """All roots of series that are monotone, convex or concave on [-1, 1]: (row, position)
    candidates.
    """
    slope = c @ DERIVATIVE
    curvature = slope @ DERIVATIVE
    (left, right), (turn_left, turn_right) = (c @ _ENDS).T, (slope @ _ENDS).T
    ends = np.full(c.shape[0], 1.0)
    turning = (turn_left < 0) != (turn_right < 0)
    turns = np.flatnonzero(turning)
    peak = _polish(
        slope[turns],
        curvature[turns],
        -ends[turns],
        ends[turns],
        turn_right[turns] > 0,
        _secant(turn_left[turns], turn_right[turns]),
    )
    top = _value(c[turns], peak)
    # brackets: [-1, 1] where monotone, [-1, peak] and [peak, 1] where there is a turn
    plain = np.flatnonzero(~turning)
    reach = np.sqrt(np.abs(2 * top / _nonzero(_value(curvature[turns], peak))))
    row = np.concatenate([plain, turns, turns])
    a = np.concatenate([-ends[plain], -ends[turns], peak])
    b = np.concatenate([ends[plain], peak, ends[turns]])
    fa = np.concatenate([left[plain], left[turns], top])
    fb = np.concatenate([right[plain], top, right[turns]])
    guess = np.concatenate([_secant(left[plain], right[plain]), peak - reach, peak + reach])
    crossing = np.flatnonzero((fa < 0) != (fb < 0))
    k = row[crossing]
    xi = _polish(c[k], slope[k], a[crossing], b[crossing], fb[crossing] > 0, guess[crossing])
    # a value within rounding of zero at an end or a turn may belong to either side: keep the point
    # as a candidate
    near = np.flatnonzero(np.abs(fa) <= tiny[row])
    far = np.flatnonzero(np.abs(fb) <= tiny[row])
    return np.concatenate([k, row[near], row[far]]), np.concatenate([xi, a[near], b[far]])


def _value(c: Array, x: Array) -> Array:
    return np.einsum("bn,nb->b", c, chebyshev_values(x, _N))


def _nonzero(v: Array) -> Array:
    return np.where(v == 0, np.inf, v)


def _secant(left: Array, right: Array) -> Array:
    return -1 - 2 * left / _nonzero(right - left)


def _polish(c: Array, slope: Array, a: Array, b: Array, rising: Array, start: Array) -> Array:
    """The root of each series in its bracket [a, b] with a change of sign, to a positive one at b
    where it is ``rising``, by Newton inside a shrinking bracket, until what is left is rounding.
    """
    if c.shape[0] == 0:
        return start
    x, both = np.minimum(np.maximum(start, a), b), np.stack([c, slope])
    tiny = NOISE * np.abs(c).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(80):
            f, df = np.einsum("qbn,nb->qb", both, chebyshev_values(x, _N))
            above = (f > 0) == rising
            b, a = np.where(above, x, b), np.where(above, a, x)
            newton = x - f / df
            new = np.where((newton >= a) & (newton <= b), newton, (a + b) / 2)
            done = (np.abs(new - x) <= NOISE) | (np.abs(f) <= tiny)
            x = new
            if done.all():
                break
    return x
