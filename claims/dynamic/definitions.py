"""Definitions 1 and 3: benefits under weights that change, and relative against absolute fairness;
and what i.i.d. data would give.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Any

import sympy
from hypothesis import strategies as st

from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates.kernel_proof import CLASSICAL
from fairfl.claims.claim import Claim, Repaired
from fairfl.claims.dynamic.setting import fedavg, gap, normalised, on_line
from fairfl.claims.exact import ball
from fairfl.claims.forms import counterexample, drawn, identity, proof, witness


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


def mean_loss(added: int = 0) -> dict[str, sympy.Expr]:
    """The benefit at an unmoved model: P = sum p_j and S = sum p_j F_j over the group are scaled by
    c when others join, but for the weight ``added`` of a client of loss f.
    """
    weights, losses, scale, f = sympy.symbols("P S c f", positive=True)
    later = (scale * losses + added * f) / (scale * weights + added)
    return {"benefit": losses / weights - later}


def alike(instance: dict[str, Any], mean: bool = False) -> Case:
    """Groups of clients with one and the same loss have one loss: L_{v_i} = sum_{j in v_i} p_j F_j,
    or their ``mean``.
    """
    totals = [sum(group) for group in instance["p"]]
    found = [total * instance["loss"] / (total if mean else 1) for total in totals]
    return Case(
        (Relation(found[0], "==", found[1], "losses of the groups"),), {"weights": sum(totals) == 1}
    )


def hoeffding(
    instance: dict[str, Any], exponent: Fraction = Fraction(2), factor: Fraction = Fraction(2)
) -> Case:
    """P(|mean of n - mean of m| >= eps) <= factor exp(-exponent eps^2 n m/(n + m)), samples of
    Bernoulli(p) losses.
    """
    n, m, p, eps = (instance[name] for name in ("n", "m", "p", "eps"))

    def chance(k: int, size: int) -> Fraction:
        return comb(size, k) * p**k * (1 - p) ** (size - k)

    far = [
        chance(i, n) * chance(j, m)
        for i in range(n + 1)
        for j in range(m + 1)
        if abs(Fraction(i, n) - Fraction(j, m)) >= eps
    ]
    bound = ball(factor) * (-ball(exponent * eps**2 * n * m / (n + m))).exp()
    return Case((Relation(ball(sum(far, Fraction(0))), "<=", bound, "tail"),))


def samples() -> st.SearchStrategy[dict[str, Any]]:
    """Sizes up to ten, probabilities and distances in tenths; and one sample each at p = 1/2, eps =
    1: 1/2, where the bound is 2/e.
    """
    tenth = st.integers(1, 10).map(lambda k: Fraction(k, 10))
    size = st.integers(1, 10)
    drawn = st.fixed_dictionaries({"n": size, "m": size, "p": tenth, "eps": tenth})
    return st.just({"n": 1, "m": 1, "p": Fraction(1, 2), "eps": Fraction(1)}) | drawn


THIRD = Fraction(1, 3)
CLAIMS = (
    Claim(
        "dynamic/definition-3",
        "Definition 3",
        84,
        "Relative dynamic fairness does not imply absolute dynamic fairness",
        printed="relative dynamic fairness cannot imply absolute dynamic fairness",
        statement="There is a training at which (4) holds for normalised gradient descent against "
        "FedAvg, and (3) for neither.",
        kind="existence",
        hypotheses={"defined": "both gradients differ from 0"},
        scope="one training, two groups, d = 1",
        whose="printed",
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
        "Definition 1",
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
        repaired=Repaired(
            title="With weights normalised within the group, there is no benefit while the model "
            "does not change",
            statement=r"With $L_{v_i} = \sum_{j \in v_i} p_j F_j / \sum_{j \in v_i} p_j$ the "
            r"benefit at $w_t = w_{t_i}$ is 0, also when others join and scale all weights by $c$.",
            kind="identity",
            hypotheses={},
            check=identity(mean_loss),
            mutants={"one weight grows": ("by more than the others", {"added": 1})},
        ),
    ),
    Claim(
        "dynamic/iid",
        "Section 3",
        84,
        "For groups of the same data the losses agree",
        printed=r"if all the data are i.i.d. and when m and each $n_i$ is large enough, then we "
        r"have $L_{v_i}(w) \approx L_{v_j}(w)$ for any group i and j [...] by the Hoeffding's "
        r"inequality if the loss function is bounded",
        statement=r"If all clients have one loss $F$, then $\sum_{j \in v_1} p_j F = \sum_{j \in "
        r"v_2} p_j F$.",
        kind="identity",
        hypotheses={"weights": "the weights of all clients sum to 1"},
        scope="groups of one and of two",
        whose="printed",
        severity="remark",
        check=counterexample(
            alike,
            "three clients of loss 1 and weight 1/3, one in v_1 and two in v_2: 1/3 and 2/3",
            {"loss": 1, "p": [[THIRD], [THIRD, THIRD]]},
        ),
        mutants={"means": ("over the group", {"mean": True})},
        erratum="L_v has the factor sum p_j: it must be a mean over the group, or groups be of one "
        "size. And Hoeffding's inequality is for a model that does not depend on the data: w_(t_2) "
        "is trained on those of v_1, whose loss is the lower for it.",
        repaired=Repaired(
            title="For a model chosen before, the mean losses of groups of the same law are close",
            statement=r"For a fixed $w$, losses in $[0, 1]$ and $n$, $m$ samples of one law: "
            r"$P(|\bar L_1 - \bar L_2| \ge \epsilon) \le 2 \exp(-2 \epsilon^2 \frac{n m}{n + m})$.",
            kind="bound",
            hypotheses={},
            scope="laws of finitely many outcomes; beside it exact sums for up to ten samples",
            check=proof(
                "mcdiarmid.v",
                "two_groups",
                drawn(hoeffding, samples, tolerance=0.0),
                axioms=CLASSICAL,
            ),
            mutants={
                "2.8 for 2": ("in the exponent", {"exponent": Fraction(14, 5)}),
                "1.3 for 2": ("before the exponential", {"factor": Fraction(13, 10)}),
            },
        ),
    ),
)
