"""FedFB, corollary 11: normal laws, one client of much larger spread."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import CLASSICAL, Counterexample, KernelProof, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.exact import ball
from fairfl.claims.fedfb.normal_clients import NormalClient, ends
from fairfl.claims.instances import explore

ZERO = Fraction(0)
NORMAL = r"""
Definition density (x : R) : R := exp (- (x * x / 2)) / sqrt (2 * PI).
Definition g (Phi : R -> R) (m0 m1 sd t : R) : R := Phi ((t - m1) / sd) - Phi ((- t - m0) / sd).
Definition difference (g0 g1 : R -> R) (t0 t1 : R) : R := (g0 t0 + g1 t0 + g0 t1 + g1 t1) / 4.
Theorem corollary_11 : forall Phi m0 m1 n0 n1 sd0 sd1,
  (forall x, derivable_pt_lim Phi x (density x)) -> 0 < sd0 -> 0 < sd1 -> m0 < m1 -> n1 < n0 ->
  let g0 := g Phi m0 m1 sd0 in
  let g1 := g Phi n0 n1 sd1 in
  let z0 := (m1 - m0) / 2 in
  let z1 := (n1 - n0) / 2 in
  g0 z0 = 0 /\ g1 z1 = 0 /\ g0 0 < 0 < g1 0
  /\ (forall t0 t1, 0 <= t0 -> z1 <= t1 -> difference g0 g1 0 z1 <= difference g0 g1 t0 t1)
  /\ 0 < (g0 0 + g1 0) / 4 - difference g0 g1 0 z1
       < (m1 - m0 + (n0 - n1)) / (4 * sd0 * sqrt (2 * PI))
  /\ ((2 * (m1 - m0) + (n0 - n1)) / sqrt (2 * PI) <= sd0 * g1 0 -> 0 < difference g0 g1 0 z1).
"""
PRECISION = 2000
"""Bits: tails of narrow clients may be as small as exp(-10^3)."""


def clients(instance: dict[str, Any]) -> tuple[NormalClient, NormalClient]:
    """Condition 1: client 0 is the wide one and favours group 1, client 1 favours group 0."""
    wide, narrow = instance["wide"], instance["narrow"]
    return NormalClient((wide[0], wide[1]), instance["sd"][0]), NormalClient(
        (narrow[0], narrow[1]), instance["sd"][1]
    )


def premises(instance: dict[str, Any]) -> dict[str, bool]:
    """The means' order."""
    wide, narrow = instance["wide"], instance["narrow"]
    return {
        "opposite": (wide[0] - wide[1]) * (narrow[0] - narrow[1]) < 0,
        "order": narrow[0] > narrow[1],
    }


def ratio(instance: dict[str, Any], at_least: int) -> bool:
    """σ^(0) >= at_least times every other spread and mean."""
    others = (instance["sd"][1], *map(abs, (*instance["wide"], *instance["narrow"])))
    return instance["sd"][0] >= at_least * max(others)


def error(
    instance: dict[str, Any], constant: Fraction = Fraction(1), opposite: bool = True
) -> Case:
    """0 < (g_0(0) + g_1(0))/4 - δ < (Δ_1 + |Δ_0|)/(4 σ_0 √(2π)), Δ_i = |μ_0^(i) - μ_1^(i)|, δ the
    least MD.
    """
    first, second = clients(instance)
    with ctx.workprec(PRECISION):
        low, _ = ends(first, second)
        gap = (first.g(ZERO) + second.g(ZERO)) / 4 - low
        spread = sum(abs(c.mean[0] - c.mean[1]) for c in (first, second))
        bound = ball(constant * spread / first.sd) / (4 * (2 * arb.pi()).sqrt())
        scale = float(bound.mid())
    below = Relation(arb(0), "<", gap, "δ is below", scale)
    near = Relation(gap, "<", bound, "by less than", scale)
    return Case((below, near), premises(instance) if opposite else {})


def positive(instance: dict[str, Any], at_least: int) -> Case:
    """LFT+Ensemble's MD, which takes positive values, is positive throughout: |MD| >= δ > 0."""
    first, second = clients(instance)
    low, high = ends(first, second)
    known = {**premises(instance), "much larger": ratio(instance, at_least)}
    return Case(
        (Relation(arb(0), "<", low, "least MD"), Relation(arb(0), "<", high, "largest MD")), known
    )


def limits(power: int = 1) -> dict[str, sympy.Expr]:
    """σ_0 g_0(root of g_1) -> -(Δ_1 + Δ_0)/√(2π) with signed Δ_i = μ_0 - μ_1 (client 1), μ_1 - μ_0
    (client 0).
    """
    sd = sympy.symbols("sd", positive=True)
    m0, m1, n0, n1 = sympy.symbols("m0 m1 n0 n1", real=True)
    root = (n1 - n0) / 2
    first, second = (root - m1) / sd, (-root - m0) / sd
    wide = (sympy.erf(first / sympy.sqrt(2)) - sympy.erf(second / sympy.sqrt(2))) / 2
    far: Any = sympy.oo
    rate = sympy.limit(sympy.expand(wide.series(sd, far, 2).removeO() * sd**power), sd, far)
    return {
        "rate": rate + ((n0 - n1) + (m1 - m0)) / sympy.sqrt(2 * sympy.pi),
        "root": (root - n1) + (root + n0),
    }


def favouring(turned: bool = False) -> st.SearchStrategy[dict[str, Any]]:
    """A wide client that favours group 1 (``turned``: 0), and a narrow one that favours 0."""
    part = st.integers(-30, 30).map(lambda k: Fraction(k, 10))
    step = st.integers(1, 30).map(lambda k: Fraction(k, 10))

    def build(
        values: tuple[Fraction, Fraction, Fraction, Fraction, Fraction, int],
    ) -> dict[str, Any]:
        low, wide, other, narrow, sd, times = values
        sign = -1 if turned else 1
        pair = [low, low + sign * wide]
        return {"wide": pair, "narrow": [other + narrow, other], "sd": [sd * times, sd]}

    times = st.sampled_from([3, 10, 100, 10_000])
    return st.tuples(part, step, part, step, step, times).map(build)


def _check(
    effort: Effort, constant: Fraction = Fraction(1), turned: bool = False, proof: str = NORMAL
) -> Evidence:
    statement = Call.of(error, constant=constant, opposite=not turned)
    run = explore(statement, Call.of(favouring, turned=turned), effort, tolerance=0.0)
    point = {"sd": "7/2", "m0": "1/3", "m1": "-2", "n0": "3", "n1": "-1/2"}
    rate = SymbolicZero(Call.of(limits), "simplify", (point,))
    return Evidence.of(KernelProof.of("normal.v", proof, run, rate, axioms=CLASSICAL))


def _check_uniform(effort: Effort, at_least: int = 10**6, wider: int = 1) -> Evidence:
    shows = (
        "σ = (8·10^6, 1), means (0, 10^-30) and (8, 7): MD takes both signs, so LFT+Ensemble "
        "can be perfectly fair"
    )
    instance = {"wide": [ZERO, Fraction(1, 10**30)], "narrow": [Fraction(8), Fraction(7)]}
    sd = [Fraction(8 * 10**6 * wider), Fraction(1)]
    return Evidence.of(
        Counterexample.at(Call.of(positive, at_least=at_least), shows, **instance, sd=sd)
    )


PRINTED = (
    r"Let $q=0.5$, $\eta(x)=\frac1{1+e^{-x}}$, $\mathcal P_a^{(i)}=\mathcal "
    r"N(\mu_a^{(i)},\sigma^{(i)2})$ where "
    r"$(\mu_0^{(0)}-\mu_1^{(0)})(\mu_0^{(1)}-\mu_1^{(1)})<0$. Then "
    r"$DP\,Disp(f^{LFT+Ensemble}_{\varepsilon_0,\varepsilon_1})\ge\delta\approx\frac14|g_0(0)+"
    r"g_1(0)|>0$ for all $\varepsilon_0,\varepsilon_1\in[0,1]$ if one of the following "
    r"conditions holds: 1. "
    r"$\sigma^{(0)}\gg\sigma^{(1)},|\mu_0^{(0)}|,|\mu_1^{(0)}|,|\mu_0^{(1)}|,|\mu_1^{(1)}|$ and "
    r"$\mu_0^{(1)}>\mu_1^{(1)}$; [2. the mirror image.]"
)
PREMISES = (
    ("opposite", "(μ_0^(0) - μ_1^(0)) (μ_0^(1) - μ_1^(1)) < 0"),
    ("order", "μ_0^(1) > μ_1^(1)"),
)

CLAIMS = (
    Claim(
        id="fedfb/corollary-11",
        number="Corollary 11",
        line=660,
        title="δ ≈ |g_0(0) + g_1(0)|/4 > 0 where one client's spread is much larger: as σ^(0) → "
        "∞, all else fixed",
        printed=PRINTED,
        statement=r"$\delta$, the least mean difference, satisfies "
        r"$0<\frac14(g_0(0)+g_1(0))-\delta<\frac{\Delta_0+\Delta_1}{4\sigma^{(0)}\sqrt{2\pi}}$, "
        r"$\Delta_i=|\mu_0^{(i)}-\mu_1^{(i)}|$, for every $\sigma^{(0)}$; and $\delta>0$ once "
        r"$\sigma^{(0)}\ge(2\Delta_0+\Delta_1)/(\sqrt{2\pi}g_1(0))$, whose right side is fixed.",
        kind="limit",
        hypotheses=PREMISES,
        scope="condition 1 (2 is its mirror); every σ^(0), and those from a bound on",
        expected="holds",
        check=_check,
        mutants=(
            Mutant(
                "half the error",
                "half of the bound on the error",
                lambda e: _check(e, Fraction(1, 2)),
            ),
            Mutant(
                "1 % tighter",
                "0.99 of that bound, in the theorem that is proved",
                lambda e: _check(e, proof=NORMAL.replace("< (m1 - m0 +", "< 0.99 * (m1 - m0 +")),
            ),
            Mutant(
                "same order", "both clients favour the same group", lambda e: _check(e, turned=True)
            ),
        ),
        rests_on=("fedfb/lemma-10",),
        reading="'≫' as a limit, the others fixed. As a condition on ratios it does not suffice, "
        "however large they are: fedfb/corollary-11/uniform.",
        gap="the statement survives, but the proof writes σ^(1) ≫ |μ| and client 1's means and "
        "spread inside g_0 where client 0's belong (end of case 1); '< 0' for '< 1/2' (an "
        "integral of a law); in case 3 the integral over [-μ_1^(1), ∞) is below 1/2, not above "
        "(read [μ_1^(1), ∞)), and η(1/2 - λ'') stands for η⁻¹. None of the cases is needed: g_1 "
        "has its root at η⁻¹(1/2 + λ) = (μ_1^(1) - μ_0^(1))/2.",
        notes="δ is always less than |g_0(0) + g_1(0)|/4, so the approximation is not a lower "
        "bound: example 1.",
    ),
    Claim(
        id="fedfb/corollary-11/uniform",
        number="Corollary 11",
        line=660,
        title="δ > 0 whenever σ^(0) is 10^6 times σ^(1) and every mean",
        printed=PRINTED,
        statement=r"If $\sigma^{(0)}\ge10^6\max(\sigma^{(1)},|\mu|)$ and the means are ordered "
        r"as in condition 1, then $MD>0$ for all budgets.",
        kind="bound",
        hypotheses=(
            *PREMISES,
            ("much larger", "σ^(0) >= 10^6 max(σ^(1), |μ_0^(0)|, |μ_1^(0)|, |μ_0^(1)|, |μ_1^(1)|)"),
        ),
        scope="a fixed ratio: 10^6",
        expected="refuted",
        check=_check_uniform,
        mutants=(
            Mutant(
                "wider still",
                "σ^(0) = 8·10^12 in the same instance",
                lambda e: _check_uniform(e, wider=10**6),
            ),
        ),
        severity="theorem",
        erratum="State it as a limit in σ^(0), or require σ^(0) > (Δ_0 + Δ_1)/(√(2π)(g_0(0) + "
        "g_1(0))), which is enough: g_1(0), against which g_0 must be small, can itself be as "
        "small as one likes.",
        notes="For ratios beyond any K take means (m + 1, m) for client 1, m large: g_1(0) < "
        "exp(-m²/2), while |g_0(root of g_1)| is of order 1/(K m).",
        whose="reading",
    ),
)
