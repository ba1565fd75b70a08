"""FedFB, lemma 20: many clients, split into two pooled subsets."""

from fractions import Fraction

from hypothesis import strategies as st

from fairfl.claims.case import Case, Relation
from fairfl.claims.fedfb.lemma_10 import conditions, opposed
from fairfl.claims.fedfb.worlds import ONE, ZERO, Clients, worlds
from fairfl.claims.forms import Claim, Instance, counterexample, every, exactly, proof


def printed(
    instance: Instance, members: str = "clients", factor: Fraction = ONE, least: int | None = None
) -> Case:
    """DP Disp >= δ̃ of the ensemble of all, or > ``least``; or, repaired, of the classifiers of the
    two "subsets", which reach δ̃ where the fairer one is free and the other perfectly fair.
    """
    world = Clients.of(instance["laws"], instance["q"])
    split, eps = instance["split"], instance["eps"]
    premises, delta, pair = conditions(world, split)
    if members == "clients":
        disparity = abs(world.ensemble(world.multipliers(eps))[0])
        operator = "<=" if least is None else "<"
        bound = delta if least is None else least
        return Case((Relation(bound, operator, disparity, "DP Disp"),), premises)
    sizes = [Fraction(len(part), len(world.q)) for part in split]
    fairer = min(pair, key=lambda people: abs(people.g(ZERO)))
    premises["budgets"] = min(eps) >= 0
    values = []
    for budgets in (eps, [ONE if people is fairer else ZERO for people in pair]):
        rules = [p.rule(p.multiplier(e)) for p, e in zip(pair, budgets, strict=False)]
        values.append(abs(world.mixture(rules, sizes)[0]))
    relations = [Relation(factor * delta, "<=", values[0], "DP Disp")]
    if members == "drawn subsets":
        relations.append(Relation(factor * delta, "==", values[1], "reached"))
    return Case(tuple(relations), premises)


def grouped() -> st.SearchStrategy[Instance]:
    """A wide client against two narrow ones, in either order."""
    splits = st.sampled_from([[[0], [1, 2]], [[2, 1], [0]]])
    return st.tuples(opposed(), splits).map(lambda pair: twinned(*pair))


def twinned(instance: Instance, split: list[list[int]]) -> Instance:
    """Three clients: the wide one, with the largest outer cells, the narrow one and its twin."""
    wide, narrow = sorted(instance["laws"], key=lambda pair: -pair[0][0] - pair[0][3])
    twin = [[a + k % 2 for k, a in enumerate(law)] for law in narrow]
    return {**instance, "laws": [wide, narrow, twin], "q": instance["q"][:1] * 3, "split": split}


def spans(world: Clients) -> list[list[Fraction]]:
    """The least and the largest g(λ_i) of each client, λ_i between 0 and g_i⁻¹(0)."""
    g = world.pooled.g
    return [sorted((g(ZERO), g(client.multiplier(ZERO)))) for client in world.clients]


def reachable(instance: Instance, wider: Fraction = ZERO, low: str = "least") -> Case:
    """MD lies in [L, U], the sums over clients of the ends of g(λ_i)/I, and takes each value there.

    ``part`` selects the value: each client's g(λ_i) is that fraction of the way between its ends,
    and its budget is |g_i(λ_i)|. ``wider`` moves L and U.
    """
    world = Clients.of(instance["laws"], instance["q"])
    pooled, clients, count = world.pooled, world.clients, len(world.q)
    ends = spans(world)
    if low == "ERM":
        ends = [[pooled.g(ZERO)] * 2 for _ in clients]
    lower, upper = (sum((end[k] for end in ends), ZERO) / count for k in (0, 1))
    lower, upper = lower - wider, upper + wider
    value = lower + instance["part"] * (upper - lower)
    inner = [end[0] + instance["part"] * (end[1] - end[0]) for end in ends]
    lams = [pooled.preimage(v)[0] for v in inner]
    budgets = [abs(c.g(lam)) for c, lam in zip(clients, lams, strict=True)]
    choices = instance["eps"], budgets
    mean_difference, reached = (world.ensemble(world.multipliers(eps))[0] for eps in choices)
    return Case(
        (
            Relation(lower, "<=", mean_difference, "L <= MD"),
            Relation(mean_difference, "<=", upper, "MD <= U"),
            Relation(reached, "==", value, "reached"),
        ),
        {
            "common q": len(set(world.q)) == 1 and 0 < world.q[0] < 1,
            "g_i increase": world.positive,
            "place": 0 <= instance["part"] <= 1,
            "budgets": min(instance["eps"]) >= 0,
        },
    )


def budgeted() -> st.SearchStrategy[Instance]:
    """Three clients, their budgets and a place in the range."""
    unit = st.integers(0, 16).map(lambda k: Fraction(k, 16) ** 2)
    return worlds(3, eps=st.lists(unit, min_size=3, max_size=3), part=unit)


COUNTER: Instance = {
    "laws": [[[1, 4], [4, 1]], [[3, 3], [1, 5]], [[2, 2], [9, 2]]],
    "q": Fraction(1, 2),
    "split": [[0], [1, 2]],
    "eps": [Fraction(34841, 171535), ONE, ZERO],
}
PREMISES = {
    "common q": "q_i = q for all clients",
    "opposite": "g̃_0(0) g̃_1(0) < 0",
    "ψ": "ψ̃ (g̃_0(0) + g̃_1(0)) > 0 on [0, c]²",
    "g_i increase": "each density is positive on (0, 1)",
}

CLAIMS = (
    Claim(
        "fedfb/lemma-20",
        1042,
        "I clients in two pooled subsets: DP Disp of LFT+Ensemble is at least δ̃ > 0",
        printed=r"Let $q_i=q$ for all $i\in[I]$. Consider a partition which divides $I$ clients "
        r"into two subsets [with pooled laws $\tilde{\mathcal P}_a^{(j)}$, shares $J_0,J_1$, and "
        r"$\tilde g_j$ as $g_i$]. Let $c=\min\{|\tilde g_0(0)|,|\tilde g_1(0)|\}$, "
        r"$\tilde\psi(\tilde\varepsilon_0,\tilde\varepsilon_1)=J_0J_1\tilde g_0(\tilde "
        r"g_1^{-1}(\mathrm{sign}(\tilde g_1(0))\tilde\varepsilon_1))+J_0J_1\tilde g_1(\tilde "
        r"g_0^{-1}(\mathrm{sign}(\tilde g_0(0))\tilde\varepsilon_0))+J_0^2\mathrm{sign}(\tilde "
        r"g_0(0))\tilde\varepsilon_0+J_1^2\mathrm{sign}(\tilde g_1(0))\tilde\varepsilon_1$. If "
        r"there exists a partition such that $\tilde g_0(0)\tilde g_1(0)<0$ and "
        r"$\tilde\psi\cdot(\tilde g_0(0)+\tilde g_1(0))>0$ on $[0,c]^2$, then for all "
        r"$\tilde\varepsilon_0,\tilde\varepsilon_1\in[0,1]$, "
        r"$DP\,Disp(f^{LFT+Ensemble}_{\varepsilon})\ge\tilde\delta=\min|\tilde\psi|>0$.",
        statement=r"$DP\,Disp(f^{LFT+Ensemble}_\varepsilon)\ge\tilde\delta$, $f_\varepsilon$ the "
        r"average of all $I$ local classifiers.",
        kind="bound",
        hypotheses={**PREMISES, "budgets": "ε_i >= 0"},
        scope="I = 3, as stated",
        check=every(
            proof(
                "lemma_20.v",
                "premises counterexample",
                counterexample(
                    printed,
                    "three clients, P(u > 1/2 | a) = (4/5, 1/5), (1/2, 5/6), (1/2, 2/11): MD takes "
                    "both signs, and is 0 here",
                    COUNTER,
                    "361/7920 <= 0",
                ),
            ),
            negation=True,
        ),
        mutants={"pooled subsets": ("the pooled subsets' classifiers", {"members": "subsets"})},
        severity="theorem",
        erratum="The bound is for the average of two classifiers, each trained on the pooled "
        "data of a subset, not for LFT+Ensemble of I > 2 clients. 'Pooling the datasets in one "
        "subset can clearly achieve a wider range of fairness' is false: a client that is far "
        "less fair than its subset moves its own λ further.",
        notes="Lemma 1 and remark 10 for more than two clients, and the second half of theorem 21, "
        "rest on it (fedfb/theorem-21/strict). What does hold for I clients: fedfb/lemma-20/range.",
        repaired=dict(
            title="the average of the pooled subsets' classifiers has DP Disp at least δ̃ > 0",
            statement=r"$DP\,Disp(J_0\tilde f_0+J_1\tilde f_1)\ge\tilde\delta>0$ for all "
            r"$\tilde\varepsilon_0,\tilde\varepsilon_1\in[0,1]$.",
            hypotheses={**PREMISES, "budgets": "ε̃_j >= 0"},
            scope="each g̃_j strictly increasing, any shares",
            check=proof(
                "ensemble_gap.v",
                "gap",
                exactly(
                    printed, grouped, examples=(12, 1000), members="drawn subsets", moved="q eps"
                ),
            ),
            mutants={"1 % more": ("1.01 ψ̃(c, 0)", {"factor": "101/100"})},
            gap="the printed proof assumes |g̃_0(0)| < |g̃_1(0)| and J_0 <= J_1 at once: only one "
            "is without loss. So (64), (63) > ψ̃(c, 0)/J_1, fails for J_0 > J_1; (63) >= ψ̃(c, 0) "
            "is enough. (66) needs ε_1 >= ε_0: for ε_1 <= c (63) is ψ̃(ε_0, ε_1), else at least "
            "ψ̃(ε_0, c). (68), and case 1, have J_1² g̃_1(0) for J_0 J_1 g̃_1(0).",
        ),
    ),
    Claim(
        "fedfb/lemma-20/range",
        1042,
        "(ours) the mean differences that LFT+Ensemble of I clients reaches",
        printed="see fedfb/lemma-20",
        statement=r"$MD\in[L,U]$, $L=\frac1I\sum_i\min\{g(0),g(g_i^{-1}(0))\}$, $U$ with $\max$; "
        r"all of it is reached, so $\min DP\,Disp=\max\{0,L,-U\}$.",
        kind="tight bound",
        hypotheses={
            **{name: PREMISES[name] for name in ("common q", "g_i increase")},
            "place": "the value lies in [L, U]",
            "budgets": "ε_i >= 0",
        },
        scope="any I; each g_i strictly increasing, g continuous",
        whose="ours",
        check=proof(
            "range.v",
            "range",
            exactly(reachable, budgeted, examples=(16, 3000), moved="q eps part"),
        ),
        mutants={
            "ERM alone": ("L = U = g(0)", {"low": "ERM"}),
            "wider": ("L and U moved apart by 1/1000 each", {"wider": "1/1000"}),
            "narrower": ("L and U moved together by 1/1000 each", {"wider": "-1/1000"}),
        },
        rests_on=("fedfb/eq-32",),
        notes="With the q_i different, the same with MD's own terms: "
        "solvers/lft_ensemble/densities.py computes it so.",
    ),
)
