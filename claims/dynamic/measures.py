"""Equations (9), (20): the group benefit, and what its sign says of dynamic fairness."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy
from flint import arb

from fairfl.claims.exact import ball
from fairfl.claims.forms import Case, Claim, Relation, counterexample, definite, every, identity


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


GROUPS = {"groups": "at least two groups have joined"}
PRINTED_20 = (
    r"$GB_t = \frac{1}{n-1} \sum_{i=1}^{n-1} \exp\left((L_{v_i}(w_{t_i}) - "
    r"L_{v_{i+1}}(w_{t_{i+1}})) + (L_{v_{i+1}}(w_t) - L_{v_i}(w_t))\right) - 1$"
)
CLAIMS = (
    Claim(
        "dynamic/gb",
        203,
        "The group benefit (9) is positive iff the algorithm is fair",
        number="Eqs. (9), (20)",
        printed=r"$GB_t = \frac{1}{n-1} \sum_{i=1}^{n-1} \exp\left(L_{v_{i+1}}(w_t) - "
        r"L_{v_i}(w_t)\right) - 1$. A positive value of GB indicates that the algorithm is fair, "
        r"and larger value indicates better fairness of the algorithm. (20): " + PRINTED_20,
        statement=r"$GB_t$ of (9) is positive iff every group that joined earlier has the larger "
        r"benefit at $t$ (definition 2).",
        kind="equivalence",
        hypotheses=GROUPS,
        scope="two groups",
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
        repaired=dict(
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
        443,
        "The group benefit (20) of three groups is positive only if the algorithm is fair",
        number="Eq. (20)",
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
)
