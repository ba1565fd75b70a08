"""FedFB, lemma 8: two solutions of CFL(ε) agree almost everywhere. The paper prints no proof."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from fairfl.claims.fedfb.lemma_7 import SETTING, quantile
from fairfl.claims.fedfb.worlds import Clients, parts, worlds
from fairfl.claims.forms import Case, Claim, Relation, drawn, proof


def unique(instance: dict[str, Any], factor: Fraction = Fraction(1)) -> Case:
    """The solution of CFL(ε) is feasible, and a rule of other rates (r_0, r_1), |r_0 - r_1| <= ε,
    is strictly less accurate.

    Of all f with these rates the thresholds are the most accurate, and any f of the same rates as
    the solution that differs from it on a set of positive mass is less accurate still, by
    E[|s||f - f*|] of lemma 7. The rivals are of drawn rates, and of rates next to the solution's.
    ``factor`` multiplies its λ.
    """
    people, eps = Clients.of(instance["laws"], instance["q"]).pooled, instance["eps"]
    best = people.rule(factor * people.multiplier(eps))
    goal = -eps + 2 * eps * instance["goal"]
    first = max(goal, Fraction(0)) + instance["rate"] * (1 - abs(goal))
    own = people.rate(0, best[0]), people.rate(1, best[1])
    rivals = [(first, first - goal)]
    for size in (instance["rate"] / 100, instance["rate"] / 10_000):
        rivals += [(own[0] + a * size, own[1] + b * size) for a in (-1, 0, 1) for b in (-1, 0, 1)]
    right = people.accuracy(best)
    relations = [Relation(abs(own[0] - own[1]), "<=", eps, "feasible")]
    for rates in rivals:
        if min(rates) >= 0 and max(rates) <= 1 and abs(rates[0] - rates[1]) <= eps:
            cuts = quantile(people.laws[0], rates[0]), quantile(people.laws[1], rates[1])
            operator = "==" if rates == own else "<"
            relations.append(Relation(people.accuracy(cuts), operator, right, "accuracy"))
    return Case(tuple(relations))


def instances() -> st.SearchStrategy[dict[str, Any]]:
    """One client, a budget, a goal and a rate at ties."""
    return worlds(1, least=0, eps=parts(16), goal=parts(16), rate=parts(16))


CLAIMS = (
    Claim(
        "fedfb/lemma-8",
        510,
        "two solutions of CFL(ε) agree almost everywhere under the law of (x, a)",
        printed=r"If $f$ and $g$ are two solutions to CFL($\varepsilon$), then $f=g$ almost "
        r"everywhere.",
        statement=r"If $f,f'$ solve CFL($\varepsilon$), then $P(f(x,a)\ne f'(x,a))=0$.",
        kind="uniqueness",
        hypotheses=SETTING,
        scope="almost everywhere under the law of (x, a), in which s has no atom at 0",
        whose="reading",
        check=proof("lemma_7.v", "unique", drawn(unique, instances, tolerance=0.0)),
        mutants={
            "0.99 λ": ("the rule of 0.99 λ", {"factor": Fraction(99, 100)}),
            "1.01 λ": ("the rule of 1.01 λ", {"factor": Fraction(101, 100)}),
        },
        rests_on=("fedfb/eq-10/repaired",),
        reading="'Almost everywhere' under the law of (x, a). For Lebesgue measure it is false "
        "where nobody has η between two thresholds. Lemmas 12, 14 and 16 use the lemma for pooled "
        "laws, whose null sets are not those of a client.",
        gap="no proof is printed. One: by the identity of fedfb/lemma-7/repaired a solution f "
        "has E[|s||f - f*|] = 0, and s = 0 only where η meets one level, a null set.",
    ),
)
