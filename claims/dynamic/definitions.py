"""Definitions 1 and 3: benefits under weights that change; relative and absolute fairness."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from fairfl.claims.dynamic.setting import fedavg, gap, normalised, on_line
from fairfl.claims.forms import Case, Claim, Relation, counterexample, witness


def relative(instance: dict[str, Any], absolute: bool = False) -> Case:
    """At t_2 + 1, (4) holds for normalised gradient descent against FedAvg, and (3) does not for
    either, or with ``absolute`` does.
    """
    one, two = (gap(instance, rule) for rule in (normalised, fedavg))
    below = (
        Relation(0, "<", one, "(3) under NGD")
        if absolute
        else Relation(one, "<=", 0, "not (3) under NGD")
    )
    defined = any(instance["g"]) and any(instance["h"])
    return Case((Relation(two, "<", one, "(4)"), below), {"defined": defined})


def unmoved(instance: dict[str, Any]) -> Case:
    """A group whose model does not move has no benefit; its weight is p when it joins, and p'
    later.
    """
    loss, before, after = (instance[name] for name in ("loss", "before", "after"))
    return Case(
        (Relation(before * loss - after * loss, "==", 0, "benefit"),),
        {"weights": 0 < after <= before <= 1},
    )


CLAIMS = (
    Claim(
        "dynamic/definition-3",
        84,
        "Relative dynamic fairness does not imply absolute dynamic fairness",
        printed="relative dynamic fairness cannot imply absolute dynamic fairness",
        statement="There is a training at which (4) holds for normalised gradient descent against "
        "FedAvg, and (3) for neither.",
        kind="existence",
        hypotheses={"defined": "both gradients differ from 0"},
        scope="one training, two groups, d = 1",
        check=witness(
            relative,
            "L_1 = (w-1)^2/2, L_2 = (w-4)^2/2, w_1 = -1/2, w_(t_2) = 0, eta = 1/2: v_1 has gained "
            "5/8, and the gaps are -7/8 (NGD) and -25/8 (FedAvg)",
            on_line(-1, -4, Fraction(1, 2), gained=Fraction(5, 8)),
        ),
        mutants={
            "absolutely fair": ("(3) is claimed as well", {"absolute": True}),
            "a larger head start": ("w_1 = -2: both are fair", {"gained": 4}),
        },
        notes="Misprints: in (3) and (4) the right terms are L_{t_j}^{v_j} (printed: "
        "L_{t_i}^{v_2}, L_{t_i}^{v_j}, benefits from a time before joining), and the times are "
        "t_i < t_j (printed once t_i < t_i). As definition 3 compares absolutely fair algorithms "
        "only, theorem 2 cannot be applied where theorem 1 says that FedAvg is not fair. It "
        "need not ask that both algorithms be absolutely fair: a gap above a positive one is "
        "positive, so that it is enough to ask it of the other one.",
    ),
    Claim(
        "dynamic/definition-1",
        60,
        "A group has no benefit while the model does not change",
        printed=r"$\mathcal{L}_{t_i}^{v_i}(w_t) = L_{v_i}(w_{t_i}) - L_{v_i}(w_t)$, where "
        r"$L_{v_i}(w) = \sum_{j \in v_i} p_j^M F_j(w)$, where $p_j^M$ is the weight for the $j$-th "
        r"agent at time point $M$",
        statement=r"If $w_t = w_{t_i}$, then $L_{v_i}(w_{t_i}) - L_{v_i}(w_t) = 0$, with the "
        r"weights of the time in either term.",
        kind="implication",
        hypotheses={"weights": "0 < p' <= p <= 1: a weight shrinks when others join"},
        scope="one client",
        whose="reading",
        severity="constant",
        check=counterexample(
            unmoved,
            "one client of loss 1, weight 1 at t_1 and 1/2 at t_2, where another joins: a benefit "
            "of 1/2 without training",
            {"loss": 1, "before": 1, "after": Fraction(1, 2)},
        ),
        mutants={"one weight": ("that of joining in both terms", {"after": 1})},
        reading="M is the time point at which the loss is taken; that is what 'the weight at time "
        "point M' says.",
        erratum="With weights p_j^M that change when others join, the benefit is a difference of "
        "two functions, positive without any training. Use weights within the group that stay (a "
        "mean over its members).",
        expected="refuted",
    ),
)
