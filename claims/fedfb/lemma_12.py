"""FedFB, lemma 12 and the definition of accuracy before it; lemma 13."""

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
from fairfl.claims.fedfb.lemma_7 import DEFINITIONS
from fairfl.claims.fedfb.worlds import World, less, worlds
from fairfl.claims.instances import explore

ZERO = Fraction(0)
ENSEMBLE = r"""
Definition integral {X} (L : (X -> R) -> Prop) (E : (X -> R) -> R) : Prop :=
  (forall a b f g, L f -> L g -> L (fun x => a * f x + b * g x)
     /\ E (fun x => a * f x + b * g x) = a * E f + b * E g)
  /\ (forall f g, L f -> (forall x, f x = g x) -> L g /\ E f = E g)
  /\ (forall f, L f -> (forall x, 0 <= f x) -> 0 <= E f).
Definition threshold {X} (s f : X -> R) : Prop :=
  forall x, 0 <= f x <= 1 /\ (0 < s x -> f x = 1) /\ (s x < 0 -> f x = 0).
Definition rule {X} (L : (X -> R) -> Prop) (u v f : X -> R) : Prop :=
  (forall x, 0 <= f x <= 1) /\ L (fun x => u x * f x) /\ L (fun x => v x * f x).
Definition clip (eps t : R) : R := Rmax (- eps) (Rmin eps t).
Definition pooled {X} (E0 E1 : (X -> R) -> R) (f : X -> R) : R := (E0 f + E1 f) / 2.
Definition md {X} (E : (X -> R) -> R) (v : X -> R) (f : R -> X -> R) (t : R) : R :=
  E (fun x => v x * f t x).
Definition setting {X} (L : (X -> R) -> Prop) (E0 E1 : (X -> R) -> R) (u v : X -> R)
  (f : R -> X -> R) (M : R) : Prop :=
  integral L E0 /\ integral L E1 /\ 0 < M
  /\ (forall t, rule L u v (f t) /\ threshold (fun x => u x + t * v x) (f t))
  /\ (forall s t, - M <= s -> s < t -> t <= M ->
        md E0 v f s < md E0 v f t /\ md E1 v f s < md E1 v f t)
  /\ -1 <= md E0 v f 0 <= 1 /\ -1 <= md E1 v f 0 <= 1.
Definition returned (g : R -> R) (M eps t : R) : Prop :=
  0 <= eps <= 1 /\ - M <= t <= M /\ g t = clip eps (g 0).
Definition best {X} (L : (X -> R) -> Prop) (E : (X -> R) -> R) (u v : X -> R) (eps a : R) : Prop :=
  (exists h, rule L u v h /\ Rabs (E (fun x => v x * h x)) <= eps /\ E (fun x => u x * h x) = a)
  /\ forall h, rule L u v h -> Rabs (E (fun x => v x * h x)) <= eps -> E (fun x => u x * h x) <= a.
Definition ensemble {X} (f : R -> X -> R) (s t : R) (x : X) : R := (f s x + f t x) / 2.
"""
BOUND = (
    ENSEMBLE
    + r"""
Theorem lemma_12 : forall X L E0 E1 (u v : X -> R) f M eps a s t lam, setting L E0 E1 u v f M ->
  - M <= s <= M -> - M <= t <= M -> returned (md (pooled E0 E1) v f) M eps lam ->
  best L (pooled E0 E1) u v eps a ->
  Rabs (pooled E0 E1 (fun x => v x * ensemble f s t x)) <= eps ->
  pooled E0 E1 (fun x => u x * ensemble f s t x) <= a
  /\ (pooled E0 E1 (fun x => u x * ensemble f s t x) = a <-> s = lam /\ t = lam).
"""
)
FAIR = (
    DEFINITIONS
    + r"""
Theorem fair : forall X L E (u v : X -> R) eps (rules : list (X -> R)) g, @integral X L E ->
  rules <> nil -> (forall f, In f rules -> rule L u v f /\ threshold u f) ->
  (forall f, rule L u v f -> threshold u f -> Rabs (E (fun x => v x * f x)) <= eps) ->
  rule L u v g ->
  let ensemble x := fold_right (fun f s => f x + s) 0 rules / INR (length rules) in
  Rabs (E (fun x => v x * ensemble x)) <= eps
  /\ E (fun x => u x * g x) <= E (fun x => u x * ensemble x).
"""
)


def bound(instance: dict[str, Any], condition: str = "all equal") -> Case:
    """Acc(ensemble) <= CFL(ε), ε >= its disparity, with equality iff λ_0 = λ_1 = λ_ε."""
    world = World.of(instance["laws"], instance["q"])
    ends = [client.multiplier(ZERO) for client in world.clients]
    lams = [p * end for p, end in zip(instance["place"], ends, strict=True)]
    if instance["same"]:
        lams = [instance["place"][0] * (min(ends, key=abs) if ends[0] * ends[1] > 0 else ZERO)] * 2
    difference, accuracy = world.ensemble(lams)
    eps = abs(difference) + instance["slack"]
    equal = lams[0] == lams[1]
    if condition == "all equal":
        equal = equal and lams[0] == world.pooled.multiplier(eps)
    best = world.pooled.best(eps)
    relation = (
        Relation(accuracy, "==", best, "accuracy") if equal else less(accuracy, best, "accuracy")
    )
    return Case((relation,), {"common q": True, "g_i increase": world.positive})


def fair(instance: dict[str, Any], part: Fraction = Fraction(1)) -> Case:
    """ε_0 = ε_1 = 1 gives a classifier with |MD| <= ε and the accuracy CFL(ε), for ε >= |g(0)|."""
    world = World.of(instance["laws"], instance["q"])
    start = abs(world.pooled.g(ZERO))
    eps = part * start + instance["slack"]
    difference, accuracy = world.ensemble(
        [client.multiplier(Fraction(1)) for client in world.clients]
    )
    return Case(
        (
            Relation(abs(difference), "<=", eps, "DP Disp"),
            Relation(accuracy, "==", world.pooled.best(eps), "accuracy"),
        )
    )


def definition(instance: dict[str, Any], given: int = 0) -> Case:
    """Acc(f) = P(ŷ = y) on a finite X: the printed formula conditions both terms on y = 0."""
    mass, eta, f = (instance[name] for name in ("mass", "eta", "f"))
    total = sum(m * (e * v + (1 - e) * (1 - v)) for m, e, v in zip(mass, eta, f, strict=True))
    positive = sum(m * e for m, e in zip(mass, eta, strict=True))

    def mean(y: int) -> Any:
        weights = [m * (e if y else 1 - e) for m, e in zip(mass, eta, strict=True)]
        return sum(w * v for w, v in zip(weights, f, strict=True)) / sum(weights)

    return Case(
        (Relation((1 - positive) * (1 - mean(0)) + positive * mean(given), "==", total, "Acc"),)
    )


def residuals(given: int = 1) -> dict[str, sympy.Expr]:
    """The same with symbols, on two points."""
    m, e0, e1, f0, f1 = sympy.symbols("m e0 e1 f0 f1", positive=True)
    relation = definition({"mass": [m, 1 - m], "eta": [e0, e1], "f": [f0, f1]}, given).relations[0]
    return {"Acc": relation.left - relation.right}


def tried() -> st.SearchStrategy[dict[str, Any]]:
    """Two clients, where in their ranges the multipliers lie, and a slack."""
    unit = st.integers(0, 8).map(lambda k: Fraction(k, 8))
    slack = st.sampled_from([ZERO, ZERO, Fraction(1, 50), Fraction(1)])
    place = st.lists(unit, min_size=2, max_size=2)
    more = st.fixed_dictionaries({"place": place, "same": st.booleans(), "slack": slack})
    return st.tuples(worlds(2), more).map(lambda pair: {**pair[0], **pair[1]})


def slackened() -> st.SearchStrategy[dict[str, Any]]:
    """Two clients of equal or unequal q, or three, and a slack."""
    slack = st.integers(0, 8).map(lambda k: Fraction(k, 40))
    both = st.one_of(worlds(2), worlds(2, equal=False), worlds(3, least=0))
    return st.tuples(both, slack).map(lambda pair: {**pair[0], "slack": pair[1]})


def _check(effort: Effort, condition: str = "all equal", proof: str = BOUND) -> Evidence:
    run = explore(Call.of(bound, condition=condition), Call.of(tried), effort, tolerance=0.0)
    return Evidence.of(KernelProof.of("ensemble.v", proof, run, axioms=REALS))


def _check_fair(effort: Effort, part: Fraction = Fraction(1), proof: str = FAIR) -> Evidence:
    run = explore(Call.of(fair, part=part), Call.of(slackened), effort, tolerance=0.0)
    return Evidence.of(KernelProof.of("lemma_7.v", proof, run, axioms=REALS))


def _check_definition(effort: Effort, given: int = 0) -> Evidence:
    shows = (
        "two equally likely points, η = 1/4 and 3/4, f accepts the second: P(ŷ = y) = 3/4, "
        "the formula gives 1/2"
    )
    half, quarter = Fraction(1, 2), Fraction(1, 4)
    instance = {"mass": [half, half], "eta": [quarter, 3 * quarter], "f": [ZERO, Fraction(1)]}
    return Evidence.of(Counterexample.at(Call.of(definition, given=given), shows, **instance))


def _check_definition_repaired(effort: Effort, given: int = 1) -> Evidence:
    point = {"m": "1/3", "e0": "1/5", "e1": "3/4", "f0": "1/7", "f1": "1/2"}
    return Evidence.of(SymbolicZero(Call.of(residuals, given=given), "together", (point,)))


SCOPE = "as stated: two clients of equal weight, each g_i increasing on [-max(q, 1-q), max(q, 1-q)]"
ACC = (
    r"Define the accuracy of a classifier $f$ as $Acc(f)=P(\hat y=y)=P(y=0)E_{x,a\mid "
    r"y=0}[1-f(x,a)]+P(y=1)E_{x,a\mid y=0}f(x,a)$."
)

CLAIMS = (
    Claim(
        id="fedfb/accuracy",
        number="Appendix A.2.3, before (45)",
        line=742,
        title="Acc(f) = P(y=0) E[1 - f | y=0] + P(y=1) E[f | y=0]",
        printed=ACC,
        statement=r"The second expectation is given $y=0$.",
        kind="identity",
        hypotheses=(),
        scope="as stated",
        expected="holds-repaired",
        check=_check_definition,
        mutants=(
            Mutant(
                "given y = 1",
                "the second expectation given y = 1",
                lambda e: _check_definition(e, given=1),
            ),
        ),
        severity="misprint",
        erratum="The second expectation must be given y = 1.",
        notes="Nothing later uses the formula.",
    ),
    Claim(
        id="fedfb/accuracy/repaired",
        number="Appendix A.2.3, before (45)",
        line=742,
        title="Acc(f) = P(y=0) E[1 - f | y=0] + P(y=1) E[f | y=1]",
        printed=ACC,
        statement=r"$P(\hat y=y)=P(y=0)E[1-f\mid y=0]+P(y=1)E[f\mid y=1]$.",
        kind="identity",
        hypotheses=(),
        scope="two points of X; linear, so the same for any law",
        expected="holds",
        check=_check_definition_repaired,
        mutants=(
            Mutant("given y = 0", "as printed", lambda e: _check_definition_repaired(e, given=0)),
        ),
    ),
    Claim(
        id="fedfb/lemma-12",
        number="Lemma 12",
        line=756,
        title="Acc(LFT+Ensemble) ≤ CFL(ε) where its disparity is ≤ ε, with equality iff λ_0 = "
        "λ_1 = λ_ε",
        printed=r"Let $q\in(0,1)$. Given an LFT+Ensemble classifier such that "
        r"$DP\,Disp\le\varepsilon$ and a CFL classifier, we have "
        r"$LFT+Ensemble(\varepsilon_0,\varepsilon_1;\varepsilon)\le CFL(\varepsilon)$. The "
        r"equality holds if and only if "
        r"$\lambda_{\varepsilon_0}=\lambda_{\varepsilon_1}=\lambda^{CFL}_\varepsilon$.",
        statement="The bound, and both directions of the equality.",
        kind="bound",
        hypotheses=(("common q", "q_0 = q_1"), ("g_i increase", "each g_i is strictly increasing")),
        scope=SCOPE,
        expected="holds",
        check=_check,
        mutants=(
            Mutant("λ_0 = λ_1", "equality iff λ_0 = λ_1", lambda e: _check(e, "two equal")),
            Mutant(
                "one is enough",
                "equality iff λ_0 = λ_ε, in the theorem that is proved",
                lambda e: _check(e, proof=BOUND.replace("s = lam /\\ t = lam", "s = lam")),
            ),
        ),
        rests_on=("fedfb/lemma-7/repaired", "fedfb/lemma-7/onto"),
        reading="g_i⁻¹ is a function: where supports have gaps, different λ give the same "
        "classifier.",
    ),
    Claim(
        id="fedfb/lemma-13",
        number="Lemma 13",
        line=764,
        title="if ε ≥ |g(0)| then max LFT+Ensemble(ε_0, ε_1; ε) = CFL(ε)",
        printed=r"Let $q\in(0,1)$. If the ERM is already fair, i.e., $\varepsilon\ge|g(0)|$, "
        r"then "
        r"$\max_{\varepsilon_0,\varepsilon_1}LFT+Ensemble(\varepsilon_0,\varepsilon_1;"
        r"\varepsilon)=CFL(\varepsilon)$.",
        statement=r"$\varepsilon_i=1$ for all $i$ gives the accuracy CFL($\varepsilon$) and "
        r"$|MD|\le\varepsilon$.",
        kind="implication",
        hypotheses=(),
        scope="as stated; any number of clients, any q_i; ERM fair whatever it does at ties",
        expected="holds",
        check=_check_fair,
        mutants=(
            Mutant("half as fair", "ε >= |g(0)|/2", lambda e: _check_fair(e, Fraction(1, 2))),
            Mutant(
                "1 % less fair",
                "ε >= 0.99 |g(0)|, in the theorem that is proved",
                lambda e: _check_fair(e, proof=FAIR.replace("<= eps) ->", "<= 1.01 * eps) ->")),
            ),
        ),
        rests_on=("fedfb/lemma-7/repaired",),
    ),
)
