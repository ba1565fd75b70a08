"""Definitions 1 and 3: benefits under weights that change, and relative against absolute
fairness.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, SymbolicZero, Witness
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.dynamic.setting import Round, fedavg, normalised
from fairfl.claims.evidence import Evidence
from fairfl.theory.measures.dynamic import absolutely_fair, dynamically_fairer


def relative(instance: dict[str, Any], absolute: bool = False) -> Case:
    """At t_2 + 1, (4) holds for normalised gradient descent against FedAvg, and (3) does not for
    either.

    With ``absolute`` the claim is that (3) holds too.
    """
    round_ = Round.of(instance)
    one, two = round_.gap(normalised), round_.gap(fedavg)
    below = (
        Relation(0, "<", one, "(3) under NGD")
        if absolute
        else Relation(one, "<=", 0, "not (3) under NGD")
    )
    return Case(
        (Relation(two, "<", one, "(4)"), below), {"defined": all(any(g) for g in round_.gradients)}
    )


def library(instance: dict[str, Any]) -> Case:
    """The same by the library: rows are the times t_1, t_2, t_2 + 1 with the losses of the two
    groups.
    """
    round_ = Round.of(instance)
    tables = []
    for step in (normalised, fedavg):
        new = step(round_.now, *round_.gradients, round_.eta)
        models = (round_.start, round_.now, new)
        tables.append([[float(round_.first(w)), float(round_.second(w))] for w in models])
    bare = dynamically_fairer(*tables, joins=[0, 1], require_absolute=False)
    whole = dynamically_fairer(*tables, joins=[0, 1])
    return Case(
        (
            Relation(int(bare), "==", 1, "(4)"),
            Relation(int(absolutely_fair(tables[0], [0, 1])), "==", 0, "(3)"),
            Relation(int(whole), "==", 0, "definition 3, which asks for both"),
        )
    )


def unmoved(instance: dict[str, Any], fixed: bool = False) -> Case:
    """A group whose model does not move has no benefit; its weight is p when it joins, and p'
    later, or the same.
    """
    loss, before, after = (Fraction(instance[name]) for name in ("loss", "before", "after"))
    later = before if fixed else after
    return Case(
        (Relation(before * loss - later * loss, "==", 0, "benefit"),),
        {"weights": 0 < after <= before <= 1},
    )


def mean_loss(added: int = 0) -> dict[str, sympy.Expr]:
    """The benefit at an unmoved model, for a group of two whose weights within the group do not
    change.
    """
    p, q, f, g = sympy.symbols("p q f g", positive=True)
    joined = (p * f + q * g) / (p + q)
    scale = sympy.symbols("c", positive=True)  # all weights are scaled when others join
    later = (scale * p * f + (scale * q + added) * g) / (scale * p + scale * q + added)
    return {"benefit": joined - later}


INSTANCE = {
    "L1": {"c": [1], "x": [1]},
    "L2": {"c": [1], "x": [4]},
    "w1": [Fraction(-1, 2)],
    "w": [0],
    "eta": Fraction(1, 2),
}


def _check(effort: Effort, absolute: bool = False, head_start: str = "-1/2") -> Evidence:
    shows = (
        "L_1 = (w-1)^2/2, L_2 = (w-4)^2/2, w_1 = -1/2, w_(t_2) = 0, eta = 1/2: gaps -7/8 "
        "(NGD) and -25/8 (FedAvg)"
    )
    instance = {**INSTANCE, "w1": [Fraction(head_start)]}
    return Evidence.of(
        Witness.at(Call.of(relative, absolute=absolute), shows, **instance),
        Witness.at(Call.of(library), "the same by the library's definitions", **instance),
    )


def _check_weights(effort: Effort, fixed: bool = False) -> Evidence:
    shows = (
        "one client of loss 1, weight 1 at t_1 and 1/2 at t_2, where another joins: a "
        "benefit of 1/2 without training"
    )
    instance = {"loss": 1, "before": 1, "after": Fraction(1, 2)}
    return Evidence.of(Counterexample.at(Call.of(unmoved, fixed=fixed), shows, **instance))


def _check_mean(effort: Effort, added: int = 0) -> Evidence:
    point = {"p": "1/3", "q": "2", "f": "5", "g": "1/7", "c": "1/4"}
    return Evidence.of(SymbolicZero(Call.of(mean_loss, added=added), "simplify", (point,)))


PRINTED_WEIGHTS = (
    r"$\mathcal{L}_{t_i}^{v_i}(w_t) = L_{v_i}(w_{t_i}) - L_{v_i}(w_t)$, where $L_{v_i}(w) = "
    r"\sum_{j \in v_i} p_j^M F_j(w)$, where $p_j^M$ is the weight for the $j$-th agent at time "
    r"point $M$"
)
CLAIMS = (
    Claim(
        id="dynamic/definition-3",
        number="Definition 3",
        line=84,
        title="Relative dynamic fairness does not imply absolute dynamic fairness",
        printed="relative dynamic fairness cannot imply absolute dynamic fairness",
        statement=(
            r"There is a training at which (4) holds for normalised gradient descent against "
            r"FedAvg, and (3) for neither."
        ),
        kind="existence",
        hypotheses=(("defined", "both gradients differ from 0"),),
        scope="one training, two groups, d = 1",
        expected="holds",
        check=_check,
        mutants=(
            Mutant("absolutely fair", "(3) is claimed as well", partial(_check, absolute=True)),
            Mutant(
                "a larger head start", "w_1 = -2: both are fair", partial(_check, head_start="-2")
            ),
        ),
        severity="misprint",
        erratum=(
            "In (3) and (4) the right terms are L_{t_j}^{v_j} (printed: L_{t_i}^{v_2}, "
            "L_{t_i}^{v_j}, benefits from a time before joining), and the times are t_i < t_j "
            "(printed once t_i < t_i). As definition 3 compares absolutely fair algorithms only, "
            "theorem 2 cannot be applied where theorem 1 says that FedAvg is not fair."
        ),
    ),
    Claim(
        id="dynamic/definition-1",
        number="Definition 1",
        line=60,
        title="A group has no benefit while the model does not change",
        printed=PRINTED_WEIGHTS,
        statement=(
            r"If $w_t = w_{t_i}$, then $L_{v_i}(w_{t_i}) - L_{v_i}(w_t) = 0$, with the weights "
            r"of the time in either term."
        ),
        kind="implication",
        hypotheses=(("weights", "0 < p' <= p <= 1: a weight shrinks when others join"),),
        scope="one client",
        expected="holds-repaired",
        check=_check_weights,
        mutants=(
            Mutant(
                "one weight", "that of joining in both terms", partial(_check_weights, fixed=True)
            ),
        ),
        reading="M is the time point at which the loss is taken; that is what 'the weight at "
        "time point M' says.",
        severity="constant",
        whose="reading",
        erratum=(
            "With weights p_j^M that change when others join, the benefit is a difference of two "
            "functions, positive without any training. Use weights within the group that stay (a "
            "mean over its members)."
        ),
    ),
    Claim(
        id="dynamic/definition-1/repaired",
        number="Definition 1",
        line=60,
        title="With weights normalised within the group, there is no benefit while the model "
        "does not change",
        printed=PRINTED_WEIGHTS,
        statement=(
            r"With $L_{v_i} = \sum_{j \in v_i} p_j F_j / \sum_{j \in v_i} p_j$ the benefit at "
            r"$w_t = w_{t_i}$ is 0, also when others join and scale all weights by $c$."
        ),
        kind="identity",
        hypotheses=(),
        scope="groups of two",
        expected="holds",
        check=_check_mean,
        mutants=(
            Mutant("one weight grows", "by more than the other", partial(_check_mean, added=1)),
        ),
    ),
)
