"""The round in which v_2 joins, with groups of one client each, one local step, and the mean of the
two local models.

The model is at 0 before the step, and a loss is a quadratic: L(s) = L(0) + g.s + sum_k c_k s_k^2/2,
of a gradient g and curvatures c_k of any sign. Numbers are exact, and gradients have a rational
length where steps are normalised.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import isqrt

from hypothesis import strategies as st

from fairfl.claims.exact import Instance, dot

Rational = int | Fraction
Vector = list[Fraction]
Printed = int | str
"""A number of an instance before it is decoded: "1/2" is a fraction."""
HALF = Fraction(1, 2)  # exact times integers


def norm(v: Sequence[Rational]) -> Fraction:
    """The length of v, which must be rational."""
    square = Fraction(dot(v, v))
    root = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    if root * root != square:
        raise ValueError(f"v must have a rational length, got {v}")
    return root


def unit(v: Sequence[Rational]) -> Vector:
    """v/||v||, v not 0."""
    length = norm(v)
    return [x / length for x in v]


def fedavg(g: Sequence[Rational], h: Sequence[Rational], eta: Rational) -> Vector:
    """The mean of -eta g and -eta h."""
    return [-HALF * eta * (x + y) for x, y in zip(g, h, strict=True)]


def normalised(g: Sequence[Rational], h: Sequence[Rational], eta: Rational) -> Vector:
    """The mean of -eta g/||g|| and -eta h/||h||."""
    return fedavg(unit(g), unit(h), eta)


def gap(instance: Instance, rule: Callable[..., Vector] = fedavg) -> Fraction:
    """The benefit of v_1 less that of v_2 after the round: positive iff it is dynamically fair."""
    g, h, c, d = (instance[name] for name in "ghcd")
    s = rule(g, h, instance["eta"])
    change_1, change_2 = (
        dot(slope, s) + HALF * sum(k * x * x for k, x in zip(curvatures, s, strict=True))
        for slope, curvatures in ((g, c), (h, d))
    )
    return instance["gained"] - change_1 + change_2


def smoothness(instance: Instance) -> Rational:
    """L: the largest |c_k| of both losses."""
    return max(map(abs, [*instance["c"], *instance["d"]]))


def on_line(
    g: Printed, h: Printed, eta: Printed, gained: Printed = 0, c: Printed = 1, d: Printed = 1
) -> Instance:
    """A round in one dimension: L_1 = c (w + g/c)^2/2, L_2 = d (w + h/d)^2/2."""
    return {"g": [g], "h": [h], "c": [c], "d": [d], "eta": eta, "gained": gained}


DIRECTIONS = [["1", "0"], ["-1", "0"], ["3/5", "4/5"], ["-3/5", "4/5"], ["0", "1"]]


@st.composite
def rounds(
    draw: st.DrawFn, shortest: Rational = 0, ratio: Rational = 2, largest: Rational = 1
) -> Instance:
    """Quadratics in the plane of curvatures in [-1, 1] at a w with ||g_2|| >= ``shortest`` and >=
    ``ratio`` ||g_1|| and eta < ``largest``: at these edges, or within; and a head start.
    """
    part = st.sampled_from(["0", "1/100", "1/3", "1", "3"]).map(Fraction)
    inside = st.sampled_from(["1/100", "1/2", "99/100", "999/1000"]).map(Fraction)
    short, extra = draw(part) + Fraction(1, 1000), draw(part)
    long = max(ratio * short, Fraction(shortest)) + extra
    curvature = st.lists(st.sampled_from([1, -1, 0, HALF]).map(Fraction), min_size=2, max_size=2)
    directions = (draw(st.sampled_from(DIRECTIONS)) for _ in range(2))
    g, h = ([r * Fraction(x) for x in v] for r, v in zip((short, long), directions, strict=True))
    return {
        **{"g": g, "h": h, "c": draw(curvature), "d": draw(curvature)},
        "eta": largest * draw(inside),
        "gained": draw(inside),
    }
