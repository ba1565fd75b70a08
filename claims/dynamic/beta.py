"""Algorithm 2, equations (7), (8): from the normalised step to FedAvg; and beta in fairness."""

import sympy

from fairfl.claims.dynamic.setting import fedavg, gap, normalised, on_line
from fairfl.claims.forms import Case, Claim, Instance, Relation, Residual, counterexample, identity


def residuals(late: int = 1, turned: bool = False) -> dict[str, Residual]:
    """(8) is FedAvg's step at beta = 0, that of (7) at beta = 1, and between them their mixture."""
    length, scale, rounds = sympy.symbols("length G n", positive=True)
    step, beta = sympy.symbols("d beta", real=True)
    normed = scale / (late + rounds) * step / length
    first, last, between = (
        (share * scale / (1 + rounds) + (1 - share) * length) * step / length
        for share in ((1, 0, 1 - beta) if turned else (0, 1, beta))
    )
    return {
        "beta = 0": (first, step),
        "beta = 1": (last, normed),
        "between": (between - beta * normed, (1 - beta) * step),
    }


def more_beta(instance: Instance) -> Case:
    """The lead of v_2 at t_2 + 2 is smaller with beta = 1 than with beta = 0, L_i = (w - x_i)^2/2.

    The round of t_2 is FedAvg's, and its length G; at t_2 + 1 the coefficient is G/2.
    """
    first, second = instance["x"]
    eta, start = instance["eta"], instance["w"]
    w = start - eta * (2 * start - first - second) / 2
    length = abs(w - start) / 2
    signs = [(w > x) - (w < x) for x in (first, second)]
    ends = [w - length * sum(signs) / 2, w - eta * (2 * w - first - second) / 2]
    lead_1, lead_0 = ((second - first) * (end - start) for end in ends)
    relation = Relation(lead_1, "<", lead_0, "lead of v_2")
    return Case((relation,), {"gradient": abs(start - second) >= 2})


def affine(share: str = "1/2") -> dict[str, Residual]:
    """The lead under (8) in a round, less FedAvg's, is beta ``share`` (b - a) (G' (1 + cos) - eta
    (a + b)); one curvature, so that the first order is exact. G' is the coefficient of (7).
    """
    a, b, eta, length, beta = sympy.symbols("a b eta G beta", positive=True)
    cosine = sympy.symbols("cosine", real=True)
    leads = []  # (h - g).s, with s = (p u + q v)/2 of the unit vectors u of g = a u, v of h = b v
    for weight in (beta, 0):
        p, q = (weight * length + (1 - weight) * eta * size for size in (a, b))
        leads.append(((b * cosine - a) * p + (b - a * cosine) * q) / 2)
    slope = sympy.Rational(share) * (b - a) * (length * (1 + cosine) - eta * (a + b))
    return {"lead": (leads[0] - leads[1], beta * slope)}


def first_round(instance: Instance, late: int = 1) -> Case:
    """(4) at t_2 + 1 for algorithm 2 against FedAvg: it normalises from t = t_2 + ``late`` on."""
    ours = gap(instance, fedavg if late > 0 else normalised)
    return Case((Relation(gap(instance, fedavg), "<", ours, "gap of benefits"),))


CLAIMS = (
    Claim(
        "dynamic/beta",
        172,
        "(8) is FedAvg at beta = 0, the normalised step (7) at beta = 1, and their mixture between",
        number="Eqs. (7), (8)",
        printed=r"$w_{t+1}^k := w_t - \left(\beta \frac{\mathcal{G}}{1+t-t_2} + (1-\beta)\|w_t - "
        r"w_{t+1}^k\|_2\right) \frac{w_t - w_{t+1}^k}{\|w_t - w_{t+1}^k\|_2}$; if the value is "
        r"close to 0, the algorithm will converge faster and close to Fedavg",
        statement=r"The update of (8) is $\beta$ times that of (7) plus $1 - \beta$ times "
        r"FedAvg's, for every $\beta \in [0, 1]$ and every update that is not 0.",
        kind="identity",
        check=identity(residuals, "8/7; 1152/8855; 4/21"),
        mutants={
            "2 + t - t_2": ("another decay in (7)", {"late": 2}),
            "1 - beta": ("the ends exchanged", {"turned": True}),
        },
        reading="The norm is that of the whole update, as printed in (8). Algorithm 2 takes it "
        "layer by layer, where the identity holds for each layer.",
        notes="(7) is used from t = t_2 + 1 on, where its coefficient G/(1 + t - t_2) is G/2: for "
        "the initial value G of the text write G/(t - t_2).",
    ),
    Claim(
        "dynamic/beta-fair",
        174,
        "A larger beta makes (8) fairer",
        number="Eq. (8)",
        printed=r"If the value of $\beta$ is close to 1, the algorithm will be more fair; And if "
        r"the value is close to 0, the algorithm will converge faster and close to Fedavg.",
        statement=r"If $\|g_2\| \ge 2$, the lead of $v_2$ at $t_2 + 2$ is smaller with $\beta = 1$ "
        r"than with $\beta = 0$.",
        kind="implication",
        hypotheses={"gradient": "||g_2|| >= 2"},
        scope="d = 1, one curvature",
        severity="remark",
        check=counterexample(
            more_beta,
            "x_1 = 29/7, x_2 = 16/7, w = 1/7, eta = 1/10: v_2 loses on v_1 by more under FedAvg",
            {"x": ["29/7", "16/7"], "w": "1/7", "eta": "1/10"},
            "-1677/1960 < -10621/9800",
        ),
        mutants={"x_1 = 1": ("||g_1|| < ||g_2||", {"x": [1, "16/7"]})},
        erratum="As theorem 2 does, this needs ||g_1|| < ||g_2||: else beta = 1 is less fair.",
        repaired=dict(
            title="A larger beta makes (8) fairer iff (b - a)(eta (a + b) - G' (1 + cos)) > 0",
            statement=r"With one curvature, $a = \|g_1\|$, $b = \|g_2\|$ and the coefficient $G' = "
            r"\mathcal{G}/(1+t-t_2)$, the lead of $v_2$ in a round of (8) is FedAvg's plus "
            r"$\frac{\beta}{2} (b - a)(G' (1 + \cos) - \eta (a + b))$: affine in $\beta$.",
            kind="identity",
            hypotheses={},
            check=identity(affine, "-0.497372"),
            mutants={"1 % more": ("0.505 for 1/2", {"share": "101/200"})},
            notes="So beta regulates fairness in proportion, as figure 7(b) says, while G' (1 + "
            "cos) < eta (a + b). G' falls like 1/t, gradients under FedAvg faster: late in "
            "training the normalised step is the longer one, and the order of the two rules turns.",
        ),
    ),
    Claim(
        "dynamic/algorithm-2-first",
        219,
        "Algorithm 2 is dynamically fairer than FedAvg at t_2 + 1",
        printed="To summary, both of Algorithm 1 and 2 demonstrate greater dynamic fairness than "
        r"Fedavg. [Algorithm 2, line 8:] if $t \ge t_2 + 1$ do",
        kind="implication",
        scope="every training: the two models are the same; one of them, d = 1",
        whose="implied",
        severity="remark",
        check=counterexample(
            first_round,
            "slopes -3/2 and -9/2: the models at t_2 + 1 are the same, and (4) is strict",
            on_line("-3/2", "-9/2", "2/5", "4/7", "3/4", "5/6"),
            "-1039/350 < -1039/350",
        ),
        mutants={"from t_2 on": ("as in algorithm 1", {"late": 0})},
        reading="At every t > t_2, as definition 3 asks; it may mean later rounds.",
        erratum="Algorithm 2 needs the round of t_2 to measure G, and does not normalise it: at "
        "t_2 + 1 it is FedAvg, so theorem 2, which speaks of that time alone, says nothing of it. "
        "In the round where v_2 gains most the newcomer is not limited. Take G from v_1's last "
        "round, as algorithm 3 does, or ask for (4) from t_2 + 2 on.",
    ),
)
