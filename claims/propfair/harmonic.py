"""(D.9), (D.10): the harmonic mean of utilities and its optimality condition."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import DefiniteForm, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.instances import explore

HALVINGS = 80


def residuals(power: int = 2) -> dict[str, sympy.Expr]:
    """A term of the directional derivative of -sum 1/u from u to v."""
    u, v, t = sympy.symbols("u v t", positive=True)
    slope = sympy.diff(-1 / (u + t * (v - u)), t).subs(t, 0)
    return {"a term of (D.10)": slope - (v - u) / u**power}


def concavity(sign: int = 1) -> tuple[sympy.Expr, list[sympy.Expr]]:
    """Minus the second derivative of -1/u along the segment, w > 0 the point."""
    w, t = sympy.symbols("w t", positive=True)
    a, u = sympy.symbols("a", real=True), sympy.symbols("u")
    second = sympy.diff(-1 / (u + t * a), t, 2).subs(u, w - t * a)
    return -sign * second, [2 * a**2 / w**3]


def condition(u: list[Fraction], v: list[Fraction], power: int) -> Fraction:
    """The left side of (D.10)."""
    return sum(((b - a) / a**power for a, b in zip(u, v, strict=True)), Fraction(0))


def inverse(u: list[Fraction]) -> Fraction:
    """sum 1/u: the harmonic mean is n over it."""
    return sum((1 / v for v in u), Fraction(0))


def case(instance: dict[str, Any], power: int = 2) -> Case:
    """On the segment from u to v: (D.10) at v, or a point between them with the larger harmonic
    mean.
    """
    u, v = instance["u"], instance["v"]
    if condition(u, v, power) <= 0:
        return Case(
            (Relation(inverse(u), "<=", inverse(v), "(D.10), so no larger mean"),),
            {"positive": min(u + v) > 0},
        )
    steps = (Fraction(1, 2**k) for k in range(HALVINGS))
    between = ([a + t * (b - a) for a, b in zip(u, v, strict=True)] for t in steps)
    best = next((w for w in between if inverse(w) < inverse(u)), v)
    return Case(
        (Relation(inverse(best), "<", inverse(u), "a larger mean between"),),
        {"positive": min(u + v) > 0},
    )


@st.composite
def segments(draw: st.DrawFn) -> dict[str, Any]:
    """Two positive points, near the equality of (D.10) one time in two."""
    n = draw(st.integers(1, 4))
    one = st.builds(Fraction, st.integers(1, 40), st.integers(1, 8))
    u, v = [draw(one) for _ in range(n)], [draw(one) for _ in range(n)]
    if draw(st.booleans()):
        scale = inverse(u) / sum((b / a**2 for a, b in zip(u, v, strict=True)), Fraction(0))
        v = [b * scale for b in v]
    return {"u": u, "v": v}


def check(effort: Effort, power: int = 2, sign: int = 1) -> Evidence:
    """The certificates."""
    return Evidence.of(
        SymbolicZero(Call.of(residuals, power=power), "together", ({"u": "2", "v": "1/3"},)),
        DefiniteForm(
            Call.of(concavity, sign=sign), "together", ({"a": "-1", "w": "2", "t": "1/2"},)
        ),
        extra=(explore(Call.of(case, power=power), Call.of(segments), effort, tolerance=0.0),),
    )


CLAIMS = (
    Claim(
        id="propfair/harmonic",
        number="(D.9), (D.10)",
        line=1078,
        title="Maximising the harmonic mean of utilities over a convex set: the condition with "
        "squared denominators",
        printed=(
            r"$\max_{\theta} \frac{n}{\sum_i u_i(\theta)^{-1}}$; optimality condition, assuming "
            r"the utility set convex: $\sum_{i=1}^n \frac{u_i - u_i^*}{(u_i^*)^2} \leq 0$ for "
            r"all $u \in \mathcal{U}$"
        ),
        statement=(
            r"$-\sum 1/u_i$, an increasing function of the harmonic mean, is concave along "
            r"segments with slope $\sum (v_i - u_i)/u_i^2$ at $u$: (D.10) is necessary and "
            r"sufficient on a convex $U$."
        ),
        kind="equivalence",
        hypotheses=(("positive", "U convex, in R^n_{++}"),),
        scope="every n and U: the derivatives are those of one term of a sum",
        expected="holds",
        check=check,
        mutants=(
            Mutant(
                "first power",
                "the condition (D.8) of proportional fairness",
                partial(check, power=1),
            ),
            Mutant("convex", "the second derivative's sign turned", partial(check, sign=-1)),
        ),
    ),
)
