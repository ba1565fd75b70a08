"""Equations (9), (20): the group benefit, and what its sign says of dynamic fairness."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import sympy
from flint import arb
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, DefiniteForm, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.dynamic.setting import Quadratic, fedavg, unit
from fairfl.claims.evidence import Evidence
from fairfl.claims.exact import ball
from fairfl.claims.instances import explore
from fairfl.theory.measures.dynamic import group_benefit


def benefits(instance: dict[str, Any]) -> list[Fraction]:
    """L_i(w_(t_i)) - L_i(w_t) of each group."""
    return [
        Fraction(a) - Fraction(b) for a, b in zip(instance["joined"], instance["now"], strict=True)
    ]


def gaps(instance: dict[str, Any], form: str) -> list[Fraction]:
    """The exponents of (9), form "loss", or (20), form "benefit"."""
    levels = (
        [Fraction(v) for v in instance["now"]]
        if form == "loss"
        else [-b for b in benefits(instance)]
    )
    return [b - a for a, b in zip(levels, levels[1:], strict=False)]


def sign(value: arb) -> int:
    """Of a ball that does not hold 0.

    Raises
    ------
    ValueError : it may be 0.
    """
    if value > 0:
        return 1
    if value < 0:
        return -1
    raise ValueError(f"value must have a certain sign, got {value}")


def group(exponents: list[Fraction]) -> arb:
    """GB: the mean of exp(gap), less one."""
    return sum((ball(x).exp() for x in exponents), arb(0)) / len(exponents) - 1


def tells(instance: dict[str, Any], form: str = "loss") -> Case:
    """GB > 0 iff every earlier group has the larger benefit."""
    gain = benefits(instance)
    fair = all(a > b for i, a in enumerate(gain) for b in gain[i + 1 :])
    positive = sign(group(gaps(instance, form))) > 0
    return Case(
        (Relation(int(positive), "==", int(fair), "GB > 0, and fair"),), {"groups": len(gain) >= 2}
    )


def implied(instance: dict[str, Any], form: str = "benefit") -> Case:
    """As the code has it: fair implies GB > 0; for two groups GB > 0 iff fair."""
    gain = [float(b) for b in benefits(instance)]
    joins = np.arange(len(gain))
    table = np.array(
        [[float(v) for v in instance["joined"]]] * len(gain) + [[float(v) for v in instance["now"]]]
    )
    found = float(group_benefit(table, joins, form)[-1])
    fair = all(a > b for i, a in enumerate(gain) for b in gain[i + 1 :])
    relations = [Relation(0.0, "<", found, "fair: GB > 0")] if fair else []
    if len(gain) == 2 and not fair:
        relations.append(Relation(found, "<=", 0.0, "unfair: GB <= 0"))
    return Case(tuple(relations) or (Relation(0, "<=", 1),), {"groups": len(gain) >= 2})


def residuals(sign_of: int = 1, form: str = "benefit") -> dict[str, sympy.Expr]:
    """The two lines of (20): benefit_i - benefit_(i+1), and its terms rearranged.

    Form "loss" leaves the losses at joining out, as (9) does.
    """
    before, now, later_before, later_now = sympy.symbols("a b c d", real=True)
    first = (before - now) - (later_before - later_now)
    joined = before - later_before if form == "benefit" else 0
    second = joined + sign_of * (later_now - now)
    return {"exponent": first - second}


def slope(power: int = 1) -> tuple[sympy.Expr, list[sympy.Expr]]:
    """The derivative of exp(x) - 1, which is 0 at 0: positive, so that exp(x) - 1 has the sign of
    x.
    """
    x = sympy.symbols("x", real=True)
    return sympy.diff(sympy.exp(x) ** power - 1, x), [sympy.exp(x)]


def joining(instance: dict[str, Any], groups: int = 3, early: bool = False) -> Case:
    """The losses at joining are the same for FedAvg and its normalised form, in one dimension from
    the same start.

    A group joins each round. Before t_2 the two take the same steps (algorithm 1, line 8), unless
    ``early``.
    """
    losses = [Quadratic((1,), (x,)) for x in instance["x"][:groups]]
    levels = []
    for normalise in (False, True):
        w, values = [Fraction(instance["w"])], []
        for k, loss in enumerate(losses):
            values.append(loss(w))  # v_(k+1) joins at w
            present = [other.gradient(w) for other in losses[: k + 1]]
            if normalise and (k > 0 or early):
                present = [unit(g) if any(g) else g for g in present]
            mean = [
                sum(column, Fraction(0)) / len(present) for column in zip(*present, strict=True)
            ]
            w = fedavg(w, mean, mean, instance["eta"])
        levels.append(values)
    pairs = enumerate(zip(*levels, strict=True), start=1)
    relations = tuple(Relation(a, "==", b, f"v_{k} at t_{k}") for k, (a, b) in pairs)
    return Case(relations, {"step size": 0 < instance["eta"] < 1})


def before(early: bool = False) -> dict[str, sympy.Expr]:
    """L_2 at w_(t_2), two rounds after w_1, under FedAvg less the same under its normalised form,
    which normalises from t_2 on, or ``early``. (L_1 joins at w_1, where both begin.)
    """
    w, first, second = sympy.symbols("w x_1 x_2", real=True)
    eta = sympy.symbols("eta", positive=True)
    ends = []
    for normalise in (False, early):
        v = w
        for _ in range(2):
            slope = v - first
            v = v - eta * (slope / sympy.sqrt(slope**2) if normalise else slope)
        ends.append(v)
    one, two = ((end - second) ** 2 / 2 for end in ends)
    return {"v_2": one - two}


def paths() -> st.SearchStrategy[dict[str, Any]]:
    """Centres, a start and a step size."""
    half = st.integers(-12, 12).map(lambda k: Fraction(k, 2))
    step = st.integers(1, 7).map(lambda k: Fraction(k, 8))
    return st.fixed_dictionaries(
        {"x": st.lists(half, min_size=2, max_size=2), "w": half, "eta": step}
    )


def instances() -> st.SearchStrategy[dict[str, Any]]:
    """Losses in eighths, at joining and now, of two to four groups."""

    def build(n: int) -> st.SearchStrategy[dict[str, Any]]:
        level = st.lists(st.integers(0, 40).map(lambda k: Fraction(k, 8)), min_size=n, max_size=n)
        return st.fixed_dictionaries({"joined": level, "now": level})

    return st.integers(2, 4).flatmap(build)


def _check(effort: Effort, form: str = "loss") -> Evidence:
    shows = "v_1 from 1 to 9/10, v_2 from 10 to 2: GB > 0, but v_2 has gained more"
    instance = {"joined": [1, 10], "now": [Fraction(9, 10), 2]}
    return Evidence.of(Counterexample.at(Call.of(tells, form=form), shows, **instance))


def _check_repaired(
    effort: Effort, sign_of: int = 1, power: int = 1, form: str = "benefit"
) -> Evidence:
    point = {"a": "5", "b": "1/3", "c": "2", "d": "-4/7"}
    return Evidence.of(
        SymbolicZero(Call.of(residuals, sign_of=sign_of, form=form), "expand", (point,)),
        DefiniteForm(Call.of(slope, power=power), "expand", ({"x": "-3"}, {"x": "2"}), strict=True),
        extra=(explore(Call.of(implied, form=form), Call.of(instances), effort, tolerance=0.0),),
    )


def _check_three(effort: Effort, middle: int = 1) -> Evidence:
    shows = "benefits 1, 2 and -1: gaps -1 and 3, so GB > 9, but v_2 has gained more than v_1"
    instance = {"joined": [5, 5, 5], "now": [4, 4 - middle, 6]}
    return Evidence.of(Counterexample.at(Call.of(tells, form="benefit"), shows, **instance))


def _check_joining(effort: Effort, groups: int = 3) -> Evidence:
    shows = (
        "centres 0, 4, 8, from w = 2, eta = 1/2, one group a round: v_3 joins at the loss "
        "169/8, or 49/2 if normalised"
    )
    instance = {"x": [0, 4, 8], "w": 2, "eta": Fraction(1, 2)}
    return Evidence.of(Counterexample.at(Call.of(joining, groups=groups), shows, **instance))


def _check_joining_repaired(effort: Effort, early: bool = False) -> Evidence:
    point = {"w": "3", "x_1": "1/2", "x_2": "-1", "eta": "1/7"}
    return Evidence.of(
        SymbolicZero(Call.of(before, early=early), "expand", (point,)),
        extra=(
            explore(Call.of(joining, groups=2, early=early), Call.of(paths), effort, tolerance=0.0),
        ),
    )


PRINTED_9 = (
    r"$GB_t = \frac{1}{n-1} \sum_{i=1}^{n-1} \exp\left(L_{v_{i+1}}(w_t) - L_{v_i}(w_t)\right) - "
    r"1$. A positive value of GB indicates that the algorithm is fair, and larger value "
    r"indicates better fairness of the algorithm."
)
PRINTED_20 = (
    r"$GB_t = \frac{1}{n-1} \sum_{i=1}^{n-1} \exp\left((L_{v_i}(w_{t_i}) - "
    r"L_{v_{i+1}}(w_{t_{i+1}})) + (L_{v_{i+1}}(w_t) - L_{v_i}(w_t))\right) - 1$"
)
PRINTED_SAME = (
    r"we find that $L_{v_i}(w_{t_i}) - L_{v_{i+1}}(w_{t_{i+1}})$ in (20) is the same for our "
    r"algorithms and Fedavg"
)
GROUPS = (("groups", "at least two groups have joined"),)
STEP = (("step size", "0 < eta < 1"),)
CLAIMS = (
    Claim(
        id="dynamic/gb",
        number="Eqs. (9), (20)",
        line=203,
        title="The group benefit (9) is positive iff the algorithm is fair",
        printed=PRINTED_9,
        statement=(
            r"$GB_t$ of (9) is positive iff every group that joined earlier has the larger "
            r"benefit at $t$ (definition 2)."
        ),
        kind="equivalence",
        hypotheses=GROUPS,
        scope="two groups",
        expected="holds-repaired",
        check=_check,
        mutants=(
            Mutant("(20)", "the form with the losses at joining", partial(_check, form="benefit")),
        ),
        severity="theorem",
        erratum=(
            "(9) compares losses, definition 2 compares gains: a group that joins late with a "
            "large loss makes (9) positive, however much it gains. Use (20), whose sign is that "
            "of the gap for two groups. That (9) leaves out a term which is the same for all "
            "algorithms lets it compare two of them, and says nothing of its sign."
        ),
    ),
    Claim(
        id="dynamic/gb/repaired",
        number="Eq. (20)",
        line=443,
        title="The group benefit (20) is positive if the algorithm is fair, and for two groups "
        "only then",
        printed=PRINTED_20,
        statement=(
            r"The exponents of (20) are the gaps of benefits between neighbours, and $e^x - 1$ "
            r"has the sign of $x$: fair implies $GB_t > 0$, and for two groups $GB_t > 0$ "
            r"implies fair."
        ),
        kind="equivalence",
        hypotheses=GROUPS,
        scope="as stated",
        expected="holds",
        check=_check_repaired,
        mutants=(
            Mutant(
                "a sign",
                "the second term of the exponent turned",
                partial(_check_repaired, sign_of=-1),
            ),
            Mutant(
                "(9)", "fair implies that (9) is positive", partial(_check_repaired, form="loss")
            ),
        ),
    ),
    Claim(
        id="dynamic/gb-groups",
        number="Eq. (20)",
        line=443,
        title="The group benefit (20) of three groups is positive only if the algorithm is fair",
        printed=PRINTED_20,
        statement=r"For three groups, $GB_t > 0$ in (20) iff every group that joined earlier has "
        r"the larger benefit.",
        kind="equivalence",
        hypotheses=GROUPS,
        scope="three groups",
        expected="refuted",
        check=_check_three,
        mutants=(
            Mutant(
                "v_2 gains nothing", "benefits 1, 0 and -1: fair", partial(_check_three, middle=-1)
            ),
        ),
        severity="theorem",
        whose="implied",
        erratum="The mean of exponentials lets one large gap outweigh a negative one. Report the "
        "smallest gap instead.",
    ),
    Claim(
        id="dynamic/gb-joining",
        number="Appendix E",
        line=445,
        title="The losses at joining are the same for the proposed algorithms and FedAvg",
        printed=PRINTED_SAME,
        statement=r"$L_{v_i}(w_{t_i})$ is the same under FedAvg and under its normalised form, "
        r"for every group $i$.",
        kind="identity",
        hypotheses=STEP,
        scope="three groups, d = 1",
        expected="holds-repaired",
        check=_check_joining,
        mutants=(
            Mutant(
                "two groups", "before t_2 nothing is normalised", partial(_check_joining, groups=2)
            ),
        ),
        severity="remark",
        erratum=(
            "True of two groups. From t_3 on the models differ, and so do the losses at joining: "
            "in the multi-group experiments of figure 2 the term that (9) leaves out depends on "
            "the algorithm, and (9) does not compare algorithms either."
        ),
    ),
    Claim(
        id="dynamic/gb-joining/repaired",
        number="Appendix E",
        line=445,
        title="With two groups the losses at joining are the same for the proposed algorithms "
        "and FedAvg",
        printed=PRINTED_SAME,
        statement=(
            r"With two groups, $L_{v_1}(w_{t_1})$ and $L_{v_2}(w_{t_2})$ are the same under "
            r"FedAvg and its normalised form."
        ),
        kind="identity",
        hypotheses=STEP,
        scope="two groups, quadratics on a line, one and two rounds before t_2",
        expected="holds",
        check=_check_joining_repaired,
        mutants=(
            Mutant(
                "normalised early",
                "from the first round on",
                partial(_check_joining_repaired, early=True),
            ),
        ),
        notes="Algorithm 1 normalises from t_2 on (line 8), and the model at t_2 is made before.",
    ),
)
