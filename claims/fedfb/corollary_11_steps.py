"""FedFB, proof of corollary 11: the derivative (43), the bounds (44), and what is made of them."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, DefiniteForm, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.fedfb.normal_clients import NormalClient, phi

Form = tuple[Any, list[Any]]


def slopes(sign: int = 1, plus: int = 1, signed: bool = True) -> dict[str, Any]:
    """∂ψ/∂ε_0 - (43), sign(g_0(0)) = ``sign``, g_i = b_i + p_i λ + r_i λ² near 0: a first
    derivative knows no more.
    """
    eps, b, p, r = sympy.symbols("eps b p r", positive=True)
    c, s, t = sympy.symbols("c s t", positive=True)
    goal = sign * eps
    inverse = (-p + sympy.sqrt(p**2 - 4 * r * (b - goal))) / (2 * r)  # g_0⁻¹(goal)
    other = c + s * inverse + t * inverse**2
    psi = (other + goal) / 4  # the terms that ε_0 enters
    ratio = (s + 2 * t * inverse) / (p + 2 * r * inverse)
    return {"(43)": sympy.diff(psi, eps) - (sign if signed else 1) * (1 + plus * ratio) / 4}


def falls(turn: int = 1) -> Form:
    """-∂ψ/∂ε_0 > 0 for g_0(0) < 0, and ∂ψ/∂ε_1 > 0 for g_1(0) > 0, as g_i' > 0."""
    one, two = sympy.symbols("g h", positive=True)
    return turn * (1 + one / two) / 4, [sympy.Rational(1, 4), one / two / 4]


def root() -> dict[str, Any]:
    """g_1 vanishes where η⁻¹(1/2 + λ) = t = (μ_1 - μ_0)/2: the arguments of Φ in (42) agree."""
    one, two, sd = sympy.symbols("m0 m1 sd")
    t = (two - one) / 2
    return {"arguments": (t - two) / sd - (-t - one) / sd}


def above(which: str = "left", case: int = 1) -> Form:
    """(44) in case 1, μ_0 = -a, μ_1 = -a - d: t - μ_1 > 0 and -t > 0; case 2 has μ_1 = a, μ_0 = a
    + d.
    """
    a, d = sympy.symbols("a d", positive=True)
    top, low = (-a, -a - d) if case == 1 else (a + d, a)
    t = (low - top) / 2
    return (t - low, [a, d / 2]) if which == "left" else (-t, [d / 2])


def plugged(instance: dict[str, Any], whose: str = "client 1") -> Case:
    """g_0(λ'), with client 1's means and spread in (42) as printed, or with client 0's."""
    first, second = (
        NormalClient((m[0], m[1]), sd)
        for m, sd in zip(instance["mean"], instance["sd"], strict=True)
    )
    t = second.mean[1]  # η⁻¹(1/2 + λ') = μ_1^(1)
    used = second if whose == "client 1" else first
    formula = phi((t - used.mean[1]) / used.sd) - phi((-t - used.mean[0]) / used.sd)
    premises = {
        "opposite": first.mean[0] < first.mean[1] and second.mean[0] > second.mean[1],
        "case 1": second.mean[0] < 0,
    }
    return Case((Relation(first.g(t), "==", formula, "g_0(λ')"),), premises)


def vanishing(whose: str = "client 0") -> dict[str, Any]:
    """σ g_0(λ') -> (2 μ_1^(1) + μ_0^(0) - μ_1^(0))/√(2π) as σ = σ^(0) -> ∞, by (42) at t =
    μ_1^(1).
    """
    sd = sympy.Symbol("sd", positive=True)
    t, n0, m0, m1 = sympy.symbols("t n0 m0 m1", real=True)
    low, high = ((-t - m0) / sd, (t - m1) / sd) if whose == "client 0" else ((-t - n0) / sd, 0 / sd)
    value = (sympy.erf(high / sympy.sqrt(2)) - sympy.erf(low / sympy.sqrt(2))) / 2
    far: Any = sympy.oo
    rate = sympy.limit(sympy.expand(value.series(sd, far, 2).removeO() * sd), sd, far)
    return {"rate": rate - (2 * t + m0 - m1) / sympy.sqrt(2 * sympy.pi)}


def _check_slopes(effort: Effort, plus: int = 1, signed: bool = True) -> Evidence:
    names: dict[str, Any] = dict(
        zip(
            ("eps", "b", "p", "r", "c", "s", "t"),
            ("1/5", "1/7", "2", "1/3", "1/4", "3", "1/2"),
            strict=True,
        )
    )
    both = (
        SymbolicZero(Call.of(slopes, sign=sign, plus=plus, signed=signed), "simplify", (names,))
        for sign in (1, -1)
    )
    return Evidence.of(*both, DefiniteForm(Call.of(falls), "expand", ({"g": "1", "h": "2"},), True))


def _check_bounds(effort: Effort, case: int = 1) -> Evidence:
    spot = ({"a": "1", "d": "1/2"},)
    return Evidence.of(
        SymbolicZero(Call.of(root), "together", ({"m0": "-1", "m1": "-2", "sd": "1/2"},)),
        DefiniteForm(Call.of(above, which="left", case=case), "expand", spot, True),
        DefiniteForm(Call.of(above, which="right", case=case), "expand", spot, True),
    )


def _check_plugged(effort: Effort, whose: str = "client 1") -> Evidence:
    shows = (
        "means (0, 1) and (-1, -2), σ = (70, 1): g_0(λ') = -0.028, the printed formula -0.499, "
        "which does not depend on σ^(0)"
    )
    mean = [[Fraction(0), Fraction(1)], [Fraction(-1), Fraction(-2)]]
    return Evidence.of(
        Counterexample.at(
            Call.of(plugged, whose=whose), shows, mean=mean, sd=[Fraction(70), Fraction(1)]
        )
    )


def _check_vanishing(effort: Effort, whose: str = "client 0") -> Evidence:
    point = {"sd": "5", "t": "-2", "n0": "-1", "m0": "1/3", "m1": "3/2"}
    return Evidence.of(SymbolicZero(Call.of(vanishing, whose=whose), "simplify", (point,)))


BOUNDS = (
    r"$\mu_1^{(1)}=\eta^{-1}(\frac12+\lambda')<\eta^{-1}(\frac12+g_1^{-1}(0))<0$, "
    r"$-\mu_1^{(1)}=\eta^{-1}(\frac12-\lambda')>\eta^{-1}(\frac12-g_1^{-1}(0))>0$ (44). By "
    r"plugging (44) into (42), we have the other side of $g_0(g_1^{-1}(0))<0$ is bounded by "
    r"$g_0(\lambda')=\Phi(\frac{\mu_1^{(1)}-\mu_1^{(1)}}{\sigma^{(1)}})-\Phi(\frac{-\mu_1^{(1)}-"
    r"\mu_0^{(1)}}{\sigma^{(1)}})$. Since $\sigma^{(1)}\gg|\mu_1^{(1)}|,|\mu_1^{(0)}|$, we get "
    r"$g_0(g_1^{-1}(0))\approx0$."
)
CASE_1 = ("case 1", "μ_1^(1) < μ_0^(1) < 0")

CLAIMS = (
    Claim(
        id="fedfb/eq-43",
        number="Eq. (43)",
        line=688,
        title="∂ψ/∂ε_i = sign(g_i(0)) (1 + g_{1-i}'/g_i')/4 at g_i⁻¹(sign(g_i(0)) ε_i)",
        printed=r"$\frac{\partial\psi}{\partial\varepsilon_i}=\mathrm{sign}(g_i(0))(1+"
        r"\frac{g_{1-i}'(g_i^{-1}(\mathrm{sign}(g_i(0))\varepsilon_i))}{g_i'(g_i^{-1}("
        r"\mathrm{sign}(g_i(0))\varepsilon_i))})/4$ [...] thus "
        r"$\frac{\partial\psi}{\partial\varepsilon_0}<0$, "
        r"$\frac{\partial\psi}{\partial\varepsilon_1}>0$.",
        statement=r"The formula, for both signs of $g_i(0)$; with $g_i'>0$ its sign is that of "
        r"$g_i(0)$, so $\psi$ is least at $(c,0)$ and largest at $(0,c)$ for $g_0(0)<0<g_1(0)$.",
        kind="identity",
        hypotheses=(("smooth", "g_i is differentiable with g_i' > 0"),),
        scope="g_i to second order about a point; a first derivative knows no more",
        expected="holds",
        check=_check_slopes,
        mutants=(
            Mutant("minus", "1 - g_{1-i}'/g_i'", partial(_check_slopes, plus=-1)),
            Mutant("no sign", "without sign(g_i(0))", partial(_check_slopes, signed=False)),
        ),
        gap="the statement survives: the text speaks of the minimum over [0, 1]²; ψ is defined on "
        "[0, c]².",
    ),
    Claim(
        id="fedfb/eq-44",
        number="Eq. (44)",
        line=714,
        title="in case 1, μ_1^(1) < η⁻¹(1/2 + g_1⁻¹(0)) < 0, and mirrored",
        printed=BOUNDS,
        statement=r"$\eta^{-1}(\frac12+g_1^{-1}(0))=\frac{\mu_1^{(1)}-\mu_0^{(1)}}2$, which lies "
        r"strictly between $\mu_1^{(1)}$ and 0 for $\mu_1^{(1)}<\mu_0^{(1)}<0$.",
        kind="bound",
        hypotheses=(CASE_1,),
        scope="q = 1/2, logistic η, as stated",
        expected="holds",
        check=_check_bounds,
        mutants=(Mutant("case 2", "0 < μ_1^(1) < μ_0^(1)", partial(_check_bounds, case=2)),),
        gap="the statement survives: the integral of a law that is said to be negative before (44) "
        "is below 1/2.",
    ),
    Claim(
        id="fedfb/eq-44/plugged",
        number="After (44)",
        line=716,
        title="g_0(λ') = Φ((μ_1^(1) - μ_1^(1))/σ^(1)) - Φ((-μ_1^(1) - μ_0^(1))/σ^(1))",
        printed=BOUNDS,
        statement=r"The formula for $g_0(\lambda')$ in case 1.",
        kind="identity",
        hypotheses=(CASE_1, ("opposite", "client 0 favours group 1, client 1 group 0")),
        scope="one pair of clients",
        expected="holds-repaired",
        check=_check_plugged,
        mutants=(
            Mutant("client 0", "client 0's law in g_0", partial(_check_plugged, whose="client 0")),
        ),
        severity="misprint",
        erratum=r"$g_0$ has client 0's law: "
        r"$g_0(\lambda')=\Phi(\frac{\mu_1^{(1)}-\mu_1^{(0)}}{\sigma^{(0)}})-\Phi(\frac{-"
        r"\mu_1^{(1)}-\mu_0^{(0)}}{\sigma^{(0)}})$, which is small since "
        r"$\sigma^{(0)}\gg|\mu_1^{(1)}|,|\mu_0^{(0)}|,|\mu_1^{(0)}|$.",
    ),
    Claim(
        id="fedfb/eq-44/plugged/repaired",
        number="After (44)",
        line=716,
        title="g_0(λ') = Φ((μ_1^(1) - μ_1^(0))/σ^(0)) - Φ((-μ_1^(1) - μ_0^(0))/σ^(0)), which falls "
        "as 1/σ^(0)",
        printed=BOUNDS,
        statement=r"$\sigma^{(0)}g_0(\lambda')\to(2\mu_1^{(1)}+\mu_0^{(0)}-\mu_1^{(0)})/\sqrt{2"
        r"\pi}$ as $\sigma^{(0)}\to\infty$.",
        kind="limit",
        hypotheses=(),
        scope="as stated",
        expected="holds",
        check=_check_vanishing,
        mutants=(
            Mutant("client 1", "client 1's means", partial(_check_vanishing, whose="client 1")),
        ),
    ),
)
