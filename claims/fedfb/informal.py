"""FedFB, the informal statements of section 3.1: lemma 1, corollary 2 and theorem 3."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy
from flint import arb

from fairfl.claims.bisection import bisect
from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, DefiniteForm, SymbolicZero, Witness
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.exact import ball
from fairfl.claims.fedfb.worlds import World

ZERO, ONE = Fraction(0), Fraction(1)


def least(world: World) -> Fraction:
    """L = (1/I) Σ_i min{g(0), g(g_i⁻¹(0))}."""
    g = world.pooled.g
    ends = [min(g(ZERO), g(client.multiplier(ZERO))) for client in world.clients]
    return sum(ends, ZERO) / len(ends)


def above(instance: dict[str, Any]) -> Case:
    """L > δ > 0 for this federation."""
    world = World.of(instance["laws"], instance["q"])
    premises = {"common q": len(set(world.q)) == 1, "g_i increase": world.positive}
    relations = (
        Relation(ZERO, "<", instance["delta"], "δ"),
        Relation(instance["delta"], "<", least(world), "L"),
    )
    return Case(relations, premises)


def sums(count: int = 3, falls: int = 0) -> tuple[Any, list[Any]]:
    """MD - L = Σ_i [g(λ_i) - min{g(0), g(g_i⁻¹(0))}]/I for MD = Σ_i g(λ_i)/I; ``falls`` of the
    differences with a minus.
    """
    more = sympy.symbols(f"s0:{count}", nonnegative=True)
    low = sympy.symbols(f"m0:{count}", real=True)
    signs = [-1 if i < falls else 1 for i in range(count)]
    reached = sum(m + sign * s for m, s, sign in zip(low, more, signs, strict=True)) / count
    return reached - sum(low) / count, [s / count for s in more]


def apart(instance: dict[str, Any]) -> Case:
    """Clients on disjoint parts of X: some disparity is left at every budget, so at ε_i = 1 too."""
    world = World.of(instance["laws"], instance["q"])
    cells = zip(*(pair[a] for pair in world.laws for a in (0, 1)), strict=True)
    own = [[m > 0 for m in cell] for cell in cells]
    disjoint = all(not (any(cell[:2]) and any(cell[2:])) for cell in own)
    free = world.ensemble([client.multiplier(ONE) for client in world.clients])[0]
    premises = {"common q": len(set(world.q)) == 1, "heterogeneous": disjoint}
    return Case((Relation(ZERO, "<", abs(free), "DP Disp at ε = (1, 1)"),), premises)


def wide(x: list[arb], delta: Fraction, turned: bool = False) -> arb:
    """4 (least MD - δ) of two normal clients, σ^(1) = 1: s = 1/σ^(0), client 0's means (m, m + k),
    client 1's (n + j, n).

    The least MD is [g_0(0) + g_1(0) + g_0(root of g_1)]/4, ``turned`` with client 0 favouring
    group 0.
    """
    s, m, k, n, j = x
    one, two = (m + k, m) if turned else (m, m + k)
    start = _phi(-two * s) - _phi(-one * s)
    far = _phi((-j / 2 - two) * s) - _phi((j / 2 - one) * s)
    narrow = _phi(-n) - _phi(-n - j)
    if not turned:
        return start + far + narrow - 4 * ball(delta)
    first = (two - one) / 2  # the root of g_0, where g_1 is taken too
    return far + _phi(first - n) - _phi(-first - n - j) - 4 * ball(delta)


def _phi(x: arb) -> arb:
    return (-x / arb(2).sqrt()).erfc() / 2


def pooled(common: bool = True) -> dict[str, Any]:
    """MD - mean of MD_i for three clients of equal weight: P(i | a) = P(a | i)/Σ_j P(a | j)."""
    shares = [sympy.Symbol("q")] * 3 if common else list(sympy.symbols("q0:3"))
    rates = [sympy.symbols(f"r{i}0 r{i}1") for i in range(3)]
    total = 0
    for a, sign in ((0, 1), (1, -1)):
        weight = [q if a else 1 - q for q in shares]
        total += sign * sum(w * r[a] for w, r in zip(weight, rates, strict=True)) / sum(weight)
    return {"MD": total - sum(r[0] - r[1] for r in rates) / 3}


WIDE = [[9, 1, 1, 8], [8, 1, 1, 9]]
NARROW = [[1, 1, 5, 1], [1, 5, 1, 1]]


def _check_lemma(effort: Effort, falls: int = 0, delta: Fraction = Fraction(1, 20)) -> Evidence:
    point = {f"{n}{i}": f"{i + 1}/{i + 4}" for n in "sm" for i in range(3)}
    proof = DefiniteForm(Call.of(sums, falls=falls), "expand", (point,))
    there = [
        Witness.at(
            Call.of(above),
            f"{count} clients, L > {delta}",
            laws=([WIDE, NARROW] * count)[:count],
            q=Fraction(1, 2),
            delta=delta,
        )
        for count in range(2, effort.pick(7, 12))
    ]
    return Evidence.of(proof, *there)


def _check_apart(effort: Effort, equal: bool = True) -> Evidence:
    shows = (
        "client 0 on η < 1/2, client 1 on η > 1/2, both groups alike in each: the ensemble is fair"
    )
    low, high = [3, 1, 0, 0], [0, 0, 1, 3]
    other = high if equal else [0, 0, 3, 1]
    laws = [[low, low], [high, other]] if equal else [[low, [1, 3, 0, 0]], [high, [0, 1, 1, 0]]]
    return Evidence.of(Counterexample.at(Call.of(apart), shows, laws=laws, q=Fraction(1, 2)))


def _check_wide(
    effort: Effort, delta: Fraction = Fraction(12, 1000), ratio: int = 10, turned: bool = False
) -> Evidence:
    box = [
        (ZERO, Fraction(1, ratio)),
        (Fraction(-1), ZERO),
        (ZERO, ONE),
        (Fraction(-1), Fraction(-1, 2)),
        (Fraction(1, 2), ONE),
    ]
    return Evidence.of(bisect(Call.of(wide, delta=delta, turned=turned), box))


def _check_theorem(effort: Effort, common: bool = True) -> Evidence:
    point = {f"r{i}{a}": f"{i + a + 1}/{i + 5}" for i in range(3) for a in (0, 1)}
    point |= {"q": "1/3", "q0": "1/3", "q1": "1/2", "q2": "1/5"}
    return Evidence.of(SymbolicZero(Call.of(pooled, common=common), "together", (point,)))


LEMMA = (
    r"Let $q_i=q$ for all $i\in[I]$, where $q\in(0,1)$ is a constant. Under certain conditions, "
    r"there exists $\delta$ ($\delta>0$) such that "
    r"$\min_{\varepsilon\in[0,1]^I}DP\,Disp(f_\varepsilon^{LFT+Ensemble})>\delta$. [...] Lemma 1 "
    r"only requires the insensitive attribute distribution ($x$) to be highly heterogeneous across "
    r"the clients."
)
COMMON = ("common q", "q_i = q for all clients")

CLAIMS = (
    Claim(
        id="fedfb/lemma-1",
        number="Lemma 1",
        line=104,
        title="for any number of clients there are conditions under which DP Disp of LFT+Ensemble "
        "stays above some δ > 0",
        printed=LEMMA,
        statement=r"If $L=\frac1I\sum_i\min\{g(0),g(g_i^{-1}(0))\}>0$, then $DP\,Disp\ge L>\delta$ "
        r"for all budgets and any $0<\delta<L$; for each $I\ge2$ there are such federations.",
        kind="existence",
        hypotheses=(
            COMMON,
            ("g_i increase", "each density is positive on (0, 1)"),
            (
                "between",
                "λ_i lies between 0 and g_i⁻¹(0) (lemma 9), so g(λ_i) between g(0) and g(g_i⁻¹(0))",
            ),
        ),
        scope="the bound: any I (three terms, which look the same for any); federations: I = 2, "
        "..., 6 at least",
        expected="holds",
        check=_check_lemma,
        mutants=(
            Mutant("outside", "λ_0 beyond g_0⁻¹(0)", partial(_check_lemma, falls=1)),
            Mutant("δ = 1/4", "more than there is", partial(_check_lemma, delta=Fraction(1, 4))),
        ),
        rests_on=("fedfb/eq-32", "fedfb/lemma-9/repaired"),
        reading="δ is any number below the least disparity. With lemma 10's own δ the printed > is "
        "=: fedfb/lemma-10/tight. The formal version for I > 2, lemma 20, is false: its condition "
        "on two pooled subsets is not one of these.",
    ),
    Claim(
        id="fedfb/lemma-1/heterogeneity",
        whose="reading",
        number="After lemma 1",
        line=108,
        title="that x is highly heterogeneous across clients is all that lemma 1 requires",
        printed=LEMMA,
        statement=r"If the clients' laws of $x$ have disjoint supports, then $DP\,Disp>0$ for all "
        r"budgets.",
        kind="implication",
        hypotheses=(COMMON, ("heterogeneous", "the clients' laws have disjoint supports")),
        scope="I = 2",
        expected="refuted",
        check=_check_apart,
        mutants=(
            Mutant(
                "groups differ", "groups that differ in each", partial(_check_apart, equal=False)
            ),
        ),
        severity="remark",
        erratum="Heterogeneity of x across clients is not enough: within clients the groups must "
        "differ too, and in different directions (g_0(0) g_1(0) < 0). Clients whose groups have "
        "the same law are fair at every budget, however far apart they are.",
    ),
    Claim(
        id="fedfb/corollary-2",
        number="Corollary 2",
        line=110,
        title="if one normal client's spread is much larger, under certain assumptions, DP Disp of "
        "LFT+Ensemble stays above some δ > 0",
        printed=r"Let $I=2$ and $q_0=q_1=0.5$, $\eta(x)=\frac1{1+e^{-x}}$, $\mathcal "
        r"P_a^{(i)}=\mathcal N(\mu_a^{(i)},\sigma^{(i)2})$. If one client has much larger variance "
        r"than the other, under certain assumptions, there exists $\delta>0$ such that "
        r"$\min_{\varepsilon_0,\varepsilon_1}DP\,Disp(f_\varepsilon^{LFT+Ensemble})>\delta$.",
        statement=r"$DP\,Disp>0.012$ for all budgets if $\sigma^{(0)}\ge10\sigma^{(1)}$ and, in "
        r"units of $\sigma^{(1)}$, $-1\le\mu_0^{(0)}\le0$, $0\le\mu_1^{(0)}-\mu_0^{(0)}\le1$, "
        r"$-1\le\mu_1^{(1)}\le-\frac12$, $\frac12\le\mu_0^{(1)}-\mu_1^{(1)}\le1$.",
        kind="existence",
        hypotheses=(("lemma 10", "δ = min MD = (g_0(0) + g_1(0) + g_0(root of g_1))/4"),),
        scope="the box of means, every ratio of spreads from 10 to infinity",
        expected="holds",
        check=_check_wide,
        mutants=(
            Mutant(
                "0.0127", "1 % above the least", partial(_check_wide, delta=Fraction(127, 10_000))
            ),
            Mutant("any spread", "σ^(0) >= σ^(1)", partial(_check_wide, ratio=1)),
            Mutant("same group", "both clients favour group 0", partial(_check_wide, turned=True)),
        ),
        rests_on=("fedfb/lemma-10",),
        reading="'Certain assumptions' are those of corollary 11; a ratio of spreads alone does "
        "not suffice, however large: fedfb/corollary-11/uniform. Nothing but μ/σ enters, since "
        "g_i(0) and g_i⁻¹(0) are at η⁻¹(1/2) = 0 and at the middle of the two means. The least "
        "disparity over the box is 0.01259.",
    ),
    Claim(
        id="fedfb/theorem-3",
        number="Theorem 3",
        line=135,
        title="under the conditions of lemma 1, min DP Disp of LFT+Ensemble exceeds that of "
        "LFT+FedAvg",
        printed=r"Let $q_i=q$ for all $i\in[I]$, where $q\in(0,1)$ is a constant. Under certain "
        r"conditions, "
        r"$\min_{\varepsilon\in[0,1]^I}DP\,Disp(f_\varepsilon^{LFT+Ensemble})>\min_{\varepsilon"
        r"\in[0,1]^I}DP\,Disp(f_\varepsilon^{LFT+FedAvg})$.",
        statement=r"With a common $q$ and equal weights $MD=\frac1I\sum_iMD_i$, so at "
        r"$\varepsilon=0$, which constant classifiers admit, LFT+FedAvg has $DP\,Disp=0$; "
        r"LFT+Ensemble has at least $L>0$ under the condition of lemma 1.",
        kind="implication",
        hypotheses=(COMMON,),
        scope="three clients, whose sums look the same for any number",
        expected="holds",
        check=_check_theorem,
        mutants=(Mutant("q_i", "shares that differ", partial(_check_theorem, common=False)),),
        rests_on=("fedfb/lemma-1",),
        reading="The condition is L > 0 of fedfb/lemma-1. Under lemma 20's condition the statement "
        "is false for I > 2: fedfb/theorem-21/strict.",
    ),
)
