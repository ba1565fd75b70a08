"""FedFB, lemma 15: where ERMs favour the same group, LFT+Ensemble matches CFL down to τ. Remark 8,
(47).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from fairfl.claims.fedfb.lemma_12 import INCREASE, SCOPE, multipliers, placed, turned, worse
from fairfl.claims.fedfb.worlds import HALF, Clients
from fairfl.claims.forms import Case, Claim, Relation, counterexample, drawn, proof

ZERO, ONE = Fraction(0), Fraction(1)
TWO = {"laws": [[[1, 2, 3, 2], [2, 3, 2, 1]], [[1, 1, 5, 1], [1, 5, 1, 1]]], "q": HALF}


def tau(world: Clients, choose: str = "max") -> Fraction:
    """min{|g(0)|, max_i sign(g(0)) g(g_i⁻¹(0))}."""
    g = world.pooled.g
    sign = 1 if g(ZERO) > 0 else -1
    ends = [sign * g(client.multiplier(ZERO)) for client in world.clients]
    return min(abs(g(ZERO)), max(ends) if choose == "max" else min(max(e, ZERO) for e in ends))


def premises(world: Clients) -> dict[str, bool]:
    """Lemma 15's, with strictness."""
    start = [client.g(ZERO) for client in world.clients]
    return {"same": start[0] * start[1] > 0, "g_i increase": world.positive}


def below(instance: dict[str, Any], end: Fraction = ONE) -> Case:
    """LFT+Ensemble < CFL(ε) at an ε < τ (``end`` times)."""
    world = Clients.of(instance["laws"], instance["q"])
    eps = instance["part"] * tau(world) * end
    relation = Relation(ZERO, "<=", ZERO, "τ = 0")  # nothing is below: f_0^0 = f_1^0
    if tau(world) > 0:
        relation = worse(world, multipliers(world, instance, eps), eps)
    return Case((relation,), premises(world))


def above(instance: dict[str, Any], choose: str = "max", start: Fraction = ONE) -> Case:
    """ε_i = |g_i(λ_ε)| reaches CFL(ε) at an ε >= τ (``start`` times)."""
    world = Clients.of(instance["laws"], instance["q"])
    low, high = start * tau(world, choose), abs(world.pooled.g(ZERO))
    eps = low + instance["part"] * (high - low)
    lam = world.pooled.multiplier(eps)
    own = [client.multiplier(abs(client.g(lam))) for client in world.clients]
    difference, accuracy = world.ensemble(own)
    relations = (
        Relation(abs(difference), "<=", eps, "DP Disp"),
        Relation(accuracy, "==", world.pooled.best(eps), "accuracy"),
    )
    return Case(relations, premises(world))


def equation_47(instance: dict[str, Any], part: Fraction = ONE) -> Case:
    """g(g_0⁻¹(0)) = part · g_1(g_0⁻¹(0)), and the same the other way round."""
    world = Clients.of(instance["laws"], instance["q"])
    one, two = world.clients
    relations = (
        Relation(world.pooled.g(end), "==", part * other.g(end), name)
        for end, other, name in (
            (one.multiplier(ZERO), two, "g(g_0⁻¹(0))"),
            (two.multiplier(ZERO), one, "g(g_1⁻¹(0))"),
        )
    )
    return Case(tuple(relations), premises(world))


def remark_8(instance: dict[str, Any], operator: Any = "==") -> Case:
    """Where max_i sign(g(0)) g(g_i⁻¹(0)) is positive the rules f_0^0 and f_1^0 are equal; else not
    (``operator`` "!=": the other way round).
    """
    world = Clients.of(instance["laws"], instance["q"])
    ends = [client.multiplier(ZERO) for client in world.clients]
    sign = 1 if world.pooled.g(ZERO) > 0 else -1
    positive = max(sign * world.pooled.g(end) for end in ends) > 0
    relation = Relation(int(positive), operator, int(ends[0] == ends[1]), "iff")
    return Case((relation,), premises(world))


def alike() -> st.SearchStrategy[dict[str, Any]]:
    """Clients that favour one group."""
    return placed().map(lambda one: turned(one, agree=True))


def near() -> st.SearchStrategy[dict[str, Any]]:
    """The same; two of three with ε at τ, or within a thousandth of it, aimed at λ_ε."""
    close = [{"part": part, "aim": True} for part in (ZERO, Fraction(999, 1000))]
    pairs = st.tuples(alike(), st.sampled_from([{}, *close]))
    return pairs.map(lambda pair: pair[0] | pair[1])


def twins() -> st.SearchStrategy[dict[str, Any]]:
    """The same, with the first client twice where it has an aim."""
    return alike().map(lambda one: {**one, "laws": [one["laws"][0]] * 2} if one["aim"] else one)


PREMISES = {**INCREASE, "same": "g_0(0) g_1(0) > 0"}

CLAIMS = (
    Claim(
        "fedfb/lemma-15",
        799,
        "if g_0(0) g_1(0) > 0: max LFT+Ensemble = CFL(ε) for ε ≥ τ, and < CFL(ε) otherwise",
        printed=r"Let $\tau=\min\{|g(0)|,\max\{\mathrm{sign}(g(0))g(g_0^{-1}(0)),"
        r"\mathrm{sign}(g(0))g(g_1^{-1}(0))\}\}$. If $g_0(0)g_1(0)>0$, we have "
        r"$\max_{\varepsilon_0,\varepsilon_1}LFT+Ensemble(\varepsilon_0,\varepsilon_1;"
        r"\varepsilon)=CFL(\varepsilon)$ for all $\varepsilon\ge\tau$, $<CFL(\varepsilon)$ o.w.",
        statement="Both cases; equality is reached at "
        r"$\varepsilon_i=|g_i(\lambda_\varepsilon)|$. The minimum with $|g(0)|$ is not needed.",
        kind="equivalence",
        hypotheses=PREMISES,
        scope=SCOPE,
        check=proof(
            "ensemble.v",
            "lemma_15",
            drawn(below, near, tolerance=0.0),
            drawn(above, near, tolerance=0.0),
        ),
        mutants={
            "1.01 τ": ("< CFL(ε) for all ε < 1.01 τ", {"end": Fraction(101, 100)}),
            "at τ": ("< CFL(ε) at τ itself", {"end": Fraction(1000, 999)}),
            "0.99 τ": ("= CFL(ε) for all ε >= 0.99 τ", {"start": Fraction(99, 100)}),
            "least": ("= CFL(ε) from the smaller of the two on", {"choose": "min"}),
        },
        rests_on=("fedfb/lemma-7/repaired", "fedfb/eq-10/repaired"),
        reading="g_i⁻¹ is a function.",
        gap="the statement survives: (47) lacks factors 1/2 (fedfb/eq-47), of which only the "
        "signs are used; 'for all ε <= τ' in case 2 should be ε < τ, at τ itself there is "
        "equality; 'when g_0(0)g_1(0) < 0' above the cases should be > 0; λ_i = g_i⁻¹(ε_i) is "
        "printed g⁻¹(ε_i).",
    ),
    Claim(
        "fedfb/eq-47",
        844,
        "g(g_0⁻¹(0)) = g_1(g_0⁻¹(0)) and g(g_1⁻¹(0)) = g_0(g_1⁻¹(0))",
        printed=r"$g(g_0^{-1}(0))=g_1(g_0^{-1}(0))<0=g(g^{-1}(0))<g_0(g_1^{-1}(0))="
        r"g(g_1^{-1}(0))$, from $g=\frac{g_0+g_1}2$.",
        statement="Both equalities.",
        kind="identity",
        hypotheses=PREMISES,
        severity="constant",
        check=counterexample(
            equation_47, "two clients, both favouring group 0: the left side is half the right", TWO
        ),
        mutants={"halves": ("half of the right sides", {"part": HALF})},
        erratum="Both equalities need a factor 1/2 on the right: g = (g_0 + g_1)/2 and "
        "g_i(g_i⁻¹(0)) = 0.",
        notes="Lemma 15 uses only the signs, and survives.",
        repaired=dict(
            title="g(g_0⁻¹(0)) = g_1(g_0⁻¹(0))/2 and g(g_1⁻¹(0)) = g_0(g_1⁻¹(0))/2",
            statement=r"$g(g_0^{-1}(0))=\frac12g_1(g_0^{-1}(0))$, "
            r"$g(g_1^{-1}(0))=\frac12g_0(g_1^{-1}(0))$.",
            scope=SCOPE,
            check=proof("ensemble.v", "eq_47", drawn(equation_47, alike, tolerance=0.0, part=HALF)),
            mutants={
                "as printed": ("without the halves", {"part": ONE}),
                "1 % off": ("0.505 for the halves", {"part": Fraction(101, 200)}),
            },
        ),
    ),
    Claim(
        "fedfb/remark-8",
        868,
        "max_i sign(g(0)) g(g_i⁻¹(0)) > 0 iff the two locally fair classifiers are equal",
        printed=r"According to the proof of Lemma 15, we obtain "
        r"$\max\{\mathrm{sign}(g(0))g(g_0^{-1}(0)),\mathrm{sign}(g(0))g(g_1^{-1}(0))\}>0$ if and "
        r"only if two local classifiers which achieves perfect local fairness is equal, i.e., "
        r"$f_0^0=f_1^0$.",
        statement=r"$\max_i\mathrm{sign}(g(0))g(g_i^{-1}(0))>0\iff f_0^0=f_1^0$.",
        kind="equivalence",
        hypotheses=PREMISES,
        severity="misprint",
        check=counterexample(
            remark_8,
            "two clients with g_0⁻¹(0) ≠ g_1⁻¹(0): the rules differ, and the maximum is positive",
            TWO,
        ),
        mutants={"unequal": ("iff they are unequal", {"operator": "!="})},
        erratum="'equal' should be 'unequal'. Where they are unequal one of the two numbers is "
        "negative, so it is not the disparity of f_i^0, as the remark says, but its signed mean "
        "difference.",
        repaired=dict(
            title="max_i sign(g(0)) g(g_i⁻¹(0)) > 0 iff the two locally fair classifiers are "
            "unequal",
            statement=r"$\max_i\mathrm{sign}(g(0))g(g_i^{-1}(0))>0\iff f_0^0\ne f_1^0$.",
            scope=SCOPE,
            check=proof(
                "ensemble.v", "remark_8", drawn(remark_8, twins, tolerance=0.0, operator="!=")
            ),
            mutants={"equal": ("as printed", {"operator": "=="})},
        ),
    ),
)
