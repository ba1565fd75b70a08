"""The round in which v_2 joins, with groups of one client each, one local step, and the mean of the
two local models.

The model is at 0 before the step, and a loss is a quadratic: L(s) = L(0) + g.s + sum_k c_k s_k^2/2,
of a gradient g and curvatures c_k of any sign. Numbers are exact, and gradients have a rational
length where steps are normalised.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import isqrt
from typing import Any

from hypothesis import strategies as st

from fairfl.claims.exact import dot

Vector = list[Any]
Instance = dict[str, Any]
HALF = Fraction(1, 2)  # times which integers stay exact


def norm(v: Sequence[Any]) -> Any:
    """The length of v, which must be rational."""
    square = Fraction(dot(v, v))
    root = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    if root * root != square:
        raise ValueError(f"v must have a rational length, got {v}")
    return root


def unit(v: Sequence[Any]) -> Vector:
    """v/||v||, v not 0."""
    length = norm(v)
    return [x / length for x in v]


def fedavg(g: Sequence[Any], h: Sequence[Any], eta: Any) -> Vector:
    """The mean of -eta g and -eta h."""
    return [-HALF * eta * (x + y) for x, y in zip(g, h, strict=True)]


def normalised(g: Sequence[Any], h: Sequence[Any], eta: Any) -> Vector:
    """The mean of -eta g/||g|| and -eta h/||h||."""
    return fedavg(unit(g), unit(h), eta)


def gap(instance: Instance, rule: Callable[..., Vector] = fedavg) -> Any:
    """The benefit of v_1 less that of v_2 after the round (definition 1): positive iff it is
    dynamically fair.
    """
    g, h, c, d = (instance[name] for name in "ghcd")
    s = rule(g, h, instance["eta"])
    one, two = (
        dot(slope, s) + HALF * sum(k * x * x for k, x in zip(curvatures, s, strict=True))
        for slope, curvatures in ((g, c), (h, d))
    )
    return instance["gained"] - one + two


def smoothness(instance: Instance) -> Any:
    """L: the largest |c_k| of both losses."""
    return max(map(abs, [*instance["c"], *instance["d"]]))


def on_line(g: Any, h: Any, eta: Any, gained: Any = 0, c: Any = 1, d: Any = 1) -> Instance:
    """A round in one dimension: L_1 = c (w + g/c)^2/2, L_2 = d (w + h/d)^2/2."""
    return {"g": [g], "h": [h], "c": [c], "d": [d], "eta": eta, "gained": gained}


def in_plane(
    u: Vector, v: Vector, c: Vector, d: Vector, lengths: tuple[Any, Any], eta: Any, gained: Any
) -> Instance:
    """A round in two dimensions, with gradients of ``lengths`` in the directions u and v."""
    g, h = ([size * x for x in way] for size, way in zip(lengths, (u, v), strict=True))
    return {"g": g, "h": h, "c": c, "d": d, "eta": eta, "gained": gained}


@st.composite
def rounds(
    draw: st.DrawFn,
    least: Fraction = Fraction(1),
    ratio: Fraction = Fraction(2),
    step: Fraction = Fraction(1, 3),
    head: Fraction = Fraction(0),
) -> Instance:
    """Rounds with ||g_2|| >= ``least``, ||g_1|| <= ||g_2||/``ratio``, eta L < ``step``, and a head
    start of at most ``head`` eta ||g_2||^2; half of them at the edge of all that, in one direction.
    """
    edge = draw(st.booleans())
    sides = st.sampled_from([(5, 0), (-5, 0), (0, 5), (3, 4), (-3, 4), (4, -3), (-4, -3)])
    u, v = ([Fraction(x, 5) for x in draw(sides)] for _ in range(2))
    signs = st.sampled_from([[Fraction(-1)] * 2, [Fraction(1)] * 2])
    bends = st.lists(st.integers(-8, 8).map(lambda k: Fraction(k, 8)), min_size=2, max_size=2)
    c, d = (draw(signs if edge else bends) for _ in range(2))
    more, part, short, start = (
        Fraction(1) if edge else draw(st.integers(1, 8).map(lambda k: Fraction(k, 8)))
        for _ in range(4)
    )
    b, eta = least * (1 if edge else 1 + more), step * short * Fraction(999, 1000)
    lengths, gained = (part * b / ratio, b), head * eta * b**2 * start
    return in_plane(u, u if edge else v, c, d, lengths, eta, gained)
