"""FedFB, lemma 16: shares q_i that differ, and the pooled law it is printed with."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import REALS, Counterexample, KernelProof, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.fedfb.lemma_14 import worse
from fairfl.claims.fedfb.worlds import HALF, Population, World, mix, worlds
from fairfl.claims.instances import explore
from fairfl.claims.search import Attack

ZERO = Fraction(0)
SHARES = r"""
Definition integral {X} (L : (X -> R) -> Prop) (E : (X -> R) -> R) : Prop :=
  (forall a b f g, L f -> L g -> L (fun x => a * f x + b * g x)
     /\ E (fun x => a * f x + b * g x) = a * E f + b * E g)
  /\ (forall f g, L f -> (forall x, f x = g x) -> L g /\ E f = E g)
  /\ (forall f, L f -> (forall x, 0 <= f x) -> 0 <= E f).
Definition threshold {X} (s f : X -> R) : Prop :=
  forall x, 0 <= f x <= 1 /\ (0 < s x -> f x = 1) /\ (s x < 0 -> f x = 0).
Definition rule {X} (L : (X -> R) -> Prop) (u h : X -> R) : Prop :=
  (forall x, 0 <= h x <= 1) /\ L h /\ L (fun x => u x * h x).
Definition clip (eps t : R) : R := Rmax (- eps) (Rmin eps t).
Definition positive {X} (E : (X -> R) -> R) (f : R -> X -> R) : Prop :=
  (forall t, t <= -1 -> E (f t) = 1) /\ (forall t, 1 <= t -> E (f t) = 0)
  /\ forall s t, -1 <= s -> s < t -> t <= 1 -> E (f t) < E (f s).
Definition setting {X} (L : (X -> R) -> Prop) (E : bool -> (X -> R) -> R) (u : X -> R)
  (f : R -> X -> R) : Prop :=
  (forall a, integral L (E a) /\ positive (E a) f)
  /\ forall t, rule L u (f t) /\ threshold (fun x => u x - t) (f t).
Definition level (q lam : R) (a : bool) : R := if a then lam / q else - lam / (1 - q).
Definition acc {X} (E : bool -> (X -> R) -> R) (u : X -> R) (q : R) (h : bool -> X -> R) : R :=
  (1 - q) * E false (fun x => u x * h false x) + q * E true (fun x => u x * h true x).
Definition md {X} (E : bool -> (X -> R) -> R) (h : bool -> X -> R) : R :=
  E false (h false) - E true (h true).
Definition best {X} (L : (X -> R) -> Prop) (E : bool -> (X -> R) -> R) (u : X -> R) (q eps v : R)
  : Prop :=
  (exists h, (forall a, rule L u (h a)) /\ Rabs (md E h) <= eps /\ acc E u q h = v)
  /\ forall h, (forall a, rule L u (h a)) -> Rabs (md E h) <= eps -> acc E u q h <= v.
Definition ensemble {X} (f : R -> X -> R) (q0 q1 lam0 lam1 : R) (a : bool) (x : X) : R :=
  (f (level q0 lam0 a) x + f (level q1 lam1 a) x) / 2.
Theorem lemma_16 : forall X L E (u : X -> R) f q0 q1 eps v lam lam0 lam1, setting L E u f ->
  0 < q0 < 1 -> 0 < q1 < 1 -> q0 <> q1 -> 0 <= eps ->
  let q := (q0 + q1) / 2 in
  let cfl t a := f (level q t a) in
  md E (cfl lam) = clip eps (md E (cfl 0)) -> eps < Rabs (md E (cfl 0)) -> best L E u q eps v ->
  Rabs (md E (ensemble f q0 q1 lam0 lam1)) <= eps ->
  acc E u q (ensemble f q0 q1 lam0 lam1) < v.
"""


def printed_pool(world: World) -> Population:
    """P_a = (q_0 P_a^(0) + q_1 P_a^(1))/(q_0 + q_1) for a = 0 and 1."""
    laws = tuple(mix([pair[a] for pair in world.laws], world.q) for a in (0, 1))
    return Population((laws[0], laws[1]), sum(world.q, ZERO) / 2)


def strict(instance: dict[str, Any], pool: str = "bayes", shares: str = "differ") -> Case:
    """The statement at one ε < |g(0)| and one pair of multipliers, g of the pooled law that is
    named.
    """
    world = World.of(instance["laws"], instance["q"])
    start = abs((world.pooled if pool == "bayes" else printed_pool(world)).g(ZERO))
    eps = instance["part"] * start
    ends = [client.multiplier(ZERO) for client in world.clients]
    lams = [p * end for p, end in zip(instance["place"], ends, strict=True)]
    if instance["aim"]:  # the thresholds of one group as CFL has them
        lam, a = world.pooled.multiplier(min(eps, Fraction(1))), instance["aim"] - 1
        goals = [lam * client.shares[a] / world.pooled.shares[a] for client in world.clients]
        lams = [
            min(max(goal, min(end, ZERO)), max(end, ZERO))
            for goal, end in zip(goals, ends, strict=True)
        ]
    premises = {"ε < |g(0)|": eps < start, "g_i increase": world.positive}
    if shares == "differ":
        premises["q_0 ≠ q_1"] = world.q[0] != world.q[1]
    return Case((worse(world, lams, eps),), premises)


def mixture(instance: dict[str, Any], pool: str = "printed") -> Case:
    """P(u > 1/2 | a) of the pooled law, by the mixture that is printed, and by counting people."""
    world = World.of(instance["laws"], instance["q"])
    chosen = printed_pool(world) if pool == "printed" else world.pooled
    relations = []
    for a in (0, 1):
        people = [client.shares[a] * client.rate(a, HALF) for client in world.clients]
        count = sum((client.shares[a] for client in world.clients), ZERO)
        relations.append(
            Relation(chosen.rate(a, HALF), "==", sum(people, ZERO) / count, f"P(u > 1/2 | a = {a})")
        )
    return Case(tuple(relations), {"q_0 ≠ q_1": world.q[0] != world.q[1]})


def residuals(repair: bool = True) -> dict[str, sympy.Expr]:
    """P(i | a) - its weight in the mixture, by Bayes' rule from P(a, i) = P(a | i)/2."""
    q = sympy.symbols("q0 q1", positive=True)
    found = {}
    for a in (0, 1):
        joint = [(v if a else 1 - v) / 2 for v in q]
        weights = [(v if a else 1 - v) / (q[0] + q[1] if a else 2 - q[0] - q[1]) for v in q]
        if not repair:
            weights = [v / (q[0] + q[1]) for v in q]
        for i in (0, 1):
            found[f"P(i={i} | a={a})"] = joint[i] / sum(joint) - weights[i]
    return found


HALVES: dict[str, Any] = {
    "laws": [[[3, 1], [5, 3]], [[1, 3], [5, 3]]],
    "q": [Fraction(1, 4), Fraction(3, 4)],
}
"""P(u > 1/2 | a=0, i) = 1/4 and 3/4; for a = 1 it is 3/8 with both: pooled it is 3/8 in both
groups, MD = 0.
"""


def _check_printed(effort: Effort, pool: str = "printed") -> Evidence:
    shows = (
        "q = (1/4, 3/4): ERM is perfectly fair, so LFT+Ensemble(1, 1) is CFL(1/8), while the "
        "printed |g(0)| is 1/4"
    )
    call = Call.of(strict, pool=pool)
    place = [ZERO, ZERO]
    return Evidence.of(
        Counterexample.at(call, shows, **HALVES, part=Fraction(1, 2), place=place, aim=0)
    )


def instances(shares: str) -> st.SearchStrategy[dict[str, Any]]:
    """Two clients of unequal q ("differ") or of one, a budget, and places of multipliers."""
    unit = st.integers(0, 8).map(lambda k: Fraction(k, 8))
    part = st.integers(0, 15).map(lambda k: Fraction(k, 16))
    place = st.lists(unit, min_size=2, max_size=2)
    more = st.fixed_dictionaries({"place": place, "part": part, "aim": st.sampled_from([0, 1, 2])})
    kinds = (
        worlds(2, equal=False)
        if shares == "differ"
        else worlds(2).map(lambda w: {**w, "q": [w["q"]] * 2})
    )
    return st.tuples(kinds, more).map(lambda pair: {**pair[0], **pair[1]})


def _check_repaired(effort: Effort, shares: str = "differ", proof: str = SHARES) -> Evidence:
    drawn = Call.of(instances, shares=shares)
    family = Attack([(0, 1), (0, 1), (0, 0.999)], _attack, steps=effort.pick(60, 400))
    run = explore(Call.of(strict, shares=shares), drawn, effort, tolerance=0.0, attacks=[family])
    return Evidence.of(KernelProof.of("shares.v", proof, run, axioms=REALS))


def _attack(point: list[float]) -> dict[str, Any]:
    first, second, part = (Fraction(v).limit_denominator(10_000) for v in point)
    laws = [[[2, 3, 4, 7], [4, 5, 3, 2]], [[1, 2, 4, 5], [3, 4, 2, 2]]]
    return {
        "laws": laws,
        "q": [Fraction(3, 8), HALF],
        "place": [first, second],
        "part": part,
        "aim": 0,
    }


def _check_mixture(effort: Effort, pool: str = "printed") -> Evidence:
    shows = (
        "q = (1/4, 3/4): of group 0 three quarters are with client 0, whom the printed "
        "mixture gives one quarter"
    )
    return Evidence.of(Counterexample.at(Call.of(mixture, pool=pool), shows, **HALVES))


def _check_mixture_repaired(effort: Effort, repair: bool = True) -> Evidence:
    point = {"q0": "1/4", "q1": "2/3"}
    return Evidence.of(SymbolicZero(Call.of(residuals, repair=repair), "together", (point,)))


PRINTED = (
    r"Assume $a\sim Bern(q_i)$ in client $i$, and $q_0\ne q_1\in(0,1)$. Then "
    r"$\max_{\varepsilon_0,\varepsilon_1}LFT+Ensemble(\varepsilon_0,\varepsilon_1;"
    r"\varepsilon)<CFL(\varepsilon)$ for all $\varepsilon<|g(0)|$. [Proof:] We assemble the "
    r"dataset from two clients to have $x\mid a=a\sim\mathcal P_a=\frac{q_0}{q_0+q_1}\mathcal "
    r"P_a^{(0)}+\frac{q_1}{q_0+q_1}\mathcal P_a^{(1)}$, $a=0,1$ [...] with $q=\frac{q_0+q_1}2$."
)
DIFFER = ("q_0 ≠ q_1", "the shares differ, both in (0, 1)")
PREMISES = (
    DIFFER,
    ("ε < |g(0)|", "g of the pooled law"),
    ("g_i increase", "each density is positive on (0, 1)"),
)

MIXTURE = (
    "The mixture for a = 0 must have weights (1 - q_i)/(2 - q_0 - q_1); that for a = 1 is right. "
    "With the printed ones |g(0)| is not the disparity of ERM, and the lemma fails at budgets at "
    "which ERM is already fair."
)
CLAIMS = (
    Claim(
        id="fedfb/lemma-16",
        number="Lemma 16",
        line=878,
        title="q_0 ≠ q_1: max LFT+Ensemble < CFL(ε) for all ε < |g(0)|, g of the printed pooled "
        "law",
        printed=PRINTED,
        statement=r"The statement, $g(0)$ computed from the mixture as printed, CFL from the "
        r"people themselves.",
        kind="bound",
        hypotheses=PREMISES,
        scope="as stated",
        expected="holds-repaired",
        check=_check_printed,
        mutants=(
            Mutant(
                "Bayes", "g of the pooled law by Bayes' rule", lambda e: _check_printed(e, "bayes")
            ),
        ),
        severity="constant",
        erratum=MIXTURE,
    ),
    Claim(
        id="fedfb/lemma-16/repaired",
        number="Lemma 16",
        line=878,
        title="q_0 ≠ q_1: max LFT+Ensemble < CFL(ε) for all ε < |g(0)|, pooled by Bayes' rule",
        printed=PRINTED,
        statement=r"The statement with $P(i\mid a=1)=\frac{q_i}{q_0+q_1}$, $P(i\mid "
        r"a=0)=\frac{1-q_i}{2-q_0-q_1}$.",
        kind="bound",
        hypotheses=PREMISES,
        scope="as stated: two clients of equal weight, every multiplier",
        expected="holds",
        check=_check_repaired,
        mutants=(
            Mutant("common q", "for q_0 = q_1", lambda e: _check_repaired(e, shares="common")),
            Mutant(
                "fair",
                "ε <= |g(0)| for <, in the theorem that is proved",
                lambda e: _check_repaired(e, proof=SHARES.replace("eps < Rabs", "eps <= Rabs")),
            ),
        ),
        rests_on=("fedfb/lemma-7/onto", "fedfb/lemma-16/mixture/repaired"),
        reading="Supports without gaps, as for lemmas 12 and 14.",
        gap="the statement survives: in case 2, (1 - λ(1 - q_1))/2 should divide by 1 - q_1. "
        "That thresholds beyond 0 and 1 make no difference is not treated; for ε < |g(0)| CFL's "
        "own thresholds lie inside (0, 1).",
    ),
    Claim(
        id="fedfb/lemma-16/mixture",
        number="Proof of lemma 16",
        line=884,
        title="x | a is the mixture with weights q_i/(q_0 + q_1), for a = 0 and 1",
        printed=PRINTED,
        statement=r"$P(x\in\cdot\mid a)=\sum_i\frac{q_i}{q_0+q_1}\mathcal P_a^{(i)}$ for $a=0,1$.",
        kind="identity",
        hypotheses=(DIFFER,),
        scope="as stated",
        expected="holds-repaired",
        check=_check_mixture,
        mutants=(
            Mutant(
                "Bayes",
                "weights (1-q_i)/(2-q_0-q_1) for a = 0",
                lambda e: _check_mixture(e, "bayes"),
            ),
        ),
        severity="constant",
        erratum=MIXTURE,
    ),
    Claim(
        id="fedfb/lemma-16/mixture/repaired",
        number="Proof of lemma 16",
        line=884,
        title="P(i | a=1) = q_i/(q_0 + q_1), P(i | a=0) = (1 - q_i)/(2 - q_0 - q_1)",
        printed=PRINTED,
        statement=r"$P(i\mid a)$ for clients of equal weight.",
        kind="identity",
        hypotheses=(),
        scope="n = 2, equal weights",
        expected="holds",
        check=_check_mixture_repaired,
        mutants=(
            Mutant(
                "as printed",
                "q_i/(q_0 + q_1) for both groups",
                lambda e: _check_mixture_repaired(e, False),
            ),
        ),
    ),
)
