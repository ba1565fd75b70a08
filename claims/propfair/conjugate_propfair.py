"""(C.15)-(C.22): the conjugate of PropFair's mean, and the one on f >= 0 that the paper leaves
uncomputed.
"""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import Any

from hypothesis import strategies as st

from fairfl.claims.forms import CLASSICAL, Case, Claim, Relation, drawn, proof


def case(instance: dict[str, Any], threshold: Fraction = Fraction(1)) -> Case:
    """(C.21) at one lambda, in fractions, n-th powers for roots.

    Inside: lambda.u >= G at any u >= 0, so no f beats M (sum lambda - 1), which f = M attains.
    Positive but outside: u = c/(n lambda) gains, as prod n lambda < 1. With some lambda_i <= 0: u_i
    = s^n there, the others 1, gains without bound: G - lambda.u >= s - sum of the other lambda.
    """
    x, u = instance["lambda"], instance["u"]
    n = len(x)
    product = prod(n * v for v in x)
    if min(x) > 0:
        if product >= threshold:
            dot = sum((a * b for a, b in zip(x, u, strict=True)), Fraction(0))
            return Case(
                (Relation(prod(u), "<=", dot**n, "inside: G <= lambda.u", float(dot**n) or 1.0),)
            )
        gained = Fraction(1, 10**12)  # a margin of 0 would pass a test of <
        return Case((Relation(gained, "<=", 1 - product, "outside: the ray gains"),))
    low = x.index(min(x))
    others = sum((v for i, v in enumerate(x) if i != low), Fraction(0))
    size = 1000 + abs(others)
    gain = size - x[low] * size**n - others
    return Case((Relation(1000, "<=", gain, "not positive: unbounded"),))


@st.composite
def weights(draw: st.DrawFn) -> dict[str, Any]:
    """Weights of any sign; or positive ones near prod n lambda = 1, with the utilities 1/lambda of
    equality.
    """
    n = draw(st.integers(1, 3))
    if draw(st.booleans()):
        x = [Fraction(draw(st.integers(1, 12)), 4) for _ in range(n)]
        near = draw(st.sampled_from([Fraction(999, 1000), Fraction(1), Fraction(1001, 1000)]))
        x[-1] = near / (n * prod(n * v for v in x[:-1]))
        return {"lambda": x, "u": [1 / v for v in x]}
    x = [Fraction(draw(st.integers(-2, 12)), 4) for _ in range(n)]
    return {"lambda": x, "u": [Fraction(draw(st.integers(0, 12)), 4) for _ in range(n)]}


def closed(instance: dict[str, Any], capped: bool = True) -> Case:
    """(C.22) = M (sum v - 1), v = max(lambda, c) with prod n v_i = 1, c = min v; by a primal and a
    dual point in fractions.

    Primal: u_i = M c/v_i <= M, so f_i = M - u_i >= 0, and the geometric mean of u is n M c, as prod
    n v = 1. Dual: for 0 <= f <= M, lambda.f <= v.f, and (C.21) at v.
    """
    v, c = instance["v"], min(instance["v"])
    n, M = len(v), instance["M"]
    x = [a - d if a == c else a for a, d in zip(v, instance["lower"], strict=True)]
    u = [M * c / (a if capped else max(b, Fraction(1, 10**9))) for a, b in zip(v, x, strict=True)]
    G = n * M * c
    value = sum((a * (M - b) for a, b in zip(x, u, strict=True)), Fraction(0)) + G - M
    return Case(
        (
            Relation(G**n, "==", prod(u), "G is the geometric mean", float(G**n)),
            Relation(value, "==", M * (sum(v, Fraction(0)) - 1), "primal and dual values"),
            Relation(0, "<=", M - max(u), "f >= 0"),
        ),
        {"level": prod(n * a for a in v) == 1 and min(v) > 0, "below": min(instance["lower"]) >= 0},
    )


@st.composite
def levels(draw: st.DrawFn) -> dict[str, Any]:
    """v > 0 with prod n v = 1, the smallest perhaps twice, and how far lambda lies below it there
    (also below 0).
    """
    n = draw(st.integers(1, 4))
    w = [Fraction(draw(st.integers(1, 9)), draw(st.integers(1, 4))) for _ in range(n)]
    w[-1] = 1 / (prod(w[:-1]) * n**n)
    lower = [Fraction(draw(st.integers(0, 8)), 4) for _ in range(n)]
    return {"v": w, "lower": lower, "M": Fraction(draw(st.integers(1, 6)), 2)}


CLAIMS = (
    Claim(
        "propfair/conjugate-propfair",
        967,
        "The conjugate of PropFair's mean: M (sum lambda - 1) where prod n lambda_i >= 1, "
        "infinite elsewhere",
        number="(C.21)",
        printed=r"$A_s^*(\lambda) = M(\lambda^\top \mathbf{1} - 1)$, if $\lambda \geq \mathbf{0}$ "
        r"and $\prod_{i=1}^n (n\lambda_i) \geq 1$, $\infty$ otherwise",
        statement=r"On $f \le M$: with $u = M - f$ the maximand is $M(\sum\lambda_i - 1) + G(u) - "
        r"\lambda^\top u$; $\lambda^\top u \ge (\prod n\lambda_i)^{1/n} G(u)$ by AM-GM. Outside, "
        r"$u_i = c/(n\lambda_i)$, or $u_i \to \infty$ where $\lambda_i \le 0$, is unbounded.",
        kind="identity",
        scope="as stated, n >= 1",
        check=proof(
            "geometric.v",
            "inside beyond signed",
            drawn(case, weights, tolerance=0.0),
            axioms=CLASSICAL,
        ),
        mutants={
            "prod >= 0.999": ("a larger domain", {"threshold": Fraction(999, 1000)}),
            "prod >= 1.001": ("a smaller domain", {"threshold": Fraction(1001, 1000)}),
        },
        gap="'M_s^*' should be A_s^*, and its domain is closed because every conjugate's sublevel "
        "sets are; the statement survives: both are slips of the pen.",
    ),
    Claim(
        "propfair/eq-C.22",
        971,
        "(ours) On 0 <= f <= M the conjugate is M (sum v - 1), v = max(lambda, c), finite for "
        "every lambda",
        number="(C.22)",
        printed=r"$\bar{A}_s^*(\lambda) = \inf_{\lambda \leq \gamma} A_s^*(\gamma)$. However, the "
        r"formula for $A_s^*$ suffices for our purpose so we need not compute the above "
        r"explicitly.",
        statement=r"$\bar A^*(\lambda) = M(\sum_i v_i - 1)$, $v = \lambda$ where $\lambda > 0$, "
        r"$\prod n\lambda_i \ge 1$, and else $v = \max(\lambda, c)$ with $c > 0$ such that $\prod "
        r"n v_i = 1$; attained at $f_i = M(1 - c/v_i)$.",
        kind="identity",
        hypotheses={"level": "prod n v_i = 1", "below": "lambda = v, or below c where v = c"},
        scope="as stated, n >= 1",
        whose="ours",
        check=proof(
            "geometric.v",
            "topped capped raised",
            drawn(closed, levels, tolerance=0.0),
            axioms=CLASSICAL,
        ),
        mutants={"lambda for v": ("f_i = M (1 - c/lambda_i)", {"capped": False})},
        notes="In the first case f = M attains it, and (C.21) is the bound. "
        "theory.aggregation.PropFair computes it.",
    ),
)
