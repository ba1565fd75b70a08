"""Section 5: the joining times of the experiments compared with the setting."""

from __future__ import annotations

from functools import partial
from typing import Any

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, Witness
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence

TIMES = tuple(range(0, 100, 10))
"""{0, 10, 20, ..., 90}, as printed."""


def first(instance: dict[str, Any]) -> Case:
    """The first joining time is ``t1``."""
    return Case((Relation(min(TIMES), "==", instance["t1"], "t_1"),))


def clients(instance: dict[str, Any]) -> Case:
    """A group at each time, ``size`` clients a group."""
    return Case((Relation(len(TIMES) * instance["size"], "==", 30, "clients"),))


def _check(effort: Effort, t1: int = 1) -> Evidence:
    return Evidence.of(
        Counterexample.at(Call.of(first), "the set of joining times begins with 0", t1=t1)
    )


def _check_clients(effort: Effort, size: int = 3) -> Evidence:
    return Evidence.of(Witness.at(Call.of(clients), "10 times 3", size=size))


CLAIMS = (
    Claim(
        id="dynamic/figure-2-times",
        number="Section 5",
        line=186,
        title="In the multi-group experiment the first group joins at t_1 = 1",
        printed=(
            r"each group is added to trained at a specific time point $\{t_1, ..., t_S\}$ ($t_1 "
            r"= 1$) [...] The timepoint each group join in training is in the set $\{0, 10, 20, "
            r"30, 40, 50, 60, 70, 80, 90\}$."
        ),
        statement=r"The smallest of the joining times 0, 10, ..., 90 is 1.",
        kind="figure",
        hypotheses=(),
        scope="as printed",
        expected="refuted",
        check=_check,
        mutants=(Mutant("t_1 = 0", "what the set says", partial(_check, t1=0)),),
        severity="misprint",
        erratum="t_1 is 1 in the setting and in algorithm 1, 0 in the experiment (and algorithm "
        "2 begins with w_0).",
    ),
    Claim(
        id="dynamic/figure-2-clients",
        number="Section 5",
        line=188,
        title="The multi-group experiment has 30 clients in groups of 3",
        printed="For the Multi-groups experiment, we choose 30 clients in total and each group "
        "contains 3 clients",
        statement="A group of 3 at each of the ten joining times makes 30.",
        kind="figure",
        hypotheses=(),
        scope="as printed",
        expected="holds",
        check=_check_clients,
        mutants=(
            Mutant(
                "groups of 5", "as in the two-group experiment", partial(_check_clients, size=5)
            ),
        ),
    ),
)
