"""Theorem 1's setting: two groups of one client each, one local step, and the mean of the two local
models.

Losses are separable quadratics L(w) = sum_k c_k (w_k - x_k)^2 / 2, with any real curvatures c_k, in
exact numbers: they are max |c_k|-smooth, and min c_k-strongly convex. Normalised steps are exact
for gradients of rational length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

Vector = list[Any]
HALF = Fraction(1, 2)  # times which integers stay exact


@dataclass(frozen=True)
class Quadratic:
    """L(w) = sum_k c_k (w_k - x_k)^2 / 2."""

    curvatures: tuple[Any, ...]
    centre: tuple[Any, ...]

    @classmethod
    def of(cls, data: dict[str, Any]) -> Quadratic:
        """From {"c": [...], "x": [...]}."""
        return cls(tuple(data["c"]), tuple(data["x"]))

    def __call__(self, w: Sequence[Any]) -> Any:
        terms = zip(self.curvatures, self.centre, w, strict=True)
        return HALF * sum(c * (v - x) ** 2 for c, x, v in terms)

    def gradient(self, w: Sequence[Any]) -> Vector:
        """c_k (w_k - x_k)."""
        return [c * (v - x) for c, x, v in zip(self.curvatures, self.centre, w, strict=True)]

    @property
    def smoothness(self) -> Any:
        """max |c_k|."""
        return max(abs(c) for c in self.curvatures)


def dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """a . b."""
    return sum(x * y for x, y in zip(a, b, strict=True))


def norm(v: Sequence[Any]) -> Any:
    """The length of v: exact where it is rational, else a float."""
    square = dot(v, v)
    if isinstance(square, float):
        return square**0.5
    exact = Fraction(square)
    root = Fraction(isqrt(exact.numerator), isqrt(exact.denominator))
    return root if root * root == exact else float(exact) ** 0.5


def unit(v: Sequence[Any]) -> Vector:
    """v/||v||, v not 0."""
    length = norm(v)
    return [x / length for x in v]


def fedavg(w: Sequence[Any], one: Sequence[Any], two: Sequence[Any], eta: Any) -> Vector:
    """The mean of w - eta g_1 and w - eta g_2."""
    return [v - HALF * eta * (a + b) for v, a, b in zip(w, one, two, strict=True)]


def normalised(w: Sequence[Any], one: Sequence[Any], two: Sequence[Any], eta: Any) -> Vector:
    """The mean of w - eta g_1/||g_1|| and w - eta g_2/||g_2||."""
    return fedavg(w, unit(one), unit(two), eta)


@dataclass(frozen=True)
class Round:
    """The two groups at t_2 + 1, after one step of ``step``: its two losses, w_1 and w_(t_2), and
    the step size.
    """

    first: Quadratic
    second: Quadratic
    start: Vector
    now: Vector
    eta: Any

    @classmethod
    def of(cls, instance: dict[str, Any]) -> Round:
        """From {"L1", "L2": quadratics, "w1", "w": models, "eta"}."""
        first, second = Quadratic.of(instance["L1"]), Quadratic.of(instance["L2"])
        return cls(first, second, instance["w1"], instance["w"], instance["eta"])

    @property
    def gradients(self) -> tuple[Vector, Vector]:
        """g_1 and g_2 at w_(t_2)."""
        return self.first.gradient(self.now), self.second.gradient(self.now)

    @property
    def head_start(self) -> Any:
        """L_1(w_1) - L_1(w_(t_2)): what v_1 has gained before v_2 joins."""
        return self.first(self.start) - self.first(self.now)

    def benefits(self, step: Any = fedavg) -> tuple[Any, Any]:
        """Definition 1 at t_2 + 1, for v_1 and v_2."""
        new = step(self.now, *self.gradients, self.eta)
        return self.first(self.start) - self.first(new), self.second(self.now) - self.second(new)

    def gap(self, step: Any = fedavg) -> Any:
        """The benefit of v_1 less that of v_2: positive iff the step is dynamically fair."""
        one, two = self.benefits(step)
        return one - two
