"""FedFB, lemmas 8 and 9: solutions of CFL(ε) agree almost everywhere; signs of λ_ε and MD."""

from hypothesis import strategies as st

from fairfl.claims.fedfb.lemma_7 import RUN, SETTING, SIZES, setting
from fairfl.claims.fedfb.worlds import ZERO, Clients, parts, worlds
from fairfl.claims.forms import Case, Claim, Instance, Relation, counterexample, exactly, proof


def printed(instance: Instance, right: str = "λ_ε") -> Case:
    """Part 1 for ε < |g(0)|: MD(f_ε) = λ_ε."""
    people = Clients.of(instance["laws"], instance["q"]).pooled
    lam = people.multiplier(instance["eps"])
    value = lam if right == "λ_ε" else people.g(lam)
    relation = Relation(people.difference(people.rule(lam)), "==", value, "MD(f_ε)")
    return Case((relation,), {"ε < |g(0)|": instance["eps"] < abs(people.g(ZERO))})


def repaired(instance: Instance, sign: int = -1) -> Case:
    """Both parts, with MD(f_ε) = g(λ_ε); ``sign`` that of λ_ε g(0)."""
    world = Clients.of(instance["laws"], instance["q"])
    people, eps = world.pooled, instance["eps"]
    start, lam = people.g(ZERO), people.multiplier(eps)
    unfair = eps < abs(start)
    value = start * eps / abs(start) if unfair else start
    relations = (
        Relation(people.difference(people.rule(lam)), "==", value, "MD(f_ε)"),
        Relation(lam, "!=" if unfair else "==", 0, "λ_ε"),
        Relation(ZERO, "<=", sign * start * lam, "the sign of λ_ε"),
    )
    return Case(relations, {"g increases": world.positive, **setting(people, eps)})


def budgeted() -> st.SearchStrategy[Instance]:
    """One client and a budget."""
    return worlds(1, eps=parts(40, 20))


CLAIMS = (
    Claim(
        "fedfb/lemma-8",
        510,
        "two solutions of CFL(ε) agree almost everywhere under the law of (x, a)",
        printed=r"If $f$ and $g$ are two solutions to CFL($\varepsilon$), then $f=g$ almost "
        r"everywhere.",
        kind="uniqueness",
        hypotheses=SETTING,
        scope="almost everywhere under the law of (x, a), in which s has no atom at 0",
        whose="reading",
        check=proof("lemma_7.v", "unique", RUN),
        mutants=SIZES,
        rests_on=("fedfb/eq-10/repaired",),
        reading="'Almost everywhere' under the law of (x, a). For Lebesgue measure it is false "
        "where nobody has η between two thresholds. Lemmas 12, 14 and 16 use the lemma for pooled "
        "laws, whose null sets are not those of a client.",
        gap="no proof is printed. One: by the identity of fedfb/lemma-7/repaired a solution f "
        "has E[|s||f - f*|] = 0, and s = 0 only where η meets one level, a null set.",
    ),
    Claim(
        "fedfb/lemma-9",
        520,
        "if ε < |g(0)| then MD(f_ε) = λ_ε ≠ 0",
        printed=r"1. If $\varepsilon<|g(0)|$, then "
        r"$MD(f^{CFL}_\varepsilon)=\lambda^{CFL}_\varepsilon\neq0$, "
        r"and $g(\lambda^{CFL}_\varepsilon)=\mathrm{sign}(g(0))\varepsilon$. If "
        r"$|g(0)|\le\varepsilon$, then $\lambda^{CFL}_\varepsilon=0$ and "
        r"$MD(f^{CFL}_\varepsilon)=g(\lambda^{CFL}_\varepsilon)=g(0)$. 2. If $g(0)>0$ or $g(0)<0$, "
        r"then for any $\varepsilon\ge0$, we have $\lambda\le0$ or $\lambda\ge0$, respectively.",
        statement=r"If $\varepsilon<|g(0)|$, then $MD(f_\varepsilon)=\lambda_\varepsilon$.",
        kind="identity",
        hypotheses={"ε < |g(0)|": "the unconstrained solution is not fair enough"},
        severity="misprint",
        check=counterexample(
            printed,
            "P(u > 1/2 | a) = 3/4 and 1/2, q = 2/5, ε = 1/16: MD and λ",
            {"laws": [[[1, 3], [1, 1]]], "q": "2/5", "eps": "1/16"},
            "1/16 == -3/40",
        ),
        mutants={"g(λ)": ("MD(f_ε) = g(λ_ε) in place of λ_ε", {"right": "g(λ_ε)"})},
        erratum="Part 1 should read MD(f_ε) = g(λ_ε), λ_ε ≠ 0. As printed it contradicts its own "
        "next equation, g(λ_ε) = sign(g(0)) ε, and part 2: MD(f_ε) and λ_ε have opposite signs.",
        notes="Later results use λ_ε ≠ 0 and g(λ_ε) = sign(g(0)) ε only, and survive.",
        repaired=dict(
            title="if ε < |g(0)| then MD(f_ε) = g(λ_ε) = sign(g(0)) ε and λ_ε ≠ 0; λ_ε g(0) ≤ 0",
            statement=r"If $\varepsilon<|g(0)|$: "
            r"$MD(f_\varepsilon)=g(\lambda_\varepsilon)=\mathrm{sign}(g(0))\varepsilon$, "
            r"$\lambda_\varepsilon\ne0$. Else $\lambda_\varepsilon=0$, $MD(f_\varepsilon)=g(0)$. "
            r"Always $\lambda_\varepsilon g(0)\le0$.",
            kind="implication",
            hypotheses={**SETTING, "g increases": "strictly, as the proof of lemma 7 says"},
            check=proof("lemma_9.v", "signs", exactly(repaired, budgeted, moved="q eps")),
            mutants={"sign": ("λ_ε has the sign of g(0)", {"sign": 1})},
        ),
    ),
)
