"""The non-dominated points of a path in one number: disparity and worth of a scheme's solutions, as
one budget of all clients grows.

The path is known at some budgets and taken to be linear between them. Budgets are added where it
is not: where a middle is off its chord, where the pooled difference changes its sign, and beside
each smallest disparity and largest worth. Between two budgets a disparity is met by a root.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.numerics.roots import increasing_root
from fairfl.solvers.numerics.segments import Segments
from fairfl.solvers.solution import LAW_TOLERANCE

HALVINGS = 25
"""Of the intervals beside an extremum, or a bend."""
MET = 1e-13
"""Disparities are met to this."""

Values = Callable[[Array], tuple[Array, Array]]
"""Of budgets (P,): the pooled difference of two groups with one rate, else the disparity, and 1 +
the utility.
"""


class Path:
    """The pooled differences and worths at budgets ``eps``, increasing; whether a disparity is met
    ``between`` two of them, or the less disparate one is taken.
    """

    def __init__(self, values: Values, between: bool = True) -> None:
        self.values, self.between = values, between
        self.eps, self.md, self.worth = (np.zeros(0) for _ in range(3))

    def add(self, eps: Array) -> None:
        """The path at more budgets, where it is certified."""
        new = np.setdiff1d(eps, self.eps)
        if not new.size:
            return
        own = np.stack([new, *self.values(new)])
        every = np.hstack([[self.eps, self.md, self.worth], own[:, np.isfinite(own).all(axis=0)]])
        self.eps, self.md, self.worth = every[:, np.argsort(every[0])]

    def halve_bends(self, slack: float) -> None:
        """Halve intervals until the path is linear on each: it is on those whose middle is on the
        chord, within ``slack``, since there the disparity is convex.
        """
        low, high = self.eps[:-1], self.eps[1:]
        for _ in range(HALVINGS):
            if not low.size:
                break
            middle = (low + high) / 2
            self.add(middle)
            k, a, b = (np.searchsorted(self.eps, end) for end in (middle, low, high))
            bent = np.abs(self.md[k] - (self.md[a] + self.md[b]) / 2) > slack
            low, high = (
                np.concatenate([low[bent], middle[bent]]),
                np.concatenate([middle[bent], high[bent]]),
            )

    def cross_zero(self) -> None:
        """The budgets at which the difference changes its sign."""
        k = np.flatnonzero(self.md[:-1] * self.md[1:] < 0)
        if k.size:
            ends = self.eps[k], self.eps[k + 1]
            self.add(self._root(*ends, np.sign(self.md[k + 1]), np.zeros(k.size)))

    def refine(self) -> None:
        """Halve the intervals beside each smallest disparity and each largest utility."""
        for _ in range(HALVINGS):
            d = np.abs(self.md)
            k = np.append(_peaks(-d), _peaks(self.worth))
            if not k.size:
                break
            ends = np.concatenate([self.eps[k - 1], self.eps[k + 1]])
            self.add((ends + np.tile(self.eps[k], 2)) / 2)

    @cached_property
    def segments(self) -> Segments:
        """Between the budgets, as if the path were linear there; when they are all known."""
        ends = np.stack([np.arange(self.eps.size - 1), np.arange(1, self.eps.size)], axis=1)
        md, worth, eps = self.md[ends], self.worth[ends], self.eps[ends, None]
        return Segments.folded(md, worth, eps, ends[:, 0]).undominated()

    def meet(self, disparity: Array) -> tuple[Array, Array, Array]:
        """Budgets, differences and worths (P,) of the best solutions with at most the disparities
        (P,).
        """
        _, segment, place = self.segments.best(disparity)
        low, high = self.segments.ends[segment, :, 2].T
        if not self.between:
            place = np.floor(place)
        eps = np.where(place == 1.0, high, low + place * (high - low))
        md, worth = self.values(eps)
        inner = (place > 0.0) & (place < 1.0)
        off = np.flatnonzero(inner & (np.abs(np.abs(md) - disparity) > MET))
        if off.size:
            sign = np.sign(md[off])
            eps[off] = self._root(low[off], high[off], sign, disparity[off])
            md[off], worth[off] = self.values(eps[off])
        return eps, md, worth

    def _root(self, low: Array, high: Array, sign: Array, disparity: Array) -> Array:
        """Budgets (P,) with sign·MD = disparity between those of less, ``low``, and of more."""

        def rising(place: Array, index: Array) -> Array:
            eps = low[index] + place * (high - low)[index]
            return sign[index] * self.values(eps)[0] - disparity[index]

        zero, one, every = np.zeros(low.size), np.ones(low.size), np.arange(low.size)
        ends = np.minimum(rising(zero, every), 0.0), np.maximum(rising(one, every), 0.0)
        return low + increasing_root(rising, zero, one, *ends, MET) * (high - low)


def _peaks(values: Array) -> Array:
    """Where values (P,) are as large as at both neighbours, and larger than at one."""
    beside = (values[1:-1] - np.stack([values[:-2], values[2:]])) / LAW_TOLERANCE
    return 1 + np.flatnonzero((beside.min(axis=0) >= -1.0) & (beside.max(axis=0) > 1.0))
