"""Equation (7): arithmetic weights, their index, and what they depend on."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from fairfl.claims.case import Case, Relation
from fairfl.claims.claim import Claim, Repaired
from fairfl.claims.forms import counterexample, identity


def weight(p1: Any, d: Any, k: Any, n: Any) -> Any:
    """(7), divided by its sum."""
    return (p1 + (k - 1) * d) / (n * p1 + n * (n - 1) * d / 2)


def no_gap(instance: dict[str, Any], shift: int = 1) -> Case:
    """The weights 2(k + shift)/(n(n+1)), k = 1..n, sum to one."""
    n = instance["n"]
    total = sum(Fraction(2 * (k + shift), n * (n + 1)) for k in range(1, n + 1))
    return Case((Relation(total, "==", 1, "sum"),))


def same_difference(instance: dict[str, Any], keep: str = "difference") -> Case:
    """Two pairs (p_1, d) with the same difference d - p_1 (or the same ratio) give the same
    weights.
    """
    n = instance["n"]
    (p1, d), (q1, e) = ([Fraction(v) for v in pair] for pair in instance["pairs"])
    same = d - p1 == e - q1 if keep == "difference" else d * q1 == e * p1
    weights = ((weight(p1, d, k, n), weight(q1, e, k, n)) for k in range(1, n + 1))
    return Case(tuple(Relation(a, "==", b, "weight") for a, b in weights), {keep: same})


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


def scaling(added: int = 0) -> dict[str, Any]:
    """The weights of (c p_1, c d) are those of (p_1, d), and with n >= 2 they tell d/p_1."""
    n, k, p1, d, c = sympy.symbols("n k p1 d c", positive=True)
    return {
        "scaled": weight(c * p1 + added, c * d + added, k, n) - weight(p1, d, k, n),
        "ratio": weight(p1, d, n, n) / weight(p1, d, 1, n) - (1 + (n - 1) * d / p1),
    }


CLAIMS = (
    Claim(
        "pffl/eq-7",
        "Eq. (7), Section 3.2.1",
        86,
        "Arithmetic weights without the first gap are 2(k+1)/(n(n+1))",
        printed=r"$p_k = p_1 + (k - 1)d$. The original GSF [...] is equivalent to such a series "
        r"with $p_1 = 1, d = 2$. [...] If this gap between the first element and the rest is "
        r"removed then the weight of an element depends entirely on its position and the overall "
        r"number of values $p_k = 2(k + 1) \times 1/n(n+1)$.",
        statement=r"The weights $p_k = 2(k+1)/(n(n+1))$, $k = 1, \dots, n$, sum to one.",
        kind="identity",
        scope="every n (the sum is (n+3)/(n+1))",
        whose="printed",
        severity="constant",
        check=counterexample(
            no_gap, "one client: its weight is 2, not 1; for n clients (n+3)/(n+1)", {"n": 1}
        ),
        mutants={"k for k+1": ("the weights 2k/(n(n+1)), which sum to one", {"shift": 0})},
        reading="k runs from 1 to n, as in (7).",
        erratum="Read 2k/(n(n+1)) for k = 1, ..., n; the printed form sums to one for k = 0, ..., "
        "n-1 only.",
        repaired=Repaired(
            title="Arithmetic weights: Gini's are (2k-1)/n^2, those without the first gap "
            "2k/(n(n+1))",
            statement=r"For $k = 1, \dots, n$, (7) divided by its sum is $(2k-1)/n^2$ for $p_1 = "
            r"1, d = 2$, and $2k/(n(n+1))$ for $p_1 = d$; both sum to one.",
            scope="every n",
            check=identity(residuals, method="simplify"),
            mutants={"k+1 for k": ("as printed", {"shift": 1})},
        ),
    ),
    Claim(
        "pffl/arithmetic-difference",
        "Section 3.2.1",
        88,
        "Of p_1 and d only the magnitude of their difference matters",
        printed="since the weights are linearly spaced and normalised by the total sum, the "
        "specific choice of $a$ and $d$ are not relevant outside of the magnitude of their "
        "difference",
        statement=r"If $d - p_1 = d' - p_1'$, then (7) with $(p_1, d)$ and with $(p_1', d')$ gives "
        r"the same weights.",
        kind="implication",
        hypotheses={"difference": "d - p_1 = d' - p_1'"},
        scope="n = 2",
        whose="printed",
        severity="remark",
        check=counterexample(
            same_difference,
            "n = 2: (1, 2) gives 1/4, 3/4 and (2, 3) gives 2/7, 5/7",
            {"pairs": [[1, 2], [2, 3]], "n": 2},
        ),
        mutants={
            "the same ratio": ("(1, 2) and (2, 4)", {"pairs": [[1, 2], [2, 4]], "keep": "ratio"})
        },
        reading="a is p_1, and 'the magnitude of their difference' is |d - p_1|.",
        erratum="The weights depend on the ratio d/p_1: (1, 2) and (2, 3) differ, (1, 2) and (2, "
        "4) do not.",
        repaired=Repaired(
            title="Of p_1 and d only their ratio matters",
            statement=r"(7) divided by its sum is the same for $(p_1, d)$ and $(c p_1, c d)$, $c > "
            r"0$; and for $n \ge 2$ the last weight over the first is $1 + (n-1) d/p_1$, so that "
            r"different ratios give different weights.",
            kind="equivalence",
            hypotheses={},
            scope="every n, p_1 > 0",
            check=identity(scaling, method="simplify"),
            mutants={"one added": ("(c p_1 + 1, c d + 1): the same difference", {"added": 1})},
        ),
    ),
)
