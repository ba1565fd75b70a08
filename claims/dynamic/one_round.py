"""One round: what aggregation changes, what normalising limits, three groups, and what normalising
guarantees.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.dynamic.setting import Round, dot, fedavg, norm, normalised, unit
from fairfl.claims.evidence import Evidence


def shares(weight: str = "1/2") -> dict[str, sympy.Expr]:
    """The lead of v_2 after aggregation with weights (1 - ``weight``, ``weight``), less the part of
    the local lead that is claimed; first order, in units of eta.
    """
    a, b, k = sympy.symbols("a b k", positive=True)
    p = sympy.Rational(weight)
    cosine, sine = (1 - k**2) / (1 + k**2), 2 * k / (1 + k**2)
    one, two = sympy.Matrix([1, 0]), sympy.Matrix([cosine, sine])
    g, h = a * one, b * two
    average, mean = (1 - p) * g + p * h, (1 - p) * one + p * two
    return {
        "fedavg": (h - g).dot(average) - (h.dot(h) - g.dot(g)) / 2,
        "normalised": (h - g).dot(mean) - (1 + cosine) / 2 * (b - a),
    }


def limited(instance: dict[str, Any]) -> Case:
    """(4) for NGD against FedAvg, where both losses are 1-Lipschitz on [0, 1], which holds all
    models.
    """
    round_ = Round.of(instance)
    one, two = round_.gradients
    steepest = max(
        abs(loss.gradient([end])[0]) for loss in (round_.first, round_.second) for end in (0, 1)
    )
    ends = [rule(round_.now, one, two, round_.eta)[0] for rule in (fedavg, normalised)]
    return Case(
        (Relation(round_.gap(fedavg), "<", round_.gap(normalised), "gap of benefits"),),
        {
            "Lipschitz": steepest <= 1,
            "order": 0 < norm(one) < norm(two),
            "inside": all(0 <= w <= 1 for w in ends),
        },
    )


def first_pair(instance: dict[str, Any]) -> Case:
    """(4) for groups 1 and 2 of three of one curvature 1, by first order, which is exact then:
    their leads under NGD and FedAvg, times 3/eta.
    """
    gradients = [list(map(Fraction, g)) for g in instance["g"]]
    lengths = [norm(g) for g in gradients]
    difference = [b - a for a, b in zip(gradients[0], gradients[1], strict=True)]
    leads = []
    for directions in (gradients, [unit(g) for g in gradients]):
        total = [sum(column) for column in zip(*directions, strict=True)]
        leads.append(dot(difference, total))
    return Case(
        (Relation(leads[1], "<", leads[0], "lead of v_2 over v_1"),),
        {
            "order": all(x < y for x, y in zip(lengths, lengths[1:], strict=False)),
            "gradient": min(lengths) >= 2,
        },
    )


def fair(instance: dict[str, Any]) -> Case:
    """(3) after a normalised round."""
    round_ = Round.of(instance)
    return Case(
        (Relation(0, "<", round_.gap(normalised), "benefit of v_1 less that of v_2"),),
        {"head start": round_.head_start > 0, "defined": all(map(any, round_.gradients))},
    )


def alike(instance: dict[str, Any]) -> Case:
    """(3) fails after a round of FedAvg, or of NGD, for two groups of one loss."""
    round_ = Round.of(instance)
    relations = tuple(
        Relation(round_.gap(rule), "<=", 0, name)
        for name, rule in (("FedAvg", fedavg), ("NGD", normalised))
    )
    return Case(relations, {"one loss": round_.first == round_.second})


def same_loss(weight: str = "1") -> dict[str, sympy.Expr]:
    """L_2 = ``weight`` L_1, of values f, g and h at w_1, w_(t_2) and a later model, whatever lies
    between: the gap of benefits less f - g, and the exponent of (9).
    """
    f, g, h = sympy.symbols("f g h", positive=True)
    share = sympy.Rational(weight)
    return {"gap": (f - h) - share * (g - h) - (f - g), "exponent of (9)": share * h - h}


def _check_shares(effort: Effort, weight: str = "1/2") -> Evidence:
    point = {"a": "2", "b": "7/3", "k": "1/4"}
    return Evidence.of(SymbolicZero(Call.of(shares, weight=weight), "cancel", (point,)))


def _check_limited(effort: Effort, steep: str = "1") -> Evidence:
    shows = (
        "L_1 = (w - 1/2)^2/2, L_2 = (w - 1)^2/2 on [0, 1], w = 0, eta = 1/10: v_2 leads by "
        "3/80 under FedAvg, by 1/20 under NGD"
    )
    c = Fraction(steep)
    instance = {
        "L1": {"c": [c], "x": [Fraction(1, 2)]},
        "L2": {"c": [c], "x": [1]},
        "w1": [0],
        "w": [0],
        "eta": Fraction(1, 10),
    }
    return Evidence.of(Counterexample.at(Call.of(limited), shows, **instance))


def _check_three(effort: Effort, third: int = -10) -> Evidence:
    shows = (
        "g = (0, 2), (3, 0), (-10, 0): times 3/eta v_2 leads by -25 under FedAvg, whose step "
        "the third group decides, and by -2 under NGD"
    )
    instance = {"g": [[0, 2], [3, 0], [third, 0]]}
    return Evidence.of(Counterexample.at(Call.of(first_pair), shows, **instance))


def _check_fair(effort: Effort, start: str = "-1/2") -> Evidence:
    shows = "L_1 = (w-1)^2/2, L_2 = (w-4)^2/2, w_1 = -1/2, w_(t_2) = 0, eta = 1/2: v_2 leads"
    instance = {
        "L1": {"c": [1], "x": [1]},
        "L2": {"c": [1], "x": [4]},
        "w1": [Fraction(start)],
        "w": [0],
        "eta": Fraction(1, 2),
    }
    return Evidence.of(Counterexample.at(Call.of(fair), shows, **instance))


def _check_alike(effort: Effort, start: int = 2) -> Evidence:
    shows = "L_1 = L_2 = w^2/2, w_1 = 2, w_(t_2) = 1: the gap is 3/2 under either rule"
    loss = {"c": [1], "x": [0]}
    instance = {"L1": loss, "L2": loss, "w1": [start], "w": [1], "eta": Fraction(1, 10)}
    return Evidence.of(Counterexample.at(Call.of(alike), shows, **instance))


def _check_same(effort: Effort, weight: str = "1") -> Evidence:
    point = {"f": "3", "g": "2/3", "h": "1/7"}
    return Evidence.of(SymbolicZero(Call.of(same_loss, weight=weight), "expand", (point,)))


PRINTED_LOCAL = (
    r"If the benefit from the aggregation step in the server is sufficiently small, then from (5) "
    r"we can see the benefit for $v_2$ [...] could be very large."
)
PRINTED_LIMIT = (
    r"Moreover since now we limit the benefit for $v_2$, we can show using NGD is fairer than "
    r"implementing the above vanilla Fedavg."
)
PRINTED_MANY = (
    "for simplicity we only present the case where only two groups are trained, and the "
    "multi-group case can be easily generalized"
)
PRINTED_GUARANTEE = (
    "We developed algorithms with normalization to guarantee the dynamic fairness based on Fedavg."
)
PRINTED_ALPHA = (
    "Figure 6 shows that in a scenario of a low level of non-iid, fairness is not guaranteed "
    "regardless of whether normalization is implemented or not."
)
CLAIMS = (
    Claim(
        id="dynamic/aggregation",
        number="Section 4, eqs. (5), (6)",
        line=104,
        title="To first order the local steps and their mean agree on who gains more",
        printed=PRINTED_LOCAL,
        statement=(
            r"With equal weights the mean of the two steps leaves of the local difference of "
            r"benefits, $\eta (b^2 - a^2)$ or $\eta (b - a)$, the half for FedAvg and $(1 + "
            r"\cos)/2$ for NGD, to first order."
        ),
        kind="identity",
        hypotheses=(),
        scope="two clients",
        expected="holds",
        check=_check_shares,
        mutants=(
            Mutant("51 to 49", "weights that differ", partial(_check_shares, weight="51/100")),
        ),
        notes=(
            "So leaving out aggregation keeps the sign of the comparison, though not its size. "
            "With other weights it does not: at g_1 = -1, g_2 = 2 and weights 9/10, 1/10 the "
            "model moves away from v_2."
        ),
    ),
    Claim(
        id="dynamic/ngd-limits",
        number="Section 4, before theorem 2",
        line=112,
        title="For 1-Lipschitz losses normalised gradient descent limits v_2's benefit, and is "
        "fairer than FedAvg",
        printed=PRINTED_LIMIT,
        statement=(
            r"If $L_1, L_2$ are 1-Lipschitz and $\|g_1\| < \|g_2\|$, the gap of benefits is larger "
            r"under NGD than under FedAvg."
        ),
        kind="implication",
        hypotheses=(
            ("Lipschitz", "both losses are 1-Lipschitz where the models are"),
            ("order", "0 < ||g_1|| < ||g_2||"),
            ("inside", "all models are in [0, 1]"),
        ),
        scope="d = 1",
        expected="refuted",
        check=_check_limited,
        mutants=(
            Mutant("1.01-Lipschitz", "1 % steeper", partial(_check_limited, steep="101/100")),
        ),
        severity="remark",
        whose="reading",
        erratum=(
            "Where gradients are at most 1, as the paragraph assumes, a normalised step is the "
            "longer one: both rules are bounded by eta, and NGD is fairer only where ||g_1|| + "
            "||g_2|| > 1 + cos. Measure gradients in a unit in which they are large, that is, "
            "give NGD a step size of its own."
        ),
    ),
    Claim(
        id="dynamic/three-groups",
        number="Section 4, algorithm 1",
        line=136,
        title="With three groups, too, the normalised step is fairer between any two of them",
        printed=PRINTED_MANY,
        statement=(
            r"If $2 \le \|g_1\| < \|g_2\| < \|g_3\|$ and all losses have one curvature, the gap of "
            r"benefits of $v_1$ and $v_2$ is larger under the normalised step than under FedAvg's."
        ),
        kind="implication",
        hypotheses=(("order", "||g_1|| < ||g_2|| < ||g_3||"), ("gradient", "all at least 2")),
        scope="d = 2, equal weights",
        expected="refuted",
        check=_check_three,
        mutants=(
            Mutant("g_3 turned", "(10, 0) for (-10, 0)", partial(_check_three, third=10)),
            Mutant(
                "as long as g_2", "g_3 = (-3, 0): not in order", partial(_check_three, third=-3)
            ),
        ),
        reading="The generalisation of algorithm 1 is that of theorem 2 to each pair of groups, "
        "which definition 3 asks for.",
        severity="remark",
        whose="reading",
        erratum=(
            "What the other groups do to a pair is not bounded by their order: a third group that "
            "pulls the model away from v_2 helps v_1, and normalising takes that away. "
            "theory.bounds.relative_gap_bounds tells which pairs gain."
        ),
    ),
    Claim(
        id="dynamic/guarantee",
        number="Section 6",
        line=225,
        title="Normalising guarantees absolute dynamic fairness",
        printed=PRINTED_GUARANTEE,
        statement=r"If $v_1$ has gained before $t_2$, it has the larger benefit at $t_2 + 1$ under "
        r"normalised gradient descent.",
        kind="implication",
        hypotheses=(
            ("head start", "L_1(w_(t_1)) > L_1(w_(t_2))"),
            ("defined", "both gradients differ from 0"),
        ),
        scope="d = 1",
        expected="refuted",
        check=_check_fair,
        mutants=(
            Mutant("w_1 = -1.01", "v_1 has gained 1.52", partial(_check_fair, start="-101/100")),
        ),
        severity="theorem",
        erratum=(
            "Normalising makes the newcomer's lead smaller, not zero. What guarantees (3) is a "
            "head start above the lead: 2 eta for a round (dynamic/ngd-fair), ||g_1|| (||g_2|| - "
            "||g_1||) for all (dynamic/ngd-fair-later/repaired)."
        ),
    ),
    Claim(
        id="dynamic/alpha",
        number="Section D.1, figure 6",
        line=412,
        title="Where groups have the same data, no rule is dynamically fair",
        printed=PRINTED_ALPHA,
        statement=r"If $L_1 = L_2$, neither FedAvg nor NGD gives $v_1$ the larger benefit at $t_2 "
        r"+ 1$.",
        kind="implication",
        hypotheses=(("one loss", "L_1 = L_2: the limit of a low level of non-iid"),),
        scope="d = 1",
        expected="holds-repaired",
        check=_check_alike,
        mutants=(Mutant("no training", "w_1 = w_(t_2): no gap", partial(_check_alike, start=1)),),
        severity="remark",
        whose="reading",
        erratum=(
            "By definition 2 both are fair as soon as training has lowered the loss before t_2: "
            "v_2 joins a model that is good for it too, and gains less. That figure 6 shows no "
            "fairness comes from GB (9), which is 0 for equal losses whatever was gained."
        ),
    ),
    Claim(
        id="dynamic/alpha/repaired",
        number="Section D.1, figure 6",
        line=412,
        title="Where groups have the same data, v_1 is ahead by what it had gained before t_2, "
        "and GB (9) is 0",
        printed=PRINTED_ALPHA,
        statement=(
            r"If $L_1 = L_2 = L$, the gap of benefits is $L(w_{t_1}) - L(w_{t_2})$ at every $t > "
            r"t_2$ under every rule, and the exponent of (9) is 0."
        ),
        kind="identity",
        hypotheses=(),
        scope="as stated",
        expected="holds",
        check=_check_same,
        mutants=(Mutant("1 % apart", "L_2 = 1.01 L_1", partial(_check_same, weight="101/100")),),
    ),
)
