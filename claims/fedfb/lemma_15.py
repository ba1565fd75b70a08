"""FedFB, lemma 15: where ERMs favour the same group, LFT+Ensemble matches CFL down to τ."""

from fractions import Fraction

from hypothesis import strategies as st

from fairfl.claims.fedfb.lemma_12 import INCREASE, SCOPE, common, multipliers, placed, turned, worse
from fairfl.claims.fedfb.worlds import ONE, ZERO, Clients
from fairfl.claims.forms import Case, Claim, Instance, Relation, exactly, proof


def tau(world: Clients, choose: str = "max") -> Fraction:
    """min{|g(0)|, max_i sign(g(0)) g(g_i⁻¹(0))}."""
    g = world.pooled.g
    sign = 1 if g(ZERO) > 0 else -1
    ends = [sign * g(client.multiplier(ZERO)) for client in world.clients]
    return min(abs(g(ZERO)), max(ends) if choose == "max" else min(max(e, ZERO) for e in ends))


def premises(world: Clients) -> dict[str, bool]:
    """Lemma 15's, with strictness."""
    start = [client.g(ZERO) for client in world.clients]
    return {**common(world), "same": start[0] * start[1] > 0, "g_i increase": world.positive}


def below(instance: Instance, end: Fraction = ONE) -> Case:
    """LFT+Ensemble < CFL(ε) at an ε < τ (``end`` times)."""
    world = Clients.of(instance["laws"], instance["q"])
    eps = instance["part"] * tau(world) * end
    relation = Relation(ZERO, "<=", ZERO, "τ = 0")  # no ε is below 0: f_0^0 = f_1^0
    if tau(world) > 0:
        relation = worse(world, multipliers(world, instance, eps), eps)
    return Case((relation,), {**premises(world), "ε < τ": 0 <= instance["part"] < 1})


def above(instance: Instance, choose: str = "max", start: Fraction = ONE) -> Case:
    """ε_i = |g_i(λ_ε)| reaches CFL(ε) at an ε >= τ (``start`` times)."""
    world = Clients.of(instance["laws"], instance["q"])
    low, high = start * tau(world, choose), abs(world.pooled.g(ZERO))
    eps = low + instance["part"] * (high - low)
    lam = world.pooled.multiplier(eps)
    lams = [client.multiplier(abs(client.g(lam))) for client in world.clients]
    difference, accuracy = world.ensemble(lams)
    relations = (
        Relation(abs(difference), "<=", eps, "DP Disp"),
        Relation(accuracy, "==", world.pooled.best(eps), "accuracy"),
    )
    return Case(relations, {**premises(world), "ε ≥ τ": 0 <= instance["part"] <= 1})


def near_tau() -> st.SearchStrategy[Instance]:
    """Clients that favour one group; of three ε one is τ, one just below it, with λ_i near λ_ε."""
    aimed = [{"part": part, "aim": True} for part in (ZERO, Fraction(999, 1000))]
    same_group = placed().map(lambda instance: turned(instance, agree=True))
    pairs = st.tuples(same_group, st.sampled_from([{}, *aimed]))
    return pairs.map(lambda pair: pair[0] | pair[1])


PREMISES = {
    **INCREASE,
    "same": "g_0(0) g_1(0) > 0",
    "ε < τ": "where LFT+Ensemble is less accurate",
    "ε ≥ τ": "where it matches CFL",
}

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
            exactly(below, near_tau, examples=(24, 4000), moved="q part"),
            exactly(above, near_tau, examples=(20, 4000), moved="q part"),
        ),
        mutants={
            "1.01 τ": ("< CFL(ε) for all ε < 1.01 τ", {"end": "101/100"}),
            "at τ": ("< CFL(ε) at τ itself", {"end": "1000/999"}),
            "0.99 τ": ("= CFL(ε) for all ε >= 0.99 τ", {"start": "99/100"}),
            "least": ("= CFL(ε) from the smaller of the two on", {"choose": "min"}),
        },
        rests_on=("fedfb/lemma-7/repaired", "fedfb/eq-10/repaired"),
        reading="g_i⁻¹ is a function.",
        gap="the statement survives: (47) lacks a factor 1/2 on both right sides, of which only "
        "the signs are used; 'for all ε <= τ' in case 2 should be ε < τ; 'when g_0(0)g_1(0) < 0' "
        "above the cases should be > 0; λ_i = g_i⁻¹(ε_i) is printed g⁻¹(ε_i).",
        notes="In remark 8 'equal' should be 'unequal': where the two locally fair classifiers "
        "differ, one of the two numbers in τ is negative, and one positive.",
    ),
)
