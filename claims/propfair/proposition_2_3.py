"""Proposition 2.3 and the text around it: Nash bargaining, proportional fairness, the axioms."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import prod
from typing import Any

import sympy
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, DefiniteForm, SymbolicZero, Witness
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.instances import explore

HALVINGS = 80
"""Of the step towards v: the gain is first order, the loss second order in it."""


def gain(u: list[Fraction], v: list[Fraction], base: str = "u") -> Fraction:
    """The left side of (1) at v: sum (v_i - u_i) / u_i; ``base`` v divides by v_i."""
    return sum(
        ((b - a) / (a if base == "u" else b) for a, b in zip(u, v, strict=True)), Fraction(0)
    )


def between(u: list[Fraction], v: list[Fraction], t: Fraction) -> list[Fraction]:
    """u + t (v - u)."""
    return [a + t * (b - a) for a, b in zip(u, v, strict=True)]


def better(u: list[Fraction], v: list[Fraction]) -> Fraction:
    """The largest Nash product that halving the step from u towards v meets first above that of u,
    else at v.
    """
    for k in range(HALVINGS):
        found = prod(between(u, v, Fraction(1, 2**k)), start=Fraction(1))
        if found > prod(u):
            return found
    return prod(v, start=Fraction(1))


def case(instance: dict[str, Any], base: str = "u") -> Case:
    """Proposition 2.3 on the segment from u to v; a convex U is the union of the segments from u,
    so it says it all.

    If (1) holds at v, no point between u and v has a larger product (this half needs no convexity:
    take t = 1). If it fails at v, some point between has one, in a convex U.
    """
    u, v, t = instance["u"], instance["v"], instance["t"]
    if gain(u, v, base) <= 0:
        places = (between(u, v, t), v)
        relations = tuple(
            Relation(prod(w), "<=", prod(u), "PF, so no larger product") for w in places
        )
    else:
        relations = (Relation(prod(u), "<", better(u, v), "not PF, so a larger product"),)
    return Case(relations, {"positive": min(u) > 0 and min(v) > 0, "step": 0 <= t <= 1})


def residuals(power: int = 1, base: str = "u") -> dict[str, sympy.Expr]:
    """The directional derivative of sum log u_i from u to v, a term: (A.2) is (1)."""
    u, v, t = sympy.symbols("u v t", positive=True)
    slope = sympy.diff(sympy.log(u + t * (v - u)), t).subs(t, 0)
    return {
        "a term of (A.2) less that of (1)": slope - (v - u) / (u if base == "u" else v) ** power
    }


def concavity(sign: int = 1) -> tuple[sympy.Expr, list[sympy.Expr]]:
    """Minus the second derivative of log along the segment: w is the point at t, w > 0 for t in [0,
    1].
    """
    w, t = sympy.symbols("w t", positive=True)
    a = sympy.symbols("a", real=True)  # v - u
    u = sympy.symbols("u")
    along = -sign * sympy.diff(sympy.log(u + t * a), t, 2)
    return along.subs(u, w - t * a), [(a / w) ** 2]


def positive() -> st.SearchStrategy[Fraction]:
    """Positive fractions."""
    return st.builds(Fraction, st.integers(1, 60), st.integers(1, 12))


@st.composite
def segments(draw: st.DrawFn) -> dict[str, Any]:
    """Two positive points, of (1) with either sign; near its equality, where the halves meet, one
    time in two.
    """
    n = draw(st.integers(1, 4))
    u = [draw(positive()) for _ in range(n)]
    v = [draw(positive()) for _ in range(n)]
    if draw(st.booleans()):  # scale v onto sum v_i / u_i = n
        scale = n / sum((b / a for a, b in zip(u, v, strict=True)), Fraction(0))
        v = [b * scale for b in v]
    return {"u": u, "v": v, "t": draw(st.integers(0, 8).map(lambda k: Fraction(k, 8)))}


def check(effort: Effort, base: str = "u", power: int = 1, sign: int = 1) -> Evidence:
    """The certificates."""
    spots = ({"u": "2/3", "v": "5"}, {"u": "7", "v": "1/4"})
    points = ({"a": "-1", "w": "2", "t": "1/2"}, {"a": "3", "w": "1/5", "t": "1/3"})
    return Evidence.of(
        SymbolicZero(Call.of(residuals, power=power, base=base), "together", spots),
        DefiniteForm(Call.of(concavity, sign=sign), "together", points),
        extra=(explore(Call.of(case, base=base), Call.of(segments), effort, tolerance=0.0),),
    )


def trade(instance: dict[str, Any], strict: bool = True, factor: int | Fraction = 1) -> Case:
    """(2) in words, for two players: whoever gains the share p costs the other more than p
    (``strict``), or p.
    """
    u, v = instance["u"], instance["v"]
    ends = [[Fraction(a) for a in end] for end in instance["ends"]]
    first, second = (v[0] - u[0]) / u[0], (u[1] - v[1]) / u[1]
    fair = all(gain(u, end) <= 0 for end in ends)
    return Case(
        (
            Relation(
                factor * first,
                "<" if strict else "<=",
                second,
                "gain of player 1, loss of player 2",
            ),
        ),
        {"proportionally fair": fair, "player 1 gains": first > 0},
    )


def check_trade(effort: Effort, strict: bool = True) -> Evidence:
    """The certificates."""
    ends = [[Fraction(1), Fraction(3)], [Fraction(3), Fraction(1)]]
    shows = (
        "on the segment from (1, 3) to (3, 1), u* = (2, 2): at (3, 1) player 1 gains 50 %, "
        "player 2 loses 50 %"
    )
    point = {"u": [Fraction(2), Fraction(2)], "v": ends[1], "ends": ends}
    return Evidence.of(Counterexample.at(Call.of(trade, strict=strict), shows, **point))


@st.composite
def trades(draw: st.DrawFn) -> dict[str, Any]:
    """u* proportionally fair by construction: v within sum v_i / u_i <= 2."""
    u = [draw(positive()), draw(positive())]
    x = draw(st.integers(101, 199).map(lambda k: Fraction(k, 100)))
    y = (2 - x) * draw(st.integers(1, 20).map(lambda k: Fraction(k, 20)))
    v = [u[0] * x, u[1] * y]
    return {"u": u, "v": v, "ends": [u, v]}


def rest(factor: int | Fraction = 1) -> tuple[Any, list[Any]]:
    """Loss of player 2 less gain of player 1, where (1) has slack z >= 0: v_2/u_2 = 2 - v_1/u_1 -
    z.
    """
    u1, u2, v1 = sympy.symbols("u1 u2 v1", positive=True)
    z = sympy.symbols("z", nonnegative=True)
    v2 = u2 * (2 - v1 / u1 - z)
    return (u2 - v2) / u2 - sympy.Rational(str(factor)) * (v1 - u1) / u1, [z]


def check_trade_repaired(effort: Effort, factor: Fraction = Fraction(1)) -> Evidence:
    """The certificates."""
    run = explore(
        Call.of(trade, strict=False, factor=factor), Call.of(trades), effort, tolerance=0.0
    )
    spot = {"u1": "2", "u2": "1", "v1": "3", "z": "1/4"}
    return Evidence.of(
        DefiniteForm(Call.of(rest, factor=factor), "together", (spot,)), extra=(run,)
    )


def solution(ends: list[list[Fraction]]) -> list[Fraction]:
    """The Nash bargaining solution on a segment in the plane: a quadratic in t."""
    (a, b), (c, d) = ends
    x, y = c - a, d - b
    t = Fraction(0) if x * y == 0 else -(a * y + b * x) / (2 * x * y)
    best = max(
        (Fraction(0), Fraction(1), min(max(t, Fraction(0)), Fraction(1))),
        key=lambda s: (a + s * x) * (b + s * y),
    )
    return [a + best * x, b + best * y]


def monotone(instance: dict[str, Any], player: int = 1) -> Case:
    """Monotonicity on comprehensive hulls: U in V, and the best that the other player can have is
    the same in both.

    Both sets are {0 < w <= a point of a broken line}, given by its corners; the solution is on the
    line.
    """
    small, large = instance["small"], instance["large"]
    before, after = best_on(small), best_on(large)
    inside = all(below(corner, large) for corner in small)
    # by the slope of the product: no corner, hence no point of the convex set, is better
    nash = all(
        corner[0] / u[0] + corner[1] / u[1] <= 2
        for line, u in ((small, before), (large, after))
        for corner in line
    )
    return Case(
        (Relation(before[player], "<=", after[player], f"what player {player + 1} gets"),),
        {
            "U is in V": inside,
            "Nash": nash,
            "best": max(c[1 - player] for c in small) == max(c[1 - player] for c in large),
        },
    )


def best_on(line: list[list[Fraction]]) -> list[Fraction]:
    """The best point of a broken line, its pieces one by one."""
    return max((solution([a, b]) for a, b in zip(line, line[1:], strict=False)), key=prod)


def below(point: list[Fraction], line: list[list[Fraction]]) -> bool:
    """Whether the point lies under the broken line (corners from left to right)."""
    x, y = point
    for (a, b), (c, d) in zip(line, line[1:], strict=False):
        if a <= x <= c and a < c:
            return y <= b + (d - b) * (x - a) / (c - a)
    return any(x <= a and y <= b for a, b in line)


def check_axioms(effort: Effort, player: int = 1) -> Evidence:
    """The certificates."""
    small = [[Fraction(1, 10), Fraction(1)], [Fraction(1), Fraction(1, 10)]]
    large = [
        [Fraction(1, 10), Fraction(1)],
        [Fraction(9, 10), Fraction(1, 2)],
        [Fraction(1), Fraction(1, 10)],
    ]
    shows = (
        "u* = (11/20, 11/20) in U; in V, which holds U and more, it is (17/20, 17/32): "
        "player 2 gets less"
    )
    return Evidence.of(
        Counterexample.at(Call.of(monotone, player=player), shows, small=small, large=large)
    )


def existence(instance: dict[str, Any], sides: str = "both") -> Case:
    """A compact U that is not convex, in which no Nash solution is proportionally fair; two of
    them.
    """
    u, v = instance["u"], instance["v"]
    both = [gain(u, v), gain(v, u)][: 2 if sides == "both" else 1]
    return Case(
        (
            Relation(prod(u), "==", prod(v), "both are solutions"),
            *(Relation(0, "<", g, "not PF") for g in both),
        )
    )


def check_nonconvex(effort: Effort, v: int = 4) -> Evidence:
    """The certificates."""
    shows = "U = {(1, 4), (4, 1)}: both maximise the product, neither is proportionally fair"
    u = [Fraction(1), Fraction(4)]
    return Evidence.of(Witness.at(Call.of(existence), shows, u=u, v=[Fraction(v), Fraction(1)]))


CLAIMS = (
    Claim(
        id="propfair/proposition-2.3",
        number="Proposition 2.3",
        line=62,
        title=(
            "On a convex compact U the Nash bargaining solution is the proportionally fair "
            "point; PF maximises the product"
        ),
        printed=(
            r"For any convex compact set $\mathcal{U} \in \mathbb{R}_{++}^n$, a point $u \in "
            r"\mathcal{U}$ is the Nash bargaining solution iff it is proportionally fair. If "
            r"$\mathcal{U}$ is non-convex, then a PF solution, when exists, necessarily "
            r"maximizes the Nash product."
        ),
        statement=(
            r"$g(t) = \sum_i \log(u_i + t(v_i - u_i))$ is concave on $[0,1]$ with $g'(0) = "
            r"\sum_i (v_i - u_i)/u_i$. So $g'(0) \le 0$ gives $\prod v_i \le \prod u_i$, for any "
            r"$U$; and $g'(0) > 0$ gives a larger product on the segment, which a convex $U$ "
            r"contains."
        ),
        kind="equivalence",
        hypotheses=(("positive", "U in R^n_{++}, convex for 'only if'"), ("step", "t in [0, 1]")),
        scope="every n and U: the derivatives are those of one term of a sum",
        expected="holds",
        check=check,
        mutants=(
            Mutant(
                "divide by u",
                "(1) with u_i, the other point, in the denominator",
                partial(check, base="v"),
            ),
            Mutant(
                "squared",
                "the optimality condition (D.10) of the harmonic mean",
                partial(check, power=2),
            ),
            Mutant("log convex", "the second derivative's sign turned", partial(check, sign=-1)),
        ),
    ),
    Claim(
        id="propfair/nonconvex-nash",
        number="Section 2, after Proposition 2.3",
        line=64,
        title="Without convexity the Nash solution need not be unique, nor proportionally fair",
        printed=(
            "Nash bargaining solution still exists if U is compact, but it might not be unique. "
            "Additionally, it may not agree with the PF solution."
        ),
        statement=r"$U = \{(1,4), (4,1)\}$: both points maximise $u_1 u_2$, and (1) fails at "
        r"either, for the other.",
        kind="existence",
        hypotheses=(),
        scope="as stated",
        expected="holds",
        check=check_nonconvex,
        mutants=(
            Mutant(
                "(5, 1)",
                "the second point moved: it alone is the solution",
                partial(check_nonconvex, v=5),
            ),
        ),
    ),
    Claim(
        id="propfair/eq-2",
        number="Eq. (2)",
        line=50,
        title="For two players at the PF point, a gain of p percent costs the other more than p "
        "percent",
        printed=(
            "if player 1 gains p percentage more in terms of utility, then player 2 will lose a "
            "larger percentage than p"
        ),
        statement=(
            r"$(v_1 - u_1^*)/u_1^* = p > 0$ implies $(u_2^* - v_2)/u_2^* > p$, where $u^*$ is "
            r"proportionally fair."
        ),
        kind="implication",
        hypotheses=(
            ("proportionally fair", "u* is, in the convex hull of the given ends"),
            ("player 1 gains", "p > 0"),
        ),
        scope="as stated",
        expected="holds-repaired",
        check=check_trade,
        mutants=(Mutant("at least", "a loss of at least p", partial(check_trade, strict=False)),),
        severity="remark",
        erratum="(2) is an inequality that may hold with equality: write 'at least p' for "
        "'larger than p'.",
    ),
    Claim(
        id="propfair/eq-2/repaired",
        number="Eq. (2)",
        line=50,
        title="For two players at the PF point, a gain of p percent costs the other at least p "
        "percent",
        printed=(
            "if player 1 gains p percentage more in terms of utility, then player 2 will lose a "
            "larger percentage than p"
        ),
        statement=(
            r"$(v_1 - u_1^*)/u_1^* = p > 0$ implies $(u_2^* - v_2)/u_2^* \ge p$, where $u^*$ is "
            r"proportionally fair."
        ),
        kind="implication",
        hypotheses=(
            ("proportionally fair", "u* is, for the v in question"),
            ("player 1 gains", "p > 0"),
        ),
        scope="as stated",
        expected="holds",
        check=check_trade_repaired,
        mutants=(
            Mutant(
                "11/10", "a loss of 1.1 p", partial(check_trade_repaired, factor=Fraction(11, 10))
            ),
        ),
    ),
    Claim(
        id="propfair/nash-axioms",
        number="Section 2, after Definition 2.2",
        line=60,
        title=(
            "The Nash bargaining solution is characterised by Pareto optimality, symmetry, scale "
            "equivariance, monotonicity"
        ),
        printed=(
            "Axiomatic characterizations of the Nash bargaining solution are well-known, for "
            "instance by the following four axioms: Pareto optimality, symmetry, scale "
            "equivariance and monotonicity"
        ),
        statement=(
            r"(necessary for it) If $U \subset V$ and the largest $u_1$ is the same in both, "
            r"then player 2 gets no less from the Nash solution of $V$ than from that of $U$."
        ),
        kind="implication",
        hypotheses=(
            ("U is in V", "comprehensive convex sets, given by corners"),
            ("Nash", "the two points are the Nash solutions"),
            ("best", "the same for player 1"),
        ),
        scope="n = 2",
        expected="refuted",
        check=check_axioms,
        mutants=(
            Mutant("player 1", "player 1, whose share did grow", partial(check_axioms, player=0)),
        ),
        reading=(
            "Monotonicity as the term is used in bargaining: individual monotonicity (Kalai and "
            "Smorodinsky, 1975). Were it 'contraction' (independence of irrelevant "
            "alternatives), the sentence would be Nash's theorem."
        ),
        severity="remark",
        erratum=(
            "Nash's fourth axiom is independence of irrelevant alternatives. With monotonicity "
            "in its place the other three characterise the solution of Kalai and Smorodinsky "
            "(for two players), and Nash's violates it."
        ),
        whose="reading",
    ),
)
