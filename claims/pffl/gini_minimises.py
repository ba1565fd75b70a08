"""Section 2.2.1: lowering the Gini index is not raising the social-evaluation function, unless the
mean is fixed.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.instances import explore


def evaluation(u: list[Fraction]) -> Fraction:
    """(4)."""
    return sum((2 * i - 1) * v for i, v in enumerate(sorted(u, reverse=True), start=1)) / Fraction(
        len(u) ** 2
    )


def orders(instance: dict[str, Any], mean_fixed: bool = False) -> Case:
    """The less unequal of two vectors, by (3), is the one of larger (4)."""
    u, v = ([Fraction(x) for x in instance[name]] for name in "uv")
    means = [sum(w, Fraction(0)) / len(w) for w in (u, v)]
    index = [1 - evaluation(w) / m for w, m in zip((u, v), means, strict=True)]
    premises = {"utilities": min(u + v) >= 0, "less unequal": index[0] < index[1]}
    if mean_fixed:
        premises["mean"] = means[0] == means[1]
    return Case((Relation(evaluation(v), "<", evaluation(u), "social evaluation"),), premises)


def residual(power: int = 1) -> dict[str, sympy.Expr]:
    """G(u) - G(v) = mu (I(v) - I(u)) where both have the mean mu > 0: of one sign."""
    g, h = sympy.symbols("G H", real=True)
    mean = sympy.symbols("mu", positive=True)
    return {"difference": (g - h) - mean**power * ((1 - h / mean) - (1 - g / mean))}


def pairs() -> st.SearchStrategy[dict[str, Any]]:
    """Two vectors of one mean: positive ones, each divided by its sum; the less unequal first."""
    vector = st.lists(st.integers(1, 9).map(Fraction), min_size=3, max_size=3)
    scaled = vector.map(lambda u: [x / sum(u) for x in u])
    two = st.tuples(scaled, scaled).map(lambda w: sorted(w, key=evaluation, reverse=True))
    return two.filter(lambda w: evaluation(w[0]) > evaluation(w[1])).map(
        lambda w: {"u": w[0], "v": w[1]}
    )


def _check(effort: Effort, mean_fixed: bool = False) -> Evidence:
    shows = "(1, 1) has the index 0 and the evaluation 1; (4, 2) has 1/6 and 5/2"
    return Evidence.of(
        Counterexample.at(Call.of(orders, mean_fixed=mean_fixed), shows, u=[1, 1], v=[4, 2])
    )


def _check_repaired(effort: Effort, power: int = 1) -> Evidence:
    point = {"G": "2/3", "H": "1/5", "mu": "7/4"}
    return Evidence.of(
        SymbolicZero(Call.of(residual, power=power), "expand", (point,)),
        extra=(explore(Call.of(orders, mean_fixed=True), Call.of(pairs), effort, tolerance=0.0),),
    )


PRINTED = (
    "Consequently, minimising the inequality of a distribution based on the Gini index is "
    "equivalent to maximising fairness based on the GSF by bringing all elements as close to the "
    "mean as possible."
)
HYPOTHESES = (("utilities", "u, v >= 0, not all zero"), ("less unequal", "I(u) < I(v)"))
CLAIMS = (
    Claim(
        id="pffl/gini-minimises",
        number="Section 2.2.1",
        line=56,
        title="Minimising the Gini index is equivalent to maximising the Gini social-evaluation "
        "function",
        printed=PRINTED,
        statement=r"If $I(u) < I(v)$, then $G_{SF}(u) > G_{SF}(v)$.",
        kind="equivalence",
        hypotheses=HYPOTHESES,
        scope="n = 2",
        expected="holds-repaired",
        check=_check,
        mutants=(
            Mutant(
                "one mean",
                "the mean fixed, which these vectors do not have",
                partial(_check, mean_fixed=True),
            ),
        ),
        severity="remark",
        erratum=(
            "I = 1 - G/mu: the two agree where the mean is fixed. Otherwise the social "
            "evaluation also grows with the mean, which is why it can serve as an objective at "
            "all."
        ),
    ),
    Claim(
        id="pffl/gini-minimises/repaired",
        number="Section 2.2.1",
        line=56,
        title="For a fixed mean, minimising the Gini index is maximising the Gini "
        "social-evaluation function",
        printed=PRINTED,
        statement=r"If $\mu(u) = \mu(v) = \mu > 0$, then $G_{SF}(u) - G_{SF}(v) = \mu\,(I(v) - "
        r"I(u))$.",
        kind="equivalence",
        hypotheses=(*HYPOTHESES, ("mean", "u and v have the same mean")),
        scope="every n",
        expected="holds",
        check=_check_repaired,
        mutants=(Mutant("mu^2", "the factor squared", partial(_check_repaired, power=2)),),
    ),
)
