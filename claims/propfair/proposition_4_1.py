"""Proposition 4.1: PropFair's mean as a maximum of weighted sums."""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import Any

import sympy
from hypothesis import strategies as st

from fairfl.claims.forms import Case, Claim, Relation, counterexample, drawn, every, identity


def attained(instance: dict[str, Any]) -> Case:
    """The maximum in (17) is attained, where some but not all f_i = M: then A(f) = M, and the
    maximand is M - lambda.u.

    It equals M only for lambda_i = 0 wherever u_i = M - f_i > 0, and then prod n lambda_i = 0.
    """
    u = [instance["M"] - v for v in instance["f"]]
    forced = [Fraction(0) if v > 0 else Fraction(1, len(u)) for v in u]
    product = prod(len(u) * v for v in forced)
    premises = {"range": min(u) >= 0, "some f_i = M": min(u) == 0}
    return Case(
        (Relation(1, "<=", product, "the constraint, at every lambda that attains"),), premises
    )


def residuals(power: int = 1, bound: Any = 1, always: bool = False) -> dict[str, Any]:
    """At lambda_i = G/(n u_i): the maximand is M - G = A(f), and prod n lambda_i = 1. n = 3, u_i =
    w_i^3.

    ``bound`` is the product's least value, met there; ``always``: at any lambda that meets it.
    """
    M = sympy.symbols("M", positive=True)
    w = sympy.symbols("w1:4", positive=True)
    G = sympy.prod(w)
    least = sympy.Rational(str(bound))
    lam = [sympy.cbrt(least) * G / (3 * x ** (3 * power)) for x in w]
    if always:
        lam = [w[0] / 3, w[1] / 3, least / (3 * w[0] * w[1])]
    value = sum(a * (M - x**3) for a, x in zip(lam, w, strict=True)) - M * (sum(lam) - 1)
    return {"value": value - (M - G), "product": sympy.prod([3 * a for a in lam]) - least}


def case(instance: dict[str, Any], always: bool = False, bound: Fraction = Fraction(1)) -> Case:
    """(C.25) in fractions, roots by powers: (lambda.u)^n >= prod n lambda prod u, equality iff
    lambda u is constant.
    """
    x, u = instance["lambda"], instance["u"]
    n = len(x)
    dot = sum((a * b for a, b in zip(x, u, strict=True)), Fraction(0)) ** n
    right = prod(n * a for a in x) * prod(u)
    equal = len({a * b for a, b in zip(x, u, strict=True)}) == 1
    premises = {"range": min(u) > 0, "feasible": min(x) > 0 and prod(n * a for a in x) >= bound}
    return Case(
        (
            Relation(prod(u), "<=", dot, "lambda.u >= G", float(dot)),
            Relation(right, "==" if equal or always else "!=", dot, "equality iff", float(dot)),
        ),
        premises,
    )


@st.composite
def weights(draw: st.DrawFn) -> dict[str, Any]:
    """Weights, with prod n lambda_i = 1 and just below 1 among them; utilities, those with lambda u
    constant among them.
    """
    n = draw(st.integers(1, 4))
    u = [Fraction(draw(st.integers(1, 12)), draw(st.integers(1, 3))) for _ in range(n)]
    x = [Fraction(draw(st.integers(1, 9)), 4) for _ in range(n)]
    if draw(st.booleans()):
        x = [1 / v for v in u]
    product = prod(n * v for v in x)
    if product < 1 or draw(st.booleans()):
        factor = draw(st.sampled_from([Fraction(999, 1000), Fraction(1), Fraction(3, 2)])) / product
        if draw(st.booleans()) or factor < 1:
            x[-1] *= factor
        else:
            x = [v * factor for v in x]
    return {"lambda": x, "u": u}


CLAIMS = (
    Claim(
        "propfair/proposition-4.1",
        250,
        "PropFair's mean is a maximum of weighted sums, attained at weights proportional to 1/(M "
        "- f_i)",
        printed=r"$A_s(f) = \max_{\lambda \geq \mathbf{0}, \prod_i (n\lambda_i) \geq 1} "
        r"\lambda^\top f - M(\lambda^\top \mathbf{1} - 1)$. Solving the inner maximization of "
        r"(14) gives $\prod_{i=1}^n (n\lambda_i) = 1$ and $\lambda_i \propto \frac{1}{M-f_i}$.",
        statement=r"(17) for $f \le M$, the domain of (C.16), with a maximum that is attained.",
        kind="identity",
        hypotheses={"range": "f <= M", "some f_i = M": "and f differs from (M, ..., M)"},
        scope="n = 2",
        severity="step",
        check=counterexample(
            attained,
            "M = 1, f = (1, 0): A = 1, the maximand is 1 - lambda_2, and lambda_2 = 0 is not "
            "allowed: no maximum",
            {"M": Fraction(1), "f": [Fraction(1), Fraction(0)]},
        ),
        mutants={"all f_i = M": ("where every lambda attains", {"f": [Fraction(1)] * 2})},
        erratum="Suppose f_i < M. Where some f_i = M (not all) the supremum M is not attained, "
        "and 1/(M - f_i) undefined; where all are, every feasible lambda attains, and prod n "
        "lambda_i = 1 does not follow.",
        repaired=dict(
            title="For f < M, PropFair's mean is a maximum of weighted sums, attained at lambda = "
            "G/(n (M - f_i)) alone",
            statement=r"For $f_i < M$ (17) holds, attained only at $\lambda_i = G/(n(M - f_i))$, "
            r"$G = \prod(M-f_i)^{1/n}$, where $\prod n\lambda_i = 1$: $\lambda^\top u \ge "
            r"n(\prod\lambda_i)^{1/n} G \ge G$, with equality iff $\lambda_i u_i$ are equal and "
            r"the product is 1.",
            hypotheses={"range": "f < M", "feasible": "lambda > 0, prod n lambda_i >= 1"},
            scope="identities for n = 3, whose sums look the same for any n; drawn, n <= 4",
            size="n = 3",
            check=every(identity(residuals), extra=[drawn(case, weights, tolerance=0.0)]),
            mutants={
                "1/u^2": ("lambda proportional to 1/(M - f_i)^2", {"power": 2}),
                "prod >= 1/2": ("a larger set of weights", {"bound": Fraction(1, 2)}),
                "always equal": ("lambda.u = G at every lambda with product 1", {"always": True}),
            },
            rests_on=("propfair/eq-4",),
        ),
    ),
)
