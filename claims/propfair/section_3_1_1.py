"""Section 3.1.1: when the PropFair objective is convex."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy
from hypothesis import strategies as st

from fairfl.claims.forms import Case, Claim, Relation, definite, drawn, every, identity

Form = tuple[Any, list[Any]]


def curvature(sign: int = 1) -> Form:
    """The second derivative of -log(M - f) along a line, where f has slope g and second derivative
    h >= 0.
    """
    t = sympy.symbols("t")
    g = sympy.symbols("g", real=True)
    h = sympy.symbols("h", nonnegative=True)
    w = sympy.symbols("w", positive=True)  # M - f
    phi = -sympy.log(w - g * t - sign * h * t**2 / 2)
    return sympy.diff(phi, t, 2).subs(t, 0), [h / w, (g / w) ** 2]


def example(coefficient: int = 1) -> dict[str, Any]:
    """phi o f for M - f = exp(-r), r = ||theta||^2."""
    r = sympy.symbols("r", nonnegative=True)
    return {"phi o f is the square of the norm": -sympy.log(sympy.exp(-coefficient * r)) - r}


def halfway(factor: int = 1) -> Form:
    """(M - f)(middle)^2 - (M - f)(s) (M - f)(t), f convex: its chord is above it by k there."""
    a, b = sympy.symbols("a b", positive=True)  # M - f at the ends
    k = sympy.symbols("k", nonnegative=True)
    return ((a + b) / 2 + k) ** 2 - factor * a * b, [(a - b) ** 2 / 4, k * (a + b), k**2]


def middle(instance: dict[str, Any]) -> Case:
    """pi at the midpoint, for convex f_i(t) = max of lines, in fractions: the product of the means
    of utilities.

    Concavity of sum log(M - f_i) between s and t is prod u_i(middle)^2 >= prod u_i(s) u_i(t).
    """
    M, s, t = instance["M"], instance["s"], instance["t"]
    left, right = Fraction(1), Fraction(1)
    inside = True
    for lines in instance["losses"]:
        at_s, at_t, at_m = (M - max(a + b * x for a, b in lines) for x in (s, t, (s + t) / 2))
        inside &= min(at_s, at_t, at_m) > 0
        left, right = left * at_s * at_t, right * at_m**2
    relation = Relation(left, "<=", right, "midpoint", float(abs(right) or 1))
    return Case((relation,), {"below M": inside})


@st.composite
def polygons(draw: st.DrawFn) -> dict[str, Any]:
    """Up to three losses, each a maximum of up to three lines, M above all values that are looked
    at.
    """
    whole = st.integers(-6, 6).map(Fraction)
    lines = st.lists(st.tuples(whole, whole).map(list), min_size=1, max_size=3)
    losses = draw(st.lists(lines, min_size=1, max_size=3))
    s, t = draw(whole) / 4, draw(whole) / 4
    top = max(a + b * x for one in losses for a, b in one for x in (s, t))
    return {"losses": losses, "s": s, "t": t, "M": top + Fraction(draw(st.integers(1, 20)), 10)}


def bent(side: int = 1) -> Form:
    """-f'' for f = M - exp(-t^2), where t^2 = (1 + s)/2, ``side`` 1: f is not convex there."""
    t, s, M = sympy.symbols("t s M", positive=True)
    f: sympy.Expr = M - sympy.exp(-(t**2))
    second: Any = f.diff(t, 2).subs(t, sympy.sqrt((1 + side * s) / 2))
    return -second, [2 * s * sympy.exp(-(1 + side * s) / 2)]


CLAIMS = (
    Claim(
        "propfair/section-3.1.1",
        131,
        "The PropFair objective is convex if every loss is, or if every M - f_i is log-concave",
        printed=r"for convex losses, our optimization problem (6) is still convex ... one client "
        r"and $f_1(\theta) = M - e^{-\|\theta\|^2}$. In fact, it suffices to require each $M - "
        r"f_i$ to be log-concave.",
        statement=r"Along any line $(\varphi \circ f)'' = f''/(M-f) + (f'/(M-f))^2$, which is "
        r"$\ge 0$ where $f'' \ge 0$, and midpoints of kinks obey $(M - f)(\frac{s+t}2)^2 \ge (M - "
        r"f)(s)\,(M - f)(t)$; a sum of convex functions is convex, and $-\log(M - f)$ convex is "
        r"what '$M - f$ log-concave' means. For $M - f = e^{-\|\theta\|^2}$ it is $\|\theta\|^2$, "
        r"while $f$ is not convex.",
        kind="implication",
        hypotheses={"below M": "f_i < M", "smooth": "for the formula; the property run has kinks"},
        scope="every n and dimension; maxima of lines for kinks",
        check=every(
            definite(curvature, method="together"),
            definite(halfway),
            identity(example, method="simplify"),
            definite(bent, method="simplify", strict=True),
            extra=[drawn(middle, polygons, tolerance=0.0)],
        ),
        mutants={
            "near 0": ("f'' < 0 for t^2 < 1/2", {"side": -1}),
            "concave": ("losses with f'' <= 0", {"sign": -1}),
            "exp(-2r)": ("another example with the same right side", {"coefficient": 2}),
            "factor 2": ("twice the product of the ends", {"factor": 2}),
        },
        reading="'Our objective is convex even when f_i's are not' as 'can be convex': for M = 2 "
        "and f = 1 - theta^2 on [-1, 1] it is not.",
        notes="The example needs M >= 1 for its loss to be non-negative.",
    ),
)
