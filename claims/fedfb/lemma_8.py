"""FedFB, lemma 8: two solutions of CFL(ε) agree almost everywhere. The paper prints no proof."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import REALS, Counterexample, KernelProof
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.fedfb.lemma_7 import DEFINITIONS, quantile
from fairfl.claims.fedfb.worlds import World, less, worlds
from fairfl.claims.instances import explore
from fairfl.claims.picture import Picture, Region

UNIQUE = (
    DEFINITIONS
    + r"""
Theorem unique : forall X L E (u v : X -> R) lam eps free f g h, @integral X L E ->
  rule L u v free -> rule L u v f -> rule L u v g -> rule L u v h ->
  threshold (fun x => u x + 0 * v x) free -> threshold (fun x => u x + lam * v x) f -> 0 <= eps ->
  E (fun x => v x * f x) = clip eps (E (fun x => v x * free x)) ->
  Rabs (E (fun x => v x * g x)) <= eps -> Rabs (E (fun x => v x * h x)) <= eps ->
  E (fun x => u x * g x) = E (fun x => u x * f x) ->
  E (fun x => u x * h x) = E (fun x => u x * f x) -> L (fun x => Rabs (g x - h x)) ->
  (forall t d, t = 0 \/ t = lam -> 0 < d -> exists c k, 0 < c /\ L k /\ E k <= d
     /\ forall x, 0 <= k x /\ (Rabs (u x + t * v x) < c -> 1 <= k x)) ->
  E (fun x => Rabs (g x - h x)) = 0.
"""
)


def unique(instance: dict[str, Any], factor: Fraction = Fraction(1)) -> Case:
    """The solution of CFL(ε) is feasible, and a rule of other rates (r_0, r_1), |r_0 - r_1| <= ε,
    is strictly less accurate.

    Of all f with these rates the thresholds are the most accurate, and any f of the same rates as
    the solution that differs from it on a set of positive mass is less accurate still, by
    E[|s||f - f*|] of lemma 7. The rivals are of drawn rates, and of rates next to the solution's.
    ``factor`` multiplies its λ.
    """
    population = World.of(instance["laws"], instance["q"]).pooled
    eps = instance["eps"]
    best = population.rule(factor * population.multiplier(eps))
    goal = -eps + 2 * eps * instance["goal"]
    first = max(goal, Fraction(0)) + instance["rate"] * (1 - abs(goal))
    own = population.rate(0, best[0]), population.rate(1, best[1])
    rivals = [(first, first - goal)]
    for size in (instance["rate"] / 100, instance["rate"] / 10_000):
        rivals += [(own[0] + a * size, own[1] + b * size) for a in (-1, 0, 1) for b in (-1, 0, 1)]
    right = population.accuracy(best)
    relations = [Relation(abs(own[0] - own[1]), "<=", eps, "feasible")]
    for rates in rivals:
        if min(rates) >= 0 and max(rates) <= 1 and abs(rates[0] - rates[1]) <= eps:
            cuts = quantile(population.laws[0], rates[0]), quantile(population.laws[1], rates[1])
            left = population.accuracy(cuts)
            relations.append(
                Relation(left, "==", right, "accuracy")
                if rates == own
                else less(left, right, "accuracy")
            )
    return Case(tuple(relations))


def lebesgue(instance: dict[str, Any], measure: str = "Lebesgue") -> Case:
    """Two threshold rules that both solve CFL(ε) agree almost everywhere."""
    population = World.of(instance["laws"], instance["q"]).pooled
    eps, first, second = instance["eps"], tuple(instance["first"]), tuple(instance["second"])
    best = population.best(eps)
    both = all(
        population.accuracy(r) == best and abs(population.difference(r)) <= eps
        for r in (first, second)
    )
    if measure == "Lebesgue":
        apart = sum(abs(s - t) for s, t in zip(first, second, strict=True))
    else:
        apart = sum(
            abs(population.rate(a, first[a]) - population.rate(a, second[a])) for a in (0, 1)
        )
    return Case(
        (Relation(apart, "==", 0, "measure of the disagreement"),), {"both solve CFL(ε)": both}
    )


def instances() -> st.SearchStrategy[dict[str, Any]]:
    """One client, a budget, a goal and a rate at ties."""
    part = st.integers(0, 16).map(lambda k: Fraction(k, 16))
    extra = st.fixed_dictionaries({"eps": part, "goal": part, "rate": part})
    return st.tuples(worlds(1, least=0), extra).map(lambda pair: {**pair[0], **pair[1]})


def _check(effort: Effort, factor: Fraction = Fraction(1), proof: str = UNIQUE) -> Evidence:
    run = explore(Call.of(unique, factor=factor), Call.of(instances), effort, tolerance=0.0)
    return Evidence.of(KernelProof.of("lemma_7.v", proof, run, axioms=REALS))


def _check_lebesgue(effort: Effort, measure: str = "Lebesgue") -> Evidence:
    half = Fraction(1, 2)
    shows = (
        "u avoids (1/4, 3/4): the thresholds (1/2, 1/2) and (3/8, 5/8) have the same rates "
        "and accuracy"
    )
    return Evidence.of(
        Counterexample.at(
            Call.of(lebesgue, measure=measure),
            shows,
            laws=[[[1, 0, 0, 3], [3, 0, 0, 1]]],
            q=half,
            eps=half,
            first=[half, half],
            second=[Fraction(3, 8), Fraction(5, 8)],
        )
    )


PRINTED = r"If $f$ and $g$ are two solutions to CFL($\varepsilon$), then $f=g$ almost everywhere."
SETTING = (
    ("density", "x | a has a density, η is strictly increasing"),
    ("q in (0, 1)", "both groups are there"),
)

CLAIMS = (
    Claim(
        id="fedfb/lemma-8",
        number="Lemma 8",
        line=510,
        title="two solutions of CFL(ε) agree almost everywhere under the law of (x, a)",
        printed=PRINTED,
        statement=r"If $f,f'$ solve CFL($\varepsilon$), then $P(f(x,a)\ne f'(x,a))=0$.",
        kind="uniqueness",
        hypotheses=SETTING,
        scope="almost everywhere under the law of (x, a), in which s has no atom at 0",
        expected="holds",
        check=_check,
        mutants=(
            Mutant("0.99 λ", "the rule of 0.99 λ", lambda e: _check(e, Fraction(99, 100))),
            Mutant("1.01 λ", "the rule of 1.01 λ", lambda e: _check(e, Fraction(101, 100))),
            Mutant(
                "ties",
                "ties of any mass, in the theorem that is proved",
                lambda e: _check(e, proof=UNIQUE.replace("E k <= d", "E k <= 1")),
            ),
        ),
        rests_on=("fedfb/lemma-7/onto",),
        reading="'Almost everywhere' under the law of (x, a). For Lebesgue measure it is false "
        "(fedfb/lemma-8/lebesgue).",
        gap="no proof is printed. One: by the identity of fedfb/lemma-7/repaired a solution f "
        "has E[|s||f - f*|] = 0, and s = 0 only where η meets one level, a null set.",
    ),
    Claim(
        id="fedfb/lemma-8/lebesgue",
        number="Lemma 8",
        line=510,
        title="two solutions of CFL(ε) agree Lebesgue-almost everywhere",
        printed=PRINTED,
        statement=r"If $f,f'$ solve CFL($\varepsilon$), then $\{x: f(x,a)\ne f'(x,a)\}$ has "
        r"Lebesgue measure zero.",
        kind="uniqueness",
        hypotheses=(*SETTING, ("both solve CFL(ε)", "each is feasible and as accurate as CFL(ε)")),
        scope="Lebesgue measure",
        expected="refuted",
        check=_check_lebesgue,
        mutants=(
            Mutant(
                "law of (x, a)",
                "the law in place of Lebesgue measure",
                lambda e: _check_lebesgue(e, "law"),
            ),
        ),
        severity="misprint",
        erratum="Say 'almost everywhere with respect to the law of (x, a)'. Lemmas 12, 14 and 16 "
        "use the lemma for pooled laws, whose null sets are not those of a client.",
        whose="reading",
    ),
)


def two_rules() -> Picture:
    """The two solutions of the counterexample."""
    rules = {"first": (0.5, 0.5), "second": (0.375, 0.625)}
    rows = [Region("where people are", ((0.0, 0.25), (0.75, 1.0)))]
    rows += [
        Region(f"{name}, group {a}", ((cuts[a], 1.0),))
        for name, cuts in rules.items()
        for a in (0, 1)
    ]
    return Picture(
        "two solutions that differ only where nobody is", "u = η(x)", regions=tuple(rows)
    )


PICTURES = {"fedfb/lemma-8/lebesgue": two_rules}
