"""Equation (3): the Gini index by rank is half the relative mean absolute difference."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy
from hypothesis import strategies as st

from fairfl.claims.forms import Case, Claim, Relation, drawn, identity, proof


def residuals(offset: int = -1, power: int = 2) -> dict[str, Any]:
    """What is left of (3) against its definition, coefficient by coefficient of the descending
    values phi_i.

    n^2 mu I = sum_i (n - (2i-1)) phi_i, while sum_{i<j} (phi_i - phi_j) has phi_i n-i times with +,
    i-1 times with -.
    """
    n, i = sympy.symbols("n i", positive=True, integer=True)
    total: Any = sympy.summation(2 * i + offset, (i, 1, n))
    return {
        "coefficient of phi_i": (n ** (power - 1) - (2 * i + offset)) - ((n - i) - (i - 1)),
        "sum of the coefficients of (4), which is n^2": total - n**power,
    }


def case(instance: dict[str, Any], offset: int = -1, span: Fraction = Fraction(1)) -> Case:
    """(3) in fractions against pairs, and its range, for one vector of utilities."""
    u = instance["u"]
    n, total = len(u), sum(u, Fraction(0))
    ranked = enumerate(sorted(u, reverse=True), start=1)
    index = 1 - Fraction(1, n**2) * sum((2 * i + offset) * v for i, v in ranked) / (total / n)
    pairs = sum((abs(a - b) for a in u for b in u), Fraction(0)) / (2 * n * total)
    relations = (
        Relation(index, "==", pairs, "half the relative mean absolute difference"),
        Relation(0, "<=", index, "at least 0"),
        Relation(index, "<=", 1 - span / n, "at most 1 - 1/n"),
    )
    return Case(relations, {"utilities": min(u) >= 0 and total > 0})


def utilities() -> st.SearchStrategy[dict[str, Any]]:
    """Non-negative vectors, one value positive, ties and zeros among them."""
    one = st.integers(0, 12).map(lambda k: Fraction(k, 4))
    return st.lists(one, min_size=1, max_size=6).filter(any).map(lambda u: {"u": u})


CLAIMS = (
    Claim(
        "pffl/eq-3",
        50,
        "The Gini index is one less the rank-weighted sum over the mean, and 0 when all values are "
        "equal",
        number="Eqs. (3), (4)",
        printed=r"$I(\mathbf{u}) = 1 - \frac{1}{n^2} \left( \frac{\sum_1^n (2i - 1) "
        r"\phi(\mathbf{u})_i}{\mu(\mathbf{u})} \right)$, $\phi$ descending; all elements equal: "
        r"$I(\mathbf{u}) = 1 - \mu/\mu = 0$.",
        statement=r"For $u \ge 0$, $u \ne 0$: $1 - \frac{1}{n^2 \mu}\sum_{i=1}^n (2i-1) u_{[i]} = "
        r"\frac{1}{2 n^2 \mu} \sum_{i,j} |u_i - u_j|$, where $u_{[1]} \ge \dots \ge u_{[n]}$; "
        r"hence $0 \le I \le 1 - 1/n$, and $I = 0$ iff all are equal.",
        kind="identity",
        hypotheses={
            "utilities": "u_i >= 0, and not all are 0 (the paper says any vector; mu = 0 divides "
            "by zero)"
        },
        scope="every n",
        check=proof(
            "gini.v",
            "by_rank",
            identity(residuals, method="simplify"),
            drawn(case, utilities, tolerance=0.0),
        ),
        mutants={
            "2i for 2i-1": ("the first n even numbers for the odd ones", {"offset": 0}),
            "below 1 - 1.01/n": ("a smaller range", {"span": Fraction(101, 100)}),
            "n for n^2": ("the sum of the odd numbers is called n", {"power": 1}),
        },
        reading="The paper admits any vector in R^n. Where the mean is negative, so is the index "
        "of differing values, and for a mean of 0 it is undefined; the verdict is for non-negative "
        "utilities.",
    ),
)
