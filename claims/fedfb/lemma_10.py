"""FedFB, lemma 10: where the clients' ERMs favour different groups, LFT+Ensemble cannot be fair."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import sympy
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import REALS, Counterexample, DefiniteForm, KernelProof
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.fedfb.worlds import Population, World
from fairfl.claims.instances import explore
from fairfl.claims.picture import Curve, Picture

ZERO = Fraction(0)
GRID = 3
"""Parts of [0, c] at which the condition on ψ is tested; its corners, where ψ is extreme, are among
them.
"""
DEFINITIONS = r"""
Definition clip (eps t : R) : R := Rmax (- eps) (Rmin eps t).
Definition increasing (g : R -> R) : Prop := forall x y, x < y -> g x < g y.
Definition difference (j k : R) (g h : R -> R) (l1 l2 : R) : R :=
  j * (j * g l1 + k * h l1) + k * (j * g l2 + k * h l2).
Definition returned (g : R -> R) (eps l : R) : Prop := 0 <= eps <= 1 /\ g l = clip eps (g 0).
"""
GAP = (
    DEFINITIONS
    + r"""
Theorem gap : forall j k g h z1 z2, 0 < j -> 0 < k -> increasing g -> increasing h ->
  g z1 = 0 -> h z2 = 0 -> g 0 * h 0 < 0 -> -1 <= g 0 <= 1 -> -1 <= h 0 <= 1 ->
  (forall eps1 eps2 l1 l2, returned g eps1 l1 -> returned h eps2 l2 ->
     eps1 <= Rmin (Rabs (g 0)) (Rabs (h 0)) -> eps2 <= Rmin (Rabs (g 0)) (Rabs (h 0)) ->
     0 < difference j k g h l1 l2 * (g 0 + h 0)) ->
  exists eps1 eps2 l1 l2, returned g eps1 l1 /\ returned h eps2 l2
    /\ eps1 <= Rmin (Rabs (g 0)) (Rabs (h 0)) /\ eps2 <= Rmin (Rabs (g 0)) (Rabs (h 0))
    /\ 0 < Rabs (difference j k g h l1 l2)
    /\ forall d1 d2 m1 m2, returned g d1 m1 -> returned h d2 m2 ->
         Rabs (difference j k g h l1 l2) <= Rabs (difference j k g h m1 m2).
"""
)
STEP = (
    DEFINITIONS
    + r"""
Theorem case_3 : forall g h c eps1 eps2 l1 l2 m, increasing g -> increasing h ->
  g 0 = - c -> c < h 0 -> 0 <= eps1 <= c -> 0 <= eps2 <= h 0 ->
  g l1 = - eps1 -> h l2 = eps2 -> h m = Rmin eps2 c ->
  (g m + h l1 - eps1 + Rmin eps2 c) / 4 <= difference (1/2) (1/2) g h l1 l2.
"""
)


def psi(clients: Sequence[Population], eps: Sequence[Fraction]) -> Fraction:
    """(33), with g_i⁻¹(v) the point next to 0 where it is not unique."""
    one, two = clients
    signs = [1 if client.g(ZERO) > 0 else -1 for client in clients]
    lams = [client.multiplier(e) for client, e in zip(clients, eps, strict=True)]
    return (one.g(lams[1]) + two.g(lams[0]) + signs[0] * eps[0] + signs[1] * eps[1]) / 4


def conditions(world: World) -> tuple[dict[str, bool], Fraction]:
    """Lemma 10's premises, and δ = min |ψ|."""
    clients = world.clients
    start = [client.g(ZERO) for client in clients]
    c = min(abs(v) for v in start)
    values = [
        psi(clients, (c * i / GRID, c * j / GRID)) for i in range(GRID + 1) for j in range(GRID + 1)
    ]
    opposite = start[0] * start[1] < 0
    return {"opposite": opposite, "ψ": opposite and all(v * sum(start) > 0 for v in values)}, min(
        map(abs, values)
    )


def bound(instance: dict[str, Any], factor: Fraction = Fraction(1), tight: bool = False) -> Case:
    """|MD| >= δ > 0 at any budgets; tight: δ is reached, by freeing the fairer client and ε = 0 for
    the other.
    """
    world = World.of(instance["laws"], instance["q"])
    premises, delta = conditions(world)
    eps = instance["eps"]
    if tight:
        weak = min((0, 1), key=lambda i: abs(world.clients[i].g(ZERO)))
        eps = [Fraction(1) if i == weak else ZERO for i in (0, 1)]
    lams = [client.multiplier(e) for client, e in zip(world.clients, eps, strict=True)]
    disparity = abs(world.ensemble(lams)[0])
    premises["g_i increase"] = world.positive
    if tight:
        return Case((Relation(factor * delta, "==", disparity, "δ"),), premises)
    return Case(
        (Relation(ZERO, "<", delta, "δ"), Relation(factor * delta, "<=", disparity, "DP Disp")),
        premises,
    )


def choices(instance: dict[str, Any], choice: str = "any") -> Case:
    """The bound with λ_i any point of g_i⁻¹(...): every one of them solves the client's problem."""
    world = World.of(instance["laws"], instance["q"])
    premises, delta = conditions(world)
    lams = instance["lams"]
    solve = all(
        client.g(lam) == client.g(client.multiplier(eps))
        for client, lam, eps in zip(world.clients, lams, instance["eps"], strict=True)
    )
    if choice == "nearest":
        lams = [
            client.multiplier(eps)
            for client, eps in zip(world.clients, instance["eps"], strict=True)
        ]
    premises["λ_i solves"] = solve
    return Case((Relation(delta, "<=", abs(world.ensemble(lams)[0]), "DP Disp"),), premises)


def case_3(instance: dict[str, Any], repair: bool = False) -> Case:
    """The step (36)-(37): the mean difference is at least ψ(ε_0, ε_0), or, repaired, ψ(ε_0,
    min(ε_1, c)).
    """
    world = World.of(instance["laws"], instance["q"])
    clients, eps = world.clients, instance["eps"]
    premises, _ = conditions(world)
    start = [client.g(ZERO) for client in clients]
    premises["case 3"] = -start[0] < start[1] and eps[0] <= -start[0] and eps[1] <= start[1]
    premises["g_i increase"] = world.positive
    lams = [client.multiplier(e) for client, e in zip(clients, eps, strict=True)]
    other = min(eps[1], -start[0]) if repair else eps[0]
    return Case(
        (Relation(psi(clients, (eps[0], other)), "<=", world.ensemble(lams)[0], "(37)"),), premises
    )


def form(quarter: int = 4) -> tuple[sympy.Expr, list[sympy.Expr]]:
    """MD - ψ(c, 0) for g_0(0) = -c < 0 < b = g_1(0), c < b, as the sum of what monotonicity makes
    non-negative.

    λ_0 >= 0 gives g_i(λ_0) = g_i(0) + (p, r); λ_1 >= λ* = g_1⁻¹(0) gives g_0(λ_1) = g_0(λ*) + s,
    g_1(λ_1) = t.
    """
    c, b = sympy.symbols("c b", positive=True)
    p, r, s, t = sympy.symbols("p r s t", nonnegative=True)
    d = sympy.Symbol("d", real=True)  # g_0(λ*)
    difference = ((-c + p) + (b + r) + (d + s) + t) / quarter
    return difference - (d + b - c + 0) / 4, [p / 4, r / 4, s / 4, t / 4]


@st.composite
def opposed(draw: st.DrawFn) -> dict[str, Any]:
    """A wide client that is nearly fair and a narrow one that is not: the conditions then often
    hold.
    """
    outer, inner = st.integers(40, 60), st.integers(1, 2)
    ends = draw(st.tuples(outer, outer))
    wide = [[draw(outer), draw(inner), draw(inner), v] for v in sorted(ends)]
    wide[0][0] += draw(st.integers(1, 9))
    low = [
        draw(st.integers(1, 3)),
        draw(st.integers(20, 60)),
        draw(st.integers(1, 9)),
        draw(st.integers(1, 3)),
    ]
    high = [
        draw(st.integers(1, 3)),
        draw(st.integers(1, 9)),
        draw(st.integers(20, 60)),
        draw(st.integers(1, 3)),
    ]
    laws, q = [wide, [high, low]], Fraction(draw(st.integers(3, 5)), 8)
    if draw(st.booleans()):
        laws = laws[::-1]
    if draw(st.booleans()):
        laws = [pair[::-1] for pair in laws]
    unit = st.integers(0, 40).map(lambda k: Fraction(k, 40))
    eps = [draw(unit) ** draw(st.sampled_from([1, 3])) for _ in (0, 1)]
    return {"laws": laws, "q": q, "eps": eps}


def _check(effort: Effort, factor: Fraction = Fraction(1), quarter: int = 4) -> Evidence:
    point = {"c": "1/5", "b": "1/2", "p": "1/9", "r": "0", "s": "2/7", "t": "1/11", "d": "-1/3"}
    proof = DefiniteForm(Call.of(form, quarter=quarter), "expand", (point,))
    run = explore(Call.of(bound, factor=factor), Call.of(opposed), effort, tolerance=0.0)
    return Evidence.of(KernelProof.of("ensemble_gap.v", GAP, proof, run, axioms=REALS))


def _check_tight(effort: Effort, factor: Fraction = Fraction(1)) -> Evidence:
    run = explore(
        Call.of(bound, factor=factor, tight=True), Call.of(opposed), effort, tolerance=0.0
    )
    return Evidence.of(KernelProof.of("ensemble_gap.v", GAP, run, axioms=REALS))


def _check_gaps(effort: Effort, choice: str = "any") -> Evidence:
    eighth = Fraction(1, 8)
    shows = (
        "q = 1/2, ε = (1, 0): λ_0 = -1/8 gives client 0 the same rule on its own law as λ_0 "
        "= 0, and makes MD = 0"
    )
    one = Counterexample.at(
        Call.of(choices, choice=choice),
        shows,
        laws=[[[1, 0, 0, 1], [1, 0, 2, 0]], [[1, 0, 2, 0], [1, 0, 0, 0]]],
        q=Fraction(1, 2),
        eps=[Fraction(1), ZERO],
        lams=[-eighth, Fraction(-1, 4)],
    )
    return Evidence.of(one)


CASE_3: dict[str, Any] = {
    "laws": [[[9, 1, 1, 8], [8, 1, 1, 9]], [[1, 1, 5, 1], [1, 5, 1, 1]]],
    "q": Fraction(1, 2),
    "eps": [Fraction(1, 20), ZERO],
}


def _check_case_3(effort: Effort, repair: bool = False) -> Evidence:
    shows = "ε = (1/20, 0): the mean difference is ψ(1/20, 0), less than ψ(1/20, 1/20)"
    return Evidence.of(Counterexample.at(Call.of(case_3, repair=repair), shows, **CASE_3))


PRINTED = (
    r"Let $q\in(0,1)$. Let $c=\min\{|g_0(0)|,|g_1(0)|\}$. Define "
    r"$\psi:[0,c]\times[0,c]\to[-1,1]$ as "
    r"$\psi(\varepsilon_0,\varepsilon_1)=\frac14g_0(g_1^{-1}(\mathrm{sign}(g_1(0))\varepsilon_1))+"
    r"\frac14g_1(g_0^{-1}(\mathrm{sign}(g_0(0))\varepsilon_0))+"
    r"\frac14\mathrm{sign}(g_0(0))\varepsilon_0+\frac14\mathrm{sign}(g_1(0))\varepsilon_1$. "
    r"If $g_0(0)g_1(0)<0$ and $\psi(\varepsilon_0,\varepsilon_1)(g_0(0)+g_1(0))>0$ for all "
    r"$\varepsilon_0,\varepsilon_1\in[0,c]$, then for all $\varepsilon_0,\varepsilon_1\in[0,1]$, "
    r"$DP\,Disp(f^{LFT+Ensemble})\ge\delta=\min\{|\psi(\varepsilon_0,"
    r"\varepsilon_1)|:\varepsilon_0,\varepsilon_1\in[0,c]\}>0$."
)
PREMISES = (
    ("opposite", "g_0(0) g_1(0) < 0: the clients' ERMs favour different groups"),
    ("ψ", "ψ (g_0(0) + g_1(0)) > 0 on [0, c]²"),
)
INCREASE = ("g_i increase", "each g_i is strictly increasing, as the proof of lemma 7 says")

CLAIMS = (
    Claim(
        id="fedfb/lemma-10",
        number="Lemma 10",
        line=568,
        title="if the ERMs favour different groups and ψ keeps its sign, DP Disp of LFT+Ensemble "
        "is at least δ > 0",
        printed=PRINTED,
        statement=r"$|MD|\ge\delta$ for all $\varepsilon_0,\varepsilon_1\in[0,1]$; with "
        r"$g_0(0)=-c<0<g_1(0)$, $MD\ge\psi(c,0)=\delta$ because all four $g_i(\lambda_j)$ are "
        r"least there.",
        kind="bound",
        hypotheses=(*PREMISES, INCREASE),
        scope="each g_i strictly increasing",
        expected="holds",
        check=_check,
        mutants=(
            Mutant("a third", "1/3 in place of 1/4 before the sum", lambda e: _check(e, quarter=3)),
            Mutant("above δ", "DP Disp >= 1.01 δ", lambda e: _check(e, Fraction(101, 100))),
        ),
        rests_on=("fedfb/eq-32",),
        reading="g_i⁻¹ is a function. Where supports have gaps it is not, and the lemma fails: "
        "fedfb/lemma-10/gaps.",
        gap="the statement survives, but: cases 1, 2, 4 and 5 write ψ(g_0(0), 0), whose argument "
        "is negative: read ψ(|g_0(0)|, 0). Case 3's step (36) to (37) is false for ε_1 < ε_0 "
        "(fedfb/lemma-10/case-3); its mirror (g_1(0) < 0) puts ε_1 > c into ψ, outside of its "
        "domain. Mirrored case 5 prints '=' for '<'. Cases 2 and 4 print '>' where equality "
        "happens (ε_0 = |g_0(0)|, ε_1 = 0). ε_1 = |g_1(0)| with ε_0 > |g_0(0)| is in no case.",
        notes="The condition on ψ need only be checked at one corner, (c, 0) for |g_0(0)| < "
        "|g_1(0)|: there |ψ| is least.",
    ),
    Claim(
        id="fedfb/lemma-10/tight",
        number="Lemma 10",
        line=568,
        title="δ of lemma 10 is the smallest disparity of LFT+Ensemble",
        printed=PRINTED,
        statement=r"Equality $DP\,Disp=\delta$ at $\varepsilon_i=1$ for the client with the "
        r"smaller $|g_i(0)|$ and $\varepsilon_j=0$ for the other.",
        kind="tight bound",
        hypotheses=(*PREMISES, INCREASE),
        scope="each g_i strictly increasing",
        expected="holds",
        check=_check_tight,
        mutants=(
            Mutant("below", "0.99 δ is reached", lambda e: _check_tight(e, Fraction(99, 100))),
            Mutant("above", "1.01 δ is reached", lambda e: _check_tight(e, Fraction(101, 100))),
        ),
        rests_on=("fedfb/eq-32",),
        notes="So lemma 1's strict inequality (min DP Disp > δ) is false for lemma 10's δ; it is "
        "=.",
    ),
    Claim(
        id="fedfb/lemma-10/gaps",
        number="Lemma 10",
        line=568,
        title="lemma 10 for whichever solutions of their own problems the clients return",
        printed=PRINTED,
        statement=r"$DP\,Disp\ge\delta$ for every choice of $\lambda_i\in g_i^{-1}(\cdot)$, each "
        r"of which solves client $i$'s problem.",
        kind="bound",
        hypotheses=(*PREMISES, ("λ_i solves", "λ_i gives a solution of LFT+Ensemble(i, ε_i)")),
        scope="densities with gaps, n = 2",
        expected="refuted",
        check=_check_gaps,
        mutants=(
            Mutant(
                "nearest", "λ_i the point of g_i⁻¹ next to 0", lambda e: _check_gaps(e, "nearest")
            ),
        ),
        severity="theorem",
        erratum="Assume that every client's law has full support (or fix which solution a client "
        "returns off its own support): the ensemble's disparity depends on rules where the "
        "client itself has no data.",
        whose="reading",
    ),
    Claim(
        id="fedfb/lemma-10/case-3",
        number="Proof of lemma 10, (36) to (37)",
        line=610,
        title="in case 3 the mean difference is at least ψ(ε_0, ε_0)",
        printed=r"$\frac14(-\varepsilon_0+\varepsilon_1+g_0(g_1^{-1}(\varepsilon_1))+"
        r"g_1(g_0^{-1}(-\varepsilon_0)))\ge\frac14(-\varepsilon_0+\varepsilon_0+"
        r"g_0(g_1^{-1}(\varepsilon_0))+g_1(g_0^{-1}(-\varepsilon_0)))=\psi(\varepsilon_0,"
        r"\varepsilon_0)$ for $\varepsilon_0\le|g_0(0)|$, $\varepsilon_1\le|g_1(0)|$.",
        statement=r"The inequality at $g_0(0)<0<g_1(0)$, $|g_0(0)|<|g_1(0)|$.",
        kind="bound",
        hypotheses=(
            *PREMISES,
            INCREASE,
            ("case 3", "0 <= ε_i <= |g_i(0)|, g_0(0) < 0, |g_0(0)| < g_1(0)"),
        ),
        scope="as stated",
        expected="holds-repaired",
        check=_check_case_3,
        mutants=(
            Mutant(
                "repaired",
                "ψ(ε_0, min(ε_1, c)) on the right",
                lambda e: _check_case_3(e, repair=True),
            ),
        ),
        severity="step",
        erratum="The step needs ε_1 >= ε_0. For ε_1 <= c the mean difference is ψ(ε_0, ε_1) "
        "itself; for ε_1 > c it is at least ψ(ε_0, c).",
        notes="The lemma survives.",
    ),
    Claim(
        id="fedfb/lemma-10/case-3/repaired",
        number="Proof of lemma 10, (36) to (37)",
        line=610,
        title="in case 3 the mean difference is at least ψ(ε_0, min(ε_1, c))",
        printed="see fedfb/lemma-10/case-3",
        statement=r"$MD\ge\psi(\varepsilon_0,\min(\varepsilon_1,c))$ in case 3.",
        kind="bound",
        hypotheses=(
            *PREMISES,
            INCREASE,
            ("case 3", "0 <= ε_i <= |g_i(0)|, g_0(0) < 0, |g_0(0)| < g_1(0)"),
        ),
        scope="each g_i strictly increasing",
        expected="holds",
        check=lambda e: _check_case_3_repaired(e),
        mutants=(
            Mutant(
                "as printed",
                "ψ(ε_0, ε_0) on the right",
                lambda e: _check_case_3_repaired(e, repair=False),
            ),
            Mutant(
                "max",
                "the larger of the two, in the theorem that is proved",
                lambda e: _check_case_3_repaired(
                    e, proof=STEP.replace("Rmin eps2 c", "Rmax eps2 c")
                ),
            ),
        ),
    ),
)


def _check_case_3_repaired(effort: Effort, repair: bool = True, proof: str = STEP) -> Evidence:
    run = explore(Call.of(case_3, repair=repair), Call.of(case_3_instances), effort, tolerance=0.0)
    return Evidence.of(KernelProof.of("ensemble_gap.v", proof, run, axioms=REALS))


@st.composite
def case_3_instances(draw: st.DrawFn) -> dict[str, Any]:
    """Instances of :func:`opposed` with budgets and signs of case 3."""
    instance = draw(opposed())
    laws = instance["laws"]
    if laws[0][0][1] > 2 or laws[0][1][1] > 2:  # the wide client first
        laws = laws[::-1]
    # it favours group 1
    if sum(laws[1][0][2:]) * sum(laws[1][1]) < sum(laws[1][1][2:]) * sum(laws[1][0]):
        laws = [pair[::-1] for pair in laws]
    clients = World.of(laws, instance["q"]).clients
    unit = st.integers(0, 8).map(lambda k: Fraction(k, 8))
    return {
        **instance,
        "laws": laws,
        "eps": [draw(unit) * abs(client.g(ZERO)) for client in clients],
    }


def choices_matter() -> Picture:
    """The pooled MD as λ_0 runs through the solutions of client 0's own problem."""
    world = World.of([[[1, 0, 0, 1], [1, 0, 2, 0]], [[1, 0, 2, 0], [1, 0, 0, 0]]], Fraction(1, 2))
    lams = [Fraction(-k, 32) for k in range(9)]
    other = world.clients[1].multiplier(ZERO)
    x = tuple(map(float, lams))
    values = tuple(float(world.ensemble([lam, other])[0]) for lam in lams)
    curves = (Curve("MD of the ensemble", x, values), Curve("δ", (x[0], x[-1]), (1 / 12, 1 / 12)))
    caption = "each λ_0 in [-1/4, 0] is optimal for client 0; MD of the ensemble is not the same"
    return Picture(caption, "λ_0", "MD", curves)


PICTURES = {"fedfb/lemma-10/gaps": choices_matter}
