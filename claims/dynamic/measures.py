"""Equations (9), (20): the group benefit, and what its sign says of dynamic fairness; and (19), the
mean spread within groups.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy
from flint import arb

from fairfl.claims.case import Case, Relation
from fairfl.claims.claim import Claim, Repaired
from fairfl.claims.exact import ball
from fairfl.claims.forms import counterexample, definite, every, identity


def tells(instance: dict[str, Any], form: str = "loss") -> Case:
    """GB, the mean of exp(gap) less one, is positive iff every earlier group has the larger
    benefit; with the gaps of (9), form "loss", or of (20), form "benefit".
    """
    gains = [Fraction(a) - b for a, b in zip(instance["joined"], instance["now"], strict=True)]
    fair = all(a > b for i, a in enumerate(gains) for b in gains[i + 1 :])
    levels = instance["now"] if form == "loss" else [-b for b in gains]
    gaps = [ball(b - a).exp() for a, b in zip(levels, levels[1:], strict=False)]
    value = sum(gaps, arb(0)) / len(gaps) - 1
    told = Relation(0, "<", value, "fair: GB") if fair else Relation(value, "<=", 0, "unfair: GB")
    return Case((told,), {"groups": len(gains) >= 2})


def residuals(sign: int = 1, form: str = "benefit") -> dict[str, sympy.Expr]:
    """The two lines of (20): benefit_i - benefit_(i+1), and its terms rearranged.

    Form "loss" leaves the losses at joining out, as (9) does.
    """
    before, now, later_before, later_now = sympy.symbols("a b c d", real=True)
    first = (before - now) - (later_before - later_now)
    joined = before - later_before if form == "benefit" else 0
    return {"exponent": first - joined - sign * (later_now - now)}


def slope() -> tuple[sympy.Expr, list[sympy.Expr]]:
    """The derivative of exp(x) - 1, which is 0 at 0: positive, so that exp(x) - 1 has the sign of
    x.
    """
    x = sympy.symbols("x", real=True)
    return sympy.diff(sympy.exp(x) - 1, x), [sympy.exp(x)]


def lower(instance: dict[str, Any]) -> Case:
    """LS below the other algorithm's: then (18) holds in every group; two clients a group."""
    ours, theirs = ([abs(Fraction(a) - b) / 2 for a, b in instance[n]] for n in ("ours", "theirs"))
    pairs = enumerate(zip(ours, theirs, strict=True), start=1)
    return Case(
        tuple(Relation(a, "<", b, f"spread of v_{k}") for k, (a, b) in pairs),
        {"LS": sum(ours) < sum(theirs)},
    )


def narrower(factor: str = "1") -> tuple[sympy.Expr, list[sympy.Expr]]:
    """A group's part of LS under the other algorithm, a + m, less ``factor`` times ours: positive,
    and LS is the mean of these.
    """
    a, m = sympy.symbols("a", nonnegative=True), sympy.symbols("m", positive=True)
    return a + m - sympy.Rational(factor) * a, [m]


GROUPS = {"groups": "at least two groups have joined"}
PRINTED_20 = (
    r"$GB_t = \frac{1}{n-1} \sum_{i=1}^{n-1} \exp\left((L_{v_i}(w_{t_i}) - "
    r"L_{v_{i+1}}(w_{t_{i+1}})) + (L_{v_{i+1}}(w_t) - L_{v_i}(w_t))\right) - 1$"
)
CLAIMS = (
    Claim(
        "dynamic/gb",
        "Eqs. (9), (20)",
        203,
        "The group benefit (9) is positive iff the algorithm is fair",
        printed=r"$GB_t = \frac{1}{n-1} \sum_{i=1}^{n-1} \exp\left(L_{v_{i+1}}(w_t) - "
        r"L_{v_i}(w_t)\right) - 1$. A positive value of GB indicates that the algorithm is fair, "
        r"and larger value indicates better fairness of the algorithm. (20): " + PRINTED_20,
        statement=r"$GB_t$ of (9) is positive iff every group that joined earlier has the larger "
        r"benefit at $t$ (definition 2).",
        kind="equivalence",
        hypotheses=GROUPS,
        scope="two groups",
        whose="printed",
        severity="theorem",
        check=counterexample(
            tells,
            "v_1 from 1 to 9/10, v_2 from 10 to 2: GB > 0, but v_2 has gained more",
            {"joined": [1, 10], "now": [Fraction(9, 10), 2]},
        ),
        mutants={"(20)": ("the form with the losses at joining", {"form": "benefit"})},
        erratum="(9) compares losses, definition 2 compares gains: a group that joins late with a "
        "large loss makes (9) positive, however much it gains. Use (20), whose sign is that of the "
        "gap for two groups. That (9) leaves out a term which is the same for all algorithms (it "
        "is, for two groups) lets it compare two of them, and says nothing of its sign.",
        repaired=Repaired(
            number="Eq. (20)",
            title="The group benefit (20) is positive if the algorithm is fair, and for two groups "
            "only then",
            statement=r"The exponents of (20) are the gaps of benefits between neighbours, and "
            r"$e^x - 1$ has the sign of $x$: fair implies $GB_t > 0$, and for two groups $GB_t > "
            r"0$ implies fair.",
            check=every(identity(residuals), definite(slope, strict=True)),
            mutants={
                "a sign": ("the second term of the exponent turned", {"sign": -1}),
                "(9)": ("fair implies that (9) is positive", {"form": "loss"}),
            },
        ),
    ),
    Claim(
        "dynamic/gb-groups",
        "Eq. (20)",
        443,
        "The group benefit (20) of three groups is positive only if the algorithm is fair",
        printed=PRINTED_20,
        statement=r"For three groups, $GB_t > 0$ in (20) iff every group that joined earlier has "
        r"the larger benefit.",
        kind="equivalence",
        hypotheses=GROUPS,
        scope="three groups",
        expected="refuted",
        whose="implied",
        severity="theorem",
        check=counterexample(
            tells,
            "benefits 1, 2 and -1: gaps -1 and 3, so GB > 9, but v_2 has gained more than v_1",
            {"joined": [5, 5, 5], "now": [4, 3, 6]},
            form="benefit",
        ),
        mutants={"v_2 gains nothing": ("benefits 1, 0 and -1: fair", {"now": [4, 5, 6]})},
        erratum="The mean of exponentials lets one large gap outweigh a negative one. Report the "
        "smallest gap instead.",
    ),
    Claim(
        "dynamic/ls",
        "Eq. (19)",
        395,
        "A lower LS means that every group is more uniform (18)",
        printed=r"$LS_t = \frac{1}{n} \sum_{i=1}^n \sqrt{\sum_{k=1}^{|v_i|} \frac{(F_t^k - "
        r"L_t^{v_i})^2}{|v_i|}}$. This metric indicates the level of performance uniformity across "
        r"clients within the same group. A lower value of the metric indicates higher uniformity.",
        statement=r"If $LS_t$ is lower under one algorithm, then so is the standard deviation of "
        r"the clients' losses in each group (definition 4).",
        kind="implication",
        hypotheses={"LS": "LS is lower"},
        scope="two groups of two",
        whose="printed",
        severity="remark",
        check=counterexample(
            lower,
            "spreads 3/2 and 0 against 1 and 1: LS is lower, and v_1's spread is larger",
            {"ours": [[0, 3], [1, 1]], "theirs": [[0, 2], [0, 2]]},
        ),
        mutants={"3/2 for 3": ("spread 3/4 in v_1", {"ours": [[0, Fraction(3, 2)], [1, 1]]})},
        erratum="LS is a mean over groups; (18) asks of each. Report the groups' spreads. While "
        "one group is there LS is set to 0, whatever its spread. And line 400 has its words the "
        "wrong way round: LS is of within-group fairness, group benefit of between-group fairness.",
        repaired=Repaired(
            title="Where every group is more uniform (18), LS is lower",
            statement=r"If the standard deviation is lower in each group, $LS_t$ is lower.",
            hypotheses={},
            scope="any number of groups",
            check=definite(narrower, strict=True),
            mutants={"1 % more": ("1.01 of ours", {"factor": "101/100"})},
        ),
    ),
)
