"""Sections 2 and 4.3: AFL as q-FFL with a large enough q."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence


def case(instance: dict[str, Any]) -> Case:
    """AFL's optimum minimises sum F^(q+1) too, for F_1 = w^2, F_2 = (k (w - 1))^2, k > 0.

    Both are convex, so AFL's optimum is where they cross between 0 and 1, w = k/(1 + k), and
    q-FFL's is where sum F^q F' vanishes. At the crossing F_1 = F_2, so F_1' + F_2' must: no q makes
    a difference.
    """
    k, q = instance["k"], instance["q"]
    w = k / (1 + k)
    values = [w**2, (k * (w - 1)) ** 2]
    slopes = [2 * w, 2 * k**2 * (w - 1)]
    derivative = sum((f**q * g for f, g in zip(values, slopes, strict=True)), Fraction(0))
    premises = {"crossing": values[0] == values[1] and slopes[0] > 0 > slopes[1]}
    return Case(
        (
            Relation(
                derivative / values[0] ** q, "==", 0, "slope of q-FFL at AFL's optimum, over F^q"
            ),
        ),
        premises,
    )


def check(effort: Effort, k: int = 2) -> Evidence:
    """Any q, three of them replayed."""
    shows = "F = (w^2, 4 (w-1)^2), q = {}: AFL's optimum is w = 2/3, where sum F^q F' = -(4/3) F^q"
    return Evidence.of(
        *(
            Counterexample.at(Call.of(case), shows.format(q), k=Fraction(k), q=q)
            for q in (1, 15, 1000)
        )
    )


CLAIMS = (
    Claim(
        id="qffl/large-q",
        number="Sections 2, 4.3",
        line=164,
        title="AFL is equivalent to q-FFL with a large enough q",
        printed=(
            "AFL is equivalent to q-FFL with a large enough q; AFL can in fact be seen as a "
            "special case, with large enough q"
        ),
        statement=r"For $q$ large enough, a minimiser of $\max_k F_k$ minimises $\sum_k "
        r"F_k^{q+1}$.",
        kind="equivalence",
        hypotheses=(
            (
                "crossing",
                "the two losses are equal at AFL's optimum, with slopes of opposite signs",
            ),
        ),
        scope="two devices, one parameter, convex quadratics; q = 1, 15, 1000, and by the same "
        "number every q",
        expected="refuted",
        check=check,
        mutants=(
            Mutant(
                "k = 1",
                "mirrored losses, where both optima are 1/2 for every q",
                partial(check, k=1),
            ),
        ),
        severity="remark",
        erratum=(
            "For no finite q in general: AFL is the limit (propfair/generalized-means), which "
            "optima of q-FFL approach. On a finite set of models with different worst losses a "
            "finite q is enough."
        ),
    ),
)
