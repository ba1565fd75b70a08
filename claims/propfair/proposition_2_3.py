"""Proposition 2.3: Nash bargaining and proportional fairness; and (D.9), (D.10),
the same condition for the harmonic mean.
"""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import Any

import sympy
from hypothesis import strategies as st

from fairfl.claims.forms import Case, Claim, Relation, definite, drawn, every, identity, proof

HALVINGS = 80
"""Of the step towards v: the gain is first order, the loss second order in it."""
Form = tuple[sympy.Expr, list[sympy.Expr]]


def gain(u: list[Fraction], v: list[Fraction], power: int = 1) -> Fraction:
    """The left side of (1) at v, sum (v_i - u_i) / u_i, or of (D.10), where u_i is squared."""
    return sum(((b - a) / a**power for a, b in zip(u, v, strict=True)), Fraction(0))


def worth(u: list[Fraction], mean: str) -> Fraction:
    """What increases with the mean: the Nash product, or minus the sum of 1/u_i."""
    if mean == "geometric":
        return prod(u, start=Fraction(1))
    return -sum((1 / a for a in u), Fraction(0))


def case(
    instance: dict[str, Any], mean: str = "geometric", power: int = 1, slack: Fraction = Fraction(0)
) -> Case:
    """The condition at v, and the mean on the segment from u to v; a convex U is the union of the
    segments from u, so it says it all.

    If it holds at v, no point between u and v has a larger mean (this half needs no convexity: take
    t = 1). If it fails at v, some point between has one, in a convex U.
    """
    u, v = instance["u"], instance["v"]

    def between(t: Fraction) -> Fraction:
        return worth([a + t * (b - a) for a, b in zip(u, v, strict=True)], mean)

    here = worth(u, mean)
    if gain(u, v, power) <= slack:
        reached = [between(t) for t in (instance["t"], Fraction(1))]
        relations = [Relation(w, "<=", here, "the condition, so no larger mean") for w in reached]
    else:
        steps = (between(Fraction(1, 2**k)) for k in range(HALVINGS))
        best = next((w for w in steps if w > here), between(Fraction(1)))
        relations = [Relation(here, "<", best, "not the condition, so a larger mean")]
    premises = {"positive": min(u + v) > 0, "step": 0 <= instance["t"] <= 1}
    return Case(tuple(relations), premises)


def residuals(mean: str = "geometric", power: int = 1) -> dict[str, sympy.Expr]:
    """The directional derivative of sum log u_i, or of - sum 1/u_i, from u to v, a term."""
    u, v, t = sympy.symbols("u v t", positive=True)
    at = u + t * (v - u)
    slope = sympy.diff(sympy.log(at) if mean == "geometric" else -1 / at, t).subs(t, 0)
    return {"a term of the slope less that of the condition": slope - (v - u) / u**power}


def concavity(mean: str = "geometric", sign: int = 1) -> Form:
    """Minus the second derivative along the segment: w is the point at t, w > 0 for t in [0, 1]."""
    w, t = sympy.symbols("w t", positive=True)
    a, u = sympy.symbols("a", real=True), sympy.symbols("u")  # a = v - u
    at = u + t * a
    second = sympy.diff(sympy.log(at) if mean == "geometric" else -1 / at, t, 2)
    term = a**2 / w**2 if mean == "geometric" else 2 * a**2 / w**3
    return -sign * second.subs(u, w - t * a), [term]


def positive() -> st.SearchStrategy[Fraction]:
    """Positive fractions."""
    return st.builds(Fraction, st.integers(1, 60), st.integers(1, 12))


@st.composite
def segments(draw: st.DrawFn, mean: str = "geometric") -> dict[str, Any]:
    """Two positive points, of the condition with either sign; at its equality, where the halves
    meet, or half a percent beside it, one time in two.
    """
    n = draw(st.integers(1, 4))
    u, v = ([draw(positive()) for _ in range(n)] for _ in range(2))
    if draw(st.booleans()):
        power = 1 if mean == "geometric" else 2
        scale = draw(st.sampled_from([Fraction(199, 200), Fraction(1), Fraction(201, 200)]))
        shares = sum((b / a**power for a, b in zip(u, v, strict=True)), Fraction(0))
        scale *= sum((a ** (1 - power) for a in u), Fraction(0)) / shares
        v = [b * scale for b in v]
    return {"u": u, "v": v, "t": Fraction(draw(st.integers(0, 8)), 8)}


CLAIMS = (
    Claim(
        "propfair/proposition-2.3",
        62,
        "On a convex compact U the Nash bargaining solution is the proportionally fair point; PF "
        "maximises the product",
        printed=r"For any convex compact set $\mathcal{U} \in \mathbb{R}_{++}^n$, a point $u \in "
        r"\mathcal{U}$ is the Nash bargaining solution iff it is proportionally fair. If "
        r"$\mathcal{U}$ is non-convex, then a PF solution, when exists, necessarily maximizes the "
        r"Nash product.",
        statement=r"$g(t) = \sum_i \log(u_i + t(v_i - u_i))$ is concave on $[0,1]$ with $g'(0) = "
        r"\sum_i (v_i - u_i)/u_i$. So $g'(0) \le 0$ gives $\prod v_i \le \prod u_i$, for any $U$; "
        r"and $g'(0) > 0$ gives a larger product on the segment, which a convex $U$ contains.",
        kind="equivalence",
        hypotheses={"positive": "U in R^n_{++}, convex for 'only if'", "step": "t in [0, 1]"},
        scope="as stated; the derivatives are those of one term of a sum",
        check=proof(
            "nash.v",
            "fair",
            identity(residuals),
            definite(concavity),
            drawn(case, segments, tolerance=0.0),
        ),
        mutants={
            "squared": ("the optimality condition (D.10) of the harmonic mean", {"power": 2}),
            "log convex": ("the second derivative's sign turned", {"sign": -1}),
            "1 % slack": ("(1) with 1/100 for 0 on the right", {"slack": "1/100"}),
        },
    ),
    Claim(
        "propfair/harmonic",
        1078,
        "Maximising the harmonic mean of utilities over a convex set: the condition with squared "
        "denominators",
        number="(D.9), (D.10)",
        printed=r"$\max_{\theta} \frac{n}{\sum_i u_i(\theta)^{-1}}$; optimality condition, "
        r"assuming the utility set convex: $\sum_{i=1}^n \frac{u_i - u_i^*}{(u_i^*)^2} \leq 0$ "
        r"for all $u \in \mathcal{U}$",
        statement=r"$-\sum 1/u_i$, an increasing function of the harmonic mean, is concave along "
        r"segments with slope $\sum (v_i - u_i)/u_i^2$ at $u$: (D.10) is necessary and sufficient "
        r"on a convex $U$.",
        kind="equivalence",
        hypotheses={"positive": "U convex, in R^n_{++}", "step": "t in [0, 1]"},
        scope="every n and U: the derivatives are those of one term of a sum",
        check=every(
            identity(residuals, mean="harmonic", power=2),
            definite(concavity, mean="harmonic"),
            extra=[drawn(case, segments, tolerance=0.0, mean="harmonic", power=2)],
        ),
        mutants={
            "first power": ("the condition (D.8) of proportional fairness", {"power": 1}),
            "convex": ("the second derivative's sign turned", {"sign": -1}),
        },
    ),
)
