"""Section 4.1: A_s is convex iff -s'/s'' is."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy
from flint import arb

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, DefiniteForm, SymbolicZero, Witness
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.exact import ball

JETS = sympy.symbols("s1:6", positive=True)
"""s', s'', ..., the fifth derivative at one point, as independent numbers."""


def along(expression: Any) -> Any:
    """d/dt of an expression in the derivatives of s."""
    return sum(sympy.diff(expression, a) * b for a, b in zip(JETS, JETS[1:], strict=False))


def residuals(inverted: bool = False) -> dict[str, Any]:
    """The Hessian of A_s along v, and what -s'/s'' has to do with it.

    With s(A) = (1/n) sum s(f_i): A'' = ((1/n) sum s''_i v_i^2 - S'' A'^2)/S', A' = (1/n) sum s'_i
    v_i / S'. By Cauchy-Schwarz it is >= 0 for all v iff (1/n) sum r(f_i) <= r(A), r = s'^2/s'': iff
    r is concave as a function of y = s(t) (for all n >= 2 and f). And d^2 r/dy^2 = (s'/s'')''/s'.
    """
    s1, s2 = JETS[:2]
    r, h = s1**2 / s2, (s2 / s1 if inverted else s1 / s2)
    a, b, c, d, S, T, v, w, e = sympy.symbols("a b c d S T v w e", positive=True)
    first = (a * v + b * w) / (2 * S)
    second = ((c * v**2 + d * w**2) / 2 - T * first**2) / S
    moved = first * e + second * e**2 / 2
    left = S * moved + T * moved**2 / 2
    right = ((a * v * e + c * v**2 * e**2 / 2) + (b * w * e + d * w**2 * e**2 / 2)) / 2
    gap = sympy.expand(left - right)
    return {
        "d^2 r/dy^2": along(along(r) / s1) / s1 - along(along(h)) / s1,
        "A' (n = 2)": gap.coeff(e, 1),
        "A'' (n = 2)": gap.coeff(e, 2),
    }


def schwarz(sign: int = 1) -> tuple[Any, list[Any]]:
    """(sum c v^2)(sum a^2/c) - (sum a v)^2 >= 0, 0 at v = a/c: the largest quotient; three
    clients.
    """
    a, c, v = (sympy.symbols(f"{x}1:4", positive=True) for x in "acv")
    gap = sum(p * x**2 for p, x in zip(c, v, strict=True)) * sum(
        x**2 / p for p, x in zip(c, a, strict=True)
    )
    gap -= sign * sum(p * x for p, x in zip(a, v, strict=True)) ** 2
    terms = [
        (c[i] * v[i] * a[j] - c[j] * v[j] * a[i]) ** 2 / (c[i] * c[j])
        for i in range(3)
        for j in range(i + 1, 3)
    ]
    return gap, terms


MEANS = {
    # s(t), its inverse; increasing and convex on t > 0, and whether -s'/s'' is convex at the points
    # looked at
    "gauss": (lambda t: (t * t).exp(), lambda y: y.log().sqrt()),
    "square": (lambda t: t * t, lambda y: y.sqrt()),
    "log": (lambda t: t.log(), lambda y: y.exp()),
    "exp": (lambda t: t.exp(), lambda y: y.log()),
}


def mean(name: str, f: list[Fraction]) -> arb:
    """A_s of positive numbers."""
    s, inverse = MEANS[name]
    return inverse(sum((s(ball(x)) for x in f), arb(0)) / len(f))


def midpoint(instance: dict[str, Any], name: str) -> Case:
    """A_s at the midpoint of f and g against the mean of A_s(f), A_s(g)."""
    f, g = instance["f"], instance["g"]
    middle = [(a + b) / 2 for a, b in zip(f, g, strict=True)]
    relation = Relation(
        mean(name, middle), "<=", (mean(name, f) + mean(name, g)) / 2, f"midpoint, {name}"
    )
    return Case((relation,))


def violated(instance: dict[str, Any], name: str) -> Case:
    """The midpoint inequality turned round."""
    relation = midpoint(instance, name).relations[0]
    return Case((Relation(relation.right, "<", relation.left, "not convex"),))


NOT = {"f": [Fraction(1, 2), Fraction(3, 2)], "g": [Fraction(13, 4), Fraction(15, 4)]}


def check(effort: Effort, inverted: bool = False, sign: int = 1) -> Evidence:
    """The certificates."""
    spot = {f"s{k}": str(k + 1) for k in range(1, 6)} | {
        x: str(k + 2) for k, x in enumerate("abcdSTvw")
    }
    point = {f"{x}{k}": str(3 * k + len(x)) for x in "ac" for k in (1, 2, 3)} | {
        "v1": "2",
        "v2": "1",
        "v3": "5",
    }
    shows = "s = exp(t^2), -s'/s'' = -t/(1+2t^2) concave for t^2 > 3/2: A_s is not convex there"
    return Evidence.of(
        SymbolicZero(Call.of(residuals, inverted=inverted), "together", (spot,)),
        DefiniteForm(Call.of(schwarz, sign=sign), "together", (point,)),
        extra=(Witness.at(Call.of(violated, name="gauss"), shows, **NOT),),
    )


def check_dropped(effort: Effort, name: str = "log") -> Evidence:
    """s = log t: -s'/s'' = t is convex, A_s is the geometric mean."""
    shows = "s = log t, not convex, -s'/s'' = t: A_s(1, 4) = A_s(4, 1) = 2, but A_s(5/2, 5/2) = 5/2"
    data = {"f": [Fraction(1), Fraction(4)], "g": [Fraction(4), Fraction(1)]}
    return Evidence.of(Counterexample.at(Call.of(midpoint, name=name), shows, **data))


CLAIMS = (
    Claim(
        id="propfair/convexity-criterion",
        number="Section 4.1",
        line=223,
        title="For s increasing and convex, the mean A_s is convex iff -s'/s'' is",
        printed=(
            "let s be (strictly) increasing, convex and thrice differentiable. Then, the "
            "generalized mean function A_s is convex iff -s'/s'' is convex (Theorem 1 of [31])"
        ),
        statement=(
            r"For $s' > 0$, $s'' > 0$: the Hessian of $A_s$ is positive semidefinite at $f$ iff "
            r"$\frac1n\sum r(f_i) \le r(A_s(f))$, $r = s'^2/s''$; that is concavity of $r$ in $y "
            r"= s(t)$, and $d^2 r/dy^2 = (s'/s'')''/s'$."
        ),
        kind="equivalence",
        hypotheses=(
            (
                "strict",
                "s'' > 0, without which -s'/s'' is undefined; n >= 2; four derivatives for "
                "(s'/s'')''",
            ),
        ),
        scope="the Hessian for n = 2, Cauchy-Schwarz for n = 3: both look the same for any n",
        expected="holds",
        check=check,
        mutants=(
            Mutant("s''/s'", "the ratio turned over", partial(check, inverted=True)),
            Mutant("sign", "plus in Cauchy-Schwarz", partial(check, sign=-1)),
        ),
        reading=(
            "s'' > 0. For the paper's own s(t) = t, s'' = 0 and the ratio is undefined, while "
            "A_s is convex. With three derivatives only, read 'convex' of -s'/s'' without "
            "(s'/s'')''."
        ),
    ),
    Claim(
        id="propfair/convexity-criterion-hypothesis",
        number="Section 4.1",
        line=223,
        title="(ours) The hypothesis that s is convex can be dropped from the criterion",
        printed="let s be (strictly) increasing, convex and thrice differentiable",
        statement=r"For $s' > 0$, $s'' \ne 0$ and $-s'/s''$ convex, $A_s$ is convex.",
        kind="implication",
        hypotheses=(),
        scope="n = 2",
        expected="refuted",
        check=check_dropped,
        mutants=(Mutant("s = exp", "a convex s", partial(check_dropped, name="exp")),),
        erratum="None: this is why the hypothesis is there.",
        whose="ours",
    ),
)
