"""FedFB, proof of lemma 18: the programme (52)-(54), the error rate (55) and the Lagrangian
(57)-(60).
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import sympy

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, DefiniteForm, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence

HALF, ONE, ZERO = Fraction(1, 2), Fraction(1), Fraction(0)
SIGNS = ((0, 1), (1, -1))


def local(law: Any, f: Any) -> Any:
    """MD_i(f) = Σ_x f(x,0) p_0^(i)(x) - f(x,1) p_1^(i)(x)."""
    return sum(sign * v * p for a, sign in SIGNS for v, p in zip(f[a], law[a], strict=True))


def mean(laws: Any, q: Any, value: Any) -> Any:
    """(1/I) Σ_i Σ_a P(a) Σ_x p_a^(i)(x) value(a, k): an expectation over everybody."""
    shares = (1 - q, q)
    total = sum(
        shares[a] * p * value(a, k) for law in laws for a in (0, 1) for k, p in enumerate(law[a])
    )
    return total / len(laws)


def error(laws: Any, q: Any, eta: Any, f: Any) -> Any:
    """P(ŷ ≠ y), by counting both kinds of mistakes."""
    return mean(laws, q, lambda a, k: f[a][k] * (1 - eta[k]) + (1 - f[a][k]) * eta[k])


def positives(laws: Any, q: Any, eta: Any) -> Any:
    """P(y = 1)."""
    return mean(laws, q, lambda a, k: eta[k])


def gains(laws: Any, q: Any, eta: Any, f: Any, lams: Any, share: bool, scale: bool = True) -> Any:
    """(60): -(1/I) Σ_a Σ_x f Σ_i s_i p_a^(i), each group times P(a) where ``share``; s_i with I λ_i
    where ``scale``.
    """
    count, shares, total = len(laws), (1 - q, q), 0
    for a, sign in SIGNS:
        for law, lam in zip(laws, lams, strict=True):
            tilt = sign * (count if scale else 1) * lam / shares[a]
            total += sum(
                (shares[a] if share else 1) * v * p * (2 * e - 1 + tilt)
                for v, p, e in zip(f[a], law[a], eta, strict=True)
            )
    return -total / count


def feasible(instance: dict[str, Any], sides: int = 1) -> Case:
    """Whatever (53)-(54) admit, with v_i from (51), has |MD_i| <= ε_i."""
    q, f, law, eps = (instance[k] for k in ("q", "f", "law", "eps"))
    shares = (1 - q, q)
    value = sum(
        sign * v * p / shares[a] for a, sign in SIGNS for v, p in zip(f[a], law[a], strict=True)
    )
    inside = value <= eps and (sides == 1 or -eps <= value)
    return Case((Relation(abs(local(law, f)), "<=", eps, "DP Disp_i"),), {"(53)": inside})


def rate(instance: dict[str, Any], summed: bool = False) -> Case:
    """(55) for each client i that the free index may stand for, or summed over them."""
    laws, q, eta, f = (instance[k] for k in ("laws", "q", "eta", "f"))
    parts = [mean([law], q, lambda a, k: f[a][k] * (1 - 2 * eta[k])) / len(laws) for law in laws]
    if summed:
        parts = [sum(parts)]
    wrong, ones = error(laws, q, eta, f), positives(laws, q, eta)
    return Case(
        tuple(Relation(v + ones, "==", wrong, f"(55), i = {i}") for i, v in enumerate(parts))
    )


def bound(instance: dict[str, Any], repair: bool = False) -> Case:
    """Weak duality for one client and one x: the least value of (57)-(58), over all rates (r_0,
    r_1), is at most the error of a feasible rule.
    """
    q, eta, eps, lams, mine = (instance[k] for k in ("q", "eta", "eps", "lams", "f"))

    def lagrangian(r: tuple[int, ...]) -> Fraction:
        wrong = error([[[ONE], [ONE]]], q, [eta], [[r[0]], [r[1]]])
        if repair:
            return wrong + lams[0] * (r[0] - r[1] - eps) + lams[1] * (r[1] - r[0] - eps)
        return wrong - lams[0] * (r[0] - r[1] - eps) - lams[1] * (eps - r[0] - r[1])

    least = min(lagrangian(r) for r in product((0, 1), repeat=2))  # linear in r: at a corner
    premises = {"λ' >= 0": min(lams) >= 0, "feasible": abs(mine[0] - mine[1]) <= eps}
    value = error([[[ONE], [ONE]]], q, [eta], [[mine[0]], [mine[1]]])
    return Case((Relation(least, "<=", value, "least Lagrangian, and the error"),), premises)


def expanded(instance: dict[str, Any], share: bool = False) -> Case:
    """(60) is the error less P(y = 1) and Σ λ_i MD_i."""
    laws, q, eta, f, lams = (instance[k] for k in ("laws", "q", "eta", "f", "lams"))
    held = sum(lam * local(law, f) for lam, law in zip(lams, laws, strict=True))
    value = error(laws, q, eta, f) - positives(laws, q, eta) - held
    return Case((Relation(gains(laws, q, eta, f, lams, share), "==", value, "(60)"),))


def _symbols() -> tuple[Any, ...]:
    """Two clients, two points, any masses: every statement here is linear in them."""
    laws = [[[sympy.Symbol(f"p{i}{a}{k}") for k in (0, 1)] for a in (0, 1)] for i in (0, 1)]
    f = [[sympy.Symbol(f"f{a}{k}") for k in (0, 1)] for a in (0, 1)]
    return laws, sympy.Symbol("q"), sympy.symbols("e0 e1"), f, sympy.symbols("l0 l1")


def _point() -> dict[str, str]:
    names = [f"p{i}{a}{k}" for i in (0, 1) for a in (0, 1) for k in (0, 1)]
    names += ["f00", "f01", "f10", "f11", "e0", "e1", "l0", "l1"]
    return {"q": "2/7", **{name: f"{j + 1}/{j + 5}" for j, name in enumerate(names)}}


def programme(divide: bool = False, twice: int = 2) -> dict[str, Any]:
    """u·f + u' - P(ŷ≠y), and v_i·f - MD_i, u = (1 - 2η) P(x, a), v_i = ± P(x | a, i)."""
    laws, q, eta, f, _ = _symbols()
    shares = (1 - q, q)
    cost = mean(laws, q, lambda a, k: f[a][k] * (1 - twice * eta[k])) + positives(laws, q, eta)
    found = {"(52)": cost - error(laws, q, eta, f)}
    for i, law in enumerate(laws):
        value = sum(
            sign * v * p / (shares[a] if divide else 1)
            for a, sign in SIGNS
            for v, p in zip(f[a], law[a], strict=True)
        )
        found[f"v_{i}"] = value - local(law, f)
    return found


def summed(over: int = 2) -> dict[str, Any]:
    """(55) with Σ_i."""
    laws, q, eta, f, _ = _symbols()
    parts = [mean([law], q, lambda a, k: f[a][k] * (1 - 2 * eta[k])) / 2 for law in laws[:over]]
    return {"(55)": sum(parts) + positives(laws, q, eta) - error(laws, q, eta, f)}


def solved(share: bool = True, scale: bool = True) -> dict[str, Any]:
    """(60) with P(a) - (the error less P(y = 1) and Σ λ_i MD_i)."""
    laws, q, eta, f, lams = _symbols()
    held = sum(lam * local(law, f) for lam, law in zip(lams, laws, strict=True))
    value = error(laws, q, eta, f) - positives(laws, q, eta) - held
    return {"(60)": gains(laws, q, eta, f, lams, share, scale) - value}


def slack(sign: int = 1) -> tuple[Any, list[Any]]:
    """error(f) - Lagrangian(f) for a feasible f: s = ε - MD >= 0, t = ε + MD >= 0."""
    s, t, lam, other = sympy.symbols("s t l m", nonnegative=True)
    e = sympy.Symbol("e", real=True)
    eps, difference = (s + t) / 2, (t - s) / 2
    lagrangian = e + sign * (lam * (difference - eps) + other * (-difference - eps))
    return e - lagrangian, [lam * s, other * t]


def collected(turned: int = 1) -> dict[str, Any]:
    """The Lagrangian is (61) with λ = λ'_{2i+1} - λ'_{2i}, less ε (λ'_{2i} + λ'_{2i+1})."""
    e, m, eps, lam, other = sympy.symbols("e m eps l m1")
    lagrangian = e + lam * (m - eps) + other * (-m - eps)
    return {"(61)": lagrangian + eps * (lam + other) - (e - turned * (other - lam) * m)}


TWO: dict[str, Any] = {
    "laws": [[[ONE, ZERO], [ONE, ZERO]], [[ZERO, ONE], [ZERO, ONE]]],
    "q": HALF,
    "eta": [ONE, Fraction(1, 4)],
    "f": [[ONE, ONE], [ONE, ONE]],
}
"""Client 0 lives on x_0, where everybody qualifies, client 1 on x_1, where a quarter does; all are
accepted.
"""


def _check_programme(effort: Effort, sides: int = 1) -> Evidence:
    shows = (
        "one client, q = 1/2, ε = 0: accepting group 1 alone is admitted, with v·f = -2, MD = -1"
    )
    instance = {"q": HALF, "law": [[ONE], [ONE]], "f": [[ZERO], [ONE]], "eps": ZERO}
    return Evidence.of(Counterexample.at(Call.of(feasible, sides=sides), shows, **instance))


def _check_rate(effort: Effort, summed: bool = False) -> Evidence:
    shows = "two clients, all accepted: the error is 3/8, (55) is 1/8 for i = 0, 7/8 for i = 1"
    return Evidence.of(Counterexample.at(Call.of(rate, summed=summed), shows, **TWO))


def _check_bound(effort: Effort, repair: bool = False) -> Evidence:
    shows = (
        "one client, η = 0, ε = 1, λ' = (1/4, 0): (57)-(58) is at least 1/4; rejecting all errs 0"
    )
    instance = {"q": HALF, "eta": ZERO, "eps": ONE, "lams": [Fraction(1, 4), ZERO], "f": [0, 0]}
    return Evidence.of(Counterexample.at(Call.of(bound, repair=repair), shows, **instance))


def _check_expanded(effort: Effort, share: bool = False) -> Evidence:
    shows = "two clients, all accepted, λ = (1/8, -1/4): (57) is -1/4 up to constants, (60) is -1/2"
    lams = [Fraction(1, 8), Fraction(-1, 4)]
    return Evidence.of(Counterexample.at(Call.of(expanded, share=share), shows, **TWO, lams=lams))


def _zero(effort: Effort, residuals: Any, **given: Any) -> Evidence:
    return Evidence.of(SymbolicZero(Call.of(residuals, **given), "together", (_point(),)))


def _check_slack(effort: Effort, sign: int = 1, turned: int = 1) -> Evidence:
    spot = {"s": "1/2", "t": "1", "l": "3", "m": "2/3", "e": "1/5"}
    place = {"e": "1/3", "m": "2/5", "eps": "1/2", "l": "2", "m1": "1/7"}
    return Evidence.of(
        DefiniteForm(Call.of(slack, sign=sign), "expand", (spot,)),
        SymbolicZero(Call.of(collected, turned=turned), "expand", (place,)),
    )


PROGRAMME = (
    r"$v_i(x,a)=([[a=0]]-[[a=1]])P(x\mid a,i)/P(a)$ [...] the optimization is $\min_fu^\top f+u'$ "
    r"s.t. $v_i^\top f\le\varepsilon_i$, $0\le f\le1$."
)
RATE = r"$P(\hat y\ne y)=\frac1IE_aE_{x\sim\mathcal P_a^{(i)}}f(x,a)(1-2\eta(x))+P(y=1)$."
LAGRANGIAN = (
    r"By strong duality, for $\lambda'_0,\dots,\lambda'_{2I-1}\ge0$, the corresponding Lagrangian "
    r"version is $\min_fP(\hat y\ne y)-\sum_i[\lambda'_{2i}[P(\hat y=1\mid a=0,i)-P(\hat y=1\mid "
    r"a=1,i)-\varepsilon_i]+\lambda'_{2i+1}[\varepsilon_i-P(\hat y=1\mid a=0,i)-P(\hat y=1\mid "
    r"a=1,i)]]$. Let $\lambda_i=\lambda'_{2i}-\lambda'_{2i+1}$."
)
EXPANDED = (
    r"$(57)=\min_fE_aE_{x\sim\mathcal "
    r"P_a^{(i)}}[\frac1If(x,a)(1-2\eta(x))-\sum_i(\lambda_if(x,0)\frac{[[a=0]]}{1-q}-"
    r"\lambda_if(x,1)\frac{[[a=1]]}q)]=\min_f\int\sum_a-\frac1If(x,a)["
    r"\sum_is_i(x,a)p_a^{(i)}(x)]dx$."
)
SMALL = "two clients, two points, common q; all is linear in the masses"

CLAIMS = (
    Claim(
        id="fedfb/eq-52-54",
        number="Eqs. (52)-(54)",
        line=982,
        title="LFT+FedAvg(ε) on a finite X is min u·f + u' s.t. v_i·f <= ε_i, 0 <= f <= 1",
        printed=PROGRAMME,
        statement=r"Every $f$ that (53)-(54) admit has $|MD_i|\le\varepsilon_i$.",
        kind="equivalence",
        hypotheses=(("(53)", "v_i·f <= ε_i, v_i as (51) defines it"),),
        scope="I = 1, one point",
        expected="holds-repaired",
        check=_check_programme,
        mutants=(Mutant("both sides", "|v_i·f| <= ε_i", partial(_check_programme, sides=2)),),
        severity="step",
        erratum="Write $-\\varepsilon_i\\le v_i^\\top f\\le\\varepsilon_i$ with "
        "$v_i(x,a)=([[a=0]]-[[a=1]])P(x\\mid a,i)$: (53) has one side only, and divides a "
        "conditional probability by P(a) again.",
    ),
    Claim(
        id="fedfb/eq-52-54/repaired",
        number="Eqs. (52)-(54)",
        line=982,
        title="u·f + u' is the error, and v_i·f is MD_i, for v_i = ± P(x | a, i)",
        printed=PROGRAMME,
        statement=r"$u^\top f+u'=P(\hat y\ne y)$, $v_i^\top f=MD_i(f)$ for "
        r"$v_i(x,a)=([[a=0]]-[[a=1]])P(x\mid a,i)$: LFT+FedAvg($\varepsilon$) is $\min u^\top "
        r"f+u'$ s.t. $|v_i^\top f|\le\varepsilon_i$, $0\le f\le1$.",
        kind="identity",
        hypotheses=(),
        scope=SMALL,
        expected="holds",
        check=partial(_zero, residuals=programme),
        mutants=(
            Mutant("divided", "v_i over P(a)", partial(_zero, residuals=programme, divide=True)),
            Mutant("1 - η", "u = (1 - η) P(x, a)", partial(_zero, residuals=programme, twice=1)),
        ),
    ),
    Claim(
        id="fedfb/eq-55",
        number="Eq. (55)",
        line=990,
        title="P(ŷ≠y) = (1/I) E_a E_{x ~ P_a^(i)} f (1 - 2η) + P(y=1), i free",
        printed=RATE,
        statement=r"The formula for each client $i$.",
        kind="identity",
        hypotheses=(),
        scope="I = 2",
        expected="holds-repaired",
        check=_check_rate,
        mutants=(Mutant("summed", "with Σ_i", partial(_check_rate, summed=True)),),
        severity="misprint",
        erratum=r"A sum over clients is missing: $\frac1I\sum_{i\in[I]}E_aE_{x\sim\mathcal "
        r"P_a^{(i)}}$.",
    ),
    Claim(
        id="fedfb/eq-55/repaired",
        number="Eq. (55)",
        line=990,
        title="P(ŷ≠y) = (1/I) Σ_i E_a E_{x ~ P_a^(i)} f (1 - 2η) + P(y=1)",
        printed=RATE,
        statement=r"The formula with $\sum_{i\in[I]}$.",
        kind="identity",
        hypotheses=(),
        scope=SMALL,
        expected="holds",
        check=partial(_zero, residuals=summed),
        mutants=(Mutant("one client", "i = 0 alone", partial(_zero, residuals=summed, over=1)),),
    ),
    Claim(
        id="fedfb/eq-57-58",
        number="Eqs. (57)-(58)",
        line=999,
        title="for λ' >= 0 the least value of (57)-(58) bounds LFT+FedAvg(ε) from below",
        printed=LAGRANGIAN,
        statement=r"$\min_f(57)\le P(\hat y\ne y)$ for every feasible rule and $\lambda'\ge0$, as "
        r"duality needs.",
        kind="bound",
        hypotheses=(("λ' >= 0", "the multipliers"), ("feasible", "|MD| <= ε")),
        scope="I = 1, one point",
        expected="holds-repaired",
        check=_check_bound,
        mutants=(Mutant("repaired", "+ λ'(MD - ε)", partial(_check_bound, repair=True)),),
        severity="step",
        erratum=r"For multipliers $\lambda'\ge0$ the constraints are added: $P(\hat y\ne "
        r"y)+\sum_i[\lambda'_{2i}(MD_i-\varepsilon_i)+\lambda'_{2i+1}(-MD_i-\varepsilon_i)]$, and "
        r"$\lambda_i=\lambda'_{2i+1}-\lambda'_{2i}$. As printed the sign is turned, and (58) has "
        r"$-P(\hat y=1\mid a=0,i)-P(\hat y=1\mid a=1,i)$ for $+P(\hat y=1\mid a=0,i)-P(\hat "
        r"y=1\mid a=1,i)$ with $-\varepsilon_i$.",
        reading="A Lagrangian of a minimum is a lower bound of it for all admitted multipliers. "
        "The form (61), with λ_i of any sign, is not affected.",
    ),
    Claim(
        id="fedfb/eq-57-58/repaired",
        number="Eqs. (57)-(58)",
        line=999,
        title="P(ŷ≠y) + Σ λ'_{2i}(MD_i - ε_i) + λ'_{2i+1}(-MD_i - ε_i) is at most the error of any "
        "feasible rule, and has the form (61)",
        printed=LAGRANGIAN,
        statement=r"For $\lambda'\ge0$ and $|MD_i|\le\varepsilon_i$ it is at most $P(\hat y\ne "
        r"y)$; it equals $P(\hat y\ne "
        r"y)-\sum_i\lambda_iMD_i-\sum_i\varepsilon_i(\lambda'_{2i}+\lambda'_{2i+1})$ with "
        r"$\lambda_i=\lambda'_{2i+1}-\lambda'_{2i}$.",
        kind="bound",
        hypotheses=(("λ' >= 0", "the multipliers"), ("feasible", "|MD_i| <= ε_i")),
        scope="one client's terms, which look the same for all",
        expected="holds",
        check=_check_slack,
        mutants=(
            Mutant("turned", "the constraints subtracted", partial(_check_slack, sign=-1)),
            Mutant("λ turned", "λ_i = λ'_{2i} - λ'_{2i+1}", partial(_check_slack, turned=-1)),
        ),
    ),
    Claim(
        id="fedfb/eq-59-60",
        number="Eqs. (59)-(60)",
        line=1004,
        title="(57) is min over f of -(1/I) Σ_a ∫ f Σ_i s_i p_a^(i), up to constants",
        printed=EXPANDED,
        statement=r"$-\frac1I\sum_a\sum_xf\sum_is_ip_a^{(i)}=P(\hat y\ne "
        r"y)-P(y=1)-\sum_i\lambda_iMD_i$.",
        kind="identity",
        hypotheses=(),
        scope="I = 2",
        expected="holds-repaired",
        check=_check_expanded,
        mutants=(Mutant("P(a)", "each group times P(a)", partial(_check_expanded, share=True)),),
        severity="misprint",
        erratum=r"(60) lacks the factor $P(a)$ in the sum over $a$, and (59) the sum over clients "
        r"of (55). The sign of $\sum_is_ip_a^{(i)}$, and so lemma 18's rule, is not affected.",
    ),
    Claim(
        id="fedfb/eq-59-60/repaired",
        number="Eqs. (59)-(60)",
        line=1004,
        title="(57) is min over f of -(1/I) Σ_a P(a) ∫ f Σ_i s_i p_a^(i), up to constants",
        printed=EXPANDED,
        statement=r"$-\frac1I\sum_aP(a)\sum_xf\sum_is_ip_a^{(i)}=P(\hat y\ne "
        r"y)-P(y=1)-\sum_i\lambda_iMD_i$.",
        kind="identity",
        hypotheses=(),
        scope=SMALL,
        expected="holds",
        check=partial(_zero, residuals=solved),
        mutants=(
            Mutant("as printed", "without P(a)", partial(_zero, residuals=solved, share=False)),
            Mutant("λ_i", "λ_i for I λ_i in s_i", partial(_zero, residuals=solved, scale=False)),
        ),
    ),
)
