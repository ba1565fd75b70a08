"""FedFB, equations (51) and (56): MD_i as a linear function of f."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence


def printed(instance: dict[str, Any], divide: bool = True) -> Case:
    """(51): Σ_x [f(x,0) P(x | a=0, i)/P(a=0) - f(x,1) P(x | a=1, i)/P(a=1)] is MD_i."""
    q = instance["q"]
    rates = [
        sum(
            (Fraction(f) * m for f, m in zip(instance["f"][a], instance["law"][a], strict=True)),
            Fraction(0),
        )
        for a in (0, 1)
    ]
    divisors = (1 - q, q) if divide else (1, 1)
    formula = rates[0] / divisors[0] - rates[1] / divisors[1]
    return Case((Relation(formula, "==", rates[0] - rates[1], "MD_i"),))


def residuals(own: bool = True) -> dict[str, sympy.Expr]:
    """(56): E_a E_{x ~ P_a^(i)} [f(x,0) 1{a=0}/(1-q_i) - f(x,1) 1{a=1}/q_i] - MD_i, on two
    points.
    """
    q, other = sympy.symbols("q other", positive=True)
    divisor = q if own else other
    total = difference = sympy.Integer(0)
    for a, sign in ((0, 1), (1, -1)):
        share = q if a else 1 - q
        weight = divisor if a else 1 - divisor
        for k in (0, 1):
            f, m = sympy.symbols(f"f{a}{k} m{a}{k}")
            total += share * m * sign * f / weight
            difference += sign * m * f
    return {"(56)": total - difference}


def _check_printed(effort: Effort, divide: bool = True) -> Evidence:
    shows = "accept everyone, q = 1/4: MD_i = 0, and (51) gives -8/3"
    instance = {"q": Fraction(1, 4), "f": [[1], [1]], "law": [[Fraction(1)], [Fraction(1)]]}
    return Evidence.of(Counterexample.at(Call.of(printed, divide=divide), shows, **instance))


def _check_repaired(effort: Effort, own: bool = True) -> Evidence:
    names = [f"{n}{a}{k}" for n in "fm" for a in (0, 1) for k in (0, 1)]
    point = {
        "q": "1/3",
        "other": "1/2",
        **{name: f"{j + 1}/{j + 4}" for j, name in enumerate(names)},
    }
    return Evidence.of(SymbolicZero(Call.of(residuals, own=own), "together", (point,)))


PRINTED = (
    r"(51): $P(\hat y=1\mid a=0,i)-P(\hat y=1\mid a=1,i)=\sum_x[f(x,0)\frac{P(x\mid "
    r"a=0,i)}{P(a=0)}-f(x,1)\frac{P(x\mid a=1,i)}{P(a=1)}]$. (56): $=E_aE_{x\sim\mathcal "
    r"P_a^{(i)}}[f(x,0)\frac{[[a=0]]}{1-q}-f(x,1)\frac{[[a=1]]}q]$."
)

CLAIMS = (
    Claim(
        id="fedfb/eq-51",
        number="Eq. (51)",
        line=978,
        title="MD_i = Σ_x [f(x,0) P(x|a=0,i)/P(a=0) - f(x,1) P(x|a=1,i)/P(a=1)]",
        printed=PRINTED,
        statement="The formula (51).",
        kind="identity",
        hypotheses=(),
        scope="as stated",
        expected="holds-repaired",
        check=_check_printed,
        mutants=(
            Mutant(
                "no division", "without dividing by P(a)", lambda e: _check_printed(e, divide=False)
            ),
        ),
        severity="constant",
        erratum="P(x | a, i) is conditional on a already: drop the division by P(a), or write "
        "P(x, a | i)/P(a | i). The v_i defined from (51) inherit it, so that (52)-(54) is "
        "another programme than LFT+FedAvg(ε). (53) also prints one side of the constraint only: "
        "-ε_i <= v_i·f is missing.",
        notes="(56) is right, with q = q_i, and lemma 18 is derived from that.",
    ),
    Claim(
        id="fedfb/eq-51/repaired",
        number="Eq. (56)",
        line=994,
        title="MD_i = E_a E_x [f(x,0) 1{a=0}/(1-q_i) - f(x,1) 1{a=1}/q_i]",
        printed=PRINTED,
        statement=r"The formula (56), $a\sim Bern(q_i)$.",
        kind="identity",
        hypotheses=(),
        scope="two points of X; linear, so the same for any law",
        expected="holds",
        check=_check_repaired,
        mutants=(
            Mutant("another q", "the pooled q for q_i", lambda e: _check_repaired(e, own=False)),
        ),
    ),
)
