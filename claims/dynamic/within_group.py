"""Equation (19): the mean spread LS, and the within-group fairness of definition 4."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import sympy
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, DefiniteForm
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.instances import explore
from fairfl.theory.measures.dynamic import group_spread, within_group_std


def spread(pair: list[Any]) -> Fraction:
    """The standard deviation of two clients' losses."""
    return abs(Fraction(pair[0]) - Fraction(pair[1])) / 2


def lower(instance: dict[str, Any]) -> Case:
    """LS below the other algorithm's: then (18) holds in every group; two clients a group."""
    ours, theirs = ([spread(g) for g in instance[name]] for name in ("ours", "theirs"))
    return Case(
        tuple(
            Relation(a, "<", b, f"spread of v_{k}")
            for k, (a, b) in enumerate(zip(ours, theirs, strict=True), start=1)
        ),
        {"LS": sum(ours) < sum(theirs)},
    )


def by_library(instance: dict[str, Any]) -> Case:
    """(18) in every group implies a lower LS, by the library, once all have joined."""
    groups = np.repeat(np.arange(len(instance["ours"])), 2)
    joins = list(range(len(instance["ours"])))
    times = len(joins)
    tables = [
        np.tile([float(x) for pair in instance[name] for x in pair], (times, 1))
        for name in ("ours", "theirs")
    ]
    spreads = [group_spread(table, groups, joins)[-1] for table in tables]
    ls = [float(within_group_std(table, groups, joins)[-1]) for table in tables]
    return Case(
        (Relation(ls[0], "<", ls[1], "LS"),), {"(18)": bool((spreads[0] < spreads[1]).all())}
    )


def mean(factor: str = "1") -> tuple[sympy.Expr, list[sympy.Expr]]:
    """LS of the other less ``factor`` times ours, for three groups whose spreads are each
    narrower.
    """
    ours = sympy.symbols("a1:4", nonnegative=True)
    more = sympy.symbols("m1:4", positive=True)
    zero = sympy.S.Zero
    ls = sum((a + m for a, m in zip(ours, more, strict=True)), zero) / 3
    return ls - sympy.Rational(factor) * sum(ours, zero) / 3, [m / 3 for m in more]


def instances() -> st.SearchStrategy[dict[str, Any]]:
    """Two to four groups of two clients; ours narrower in each."""

    def build(rows: list[tuple[Fraction, Fraction, Fraction]]) -> dict[str, Any]:
        return {
            "ours": [[low, low + wide] for low, wide, _ in rows],
            "theirs": [[low, low + wide + more] for low, wide, more in rows],
        }

    quarter = st.integers(0, 12).map(lambda k: Fraction(k, 4))
    row = st.tuples(quarter, quarter, quarter.map(lambda q: q + Fraction(1, 4)))
    return st.lists(row, min_size=2, max_size=4).map(build)


def _check(effort: Effort, first: str = "3") -> Evidence:
    shows = "spreads 3/2 and 0 against 1 and 1: LS is lower, and v_1's spread is larger"
    instance = {"ours": [[0, Fraction(first)], [1, 1]], "theirs": [[0, 2], [0, 2]]}
    return Evidence.of(Counterexample.at(Call.of(lower), shows, **instance))


def _check_repaired(effort: Effort, factor: str = "1") -> Evidence:
    point = {**{f"a{k}": f"{k}/2" for k in (1, 2, 3)}, **{f"m{k}": f"1/{k}" for k in (1, 2, 3)}}
    return Evidence.of(
        DefiniteForm(Call.of(mean, factor=factor), "expand", (point,), strict=True),
        extra=(explore(Call.of(by_library), Call.of(instances), effort, tolerance=0.0),),
    )


PRINTED = (
    r"$LS_t = \frac{1}{n} \sum_{i=1}^n \sqrt{\sum_{k=1}^{|v_i|} \frac{(F_t^k - "
    r"L_t^{v_i})^2}{|v_i|}}$. This metric indicates the level of performance uniformity across "
    r"clients within the same group. A lower value of the metric indicates higher uniformity."
)
CLAIMS = (
    Claim(
        id="dynamic/ls",
        number="Eq. (19)",
        line=395,
        title="A lower LS means that every group is more uniform (18)",
        printed=PRINTED,
        statement=r"If $LS_t$ is lower under one algorithm, then so is the standard deviation of "
        r"the clients' losses in each group (definition 4).",
        kind="implication",
        hypotheses=(("LS", "LS is lower"),),
        scope="two groups of two",
        expected="holds-repaired",
        check=_check,
        mutants=(Mutant("3/2 for 3", "spread 3/4 in v_1", partial(_check, first="3/2")),),
        severity="remark",
        erratum=(
            "LS is a mean over groups; (18) asks of each. Report the groups' spreads. While one "
            "group is there LS is set to 0, whatever its spread. And line 400 has its words the "
            "wrong way round: LS is of within-group fairness, group benefit of between-group "
            "fairness."
        ),
    ),
    Claim(
        id="dynamic/ls/repaired",
        number="Eq. (19)",
        line=395,
        title="Where every group is more uniform (18), LS is lower",
        printed=PRINTED,
        statement=r"If the standard deviation is lower in each group, $LS_t$ is lower.",
        kind="implication",
        hypotheses=(("(18)", "the spread of each group is lower"),),
        scope="three groups; two to four in the runs",
        expected="holds",
        check=_check_repaired,
        mutants=(Mutant("1 % more", "1.01 of ours", partial(_check_repaired, factor="101/100")),),
    ),
)
