"""FedFB, lemmas 19, 22 and 4: where the shares q_i differ, LFT+FedAvg cannot be fair."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import REALS, Counterexample, KernelProof, SymbolicZero, Witness
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.fedfb.finite_worlds import FiniteWorld, federation_of
from fairfl.claims.fedfb.theorem_17 import finite
from fairfl.claims.instances import explore

HALF = Fraction(1, 2)
SHARES = (Fraction(2, 5), Fraction(3, 5))
SEGREGATED = r"""
Definition solution {F} (feasible : F -> Prop) (accuracy : F -> R) (f : F) : Prop :=
  feasible f /\ forall g, feasible g -> accuracy g <= accuracy f.
Definition cfl {F} (rule : F -> Prop) (accuracy md : F -> R) (eps : R) : F -> Prop :=
  solution (fun f => rule f /\ Rabs (md f) <= eps) accuracy.
Definition fedavg {F} (rule : F -> Prop) (accuracy : F -> R) (local : nat -> F -> R) (q eps : nat
  -> R)
  (clients : list nat) : F -> Prop :=
  solution (fun f => rule f
    /\ forall i, In i clients -> 0 < q i < 1 -> Rabs (local i f) <= eps i) accuracy.

Theorem segregated : forall F (rule : F -> Prop) accuracy md local q eps clients,
  (forall i, In i clients -> q i = 0 \/ q i = 1) -> (forall f, rule f -> Rabs (md f) <= 1) ->
  (forall f, fedavg rule accuracy local q eps clients f <-> cfl rule accuracy md 1 f)
  /\ (forall f, cfl rule accuracy md 0 f -> Rabs (md f) = 0)
  /\ ((forall f, cfl rule accuracy md 1 f -> 0 < Rabs (md f)) ->
      forall f h, fedavg rule accuracy local q eps clients f -> cfl rule accuracy md 0 h ->
        Rabs (md h) < Rabs (md f)).
"""


def segregated(instance: dict[str, Any], mixed: bool = False, off: str = "") -> Case:
    """fairfl on a finite X, every q_i in {0, 1}: DP Disp(LFT+FedAvg(ε)) = DP Disp(CFL(1)) > 0, min
    DP Disp(CFL) = 0.
    """
    from fairfl.solvers.api import solve

    federation, eps = federation_of(
        {**instance, "q": [4] * len(instance["q"])} if mixed else instance
    )
    free = solve(federation, "cfl", 1.0).disparity
    found = solve(federation, "lft_fedavg", eps).disparity
    fair = solve(federation, "cfl", 0.0).disparity
    erm = float(disparity(instance))
    premises = {"unfair": erm > 1e-6, "η": all(v != 5 for v in instance["eta"])}
    if not mixed:
        premises["segregated"] = set(instance["q"]) == {0, 8}
    return Case(
        (
            Relation(free, "==", erm + 0.01 * (off == "free"), "CFL(1) is ERM"),
            Relation(found, "==", erm + 0.01 * (off == "found"), "LFT+FedAvg"),
            Relation(fair, "==", 0.01 * (off == "fair"), "CFL"),
        ),
        premises,
    )


def disparity(instance: dict[str, Any]) -> Fraction:
    """|MD| of ERM on the pooled law, where each client is all in one group: accept if η > 1/2."""
    rates = []
    for a in (0, 1):
        laws = [
            law[a] for law, q in zip(instance["masses"], instance["q"], strict=True) if q == 8 * a
        ]
        accepted = [
            Fraction(
                sum(m for m, eta in zip(law, instance["eta"], strict=True) if eta > 5), sum(law)
            )
            for law in laws
        ]
        rates.append(sum(accepted, Fraction(0)) / len(accepted))
    return abs(rates[0] - rates[1])


def reading(instance: dict[str, Any], undefined: str = "zero") -> Case:
    """q = (0, 1) on one point of η > 1/2 for client 0 and one of η < 1/2 for client 1: min DP
    Disp(LFT+FedAvg) > 0.

    ``undefined``: a rate in a group that a client lacks is zero, so that client i's own rate is at
    most ε_i; else, its constraint vanishes, and the rate is at most 1. Client i has one point to
    itself: it accepts there as far as it may where η > 1/2, and nobody where η < 1/2.
    """
    caps = instance["eps"] if undefined == "zero" else [Fraction(1)] * 2
    own, free = (
        [cap if eta > HALF else Fraction(0) for cap, eta in zip(most, instance["eta"], strict=True)]
        for most in (caps, [Fraction(1)] * 2)
    )
    return Case(
        (Relation(Fraction(0), "<", abs(own[0] - own[1]), f"DP Disp at ε = {instance['eps']}"),),
        {"unfair": free[0] != free[1]},
    )


def simpson(instance: dict[str, Any]) -> Case:
    """ERM is locally fair with both clients, so it solves LFT+FedAvg(ε) at every ε; pooled it is
    unfair.
    """
    law, q = instance["law"], instance["q"]
    world = FiniteWorld(law, q, [HALF, HALF], instance["eta"])
    erm = {(a, k): Fraction(int(world.eta[k] > HALF)) for a, k in world.cells}
    pooled = []
    for a in (0, 1):
        shares = [v if a else 1 - v for v in q]
        rates = [sum(erm[a, k] * law[i][a][k] for k in range(len(world.eta))) for i in (0, 1)]
        pooled.append(sum(s * r for s, r in zip(shares, rates, strict=True)) / sum(shares))
    relations = [Relation(world.local(erm, i), "==", 0, f"MD_{i} of ERM") for i in (0, 1)]
    unique = [Relation(e, "!=", HALF, "η: ERM is unique") for e in world.eta]
    return Case(
        (*relations, *unique, Relation(0, "<", abs(pooled[0] - pooled[1]), "DP Disp of ERM"))
    )


def gap(power: int = 1) -> dict[str, sympy.Expr]:
    """MD of a rule with rates r_i in both groups of client i: (q_1 - q_0)(r_0 - r_1)/((q_0 + q_1)(2
    - q_0 - q_1)).
    """
    q0, q1, r0, r1 = sympy.symbols("q0 q1 r0 r1")
    difference = ((1 - q0) * r0 + (1 - q1) * r1) / (2 - q0 - q1) - (q0 * r0 + q1 * r1) / (q0 + q1)
    return {"MD": difference - (q1 - q0) ** power * (r0 - r1) / ((q0 + q1) * (2 - q0 - q1))}


def mixtures(clients: int) -> st.SearchStrategy[dict[str, Any]]:
    """Finite federations with an η on both sides of 1/2, two clients of one group among them."""
    tenths = st.sampled_from([1, 2, 3, 4, 6, 7, 8, 9])
    eta = st.lists(tenths, min_size=4, max_size=4).filter(lambda e: min(e) < 5 < max(e))
    some = st.lists(st.sampled_from([0, 8]), min_size=clients - 2, max_size=clients - 2)
    more = st.fixed_dictionaries(
        {"eta": eta, "q": some.flatmap(lambda q: st.permutations([0, 8, *q]))}
    )
    return st.tuples(finite(clients), more).map(lambda pair: {**pair[0], **pair[1]})


def _check(
    effort: Effort, clients: int, mixed: bool = False, off: str = "", proof: str = SEGREGATED
) -> Evidence:
    drawn = Call.of(mixtures, clients=clients)
    call = Call.of(segregated, mixed=mixed, off=off)
    run = explore(call, drawn, effort, tolerance=1e-8)
    return Evidence.of(KernelProof.of("segregated.v", proof, run, axioms=REALS))


def _off(clients: int) -> tuple[Mutant, ...]:
    """Mutants: clients of both groups, and each of the three disparities a hundredth larger."""
    some = SEGREGATED.replace("q i = 0 \\/ q i = 1", "0 <= q i <= 1")
    both = Mutant(
        "some of both",
        "q_i in [0, 1], in the theorem that is proved",
        lambda e: _check(e, clients, proof=some),
    )
    names = {"free": "DP Disp(CFL(1))", "found": "DP Disp(LFT+FedAvg)", "fair": "DP Disp(CFL(0))"}
    return (
        both,
        *(
            Mutant(off, f"{name} is 0.01 more", lambda e, off=off: _check(e, clients, off=off))
            for off, name in names.items()
        ),
    )


def _check_reading(effort: Effort, undefined: str = "zero") -> Evidence:
    shows = (
        "q = (0, 1), η = 3/4 and 1/4: with 0/0 = 0 the budgets ε = (0, 0) reject everyone, "
        "which is perfectly fair"
    )
    return Evidence.of(
        Counterexample.at(
            Call.of(reading, undefined=undefined),
            shows,
            eta=[Fraction(3, 4), Fraction(1, 4)],
            eps=[Fraction(0), Fraction(0)],
        )
    )


def _check_simpson(
    effort: Effort, q: tuple[Fraction, Fraction] = SHARES, power: int = 1
) -> Evidence:
    quarter = Fraction(1, 4)
    law = [[[1 - 3 * quarter, 3 * quarter]] * 2, [[1 - quarter, quarter]] * 2]
    shows = "q = (2/5, 3/5), rates 3/4 and 1/4 in both groups: MD_0 = MD_1 = 0 for ERM, MD = 1/10"
    eta = [quarter, 3 * quarter]
    point = {"q0": "2/5", "q1": "3/5", "r0": "3/4", "r1": "1/4"}
    return Evidence.of(
        SymbolicZero(Call.of(gap, power=power), "together", (point,)),
        Witness.at(Call.of(simpson), shows, law=law, q=list(q), eta=eta),
    )


LEMMA_19 = (
    r"When $a\mid i=0\sim Bern(0)$, $a\mid i=1\sim Bern(1)$ and $DP\,Disp(f_1^{CFL})>0$, we have "
    r"$\min_{\varepsilon_0,\varepsilon_1}DP\,Disp(f^{LFT+FedAvg}_{\varepsilon_0,\varepsilon_1})="
    r"DP\,Disp(f_1^{CFL})>\min_\varepsilon DP\,Disp(f_\varepsilon^{CFL})=0$. [Proof: the "
    r"constraints vanish.]"
)
PREMISES = (
    ("segregated", "every q_i is 0 or 1, and both occur"),
    ("unfair", "DP Disp(f_1^CFL) > 0"),
    ("η", "η ≠ 1/2: ERM is unique"),
)

CLAIMS = (
    Claim(
        id="fedfb/lemma-19",
        number="Lemma 19",
        line=1025,
        title="q = (0, 1): min DP Disp(LFT+FedAvg) = DP Disp(f_1^CFL) > min DP Disp(CFL) = 0",
        printed=LEMMA_19,
        statement=r"$DP\,Disp(f^{LFT+FedAvg}_\varepsilon)=DP\,Disp(f_1^{CFL})$ for every "
        r"$\varepsilon$; $DP\,Disp(f_0^{CFL})=0$.",
        kind="implication",
        hypotheses=PREMISES,
        scope="as stated; undefined rates bound nothing, and MD is a difference of two rates",
        expected="holds",
        check=lambda effort: _check(effort, 2),
        mutants=(
            Mutant("half and half", "q_i = 1/2", lambda e: _check(e, 2, mixed=True)),
            *_off(2),
        ),
        reading="A rate in a group that a client lacks is undefined, and its constraint "
        "'vanishes', as the proof says. With the rate taken as 0 the lemma is false: "
        "fedfb/lemma-19/zero.",
    ),
    Claim(
        id="fedfb/lemma-19/zero",
        number="Lemma 19",
        line=1025,
        title="lemma 19 where the rate in a group that a client lacks counts as 0",
        printed=LEMMA_19,
        statement=r"$\min DP\,Disp(f^{LFT+FedAvg})>0$ with $P(\hat y=1\mid a,i)=0$ where "
        r"$P(a\mid i)=0$.",
        kind="implication",
        hypotheses=(PREMISES[1],),
        scope="the other reading",
        expected="refuted",
        check=_check_reading,
        mutants=(
            Mutant(
                "vanishing", "undefined constraints vanish", lambda e: _check_reading(e, "vanish")
            ),
        ),
        severity="misprint",
        erratum="Say that constraints with an undefined rate are dropped: (3) as printed is "
        "undefined for q_i in {0, 1}.",
        whose="reading",
    ),
    Claim(
        id="fedfb/lemma-22",
        number="Lemma 22",
        line=1130,
        title="every q_i in {0, 1}, I clients: min DP Disp(LFT+FedAvg) = DP Disp(f_1^CFL) > min "
        "DP Disp(CFL) = 0",
        printed=r"Let $a\mid i=i\sim Bern(0)$ or $a\mid i=i\sim Bern(1)$ for all $i\in[I]$. When "
        r"$DP\,Disp(f_1^{CFL})>0$, we have "
        r"$\min_{\varepsilon\in[0,1]^I}DP\,Disp(f^{LFT+FedAvg}_\varepsilon)=DP\,Disp(f_1^{CFL})>"
        r"\min_\varepsilon DP\,Disp(f_\varepsilon^{CFL})=0$.",
        statement="As lemma 19.",
        kind="implication",
        hypotheses=PREMISES,
        scope="as stated; undefined rates bound nothing, and MD is a difference of two rates",
        expected="holds",
        check=lambda effort: _check(effort, 4),
        mutants=(
            Mutant("half and half", "q_i = 1/2", lambda e: _check(e, 4, mixed=True)),
            *_off(4),
        ),
        reading="As lemma 19. Both values must occur among the q_i, else DP Disp itself is "
        "undefined.",
    ),
    Claim(
        id="fedfb/lemma-4",
        number="Lemma 4",
        line=162,
        title="for any q_0 ≠ q_1 in (0, 1) there are laws with min DP Disp(LFT+FedAvg) > min DP "
        "Disp(CFL) = 0",
        printed=r"When there exist $i\ne j\in[I]$ s.t. $q_i\ne q_j$, there exists a distribution "
        r"such that "
        r"$\min_{\varepsilon\in[0,1]^I}DP\,Disp(f^{LFT+FedAvg}_\varepsilon)>\min_\varepsilon "
        r"DP\,Disp(f^{CFL}_\varepsilon)=0$.",
        statement=r"Client $i$ accepts a share $r_i$ of both groups under ERM, $r_0\ne r_1$: ERM "
        r"solves LFT+FedAvg($\varepsilon$) at every $\varepsilon$, and "
        r"$MD=\frac{(q_1-q_0)(r_0-r_1)}{(q_0+q_1)(2-q_0-q_1)}\ne0$.",
        kind="existence",
        hypotheses=(),
        scope="n = 2, every pair q_0 ≠ q_1; a finite X, which a density around each point makes "
        "continuous",
        expected="holds",
        check=_check_simpson,
        mutants=(
            Mutant("square", "(q_1 - q_0)² in MD", lambda e: _check_simpson(e, power=2)),
            Mutant("common q", "q_0 = q_1 = 1/2", lambda e: _check_simpson(e, (HALF, HALF))),
        ),
        gap="the formal version (lemma 19) treats q in {0, 1} only, where the local constraints "
        "are undefined; Simpson's paradox gives every other pair.",
        notes="LFT+Ensemble is the same classifier here: with different q_i, LFT+FedAvg need not "
        "be fairer than it (remark 2 conjectures that theorem 3 extends to different q_i).",
    ),
)
