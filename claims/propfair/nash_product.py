"""The Nash product: (4), and the product of losses (section 3)."""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import Any

import sympy

from fairfl.claims.forms import Case, Claim, Relation, definite, every, identity, witness


def tangent_line(tangent: int = 1, mean: str = "arithmetic") -> dict[str, sympy.Expr]:
    """The tangent of log at 1: h(x) = x - 1 - log x has h(1) = 0 and h' = (x-1)/x; and sum
    (u_i/mean - 1) = 0.
    """
    x, n, total, inverse = sympy.symbols("x n S R", positive=True)  # R: sum of 1/u_i
    middle = total / n if mean == "arithmetic" else n / inverse
    h = tangent * x - 1 - sympy.log(x)
    return {
        "h(1)": h.subs(x, 1),
        "h'": sympy.diff(h, x) - (x - 1) / x,
        "sum of u_i/mean - 1": total / middle - n,
    }


def slope() -> tuple[sympy.Expr, list[sympy.Expr]]:
    """(x-1) h'(x) >= 0, and 0 at x = 1 alone: h falls before 1 and rises after it."""
    x = sympy.symbols("x", positive=True)
    return (x - 1) * (1 - 1 / x), [(x - 1) ** 2 / x]


def schur(power: int = 1) -> dict[str, sympy.Expr]:
    """Schur's condition for the pair f_i, f_j of P = f_i f_j R, R the product of the others."""
    f, g, rest = sympy.symbols("f g R", nonnegative=True)
    product = (f * g) ** power * rest
    schur = (f - g) * (sympy.diff(product, f) - sympy.diff(product, g))
    return {"Schur's condition": schur + (f - g) ** 2 * rest}


def moved(sign: int = 1) -> tuple[sympy.Expr, list[sympy.Expr]]:
    """Decrease of the product when c + d, c - d move apart by h > 0 at one sum: R h (2d + h)."""
    c, d, h, rest = sympy.symbols("c d h R", nonnegative=True)
    loss = rest * ((c + d) * (c - d) - (c + d + h) * (c - d - h))
    return sign * loss, [2 * rest * d * h, rest * h**2]


def printed(instance: dict[str, Any]) -> Case:
    """The printed pair."""
    a, b = instance["unequal"], instance["equal"]
    return Case(
        (
            Relation(prod(a), "<", prod(b), "products"),
            Relation(sum(a), "==", sum(b), "the same sum"),
            Relation(b[1] - b[0], "<", a[1] - a[0], "disparity"),
        )
    )


CLAIMS = (
    Claim(
        "propfair/eq-4",
        68,
        "The mean log-utility is at most the log of the mean utility, with equality iff all are "
        "equal",
        printed=r"$\frac{1}{n} \log \Pi(u) \leq \log \frac{\sum_i u_i}{n}$, where the equality "
        r"holds iff $u_1 = \dots = u_n$.",
        statement=r"With $x_i = u_i/\bar u$: $h(x) = x - 1 - \log x$ has $h(1) = 0$ and "
        r"$(x-1)h'(x) = (x-1)^2/x$, so $\log x_i \le x_i - 1$ with equality iff $x_i = 1$; the "
        r"sum over $i$ is (4), as $\sum (x_i - 1) = 0$.",
        kind="bound",
        hypotheses={"positive": "u_i > 0"},
        scope="every n",
        check=every(identity(tangent_line), definite(slope)),
        mutants={
            "harmonic mean": ("the harmonic mean on the right", {"mean": "harmonic"}),
            "slope 2": ("log x <= 2x - 1, no tangent", {"tangent": 2}),
        },
        notes="The text concludes that a large product means a large sum. A maximiser of the "
        "product need not maximise the sum: on the segment from (1, 9) to (3, 1) the sum is 10 at "
        "most, the product is largest where it is 65/8.",
    ),
    Claim(
        "propfair/product-of-losses",
        95,
        "Minimising the product of the losses rewards disparity",
        number="Section 3",
        printed=r"simply minimizing $\prod_i f_i$ ... will encourage the client losses to be even "
        r"more disparate. For instance, $(f_1, f_2) = (0, 1)$ has smaller product than $(f_1, "
        r"f_2) = (\frac{1}{2}, \frac{1}{2})$.",
        statement=r"$\prod f_i$ is Schur-concave on $f \ge 0$: $(f_i - f_j)(\partial_i - "
        r"\partial_j)\prod f = -(f_i - f_j)^2 \prod_{k \ne i,j} f_k$; so moving two losses apart, "
        r"their sum kept, never raises it.",
        kind="implication",
        hypotheses={"losses": "f_i >= 0; the sum of the two is kept"},
        scope="every n",
        check=every(
            identity(schur),
            definite(moved),
            witness(
                printed,
                "(0, 1) against (1/2, 1/2)",
                {"unequal": [Fraction(0), Fraction(1)], "equal": [Fraction(1, 2)] * 2},
            ),
        ),
        mutants={
            "squares": ("the product of the squares in the identity", {"power": 2}),
            "lowers": ("moving apart raises the product", {"sign": -1}),
            "(0, 2)": (
                "the printed pair with another sum",
                {"unequal": [Fraction(0), Fraction(2)]},
            ),
        },
        reading="'Disparate' compares losses of the same sum; otherwise f = 0 for all has the "
        "smallest product of all.",
    ),
)
