"""Equation (7): arithmetic weights, their index, and what they depend on."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence


def no_gap(instance: dict[str, Any], shift: int = 1) -> Case:
    """The weights 2(k + shift)/(n(n+1)), k = 1..n, sum to one."""
    n = instance["n"]
    return Case(
        (
            Relation(
                sum(Fraction(2 * (k + shift), n * (n + 1)) for k in range(1, n + 1)), "==", 1, "sum"
            ),
        )
    )


def arithmetic(p1: Any, d: Any, n: int) -> list[Any]:
    """(7), divided by its sum."""
    raw = [Fraction(p1) + (k - 1) * Fraction(d) for k in range(1, n + 1)]
    return [v / sum(raw) for v in raw]


def same_difference(instance: dict[str, Any], keep: str = "difference") -> Case:
    """Two pairs (p_1, d) with the same difference d - p_1 (or the same ratio) give the same
    weights.
    """
    (p1, d), (q1, e) = ([Fraction(v) for v in pair] for pair in instance["pairs"])
    same = d - p1 == e - q1 if keep == "difference" else d * q1 == e * p1
    weights = zip(arithmetic(p1, d, instance["n"]), arithmetic(q1, e, instance["n"]), strict=True)
    return Case(
        tuple(Relation(a, "==", b, f"k = {k}") for k, (a, b) in enumerate(weights, start=1)),
        {keep: same},
    )


def residuals(shift: int = 0) -> dict[str, sympy.Expr]:
    """Of (7): the Gini weights, and those without the first gap, k = 1..n."""
    n, k = sympy.symbols("n k", positive=True, integer=True)

    def weight(p1: int, d: int) -> sympy.Expr:
        return (p1 + (k - 1) * d) / sympy.summation(p1 + (k - 1) * d, (k, 1, n))

    total: Any = sympy.summation(2 * (k + shift) / (n * (n + 1)), (k, 1, n))
    return {
        "p_1 = 1, d = 2: (2k-1)/n^2": weight(1, 2) - (2 * k - 1) / n**2,
        "p_1 = d: 2k/(n(n+1))": weight(2, 2) - 2 * (k + shift) / (n * (n + 1)),
        "sum": total - 1,
    }


def scaling(added: int = 0) -> dict[str, sympy.Expr]:
    """The weights of (c p_1, c d) are those of (p_1, d), and with n >= 2 they tell d/p_1."""
    n, k, p1, d, c = sympy.symbols("n k p1 d c", positive=True)

    def weight(first: sympy.Expr, step: sympy.Expr, place: Any) -> sympy.Expr:
        return (first + (place - 1) * step) / (n * first + n * (n - 1) * step / 2)

    return {
        "scaled": weight(c * p1 + added, c * d + added, k) - weight(p1, d, k),
        "ratio": weight(p1, d, n) / weight(p1, d, sympy.Integer(1)) - (1 + (n - 1) * d / p1),
    }


def _check(effort: Effort, shift: int = 1) -> Evidence:
    shows = "one client: its weight is 2, not 1; for n clients the sum is (n+3)/(n+1)"
    return Evidence.of(Counterexample.at(Call.of(no_gap, shift=shift), shows, n=1))


def _check_repaired(effort: Effort, shift: int = 0) -> Evidence:
    points = ({"n": "4", "k": "3"}, {"n": "7", "k": "1"})
    return Evidence.of(SymbolicZero(Call.of(residuals, shift=shift), "simplify", points))


def _check_difference(
    effort: Effort, pairs: Any = ((1, 2), (2, 3)), keep: str = "difference"
) -> Evidence:
    shows = "n = 2: (1, 2) gives 1/4, 3/4 and (2, 3) gives 2/7, 5/7"
    return Evidence.of(
        Counterexample.at(Call.of(same_difference, keep=keep), shows, pairs=pairs, n=2)
    )


def _check_scaling(effort: Effort, added: int = 0) -> Evidence:
    points = (
        {"n": "3", "k": "2", "p1": "1/2", "d": "5", "c": "3"},
        {"n": "6", "k": "1", "p1": "4", "d": "1", "c": "1/7"},
    )
    return Evidence.of(SymbolicZero(Call.of(scaling, added=added), "simplify", points))


PRINTED_GAP = (
    r"$p_k = p_1 + (k - 1)d$. The original GSF [...] is equivalent to such a series with "
    r"$p_1 = 1, d = 2$. [...] If this gap between the first element and the rest is removed then "
    r"the weight of an element depends entirely on its position and the overall number of values "
    r"$p_k = 2(k + 1) \times 1/n(n+1)$."
)
PRINTED_DIFFERENCE = (
    "since the weights are linearly spaced and normalised by the total sum, the specific choice "
    "of $a$ and $d$ are not relevant outside of the magnitude of their difference"
)
CLAIMS = (
    Claim(
        id="pffl/eq-7",
        number="Eq. (7), Section 3.2.1",
        line=86,
        title="Arithmetic weights without the first gap are 2(k+1)/(n(n+1))",
        printed=PRINTED_GAP,
        statement=r"The weights $p_k = 2(k+1)/(n(n+1))$, $k = 1, \dots, n$, sum to one.",
        kind="identity",
        hypotheses=(),
        scope="every n (the sum is (n+3)/(n+1))",
        expected="holds-repaired",
        check=_check,
        mutants=(
            Mutant(
                "k for k+1", "the weights 2k/(n(n+1)), which sum to one", partial(_check, shift=0)
            ),
        ),
        reading="k runs from 1 to n, as in (7).",
        severity="constant",
        erratum="Read 2k/(n(n+1)) for k = 1, ..., n; the printed form sums to one for k = 0, "
        "..., n-1 only.",
    ),
    Claim(
        id="pffl/eq-7/repaired",
        number="Eq. (7), Section 3.2.1",
        line=86,
        title="Arithmetic weights: Gini's are (2k-1)/n^2, those without the first gap 2k/(n(n+1))",
        printed=PRINTED_GAP,
        statement=(
            r"For $k = 1, \dots, n$, (7) divided by its sum is $(2k-1)/n^2$ for $p_1 = 1, d = "
            r"2$, and $2k/(n(n+1))$ for $p_1 = d$; both sum to one."
        ),
        kind="identity",
        hypotheses=(),
        scope="every n",
        expected="holds",
        check=_check_repaired,
        mutants=(Mutant("k+1 for k", "as printed", partial(_check_repaired, shift=1)),),
    ),
    Claim(
        id="pffl/arithmetic-difference",
        number="Section 3.2.1",
        line=88,
        title="Of p_1 and d only the magnitude of their difference matters",
        printed=PRINTED_DIFFERENCE,
        statement=r"If $d - p_1 = d' - p_1'$, then (7) with $(p_1, d)$ and with $(p_1', d')$ "
        r"gives the same weights.",
        kind="implication",
        hypotheses=(("difference", "d - p_1 = d' - p_1'"),),
        scope="n = 2",
        expected="holds-repaired",
        check=_check_difference,
        mutants=(
            Mutant(
                "the same ratio",
                "(1, 2) and (2, 4)",
                partial(_check_difference, pairs=((1, 2), (2, 4)), keep="ratio"),
            ),
        ),
        reading="a is p_1, and 'the magnitude of their difference' is |d - p_1|.",
        severity="remark",
        erratum="The weights depend on the ratio d/p_1: (1, 2) and (2, 3) differ, (1, 2) and (2, "
        "4) do not.",
    ),
    Claim(
        id="pffl/arithmetic-difference/repaired",
        number="Section 3.2.1",
        line=88,
        title="Of p_1 and d only their ratio matters",
        printed=PRINTED_DIFFERENCE,
        statement=(
            r"(7) divided by its sum is the same for $(p_1, d)$ and $(c p_1, c d)$, $c > 0$; and "
            r"for $n \ge 2$ the last weight over the first is $1 + (n-1) d/p_1$, so that "
            r"different ratios give different weights."
        ),
        kind="equivalence",
        hypotheses=(),
        scope="every n, p_1 > 0",
        expected="holds",
        check=_check_scaling,
        mutants=(
            Mutant(
                "one added",
                "(c p_1 + 1, c d + 1): the same difference",
                partial(_check_scaling, added=1),
            ),
        ),
    ),
)
