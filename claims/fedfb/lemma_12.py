"""FedFB, lemmas 12 to 14: LFT+Ensemble is at most as accurate as CFL, and when it is less."""

from collections.abc import Sequence
from fractions import Fraction

from hypothesis import strategies as st

from fairfl.claims.fedfb.worlds import HALF, ONE, ZERO, Clients, parts, worlds
from fairfl.claims.forms import Case, Claim, Instance, Relation, counterexample, exactly, proof


def bound(instance: Instance, condition: str = "all equal", gaps: bool = False) -> Case:
    """Acc(ensemble) <= CFL(ε), ε >= its disparity, with equality iff λ_0 = λ_1 = λ_ε."""
    world = Clients.of(instance["laws"], instance["q"])
    ends = [client.multiplier(ZERO) for client in world.clients]
    lams = [p * end for p, end in zip(instance["place"], ends, strict=True)]
    if instance["same"]:
        lams = [instance["place"][0] * (min(ends, key=abs) if ends[0] * ends[1] > 0 else ZERO)] * 2
    difference, accuracy = world.ensemble(lams)
    eps = abs(difference) + instance["slack"]
    equal = lams[0] == lams[1]
    if condition == "all equal":
        equal = equal and lams[0] == world.pooled.multiplier(eps)
    relation = Relation(accuracy, "==" if equal else "<", world.pooled.best(eps), "accuracy")
    return Case((relation,), {**common(world), "g_i increase": gaps or world.positive})


def common(world: Clients) -> dict[str, bool]:
    """Clients of one share q in (0, 1)."""
    return {"common q": len(set(world.q)) == 1 and 0 < world.q[0] < 1}


def fair(instance: Instance, part: Fraction = ONE) -> Case:
    """ε_0 = ε_1 = 1 gives a classifier with |MD| <= ε and the accuracy CFL(ε), for ε >= |g(0)|."""
    world = Clients.of(instance["laws"], instance["q"])
    eps = part * abs(world.pooled.g(ZERO)) + instance["slack"]
    difference, accuracy = world.ensemble([client.multiplier(ONE) for client in world.clients])
    return Case(
        (
            Relation(abs(difference), "<=", eps, "DP Disp"),
            Relation(accuracy, "==", world.pooled.best(eps), "accuracy"),
        ),
        {"shares": 0 < min(world.q) <= max(world.q) < 1 and instance["slack"] >= 0},
    )


def ensembles() -> st.SearchStrategy[Instance]:
    """Two clients, places of the λ_i, a slack; one in four has nobody near η = 1/2."""
    slack = st.sampled_from([ZERO, ZERO, Fraction(1, 50), ONE])
    place = st.lists(parts(8), min_size=2, max_size=2)
    instances = worlds(2, place=place, same=st.booleans(), slack=slack)
    return st.one_of(instances, instances, instances, instances.map(gapped))


def gapped(instance: Instance) -> Instance:
    """The instance without the middle cells of every law."""
    laws = [[[low, 0, 0, high] for low, _, _, high in pair] for pair in instance["laws"]]
    return {**instance, "laws": laws}


def slackened() -> st.SearchStrategy[Instance]:
    """Two clients of equal or unequal q, or three, and a slack."""
    slack = parts(40, 8)
    return st.one_of(
        worlds(2, slack=slack),
        worlds(2, equal=False, slack=slack),
        worlds(3, minimum=0, slack=slack),
    )


SCOPE = "as stated: two clients of equal weight, each g_i increasing on [-max(q, 1-q), max(q, 1-q)]"
INCREASE = {"common q": "q_0 = q_1", "g_i increase": "each g_i is strictly increasing"}


def worse(world: Clients, lams: Sequence[Fraction], eps: Fraction) -> Relation:
    """LFT+Ensemble(ε_0, ε_1; ε) < CFL(ε): too unfair, or strictly less accurate."""
    difference, accuracy = world.ensemble(lams)
    if abs(difference) > eps:
        return Relation(eps, "<", abs(difference), "DP Disp")
    return Relation(accuracy, "<", world.pooled.best(eps), "accuracy")


def multipliers(world: Clients, instance: Instance, eps: Fraction) -> list[Fraction]:
    """λ_i = place_i · g_i⁻¹(0); with an aim 1 or 2, of these ranges the points where the threshold
    of group 0 or 1 is closest to CFL(ε)'s.
    """
    ends, aim = [client.multiplier(ZERO) for client in world.clients], instance["aim"]
    if not aim:
        return [p * end for p, end in zip(instance["place"], ends, strict=True)]
    level = world.pooled.multiplier(eps) / world.pooled.shares[aim - 1]
    targets = (level * client.shares[aim - 1] for client in world.clients)
    pairs = zip(targets, ends, strict=True)
    return [min(max(target, min(end, ZERO)), max(end, ZERO)) for target, end in pairs]


def strict(instance: Instance, opposite: bool = True) -> Case:
    """The statement at one ε < |g(0)| and one pair of multipliers."""
    world = Clients.of(instance["laws"], instance["q"])
    start = [client.g(ZERO) for client in world.clients]
    erm = abs(world.pooled.g(ZERO))
    eps = instance["part"] * erm
    premises = {
        **common(world),
        "g_i increase": world.positive,
        "ε < |g(0)|": 0 <= eps < erm,
        "opposite": not opposite or start[0] * start[1] < 0,
    }
    return Case((worse(world, multipliers(world, instance, eps), eps),), premises)


def choices(instance: Instance) -> Case:
    """The statement for given solutions λ_i of the clients' own problems, where g_i⁻¹ is a set."""
    world, eps = Clients.of(instance["laws"], instance["q"]), instance["eps"]
    premises = {
        "opposite": world.clients[0].g(ZERO) * world.clients[1].g(ZERO) < 0,
        "ε < |g(0)|": eps < abs(world.pooled.g(ZERO)),
        "λ_i solves": world.solved_by(instance["local"], instance["lams"]),
    }
    return Case((worse(world, instance["lams"], eps),), premises)


def turned(instance: Instance, agree: bool) -> Instance:
    """The instance, client 1's groups exchanged unless both ERMs ``agree`` on a group, or not."""
    signs = [client.g(ZERO) > 0 for client in Clients.of(instance["laws"], instance["q"]).clients]
    laws_0, laws_1 = instance["laws"]
    as_asked = (signs[0] == signs[1]) == agree
    return {**instance, "laws": [laws_0, laws_1 if as_asked else laws_1[::-1]]}


EDGE = st.sampled_from([Fraction(999, 1000), Fraction(201, 200)])
SHARE = st.one_of(parts(16, 15), parts(16, 15), EDGE)
"""ε over |g(0)|, at its edge one time in three."""


def placed() -> st.SearchStrategy[Instance]:
    """Two clients, a fraction of |g(0)| for ε, and places of the λ_i in their ranges."""
    place = st.lists(parts(8), min_size=2, max_size=2)
    return worlds(2, place=place, part=SHARE, aim=st.booleans())


def instances() -> st.SearchStrategy[Instance]:
    """Mostly clients that favour different groups."""
    return st.one_of(placed(), placed().map(lambda instance: turned(instance, agree=False)))


PRINTED = (
    r"Let $q\in(0,1)$. If $g_0(0)g_1(0)<0$, "
    r"$\max_{\varepsilon_0,\varepsilon_1}LFT+Ensemble(\varepsilon_0,\varepsilon_1;"
    r"\varepsilon)<CFL(\varepsilon)$ for all $\varepsilon<|g(0)|$."
)
PREMISES = {
    "common q": "q_0 = q_1",
    "opposite": "g_0(0) g_1(0) < 0",
    "ε < |g(0)|": "the unconstrained solution is not fair enough",
}


CLAIMS = (
    Claim(
        "fedfb/lemma-12",
        756,
        "Acc(LFT+Ensemble) ≤ CFL(ε) where its disparity is ≤ ε, with equality iff λ_0 = λ_1 = λ_ε",
        printed=r"Let $q\in(0,1)$. Given an LFT+Ensemble classifier such that "
        r"$DP\,Disp\le\varepsilon$ and a CFL classifier, we have "
        r"$LFT+Ensemble(\varepsilon_0,\varepsilon_1;\varepsilon)\le CFL(\varepsilon)$. The "
        r"equality holds if and only if "
        r"$\lambda_{\varepsilon_0}=\lambda_{\varepsilon_1}=\lambda^{CFL}_\varepsilon$.",
        kind="bound",
        hypotheses=INCREASE,
        scope=SCOPE,
        check=proof(
            "ensemble.v",
            "lemma_12",
            exactly(bound, ensembles, examples=(24, 4000), moved="q place"),
        ),
        mutants={
            "λ_0 = λ_1": ("equality iff λ_0 = λ_1", {"condition": "two equal"}),
            "gaps": ("where g_i need not increase", {"gaps": True}),
        },
        rests_on=("fedfb/lemma-7/repaired", "fedfb/eq-10/repaired"),
        reading="g_i⁻¹ is a function: with gaps, different λ give the same classifier.",
        notes="Accuracy is P(ŷ = y): before (45) the second expectation is given y = 1.",
    ),
    Claim(
        "fedfb/lemma-13",
        764,
        "if ε ≥ |g(0)| then max LFT+Ensemble(ε_0, ε_1; ε) = CFL(ε)",
        printed=r"Let $q\in(0,1)$. If the ERM is already fair, i.e., $\varepsilon\ge|g(0)|$, "
        r"then $\max_{\varepsilon_0,\varepsilon_1}LFT+Ensemble(\varepsilon_0,\varepsilon_1;"
        r"\varepsilon)=CFL(\varepsilon)$.",
        statement=r"$\varepsilon_i=1$ for all $i$ gives the accuracy CFL($\varepsilon$) and "
        r"$|MD|\le\varepsilon$.",
        kind="implication",
        hypotheses={"shares": "q_i in (0, 1); ε >= |g(0)|"},
        scope="as stated; any number of clients, any q_i; ERM fair whatever it does at ties",
        check=proof(
            "lemma_7.v", "fair", exactly(fair, slackened, examples=(24, 4000), moved="q slack")
        ),
        mutants={"1 % less fair": ("ε >= 0.99 |g(0)|", {"part": "99/100"})},
        rests_on=("fedfb/lemma-7/repaired",),
    ),
    Claim(
        "fedfb/lemma-14",
        775,
        "if g_0(0) g_1(0) < 0: max LFT+Ensemble < CFL(ε) for all ε < |g(0)|",
        printed=PRINTED,
        statement=r"For every pair of budgets, $DP\,Disp>\varepsilon$ or $Acc<CFL(\varepsilon)$.",
        kind="bound",
        hypotheses={**PREMISES, **INCREASE},
        scope=SCOPE,
        check=proof(
            "ensemble.v",
            "lemma_14",
            exactly(strict, instances, examples=(36, 4000), moved="q place part"),
        ),
        mutants={"any signs": ("without g_0(0) g_1(0) < 0", {"opposite": False})},
        rests_on=("fedfb/lemma-7/repaired", "fedfb/eq-10/repaired"),
        reading="g_i⁻¹ is a function; else see fedfb/lemma-14/gaps.",
        gap="the statement survives: the proof treats g_1(0) > 0, |g_1(0)| >= |g_0(0)|, and names "
        "the same case again as the one that is similar (read g_1(0) < 0 or |g_1(0)| < |g_0(0)|).",
    ),
    Claim(
        "fedfb/lemma-14/gaps",
        775,
        "lemma 14 for whichever solutions of their own problems the clients return",
        printed=PRINTED,
        statement=r"The same for every choice of $\lambda_i\in g_i^{-1}(\cdot)$.",
        kind="bound",
        hypotheses={**PREMISES, "λ_i solves": "λ_i gives a solution of LFT+Ensemble(i, ε_i)"},
        scope="densities with gaps, n = 2",
        whose="reading",
        severity="theorem",
        check=counterexample(
            choices,
            "λ_0 = λ_1 = λ_CFL = -1/16 at ε = 1/12 < |g(0)| = 1/3: client 0 has no one with u in "
            "(1/4, 3/4)",
            {
                "laws": [[[2, 0, 0, 1], [1, 0, 0, 2]], [[0, 0, 1, 0], [0, 1, 0, 0]]],
                "q": HALF,
                "eps": "1/12",
                "local": [ONE, HALF],
                "lams": ["-1/16"] * 2,
            },
            "95/128 < 95/128",
        ),
        mutants={"nearest": ("λ_i the point of g_i⁻¹ next to 0", {"lams": [0, "-1/16"]})},
        erratum="Assume that every client's law has full support: without, g_i is flat somewhere, "
        "λ_i may have the sign that lemma 9 excludes, and the ensemble may be CFL's own solution.",
    ),
)
