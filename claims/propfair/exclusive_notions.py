"""Appendix D.3.3: demographic parity, equalised odds and calibration, pairwise."""

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


def parted(instance: dict[str, Any]) -> Case:
    """A prediction with equalised odds, rates (r_0, r_1) at true label 0 and 1 in both groups, has
    not the same rate of ŷ = 1 in both.
    """
    (low, high), base = instance["rates"], instance["base"]
    rate = [p * high + (1 - p) * low for p in base]
    premises = {"binary": all(0 < p < 1 for p in base)}
    return Case((Relation(rate[0], "!=", rate[1], "P(ŷ = 1 | group)"),), premises)


def residuals(sign: int = 1) -> dict[str, Any]:
    """Under equalised odds MD = (r_1 - r_0)(p_0 - p_1). A calibrated score of two values has the
    mean p_a in group a, so equal scores need equal base rates.
    """
    p, (low, high) = sympy.symbols("p0 p1"), sympy.symbols("r0 r1")
    rate = [v * high + (1 - v) * low for v in p]
    share, score = sympy.symbols("s0 s1"), sympy.symbols("y0 y1")
    positives = [s * score[0] + (1 - s) * score[1] for s in share]  # E[T | a] = E[E[T | Y] | a]
    means = [s * (score[0] - score[1]) + score[1] for s in share]  # E[Y | a]
    return {
        "odds and parity": rate[0] - rate[1] - sign * (high - low) * (p[0] - p[1]),
        "calibration and parity": (positives[0] - positives[1]) - (means[0] - means[1]),
    }


def check(effort: Effort, high: Fraction = Fraction(1)) -> Evidence:
    """Everybody is accepted."""
    shows = (
        "accepting everybody has equalised odds and parity, whatever the base rates (1/4 and 1/2)"
    )
    return Evidence.of(
        Counterexample.at(
            Call.of(parted), shows, rates=[Fraction(1), high], base=[Fraction(1, 4), Fraction(1, 2)]
        )
    )


def check_repaired(effort: Effort, sign: int = 1) -> Evidence:
    """The identities."""
    names = ("p0", "p1", "r0", "r1", "s0", "s1", "y0", "y1")
    point = {name: f"{k + 1}/{k + 4}" for k, name in enumerate(names)}
    return Evidence.of(SymbolicZero(Call.of(residuals, sign=sign), "expand", (point,)))


PRINTED = (
    r"In the binary setting, EO and DP cannot be simultaneously achieved. [...] Under mild "
    r"assumptions, calibration and EO cannot be simultaneously achieved. Similarly, calibration "
    r"and DP cannot be simultaneously achieved."
)
CLAIMS = (
    Claim(
        id="propfair/exclusive-notions",
        number="Appendix D.3.3",
        line=1093,
        title="In the binary setting equalised odds and demographic parity exclude one another",
        printed=PRINTED,
        statement="A prediction with equalised odds has different rates in the two groups.",
        kind="implication",
        hypotheses=(("binary", "two labels, both in each group"),),
        scope="as stated",
        expected="holds-repaired",
        check=check,
        mutants=(Mutant("informed", "r = (1, 0)", partial(check, high=Fraction(0))),),
        severity="remark",
        erratum="Two conditions are missing: base rates that differ, and a prediction that depends "
        "on the label at all. Constant predictions have both; with equal base rates so may any.",
    ),
    Claim(
        id="propfair/exclusive-notions/repaired",
        number="Appendix D.3.3",
        line=1093,
        title="Under equalised odds MD = (r_1 - r_0)(p_0 - p_1); under calibration and parity the "
        "base rates are equal",
        printed=PRINTED,
        statement=r"With $r_t = P(\hat y = 1 \mid t)$ in both groups and base rates $p_a$: parity "
        r"iff $r_0 = r_1$ or $p_0 = p_1$. A score calibrated in each group has mean $p_a$ there.",
        kind="equivalence",
        hypotheses=(),
        scope="two groups, two labels; a score of two values, whose terms look the same for any "
        "number",
        expected="holds",
        check=check_repaired,
        mutants=(Mutant("turned", "(r_0 - r_1)(p_0 - p_1)", partial(check_repaired, sign=-1)),),
        notes="Calibration and equalised odds exclude one another for scores that are not perfect, "
        "where base rates differ (Pleiss et al.); not checked here.",
    ),
)
