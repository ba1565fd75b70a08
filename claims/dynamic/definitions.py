"""Definitions 1 and 3, and the group benefit (9), (20): benefits and dynamic fairness."""

from fractions import Fraction

import sympy
from flint import arb

from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Decomposition
from fairfl.claims.claim import Claim
from fairfl.claims.dynamic.setting import fedavg, gap, normalised, on_line
from fairfl.claims.exact import Instance, ball
from fairfl.claims.forms import Residual, beside, counterexample, definite, every, identity, witness


def relative(instance: Instance, absolute: bool = False) -> Case:
    """(4) holds for normalised descent against FedAvg; (3) does not, or ``absolute`` does."""
    ngd, average = (gap(instance, rule) for rule in (normalised, fedavg))
    absolute_fairness = (
        Relation(0, "<", ngd, "(3) under NGD")
        if absolute
        else Relation(ngd, "<=", 0, "not (3) under NGD")
    )
    defined = any(instance["g"]) and any(instance["h"])
    return Case((Relation(average, "<", ngd, "(4)"), absolute_fairness), {"defined": defined})


def unmoved(instance: Instance) -> Case:
    """A group whose model does not move has no benefit; its weight is p when it joins, p' later."""
    loss, before, after = (instance[name] for name in ("loss", "before", "after"))
    return Case(
        (Relation(before * loss - after * loss, "==", 0, "benefit"),),
        {"weights": 0 < after <= before <= 1},
    )


def sign_of_benefit(instance: Instance, form: str = "loss", only_then: bool = True) -> Case:
    """GB, the mean of exp(gap) less one, is positive iff every earlier group has the larger
    benefit; with the gaps of (9), form "loss", or of (20), form "benefit". Unless ``only_then``
    nothing is said of three groups that are unfair.
    """
    if len(instance["now"]) < 2:
        return Case.outside({"groups": False})
    gains = [Fraction(a) - b for a, b in zip(instance["joined"], instance["now"], strict=True)]
    is_fair = all(a > b for i, a in enumerate(gains) for b in gains[i + 1 :])
    levels = instance["now"] if form == "loss" else [-b for b in gains]
    gaps = [ball(b - a).exp() for a, b in zip(levels, levels[1:], strict=False)]
    value = sum(gaps, arb(0)) / len(gaps) - 1
    fair, unfair = Relation(0, "<", value, "fair: GB"), Relation(value, "<=", 0, "unfair: GB")
    relation = fair if is_fair else unfair
    is_said = is_fair or only_then or len(gains) == 2
    return Case((relation,), {"groups": len(gains) >= 2, "two groups": is_said})


def residuals(sign: int = 1, form: str = "benefit") -> dict[str, Residual]:
    """benefit_i - benefit_(i+1) in (20), rearranged; form "loss" omits the losses at joining."""
    before, now, later_before, later_now = sympy.symbols("a b c d", real=True)
    first = (before - now) - (later_before - later_now)
    joined = before - later_before if form == "benefit" else 0
    return {"exponent": (first - joined, sign * (later_now - now))}


def slope() -> Decomposition:
    """The derivative of exp(x) - 1, 0 at 0: positive, so that exp(x) - 1 has the sign of x."""
    x = sympy.symbols("x", real=True)
    return sympy.Derivative(sympy.exp(x) - 1, x), [sympy.exp(x)]


GROUPS = {"groups": "at least two groups have joined", "two groups": "where GB > 0 implies fair"}
FAIR = (
    "three groups whose gains fall",
    {"joined": ["5/2", 3, "7/2"], "now": ["1/3", 2, "11/4"]},
    "0 < 1.24765",
)
UNFAIR = "v_2 gains more", {"joined": ["11/4", 3], "now": ["9/4", 2]}, "-0.393469 <= 0"
PRINTED_20 = (
    r"$GB_t = \frac{1}{n-1} \sum_{i=1}^{n-1} \exp\left((L_{v_i}(w_{t_i}) - "
    r"L_{v_{i+1}}(w_{t_{i+1}})) + (L_{v_{i+1}}(w_t) - L_{v_i}(w_t))\right) - 1$"
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
            "slopes -3/2 and -9/2, curvatures 3/4 and 5/6, eta = 2/5, a head start of 4/7",
            on_line("-3/2", "-9/2", "2/5", "4/7", "3/4", "5/6"),
            "-1039/350 < -653/1050; -653/1050 <= 0",
        ),
        mutants={
            "absolutely fair": ("(3) is claimed as well", {"absolute": True}),
            "a larger head start": ("a head start of 4: NGD is fair", {"gained": 4}),
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
            "one client of loss 3/2, weight 5/7 at t_1 and 2/7 at t_2, where others join",
            {"loss": "3/2", "before": "5/7", "after": "2/7"},
            "9/14 == 0",
        ),
        mutants={"one weight": ("that of joining in both terms", {"after": "5/7"})},
        reading="M is the time at which the loss is taken, by 'the weight at time point M'.",
        erratum="With weights p_j^M that change when others join, the benefit is positive without "
        "any training. Use weights within the group that stay (a mean over its members).",
    ),
    Claim(
        "dynamic/gb",
        203,
        "A positive group benefit (9) means that the algorithm is fair",
        number="Eqs. (9), (20)",
        printed=r"$GB_t = \frac{1}{n-1} \sum_{i=1}^{n-1} \exp\left(L_{v_{i+1}}(w_t) - "
        r"L_{v_i}(w_t)\right) - 1$. A positive value of GB indicates that the algorithm is fair, "
        r"and larger value indicates better fairness of the algorithm. [...] It should be noted "
        r"that the metric here does not exactly follow Definition 1, the reason can be seen in "
        r"section E in Appendix. (20): " + PRINTED_20,
        statement=r"$GB_t$ of (9) is positive only if every group that joined earlier has the "
        r"larger benefit at $t$ (definition 2).",
        kind="implication",
        hypotheses=GROUPS,
        scope="two groups",
        whose="reading",
        severity="remark",
        check=counterexample(
            sign_of_benefit,
            "v_1 from 1 to 9/10, v_2 from 10 to 2: GB > 0, but v_2 has gained more",
            {"joined": [1, 10], "now": ["9/10", 2]},
            "2.00417 <= 0",
        ),
        mutants={"(20)": ("the form with the losses at joining", {"form": "benefit"})},
        reading="'Indicates' as 'implies'. The text says itself that (9) leaves out a term of "
        "definition 1, and in appendix E why.",
        erratum="(9) compares losses, definition 2 compares gains: a group that joins late with a "
        "large loss makes (9) positive, however much it gains. Use (20), whose sign is that of the "
        "gap for two groups. That (9) leaves out a term which is the same for all algorithms (it "
        "is, for two groups) lets it compare two of them, and says nothing of its sign.",
        repaired=dict(
            number="Eq. (20)",
            title="(20) is positive if the algorithm is fair, and for two groups only then",
            statement=r"The exponents of (20) are the gaps of benefits between neighbours, and "
            r"$e^x - 1$ has the sign of $x$: fair implies $GB_t > 0$, and for two groups $GB_t > "
            r"0$ implies fair.",
            check=every(
                identity(residuals, "13/30"),
                definite(slope, "1.49182", strict=True),
                beside(
                    *(
                        witness(
                            sign_of_benefit, shows, groups, numbers, form="benefit", only_then=False
                        )
                        for shows, groups, numbers in (FAIR, UNFAIR)
                    )
                ),
            ),
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
        statement="For three groups, $GB_t > 0$ in (20) iff every group that joined earlier has "
        "the larger benefit.",
        kind="equivalence",
        hypotheses=GROUPS,
        scope="three groups",
        whose="implied",
        severity="remark",
        check=counterexample(
            sign_of_benefit,
            "benefits 1, 2 and -1: gaps -1 and 3, so GB > 9, but v_2 has gained more than v_1",
            {"joined": [5, 6, 7], "now": [4, 4, 8]},
            "9.22671 <= 0",
            form="benefit",
        ),
        mutants={"v_2 gains nothing": ("benefits 1, 0 and -1: fair", {"now": [4, 5, 6]})},
        erratum="One large gap outweighs a negative one. Report the smallest gap instead.",
    ),
)
