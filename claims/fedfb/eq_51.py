"""FedFB, equations (51) and (56): MD_i as a linear function of f."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from fairfl.claims.forms import Case, Claim, Relation, counterexample, identity


def printed(instance: dict[str, Any], divide: bool = True) -> Case:
    """(51): Σ_x [f(x,0) P(x | a=0, i)/P(a=0) - f(x,1) P(x | a=1, i)/P(a=1)] is MD_i."""
    rates = [
        sum(f * m for f, m in zip(rule, law, strict=True))
        for rule, law in zip(instance["f"], instance["law"], strict=True)
    ]
    shares = (1 - instance["q"], instance["q"]) if divide else (1, 1)
    formula = rates[0] / shares[0] - rates[1] / shares[1]
    return Case((Relation(formula, "==", rates[0] - rates[1], "MD_i"),))


def residuals(own: bool = True) -> dict[str, sympy.Expr]:
    """(56): E_a E_{x ~ P_a^(i)} [f(x,0) 1{a=0}/(1-q_i) - f(x,1) 1{a=1}/q_i] - MD_i, where r_a is
    the mean of f(x,a) under P_a^(i).
    """
    q, other, r0, r1 = sympy.symbols("q other r0 r1", positive=True)
    divisor = q if own else other
    return {"(56)": (1 - q) * r0 / (1 - divisor) - q * r1 / divisor - (r0 - r1)}


CLAIMS = (
    Claim(
        "fedfb/eq-51",
        978,
        "MD_i = Σ_x [f(x,0) P(x|a=0,i)/P(a=0) - f(x,1) P(x|a=1,i)/P(a=1)]",
        printed=r"(51): $P(\hat y=1\mid a=0,i)-P(\hat y=1\mid a=1,i)=\sum_x[f(x,0)\frac{P(x\mid "
        r"a=0,i)}{P(a=0)}-f(x,1)\frac{P(x\mid a=1,i)}{P(a=1)}]$. (56): $=E_aE_{x\sim\mathcal "
        r"P_a^{(i)}}[f(x,0)\frac{[[a=0]]}{1-q}-f(x,1)\frac{[[a=1]]}q]$.",
        statement="The formula (51).",
        kind="identity",
        severity="constant",
        check=counterexample(
            printed,
            "accept everyone, q = 1/4: MD_i = 0, and (51) gives -8/3",
            {"q": Fraction(1, 4), "f": [[1], [1]], "law": [[Fraction(1)], [Fraction(1)]]},
        ),
        mutants={"no division": ("without dividing by P(a)", {"divide": False})},
        erratum="P(x | a, i) is conditional on a already: drop the division by P(a), or write "
        "P(x, a | i)/P(a | i). The v_i defined from (51) inherit it, so that (52)-(54) is "
        "another programme than LFT+FedAvg(ε). (53) also prints one side of the constraint only: "
        "-ε_i <= v_i·f is missing.",
        notes="(56) is right, with q = q_i, and lemma 18 is derived from that.",
        repaired=dict(
            number="Eq. (56)",
            title="MD_i = E_a E_x [f(x,0) 1{a=0}/(1-q_i) - f(x,1) 1{a=1}/q_i]",
            statement=r"The formula (56), $a\sim Bern(q_i)$.",
            check=identity(residuals),
            mutants={"another q": ("the pooled q for q_i", {"own": False})},
        ),
    ),
)
