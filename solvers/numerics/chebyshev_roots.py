"""Points where piecewise Chebyshev series change sign: all real roots, isolated.

Roots are isolated, not searched on a grid: a panel (or its half, and so on) is discarded only when
its Chebyshev or Bernstein coefficients prove that the series has no root there, and handed to
Newton only when they prove that it is monotone.
"""

from collections.abc import Sequence
from math import comb

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.tolerances import NOISE
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
_I, _J, _K = np.ogrid[:_N, :_N, :_N]
_PASCAL = np.array([[comb(n, k) for k in range(2 * _N)] for n in range(2 * _N)], float)
_TERMS = _PASCAL[2 * _J, 2 * _I] * _PASCAL[DEGREE - _J, _K - _I]  # k < 0 is at the end: 0
_BERNSTEIN = ((-1.0) ** (_J - _I) * _TERMS).sum(axis=0) / _PASCAL[DEGREE, :_N]
"""c @ _BERNSTEIN: the coefficients in the Bernstein basis, whose signs bound those of the series:
in tails they decide at once, where Chebyshev coefficients need four halvings.
"""
_GROWTH = np.abs(_BERNSTEIN).sum(axis=0)
"""What a rounding of Chebyshev coefficients may become in each of Bernstein's."""
MAX_DEPTH = 45
"""Halvings of a panel; a root that still looks multiple is cut where its ends differ in sign."""


def sign_changes(
    functions: Sequence[Piecewise], series: Sequence[Array], noise: Sequence[Array]
) -> tuple[list[Array], list[Array]]:
    """Owners and positions of all points where series (B, P, 16) on the panels of ``functions`` may
    change sign; a value within ``noise`` (B, P) has none. All groups at once: calls of numpy take
    the time.
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
    of_group = [group == a for a in range(len(functions))]
    return (
        [np.concatenate([owner[m] - a * count, jumps[a][0]]) for a, m in enumerate(of_group)],
        [np.concatenate([x[m], jumps[a][1]]) for a, m in enumerate(of_group)],
    )


def _isolate(c: Array, noise: Array, low: Array, span: Array, owner: Array) -> tuple[Array, Array]:
    """Owners and places of the roots of series c (N, 16) on parts from ``low``, ``span`` wide."""
    monotone: list[tuple[Array, ...]] = []
    for depth in range(MAX_DEPTH + 1):
        size, bernstein, rounding = np.abs(c), c @ _BERNSTEIN, noise[:, None] * _GROWTH
        total = size.sum(axis=1)
        # a root at the end of a part makes both equal, up to rounding
        may_change = (2.0 * size[:, 0] <= total + noise) & (total > noise)
        rows = np.flatnonzero(may_change & ~_signed(bernstein, rounding))
        parts = c, noise, low, span, owner, bernstein, rounding
        c, noise, low, span, owner, bernstein, rounding = (v[rows] for v in parts)
        is_monotone = _signed(np.diff(bernstein), rounding[:, 1:] + rounding[:, :-1])
        is_monotone |= depth == MAX_DEPTH
        monotone.append(tuple(v[is_monotone] for v in (c, noise, low, span, owner)))
        k = ~is_monotone
        if not k.any():
            break
        c, noise, low, span, owner = c[k], noise[k], low[k], span[k] / 2, owner[k]
        c = np.concatenate([c @ _LEFT, c @ _RIGHT])
        low = np.concatenate([low, low + span])
        noise, owner, span = np.tile(noise, 2), np.tile(owner, 2), np.tile(span, 2)
    c, noise, low, span, owner = (np.concatenate(v) for v in zip(*monotone, strict=True))
    rows, xi = _monotone_roots(c, noise * _GROWTH[-1])
    return owner[rows], low[rows] + span[rows] * (xi + 1) / 2


def _signed(b: Array, tiny: Array) -> Array:
    return np.all(b > tiny, axis=1) | np.all(b < -tiny, axis=1)


def _monotone_roots(c: Array, tiny: Array) -> tuple[Array, Array]:
    """Candidates (row, position) for roots of monotone series: Newton's method in a bracket."""
    left, right = (c @ _ENDS).T
    # a value within rounding of zero at an end may belong to either side: it is a candidate
    at_left, at_right = (np.flatnonzero(np.abs(end) <= tiny) for end in (left, right))
    k = np.flatnonzero((left < 0) != (right < 0))
    both, rises = np.stack([c[k], c[k] @ DERIVATIVE]), left[k] < 0
    small, low, high = NOISE * np.abs(c[k]).sum(axis=1), -np.ones(k.size), np.ones(k.size)
    x = -1 - 2 * left[k] / (right - left)[k]
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(80 if k.size else 0):
            f, slope = np.einsum("qbn,nb->qb", both, chebyshev_values(x, _N))
            above = (f > 0) == rises
            low, high = np.where(above, low, x), np.where(above, x, high)
            newton, before = x - f / slope, x
            x = np.where((newton >= low) & (newton <= high), newton, (low + high) / 2)
            if ((np.abs(x - before) <= NOISE) | (np.abs(f) <= small)).all():
                break
    ends = np.repeat([-1.0, 1.0], [at_left.size, at_right.size])
    return np.concatenate([k, at_left, at_right]), np.append(x, ends)
