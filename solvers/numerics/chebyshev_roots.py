"""Points where piecewise Chebyshev series change sign: all real roots, isolated.

Roots are isolated, not searched on a grid: a panel (or its half, and so on) is discarded only when
its Chebyshev or Bernstein coefficients prove that the series has no root there, and handed to
Newton only when they prove that it is monotone, convex or concave.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np

from fairfl._support.checks import Array
from fairfl.theory.numerics.piecewise_chebyshev import (
    DEGREE,
    DERIVATIVE,
    NODES,
    TO_COEFFICIENTS,
    Piecewise,
    chebyshev_values,
)

_N = DEGREE + 1
_ENDS = np.column_stack([(-1.0) ** np.arange(_N), np.ones(_N)])
"""c @ _ENDS: the values of a series at -1 and 1."""
_LEFT, _RIGHT = (
    chebyshev_values(center + 0.5 * NODES, _N) @ TO_COEFFICIENTS for center in (-0.5, 0.5)
)
"""c @ _LEFT, c @ _RIGHT: the coefficients of a series on the halves of [-1, 1]."""
_BERNSTEIN = np.array(
    [
        [
            sum(
                (-1) ** (j - i) * comb(2 * j, 2 * i) * comb(DEGREE - j, k - i)
                for i in range(min(j, k) + 1)
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
"""Halvings of a panel; a root that still looks multiple is cut where its ends differ in sign."""


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
    """Roots: parts are halved until each is without one, monotone, or convex (concave)."""
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
    """Candidates (row, position) for roots of series that are monotone, convex or concave."""
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
