"""FedFB, lemmas 12 and 13: LFT+Ensemble is at most as accurate as CFL, and as accurate where ERM is
fair.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from fairfl.claims.fedfb.worlds import Clients, parts, worlds
from fairfl.claims.forms import Case, Claim, Relation, drawn, proof

ZERO, ONE = Fraction(0), Fraction(1)


def bound(instance: dict[str, Any], condition: str = "all equal", gaps: bool = False) -> Case:
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
    return Case((relation,), {"g_i increase": gaps or world.positive})


def fair(instance: dict[str, Any], part: Fraction = ONE) -> Case:
    """ε_0 = ε_1 = 1 gives a classifier with |MD| <= ε and the accuracy CFL(ε), for ε >= |g(0)|."""
    world = Clients.of(instance["laws"], instance["q"])
    eps = part * abs(world.pooled.g(ZERO)) + instance["slack"]
    difference, accuracy = world.ensemble([client.multiplier(ONE) for client in world.clients])
    return Case(
        (
            Relation(abs(difference), "<=", eps, "DP Disp"),
            Relation(accuracy, "==", world.pooled.best(eps), "accuracy"),
        )
    )


def tried() -> st.SearchStrategy[dict[str, Any]]:
    """Two clients, where in their ranges the multipliers lie, and a slack; one in four with nobody
    near η = 1/2.
    """
    slack = st.sampled_from([ZERO, ZERO, Fraction(1, 50), ONE])
    place = st.lists(parts(8), min_size=2, max_size=2)
    every = worlds(2, place=place, same=st.booleans(), slack=slack)
    return st.one_of(every, every, every, every.map(gapped))


def gapped(instance: dict[str, Any]) -> dict[str, Any]:
    """The instance without the middle cells of every law."""
    laws = [[[low, 0, 0, high] for low, _, _, high in pair] for pair in instance["laws"]]
    return {**instance, "laws": laws}


def slackened() -> st.SearchStrategy[dict[str, Any]]:
    """Two clients of equal or unequal q, or three, and a slack."""
    slack = parts(40, 8)
    return st.one_of(
        worlds(2, slack=slack), worlds(2, equal=False, slack=slack), worlds(3, least=0, slack=slack)
    )


SCOPE = "as stated: two clients of equal weight, each g_i increasing on [-max(q, 1-q), max(q, 1-q)]"
INCREASE = {"common q": "q_0 = q_1", "g_i increase": "each g_i is strictly increasing"}

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
        statement="The bound, and both directions of the equality.",
        kind="bound",
        hypotheses=INCREASE,
        scope=SCOPE,
        check=proof("ensemble.v", "lemma_12", drawn(bound, tried, tolerance=0.0)),
        mutants={
            "λ_0 = λ_1": ("equality iff λ_0 = λ_1", {"condition": "two equal"}),
            "gaps": ("where g_i need not increase", {"gaps": True}),
        },
        rests_on=("fedfb/lemma-7/repaired", "fedfb/eq-10/repaired"),
        reading="g_i⁻¹ is a function: where supports have gaps, different λ give the same "
        "classifier.",
        notes="Accuracy is P(ŷ = y): in the definition before (45) the second expectation must be "
        "given y = 1.",
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
        scope="as stated; any number of clients, any q_i; ERM fair whatever it does at ties",
        check=proof("lemma_7.v", "fair", drawn(fair, slackened, tolerance=0.0)),
        mutants={"1 % less fair": ("ε >= 0.99 |g(0)|", {"part": Fraction(99, 100)})},
        rests_on=("fedfb/lemma-7/repaired",),
    ),
)
