"""FedFB, lemma 15: where ERMs favour the same group, LFT+Ensemble matches CFL down to τ. Remark 8,
(47).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import REALS, Counterexample, KernelProof
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.fedfb.lemma_12 import ENSEMBLE, SCOPE
from fairfl.claims.fedfb.lemma_14 import instances, multipliers, worse
from fairfl.claims.fedfb.worlds import World
from fairfl.claims.instances import explore

ZERO = Fraction(0)
BOTH = (
    ENSEMBLE
    + r"""
Theorem lemma_15 : forall X L E0 E1 (u v : X -> R) f M eps a lam y z sign,
  setting L E0 E1 u v f M ->
  sign = 1 /\ 0 < md E0 v f 0 /\ 0 < md E1 v f 0 \/ sign = -1 /\ md E0 v f 0 < 0 /\ md E1 v f 0 < 0
    ->
  - M <= y <= M -> - M <= z <= M -> md E0 v f y = 0 -> md E1 v f z = 0 ->
  returned (md (pooled E0 E1) v f) M eps lam -> best L (pooled E0 E1) u v eps a ->
  let tau := Rmin (Rabs (md (pooled E0 E1) v f 0))
    (Rmax (sign * md (pooled E0 E1) v f y) (sign * md (pooled E0 E1) v f z)) in
  (tau <= eps -> exists eps0 eps1 s t,
     returned (md E0 v f) M eps0 s /\ returned (md E1 v f) M eps1 t
     /\ Rabs (pooled E0 E1 (fun x => v x * ensemble f s t x)) <= eps
     /\ pooled E0 E1 (fun x => u x * ensemble f s t x) = a)
  /\ (eps < tau -> forall eps0 eps1 s t,
     returned (md E0 v f) M eps0 s -> returned (md E1 v f) M eps1 t ->
     Rabs (pooled E0 E1 (fun x => v x * ensemble f s t x)) <= eps ->
     pooled E0 E1 (fun x => u x * ensemble f s t x) < a).
"""
)
HALVES = (
    ENSEMBLE
    + r"""
Theorem eq_47 : forall X L E0 E1 (u v : X -> R) f M y z, setting L E0 E1 u v f M ->
  - M <= y <= M -> - M <= z <= M -> md E0 v f y = 0 -> md E1 v f z = 0 ->
  md (pooled E0 E1) v f y = 1/2 * md E1 v f y /\ md (pooled E0 E1) v f z = 1/2 * md E0 v f z.
"""
)
UNEQUAL = (
    ENSEMBLE
    + r"""
Theorem remark_8 : forall X L E0 E1 (u v : X -> R) f M y z sign, setting L E0 E1 u v f M ->
  - M <= y <= M -> - M <= z <= M -> md E0 v f y = 0 -> md E1 v f z = 0 ->
  sign = 1 \/ sign = -1 ->
  (0 < Rmax (sign * md (pooled E0 E1) v f y) (sign * md (pooled E0 E1) v f z) <-> f y <> f z).
"""
)


def tau(world: World, choose: str = "max") -> Fraction:
    """min{|g(0)|, max_i sign(g(0)) g(g_i⁻¹(0))}."""
    g = world.pooled.g
    sign = 1 if g(ZERO) > 0 else -1
    ends = [sign * g(client.multiplier(ZERO)) for client in world.clients]
    return min(abs(g(ZERO)), max(ends) if choose == "max" else min(max(e, ZERO) for e in ends))


def premises(world: World) -> dict[str, bool]:
    """Lemma 15's, with strictness."""
    start = [client.g(ZERO) for client in world.clients]
    return {"common q": True, "same": start[0] * start[1] > 0, "g_i increase": world.positive}


def below(instance: dict[str, Any], factor: Fraction = Fraction(1)) -> Case:
    """LFT+Ensemble < CFL(ε) at an ε < τ."""
    world = World.of(instance["laws"], instance["q"])
    eps = instance["part"] * tau(world) * factor
    known = premises(world)
    if tau(world) == 0:  # nothing is below: f_0^0 = f_1^0
        return Case((Relation(ZERO, "<=", ZERO, "τ = 0"),), known)
    return Case((worse(world, multipliers(world, instance, eps), eps),), known)


def above(instance: dict[str, Any], choose: str = "max", factor: Fraction = Fraction(1)) -> Case:
    """ε_i = |g_i(λ_ε)| reaches CFL(ε) at an ε >= τ."""
    world = World.of(instance["laws"], instance["q"])
    low, high = factor * tau(world, choose), abs(world.pooled.g(ZERO))
    eps = low + instance["part"] * (high - low)
    lam = world.pooled.multiplier(eps)
    difference, accuracy = world.ensemble(
        [client.multiplier(abs(client.g(lam))) for client in world.clients]
    )
    return Case(
        (
            Relation(abs(difference), "<=", eps, "DP Disp"),
            Relation(accuracy, "==", world.pooled.best(eps), "accuracy"),
        ),
        premises(world),
    )


def equation_47(instance: dict[str, Any], half: bool = False) -> Case:
    """g(g_0⁻¹(0)) = g_1(g_0⁻¹(0)), and the same the other way round; repaired, half of the right
    sides.
    """
    world = World.of(instance["laws"], instance["q"])
    one, two = world.clients
    ends = one.multiplier(ZERO), two.multiplier(ZERO)
    part = Fraction(1, 2) if half else Fraction(1)
    return Case(
        (
            Relation(world.pooled.g(ends[0]), "==", part * two.g(ends[0]), "g(g_0⁻¹(0))"),
            Relation(world.pooled.g(ends[1]), "==", part * one.g(ends[1]), "g(g_1⁻¹(0))"),
        ),
        premises(world),
    )


def remark_8(instance: dict[str, Any], word: str = "equal") -> Case:
    """max_i sign(g(0)) g(g_i⁻¹(0)) > 0 iff f_0^0 and f_1^0 are equal (or, repaired, unequal)."""
    world = World.of(instance["laws"], instance["q"])
    ends = [client.multiplier(ZERO) for client in world.clients]
    sign = 1 if world.pooled.g(ZERO) > 0 else -1
    positive = max(sign * world.pooled.g(end) for end in ends) > 0
    equal = ends[0] == ends[1]
    return Case(
        (Relation(int(positive), "==", int(equal if word == "equal" else not equal), "iff"),),
        premises(world),
    )


def agreeing(instance: dict[str, Any]) -> dict[str, Any]:
    """The instance with groups exchanged where need be: both clients favour the same group."""
    signs = [client.g(ZERO) > 0 for client in World.of(instance["laws"], instance["q"]).clients]
    laws = instance["laws"]
    return {**instance, "laws": [laws[0], laws[1] if signs[0] == signs[1] else laws[1][::-1]]}


def near_tau(drawn: tuple[dict[str, Any], int]) -> dict[str, Any]:
    """The instance, every other one with ε within a thousandth of τ, aimed at λ_ε."""
    instance, pick = drawn
    close = {"part": Fraction(999, 1000) if pick < 4 else ZERO, "aim": True}
    return {**instance, **(close if pick < 5 else {})}


def alike(near: bool = False, twin: bool = False) -> st.SearchStrategy[dict[str, Any]]:
    """Clients that favour one group; ``near`` τ one time in two, twins (``twin``) likewise."""
    drawn = instances(opposite=False).map(agreeing)
    if near:
        drawn = st.tuples(drawn, st.integers(0, 9)).map(near_tau)
    return drawn.map(twins) if twin else drawn


def twins(instance: dict[str, Any]) -> dict[str, Any]:
    """The instance, with the first client twice where it has an aim."""
    return {**instance, "laws": [instance["laws"][0]] * 2} if instance["aim"] else instance


def _check(
    effort: Effort,
    factor: Fraction = Fraction(1),
    choose: str = "max",
    start: Fraction = Fraction(1),
    proof: str = BOTH,
) -> Evidence:
    drawn = Call.of(alike, near=True)
    under = explore(Call.of(below, factor=factor), drawn, effort, tolerance=0.0)
    over = explore(Call.of(above, choose=choose, factor=start), drawn, effort, tolerance=0.0)
    return Evidence.of(KernelProof.of("ensemble.v", proof, under, over, axioms=REALS))


TWO: dict[str, Any] = {
    "laws": [[[1, 2, 3, 2], [2, 3, 2, 1]], [[1, 1, 5, 1], [1, 5, 1, 1]]],
    "q": Fraction(1, 2),
}


def _check_47(effort: Effort, half: bool = False) -> Evidence:
    shows = "two clients, both favouring group 0: the left side is half the right"
    return Evidence.of(Counterexample.at(Call.of(equation_47, half=half), shows, **TWO))


def _check_47_repaired(effort: Effort, half: bool = True, proof: str = HALVES) -> Evidence:
    run = explore(Call.of(equation_47, half=half), Call.of(alike), effort, tolerance=0.0)
    return Evidence.of(KernelProof.of("ensemble.v", proof, run, axioms=REALS))


def _check_remark(effort: Effort, word: str = "equal") -> Evidence:
    shows = "two clients with g_0⁻¹(0) ≠ g_1⁻¹(0): the rules differ, and the maximum is positive"
    return Evidence.of(Counterexample.at(Call.of(remark_8, word=word), shows, **TWO))


def _check_remark_repaired(effort: Effort, word: str = "unequal", proof: str = UNEQUAL) -> Evidence:
    drawn = Call.of(alike, twin=True)
    run = explore(Call.of(remark_8, word=word), drawn, effort, tolerance=0.0)
    return Evidence.of(KernelProof.of("ensemble.v", proof, run, axioms=REALS))


PREMISES = (
    ("common q", "q_0 = q_1"),
    ("same", "g_0(0) g_1(0) > 0"),
    ("g_i increase", "each g_i is strictly increasing"),
)
REMARK = (
    r"According to the proof of Lemma 15, we obtain "
    r"$\max\{\mathrm{sign}(g(0))g(g_0^{-1}(0)),\mathrm{sign}(g(0))g(g_1^{-1}(0))\}>0$ if and "
    r"only if two local classifiers which achieves perfect local fairness is equal, i.e., "
    r"$f_0^0=f_1^0$."
)
EQUATION = (
    r"$g(g_0^{-1}(0))=g_1(g_0^{-1}(0))<0=g(g^{-1}(0))<g_0(g_1^{-1}(0))=g(g_1^{-1}(0))$, from "
    r"$g=\frac{g_0+g_1}2$."
)

CLAIMS = (
    Claim(
        id="fedfb/lemma-15",
        number="Lemma 15",
        line=799,
        title="if g_0(0) g_1(0) > 0: max LFT+Ensemble = CFL(ε) for ε ≥ τ, and < CFL(ε) otherwise",
        printed=r"Let "
        r"$\tau=\min\{|g(0)|,\max\{\mathrm{sign}(g(0))g(g_0^{-1}(0)),"
        r"\mathrm{sign}(g(0))g(g_1^{-1}(0))\}\}$. If $g_0(0)g_1(0)>0$, we have "
        r"$\max_{\varepsilon_0,\varepsilon_1}LFT+Ensemble(\varepsilon_0,\varepsilon_1;"
        r"\varepsilon)=CFL(\varepsilon)$ for all $\varepsilon\ge\tau$, $<CFL(\varepsilon)$ o.w.",
        statement="Both cases; equality is reached at "
        r"$\varepsilon_i=|g_i(\lambda_\varepsilon)|$. The minimum with $|g(0)|$ is not needed.",
        kind="equivalence",
        hypotheses=PREMISES,
        scope=SCOPE,
        expected="holds",
        check=_check,
        mutants=(
            Mutant(
                "1.01 τ",
                "< CFL(ε) for all ε < 1.01 τ",
                lambda e: _check(e, factor=Fraction(101, 100)),
            ),
            Mutant(
                "0.99 τ",
                "= CFL(ε) for all ε >= 0.99 τ",
                lambda e: _check(e, start=Fraction(99, 100)),
            ),
            Mutant(
                "least",
                "= CFL(ε) from the smaller of the two on",
                lambda e: _check(e, choose="min"),
            ),
            Mutant(
                "at τ",
                "< CFL(ε) at τ itself, in the theorem that is proved",
                lambda e: _check(e, proof=BOTH.replace("(eps < tau ->", "(eps <= tau ->")),
            ),
        ),
        rests_on=("fedfb/lemma-7/repaired", "fedfb/lemma-7/onto"),
        reading="g_i⁻¹ is a function.",
        gap="the statement survives: (47) lacks factors 1/2 (fedfb/eq-47), of which only the "
        "signs are used; 'for all ε <= τ' in case 2 should be ε < τ, at τ itself there is "
        "equality; 'when g_0(0)g_1(0) < 0' above the cases should be > 0; λ_i = g_i⁻¹(ε_i) is "
        "printed g⁻¹(ε_i).",
    ),
    Claim(
        id="fedfb/eq-47",
        number="Eq. (47)",
        line=844,
        title="g(g_0⁻¹(0)) = g_1(g_0⁻¹(0)) and g(g_1⁻¹(0)) = g_0(g_1⁻¹(0))",
        printed=EQUATION,
        statement="Both equalities.",
        kind="identity",
        hypotheses=PREMISES,
        scope="as stated",
        expected="holds-repaired",
        check=_check_47,
        mutants=(Mutant("halves", "half of the right sides", lambda e: _check_47(e, half=True)),),
        severity="constant",
        erratum="Both equalities need a factor 1/2 on the right: g = (g_0 + g_1)/2 and "
        "g_i(g_i⁻¹(0)) = 0.",
        notes="Lemma 15 uses only the signs, and survives.",
    ),
    Claim(
        id="fedfb/eq-47/repaired",
        number="Eq. (47)",
        line=844,
        title="g(g_0⁻¹(0)) = g_1(g_0⁻¹(0))/2 and g(g_1⁻¹(0)) = g_0(g_1⁻¹(0))/2",
        printed=EQUATION,
        statement=r"$g(g_0^{-1}(0))=\frac12g_1(g_0^{-1}(0))$, "
        r"$g(g_1^{-1}(0))=\frac12g_0(g_1^{-1}(0))$.",
        kind="identity",
        hypotheses=PREMISES,
        scope=SCOPE,
        expected="holds",
        check=_check_47_repaired,
        mutants=(
            Mutant("as printed", "without the halves", lambda e: _check_47_repaired(e, half=False)),
            Mutant(
                "1 % off",
                "0.505 for the first half, in the theorem that is proved",
                lambda e: _check_47_repaired(
                    e, proof=HALVES.replace("1/2 * md E1", "0.505 * md E1")
                ),
            ),
        ),
    ),
    Claim(
        id="fedfb/remark-8",
        number="Remark 8",
        line=868,
        title="max_i sign(g(0)) g(g_i⁻¹(0)) > 0 iff the two locally fair classifiers are equal",
        printed=REMARK,
        statement=r"$\max_i\mathrm{sign}(g(0))g(g_i^{-1}(0))>0\iff f_0^0=f_1^0$.",
        kind="equivalence",
        hypotheses=PREMISES,
        scope="as stated",
        expected="holds-repaired",
        check=_check_remark,
        mutants=(Mutant("unequal", "iff they are unequal", lambda e: _check_remark(e, "unequal")),),
        severity="misprint",
        erratum="'equal' should be 'unequal'. Where they are unequal one of the two numbers is "
        "negative, so it is not the disparity of f_i^0, as the remark says, but its signed mean "
        "difference.",
    ),
    Claim(
        id="fedfb/remark-8/repaired",
        number="Remark 8",
        line=868,
        title="max_i sign(g(0)) g(g_i⁻¹(0)) > 0 iff the two locally fair classifiers are unequal",
        printed=REMARK,
        statement=r"$\max_i\mathrm{sign}(g(0))g(g_i^{-1}(0))>0\iff f_0^0\ne f_1^0$.",
        kind="equivalence",
        hypotheses=PREMISES,
        scope=SCOPE,
        expected="holds",
        check=_check_remark_repaired,
        mutants=(
            Mutant("equal", "as printed", lambda e: _check_remark_repaired(e, "equal")),
            Mutant(
                "not negative",
                ">= 0 for > 0, in the theorem that is proved",
                lambda e: _check_remark_repaired(
                    e, proof=UNEQUAL.replace("(0 < Rmax", "(0 <= Rmax")
                ),
            ),
        ),
    ),
)
