"""Section 3.1.1: when the PropFair objective is convex."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, DefiniteForm, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.instances import explore


def curvature(sign: int = 1) -> tuple[Any, list[Any]]:
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


def halfway(factor: int = 1) -> tuple[Any, list[Any]]:
    """(M - f)(middle)^2 - (M - f)(s) (M - f)(t), f convex: its chord is above it by k there."""
    a, b = sympy.symbols("a b", positive=True)  # M - f at the ends
    k = sympy.symbols("k", nonnegative=True)
    return ((a + b) / 2 + k) ** 2 - factor * a * b, [(a - b) ** 2 / 4, k * (a + b), k**2]


def middle(instance: dict[str, Any], factor: int = 1) -> Case:
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
    return Case(
        (Relation(factor * left, "<=", right, "midpoint", float(abs(right) or 1)),),
        {"below M": inside},
    )


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
    return {
        "losses": losses,
        "s": s,
        "t": t,
        "M": top + draw(st.integers(1, 20).map(lambda k: Fraction(k, 10))),
    }


def bent(side: int = 1) -> tuple[Any, list[Any]]:
    """-f'' for f = M - exp(-t^2), where t^2 = (1 + s)/2, ``side`` 1: f is not convex there."""
    t, s, M = sympy.symbols("t s M", positive=True)
    f: sympy.Expr = M - sympy.exp(-(t**2))
    second: Any = f.diff(t, 2).subs(t, sympy.sqrt((1 + side * s) / 2))
    return -second, [2 * s * sympy.exp(-(1 + side * s) / 2)]


def check(
    effort: Effort, sign: int = 1, coefficient: int = 1, factor: int = 1, side: int = 1
) -> Evidence:
    """The certificates."""
    return Evidence.of(
        DefiniteForm(
            Call.of(curvature, sign=sign), "together", ({"g": "-1", "h": "2", "w": "1/3"},)
        ),
        DefiniteForm(Call.of(halfway, factor=factor), "expand", ({"a": "2", "b": "2", "k": "0"},)),
        SymbolicZero(
            Call.of(example, coefficient=coefficient), "simplify", ({"r": "2"}, {"r": "1/3"})
        ),
        DefiniteForm(Call.of(bent, side=side), "simplify", ({"s": "2", "M": "1"},), strict=True),
        extra=(explore(Call.of(middle, factor=factor), Call.of(polygons), effort, tolerance=0.0),),
    )


def literal(instance: dict[str, Any], bend: int = -1) -> Case:
    """Midpoint inequality of pi for one client with M = 2 and f = 1 + bend t^2 on |t| <= 1."""
    s, t = instance["s"], instance["t"]

    def utility(x: Fraction) -> Fraction:
        return 1 - bend * x**2

    left, right = utility(s) * utility(t), utility((s + t) / 2) ** 2
    return Case(
        (Relation(left, "<=", right, "midpoint of pi, exponentiated"),),
        {"range": max(abs(s), abs(t)) <= 1},
    )


def check_literal(effort: Effort, s: Fraction = Fraction(-1), bend: int = -1) -> Evidence:
    """The certificates."""
    shows = "M = 2, f = 1 - theta^2 on [-1, 1]: pi(0) = 0 > -log 2 = (pi(-1) + pi(1))/2"
    return Evidence.of(Counterexample.at(Call.of(literal, bend=bend), shows, s=s, t=Fraction(1)))


CLAIMS = (
    Claim(
        id="propfair/section-3.1.1",
        number="Section 3.1.1",
        line=131,
        title="The PropFair objective is convex if every loss is, or if every M - f_i is "
        "log-concave",
        printed=(
            r"for convex losses, our optimization problem (6) is still convex ... one client and "
            r"$f_1(\theta) = M - e^{-\|\theta\|^2}$. In fact, it suffices to require each $M - "
            r"f_i$ to be log-concave."
        ),
        statement=(
            r"Along any line $(\varphi \circ f)'' = f''/(M-f) + (f'/(M-f))^2$, which is $\ge 0$ "
            r"where $f'' \ge 0$, and midpoints of kinks obey "
            r"$(M - f)(\frac{s+t}2)^2 \ge (M - f)(s)\,(M - f)(t)$; a sum of convex functions is "
            r"convex, and $-\log(M - f)$ convex is what '$M - f$ log-concave' means. For "
            r"$M - f = e^{-\|\theta\|^2}$ it is "
            r"$\|\theta\|^2$, while $f$ is not convex."
        ),
        kind="implication",
        hypotheses=(
            ("below M", "f_i < M"),
            ("smooth", "for the formula; the property run has kinks"),
        ),
        scope="every n and dimension; maxima of lines for kinks",
        expected="holds",
        check=check,
        mutants=(
            Mutant("near 0", "f'' < 0 for t^2 < 1/2", partial(check, side=-1)),
            Mutant("concave", "losses with f'' <= 0", partial(check, sign=-1)),
            Mutant(
                "exp(-2r)",
                "another example with the same right side",
                partial(check, coefficient=2),
            ),
            Mutant("factor 2", "twice the product of the ends", partial(check, factor=2)),
        ),
        notes="The example needs M >= 1 for its loss to be non-negative.",
    ),
    Claim(
        id="propfair/section-3.1.1-literal",
        number="Section 3.1.1",
        line=133,
        title="The PropFair objective is convex even when the losses are not",
        printed="Moreover, our PropFair objective is convex even when f_i's are not. For "
        "example, this could happen if",
        statement=r"(read literally) $\pi$ is convex for losses $f_i < M$ that are not convex.",
        kind="implication",
        hypotheses=(("range", "|theta| <= 1, where 0 <= f <= 1, M = 2"),),
        scope="one client, one dimension",
        expected="refuted",
        check=check_literal,
        mutants=(
            Mutant("s = t", "the two points agree", partial(check_literal, s=Fraction(1))),
            Mutant("convex", "the convex loss 1 + theta^2", partial(check_literal, bend=1)),
        ),
        reading="The next sentence shows that 'can be convex' is meant, and that holds: see "
        "propfair/section-3.1.1.",
        severity="misprint",
        erratum="Write 'can be convex even when the f_i are not'.",
        whose="reading",
    ),
)
