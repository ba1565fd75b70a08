"""FedFB, lemma 9: signs of λ_ε and of MD(f_ε)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import REALS, Counterexample, KernelProof
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.fedfb.worlds import World, worlds
from fairfl.claims.instances import explore
from fairfl.claims.picture import Curve, Picture

ZERO = Fraction(0)
SIGNS = r"""
Definition increasing (g : R -> R) : Prop := forall x y, x < y -> g x < g y.
Definition clip (eps t : R) : R := Rmax (- eps) (Rmin eps t).
Theorem signs : forall g eps lam, increasing g -> 0 <= eps -> g lam = clip eps (g 0) ->
  (eps < Rabs (g 0) -> Rabs (g lam) = eps /\ 0 <= g lam * g 0 /\ lam * g 0 < 0)
  /\ (Rabs (g 0) <= eps -> g lam = g 0 /\ lam = 0).
"""


def printed(instance: dict[str, Any], repair: bool = False) -> Case:
    """Part 1 for ε < |g(0)|: MD(f_ε) = λ_ε (or, repaired, g(λ_ε))."""
    population = World.of(instance["laws"], instance["q"]).pooled
    eps = instance["eps"]
    lam = population.multiplier(eps)
    difference = population.difference(population.rule(lam))
    relation = Relation(difference, "==", population.g(lam) if repair else lam, "MD(f_ε)")
    return Case((relation,), {"ε < |g(0)|": eps < abs(population.g(ZERO))})


def repaired(instance: dict[str, Any], turned: bool = False) -> Case:
    """Both parts, with MD(f_ε) = g(λ_ε)."""
    world = World.of(instance["laws"], instance["q"])
    population, eps = world.pooled, instance["eps"]
    start, lam = population.g(ZERO), population.multiplier(eps)
    sign = (start > 0) - (start < 0)
    difference = population.difference(population.rule(lam))
    if eps < abs(start):
        first = [Relation(difference, "==", sign * eps, "MD(f_ε)"), Relation(lam, "!=", 0, "λ_ε")]
    else:
        first = [Relation(difference, "==", start, "MD(f_ε)"), Relation(lam, "==", 0, "λ_ε")]
    side = Relation(ZERO, "<=", (1 if turned else -1) * sign * lam, "the sign of λ_ε")
    return Case((*first, side), {"g increases": world.positive})


def _check_printed(effort: Effort, repair: bool = False) -> Evidence:
    shows = "P(u > 1/2 | a) = 3/4 and 1/2, ε = 0: λ = -1/10, while MD = 0"
    laws = [[[1, 3], [1, 1]]]
    return Evidence.of(
        Counterexample.at(
            Call.of(printed, repair=repair), shows, laws=laws, q=Fraction(1, 2), eps=ZERO
        )
    )


def instances() -> st.SearchStrategy[dict[str, Any]]:
    """One client and a budget."""
    eps = st.integers(0, 20).map(lambda k: Fraction(k, 40))
    return st.tuples(worlds(1), eps).map(lambda pair: {**pair[0], "eps": pair[1]})


def _check_repaired(effort: Effort, turned: bool = False) -> Evidence:
    run = explore(Call.of(repaired, turned=turned), Call.of(instances), effort, tolerance=0.0)
    return Evidence.of(KernelProof.of("lemma_9.v", SIGNS, run, axioms=REALS))


PRINTED = (
    r"1. If $\varepsilon<|g(0)|$, then $MD(f^{CFL}_\varepsilon)=\lambda^{CFL}_\varepsilon\neq0$, "
    r"and $g(\lambda^{CFL}_\varepsilon)=\mathrm{sign}(g(0))\varepsilon$. If "
    r"$|g(0)|\le\varepsilon$, then $\lambda^{CFL}_\varepsilon=0$ and "
    r"$MD(f^{CFL}_\varepsilon)=g(\lambda^{CFL}_\varepsilon)=g(0)$. 2. If $g(0)>0$ or $g(0)<0$, "
    r"then for any $\varepsilon\ge0$, we have $\lambda\le0$ or $\lambda\ge0$, respectively."
)

CLAIMS = (
    Claim(
        id="fedfb/lemma-9",
        number="Lemma 9",
        line=520,
        title="if ε < |g(0)| then MD(f_ε) = λ_ε ≠ 0",
        printed=PRINTED,
        statement=r"If $\varepsilon<|g(0)|$, then $MD(f_\varepsilon)=\lambda_\varepsilon$.",
        kind="identity",
        hypotheses=(("ε < |g(0)|", "the unconstrained solution is not fair enough"),),
        scope="as stated",
        expected="holds-repaired",
        check=_check_printed,
        mutants=(
            Mutant(
                "g(λ)", "MD(f_ε) = g(λ_ε) in place of λ_ε", lambda e: _check_printed(e, repair=True)
            ),
        ),
        severity="misprint",
        erratum="Part 1 should read MD(f_ε) = g(λ_ε), λ_ε ≠ 0. As printed it contradicts its own "
        "next equation, g(λ_ε) = sign(g(0)) ε, and part 2: MD(f_ε) and λ_ε have opposite signs. "
        "At ε = 0 it says 0 ≠ 0.",
        notes="Later results use λ_ε ≠ 0 and g(λ_ε) = sign(g(0)) ε only, and survive.",
    ),
    Claim(
        id="fedfb/lemma-9/repaired",
        number="Lemma 9",
        line=520,
        title="if ε < |g(0)| then MD(f_ε) = g(λ_ε) = sign(g(0)) ε and λ_ε ≠ 0; λ_ε g(0) ≤ 0",
        printed=PRINTED,
        statement=r"If $\varepsilon<|g(0)|$: "
        r"$MD(f_\varepsilon)=g(\lambda_\varepsilon)=\mathrm{sign}(g(0))\varepsilon$, "
        r"$\lambda_\varepsilon\ne0$. Else $\lambda_\varepsilon=0$, $MD(f_\varepsilon)=g(0)$. "
        r"Always $\lambda_\varepsilon g(0)\le0$.",
        kind="implication",
        hypotheses=(("g increases", "g is strictly increasing, as the proof of lemma 7 says"),),
        scope="as stated",
        expected="holds",
        check=_check_repaired,
        mutants=(
            Mutant("sign", "λ_ε has the sign of g(0)", lambda e: _check_repaired(e, turned=True)),
        ),
    ),
)


def opposite_signs() -> Picture:
    """MD(f_ε) and λ_ε of the counterexample's law, for all ε."""
    population = World.of([[[1, 3], [1, 1]]], Fraction(1, 2)).pooled
    budgets = [Fraction(k, 40) for k in range(13)]
    lams = [population.multiplier(eps) for eps in budgets]
    x = tuple(map(float, budgets))
    values = tuple(float(population.g(lam)) for lam in lams)
    curves = (Curve("MD(f_ε)", x, values), Curve("λ_ε", x, tuple(map(float, lams))))
    return Picture("MD(f_ε) and λ_ε have opposite signs", "ε", "", curves)


PICTURES = {"fedfb/lemma-9": opposite_signs}
