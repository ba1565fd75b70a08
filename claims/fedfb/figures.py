"""FedFB, figure 4: caption and text compared with the laws that it is drawn from."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import SymbolicZero, Witness
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.exact import ball
from fairfl.claims.fedfb.example_1 import INSTANCE, clients
from fairfl.claims.fedfb.normal_clients import NormalClient, ends, phi

ZERO = Fraction(0)


def together(shift: str = "1/5") -> dict[str, sympy.Expr]:
    """4(b): with thresholds t_0 = t_1 + 1/5 both clients' rates agree, so MD_0 = MD_1 = 0 = MD at
    one λ.
    """
    t, sd = sympy.symbols("t sd", positive=True)
    found: dict[str, sympy.Expr] = {}
    for i, (zero, one) in enumerate(((10, sympy.Rational(49, 5)), (sympy.Rational(1, 5), 0))):
        rates = [
            sympy.erfc((cut - m) / sd) for cut, m in ((t + sympy.Rational(shift), zero), (t, one))
        ]
        found[f"MD_{i}"] = (rates[0] - rates[1]) / 2
    return found


def exists(instance: dict[str, Any]) -> Case:
    """4(b): some λ in (low, high) has t_0 - t_1 = 1/5: η⁻¹ of 1/2 - λ/1.6 and 1/2 + λ/0.4, the
    logit, is continuous.
    """
    relations = []
    for name, sign in (("low", 1), ("high", -1)):
        lam = Fraction(instance[name])
        levels = Fraction(1, 2) - lam / Fraction(8, 5), Fraction(1, 2) + lam / Fraction(2, 5)
        cuts = [ball(v / (1 - v)).log() for v in levels]
        distance = cuts[0] - cuts[1] - ball(Fraction(1, 5))
        relations.append(Relation(arb(0), "<", sign * distance, f"t_0 - t_1 at {name}"))
    return Case(tuple(relations))


def figure_4(instance: dict[str, Any]) -> Case:
    """The smallest disparities of (a) and (c); of (b) where ε_0 > |g_0(0)|, and how small |g_0(0)|
    is.
    """
    with ctx.workprec(4000):
        low_a, _ = ends(*clients(INSTANCE))
        from fairfl.theory.populations.fedfb_figures import MEANS_5

        third = [NormalClient((Fraction(m[0]), Fraction(m[1])), Fraction(1)) for m in MEANS_5]
        low_c, _ = ends(third[0], third[1])
        sd = Fraction(1, 5)
        first = phi(Fraction(10) / sd) - phi(Fraction(49, 5) / sd)
        second = phi(Fraction(1)) - phi(ZERO)
        found = {"a": low_a, "b": (first + second) / 4, "c": low_c, "g_0(0)": first}
    relations = []
    for name, value in found.items():
        low, high = instance[name]
        relations.append(Relation(ball(Fraction(low)), "<", value, name))
        relations.append(Relation(value, "<", ball(Fraction(high)), name))
    return Case(tuple(relations))


def _check_4(effort: Effort, shift: str = "1/5", high: str = "-1/100") -> Evidence:
    point = {"t": "1/10", "sd": "1/5"}
    shows = "λ in (-1/50, -1/100) makes t_0 - t_1 = 1/5"
    return Evidence.against(
        SymbolicZero(Call.of(together, shift=shift), "simplify", (point,)),
        Witness.at(Call.of(exists), shows, low="-1/50", high=high),
    )


RANGES = {
    "a": ["0.2043", "0.2044"],
    "b": ["0.0853", "0.0854"],
    "c": ["0.1646", "0.1647"],
    "g_0(0)": ["1e-524", "1e-523"],
}


def _check_4_repaired(effort: Effort, **changed: list[str]) -> Evidence:
    shows = "0.2043..., 0.0853... and 0.1646...; 0 < g_0(0) < 1e-523 in (b)"
    return Evidence.of(Witness.at(Call.of(figure_4), shows, **{**RANGES, **changed}))


CAPTION_4 = (
    r"In all three cases, the LFT+Ensemble cannot achieve perfect fairness, i.e., $\delta>0$. "
    r"[Section 5.1, of (b) and (c):] In both cases, LFT+Ensemble fails to achieve perfect "
    r"fairness, i.e., $\delta>0$."
)
CLAIMS = (
    Claim(
        id="fedfb/figure-4",
        number="Figure 4, section 5.1",
        line=85,
        title="in all three cases of figure 4 LFT+Ensemble cannot be perfectly fair",
        printed=CAPTION_4,
        statement=r"In case (b), $DP\,Disp(f^{LFT+Ensemble}_{0,0})>0$.",
        kind="figure",
        hypotheses=(),
        scope="case (b), on the laws",
        expected="holds-repaired",
        check=_check_4,
        mutants=(
            Mutant("another shift", "t_0 - t_1 = 1/4", lambda e: _check_4(e, shift="1/4")),
            Mutant("no sign change", "λ in (-1/50, -1/60)", lambda e: _check_4(e, high="-1/60")),
        ),
        severity="remark",
        erratum="In (b) both clients have means 0.2 apart and the same spread, so g_0 and g_1 "
        "vanish at the same λ: at ε = (0, 0) the two local classifiers are one, and MD = 0 "
        "(lemma 15's case 1: τ = 0). Its constraint binds client 0 only for ε_0 below |g_0(0)| < "
        "10^-523, so a grid or a sample cannot show it.",
    ),
    Claim(
        id="fedfb/figure-4/repaired",
        number="Figure 4, section 5.1",
        line=85,
        title="figure 4: δ = 0.2043 (a), 0.1646 (c); (b) is 0 at ε = (0, 0), and at least 0.0853 "
        "for ε_0 > 10^-523",
        printed=CAPTION_4,
        statement=r"(a) $\delta\in(0.2043,0.2044)$; (c) $\delta\in(0.1646,0.1647)$; (b) "
        r"$\frac14(g_0(0)+g_1(0))\in(0.0853,0.0854)$ is the least disparity with "
        r"$\varepsilon_0\ge g_0(0)$, and $0<g_0(0)<10^{-523}$.",
        kind="figure",
        hypotheses=(),
        scope="the laws of figure 4",
        expected="holds",
        check=_check_4_repaired,
        mutants=(
            Mutant(
                "(c) up",
                "δ in (0.1647, 0.1648) for (c)",
                lambda e: _check_4_repaired(e, c=["0.1647", "0.1648"]),
            ),
            Mutant(
                "(b) down",
                "below 0.0853 for (b)",
                lambda e: _check_4_repaired(e, b=["0.0852", "0.0853"]),
            ),
        ),
    ),
)
