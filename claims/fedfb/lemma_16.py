"""FedFB, lemma 16: shares q_i that differ, and the pooled law it is printed with."""

from fractions import Fraction

from hypothesis import strategies as st

from fairfl.claims.fedfb.lemma_12 import SHARE, multipliers, worse
from fairfl.claims.fedfb.worlds import HALF, ZERO, Clients, Population, mix, parts, worlds
from fairfl.claims.forms import Case, Claim, Instance, counterexample, exactly, proof


def printed_pool(world: Clients) -> Population:
    """P_a = (q_0 P_a^(0) + q_1 P_a^(1))/(q_0 + q_1) for a = 0 and 1."""
    laws = tuple(mix([pair[a] for pair in world.laws], world.q) for a in (0, 1))
    return Population((laws[0], laws[1]), sum(world.q, ZERO) / 2)


def strict(instance: Instance, pool: str = "bayes", differ: bool = True) -> Case:
    """The statement at one ε < |g(0)|, of the law ``pool``; ``aim`` 1 or 2: CFL's thresholds."""
    world = Clients.of(instance["laws"], instance["q"])
    start = abs((world.pooled if pool == "bayes" else printed_pool(world)).g(ZERO))
    eps = instance["part"] * start
    premises = {
        "ε < |g(0)|": 0 <= eps < start,
        "g_i increase": world.positive,
        "q_0 ≠ q_1": 0 < min(world.q) <= max(world.q) < 1
        and (not differ or world.q[0] != world.q[1]),
    }
    return Case((worse(world, multipliers(world, instance, eps), eps),), premises)


def one_rule(instance: Instance) -> Case:
    """The statement at budgets ε_i = |g_i(λ_i)| where λ_i/q_i is the same for all clients."""
    world = Clients.of(instance["laws"], instance["q"])
    people, lams = (*world.clients, world.pooled), [instance["step"] * q for q in world.q]
    eps = abs(world.pooled.g(instance["step"] * world.pooled.q))
    premises = {
        "q_0 ≠ q_1": world.q[0] != world.q[1],
        "ε < |g(0)|": eps < abs(world.pooled.g(ZERO)),
        "g_i increase": all(map(increases, people)),
        "λ_i solves": all(
            client.multiplier(abs(client.g(lam))) == lam and client.g(ZERO) * client.g(lam) >= 0
            for client, lam in zip(world.clients, lams, strict=True)
        ),
    }
    return Case((worse(world, lams, eps),), premises)


def increases(people: Population) -> bool:
    """Whether g, which is piecewise linear, is strictly increasing on [-reach, reach]."""
    values = [g for lam, g in people.nodes if abs(lam) <= people.reach]
    return all(a < b for a, b in zip(values, values[1:], strict=False))


def gapped(middle: int = 0) -> Instance:
    """Two clients with weight ``middle`` of group 0 at 1/4 < η < 3/4."""
    pair = [[1, middle, middle, 3], [1, 1, 1, 1]]
    return {"laws": [pair, pair], "q": [HALF, Fraction(3, 4)], "step": Fraction(-1, 8)}


def instances() -> st.SearchStrategy[Instance]:
    """Two clients, mostly of unequal q, a budget, and places of multipliers."""
    place, aim = st.lists(parts(8), min_size=2, max_size=2), st.sampled_from([0, 1, 2])
    shares = st.sampled_from([Fraction(1, 8), Fraction(1, 4), Fraction(3, 8), Fraction(3, 4)])
    differing = st.lists(shares, min_size=2, max_size=2, unique=True)
    q = st.one_of(differing, differing, differing, shares.map(lambda v: [v, v]))
    return worlds(2, q=q, place=place, part=SHARE, aim=aim)


PRINTED = (
    r"Assume $a\sim Bern(q_i)$ in client $i$, and $q_0\ne q_1\in(0,1)$. Then "
    r"$\max_{\varepsilon_0,\varepsilon_1}LFT+Ensemble(\varepsilon_0,\varepsilon_1;"
    r"\varepsilon)<CFL(\varepsilon)$ for all $\varepsilon<|g(0)|$. [Proof:] We assemble the "
    r"dataset from two clients to have $x\mid a=a\sim\mathcal P_a=\frac{q_0}{q_0+q_1}\mathcal "
    r"P_a^{(0)}+\frac{q_1}{q_0+q_1}\mathcal P_a^{(1)}$, $a=0,1$ [...] with $q=\frac{q_0+q_1}2$."
)
PREMISES = {"q_0 ≠ q_1": "the shares differ, both in (0, 1)", "ε < |g(0)|": "g of the pooled law"}

CLAIMS = (
    Claim(
        "fedfb/lemma-16",
        878,
        "q_0 ≠ q_1: max LFT+Ensemble < CFL(ε) for all ε < |g(0)|, g of the printed pooled law",
        printed=PRINTED,
        statement="The statement, $g(0)$ of the mixture as printed, CFL of the people themselves.",
        kind="bound",
        hypotheses={**PREMISES, "g_i increase": "each density is positive on (0, 1)"},
        severity="constant",
        check=counterexample(
            strict,
            "q = (1/4, 3/4): ERM is perfectly fair, so LFT+Ensemble(1, 1) is CFL(1/8), while the "
            "printed |g(0)| is 1/4",
            {
                "laws": [[[3, 1], [5, 3]], [[1, 3], [5, 3]]],
                "q": ["1/4", "3/4"],
                "part": HALF,
                "place": [ZERO, ZERO],
                "aim": 0,
            },
            "3/4 < 3/4",
            pool="printed",
        ),
        mutants={"Bayes": ("g of the pooled law by Bayes' rule", {"pool": "bayes"})},
        erratum="The mixture for a = 0 must have weights (1 - q_i)/(2 - q_0 - q_1), by Bayes' "
        "rule; that for a = 1 is right. With the printed ones |g(0)| is not the disparity of ERM, "
        "and the lemma fails at budgets at which ERM is already fair.",
        repaired=dict(
            title="q_0 ≠ q_1: max LFT+Ensemble < CFL(ε) for all ε < |g(0)|, pooled by Bayes' rule",
            statement=r"The statement with $P(i\mid a=1)=\frac{q_i}{q_0+q_1}$, $P(i\mid "
            r"a=0)=\frac{1-q_i}{2-q_0-q_1}$.",
            scope="as stated: two clients of equal weight, every multiplier",
            check=proof(
                "shares.v",
                "lemma_16",
                exactly(strict, instances, examples=(40, 4000), moved="q part place"),
            ),
            mutants={
                "common q": ("for q_0 = q_1 too", {"differ": False}),
                "as printed": ("g of the printed pooled law", {"pool": "printed"}),
            },
            rests_on=("fedfb/eq-10/repaired",),
            reading="Supports without gaps, as for lemmas 12 and 14.",
            gap="the statement survives: in case 2, (1 - λ(1 - q_1))/2 should divide by 1 - q_1. "
            "That thresholds beyond 0 and 1 make no difference is not treated; for ε < |g(0)| "
            "CFL's own thresholds lie inside (0, 1).",
        ),
    ),
    Claim(
        "fedfb/lemma-16/gaps",
        878,
        "q_0 ≠ q_1, pooled by Bayes' rule, every g_i strictly increasing: max LFT+Ensemble < "
        "CFL(ε) for all ε < |g(0)|",
        printed=PRINTED + " [Lemma 7: Note that $g$ is a strictly monotone increasing function.]",
        statement=r"For every pair of budgets, $DP\,Disp>\varepsilon$ or $Acc<CFL(\varepsilon)$, "
        r"where all $g_i$ and $g$ are strictly increasing and all weights are right.",
        kind="bound",
        hypotheses={
            **PREMISES,
            "g_i increase": "g_0, g_1 and g are strictly increasing",
            "λ_i solves": "λ_i = g_i⁻¹(sign(g_i(0)) ε_i)",
        },
        whose="reading",
        severity="theorem",
        check=counterexample(
            one_rule,
            "q = (1/2, 3/4), nobody of group 0 with 1/4 < η < 3/4, g_i(0) = 1/4: at ε_0 = ε_1 = "
            "ε = 3/16 both clients and CFL have one rule, and the same accuracy",
            gapped,
            "1627/2048 < 1627/2048",
        ),
        mutants={"no gap": ("a few of group 0 with 1/4 < η < 3/4", {"middle": 1})},
        erratum=r"That $g_i$ increases is not enough: assume that each $\mathcal P_a^{(i)}$ has a "
        r"density that is positive wherever $0<\eta<1$. Where one group has nobody near "
        r"$\eta=\frac12$, only the other group's threshold matters there; $\lambda_i=q_i\lambda/q$ "
        r"gives every client CFL's threshold $\frac12+\frac\lambda{2q}$ in group 1, and the "
        r"thresholds of group 0 differ where nobody is.",
        notes="With a common q thresholds that agree in one group agree in both.",
    ),
)
