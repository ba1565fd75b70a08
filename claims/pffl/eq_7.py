"""Equation (7): arithmetic weights, their index, and what they depend on."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from fairfl.claims.forms import Case, Claim, Relation, counterexample, identity


def weight(p1: Any, d: Any, k: Any, n: Any) -> Any:
    """(7), divided by its sum."""
    return (p1 + (k - 1) * d) / (n * p1 + n * (n - 1) * d / 2)


def no_gap(instance: dict[str, Any], shift: int = 1) -> Case:
    """The weights 2(k + shift)/(n(n+1)), k = 1..n, sum to one."""
    n = instance["n"]
    total = sum(Fraction(2 * (k + shift), n * (n + 1)) for k in range(1, n + 1))
    return Case((Relation(total, "==", 1, "sum"),))


def residuals(shift: int = 0) -> dict[str, Any]:
    """Of (7): the Gini weights, and those without the first gap, k = 1..n."""
    n, k = sympy.symbols("n k", positive=True, integer=True)
    p1, d = sympy.symbols("p1 d", positive=True)
    total: Any = sympy.summation(2 * (k + shift) / (n * (n + 1)), (k, 1, n))
    whole: Any = sympy.summation(weight(p1, d, k, n), (k, 1, n))
    return {
        "sum of (7)": whole - 1,
        "p_1 = 1, d = 2: (2k-1)/n^2": weight(1, 2, k, n) - (2 * k - 1) / n**2,
        "p_1 = d: 2k/(n(n+1))": weight(2, 2, k, n) - 2 * (k + shift) / (n * (n + 1)),
        "sum": total - 1,
    }


CLAIMS = (
    Claim(
        "pffl/eq-7",
        86,
        "Arithmetic weights without the first gap are 2(k+1)/(n(n+1))",
        number="Eq. (7), Section 3.2.1",
        printed=r"$p_k = p_1 + (k - 1)d$. The original GSF [...] is equivalent to such a series "
        r"with $p_1 = 1, d = 2$. [...] If this gap between the first element and the rest is "
        r"removed then the weight of an element depends entirely on its position and the overall "
        r"number of values $p_k = 2(k + 1) \times 1/n(n+1)$.",
        statement=r"The weights $p_k = 2(k+1)/(n(n+1))$, $k = 1, \dots, n$, sum to one.",
        kind="identity",
        scope="every n (the sum is (n+3)/(n+1))",
        severity="constant",
        check=counterexample(
            no_gap, "one client: its weight is 2, not 1; for n clients (n+3)/(n+1)", {"n": 1}
        ),
        mutants={"k for k+1": ("the weights 2k/(n(n+1)), which sum to one", {"shift": 0})},
        reading="k runs from 1 to n, as in (7).",
        erratum="Read 2k/(n(n+1)) for k = 1, ..., n; the printed form sums to one for k = 0, ..., "
        "n-1 only.",
        repaired=dict(
            title="Arithmetic weights: Gini's are (2k-1)/n^2, those without the first gap "
            "2k/(n(n+1))",
            statement=r"For $k = 1, \dots, n$, (7) divided by its sum is $(2k-1)/n^2$ for $p_1 = "
            r"1, d = 2$, and $2k/(n(n+1))$ for $p_1 = d$; both sum to one.",
            scope="every n",
            check=identity(residuals, method="simplify"),
            mutants={"k+1 for k": ("as printed", {"shift": 1})},
        ),
    ),
)
