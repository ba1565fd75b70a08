"""FedFB, lemma 7: the domain of (10), and the steps (18) to (20) of its proof."""

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
from fairfl.claims.fedfb.worlds import World

Form = tuple[Any, list[Any]]


def inside(instance: dict[str, Any]) -> Case:
    """The two arguments of η⁻¹ in (10) lie in [0, 1]."""
    q, lam = instance["q"], instance["lam"]
    half = Fraction(1, 2)
    arguments = {"group 0": half - lam / (2 * (1 - q)), "group 1": half + lam / (2 * q)}
    relations = [
        relation
        for name, u in arguments.items()
        for relation in (Relation(0, "<=", u, name), Relation(u, "<=", 1, name))
    ]
    return Case(tuple(relations), {"domain": abs(lam) <= max(q, 1 - q)})


def reach(turn: int = 1, over: str = "q") -> Form:
    """q = b/(a + b) >= 1/2, b = a + d: at λ = q group 0's threshold 1/2 - λ/(2(1 - q)) is <= 0; at
    λ = -q (``turn`` -1) it is >= 1.
    """
    a = sympy.Symbol("a", positive=True)
    d = sympy.Symbol("d", nonnegative=True)
    q = (a + d) / (2 * a + d)
    lam = turn * (q if over == "q" else 1 - q)
    threshold = sympy.Rational(1, 2) - lam / (2 * (1 - q))
    return (-threshold if turn > 0 else threshold - 1), [d / (2 * a)]


def ends(over: str = "q") -> dict[str, Any]:
    """At λ = ± q group 1's threshold 1/2 + λ/(2q) is 1 and 0."""
    q = sympy.Symbol("q", positive=True)
    lam = q if over == "q" else 1 - q
    half = sympy.Rational(1, 2)
    return {"λ = q": half + lam / (2 * q) - 1, "λ = -q": half - lam / (2 * q)}


def mixed(weight: str = "printed") -> dict[str, Any]:
    """(15)-(16): MD of f' = a f* + (1 - a) f~ is ε."""
    m, top, eps = sympy.symbols("m M eps")
    a = (top - eps) / (top - m)
    if weight != "printed":
        a = (eps - m) / (top - m)
    return {"(16)": a * m + (1 - a) * top - eps}


def lower(gain: int = 1) -> Form:
    """(17): e(f*) - e(f') > 0, for MD(f*) = ε - s, MD(f~) = ε + r, e(f*) = e(f~) + t."""
    s, r, t = sympy.symbols("s r t", positive=True)
    e = sympy.Symbol("e", real=True)
    a = r / (s + r)
    return (e + t) - (a * (e + gain * t) + (1 - a) * e), [s * t / (s + r)]


def still(instance: dict[str, Any], constraint: str = "absolute") -> Case:
    """The solution of CFL(ε) minimises (20), P(ŷ≠y) - λ MD over |MD| = ε: no rival is better."""
    people = World.of(instance["laws"], instance["q"]).pooled
    eps, lam = instance["eps"], instance["lam"]
    best, rival = people.rule(people.multiplier(eps)), instance["rival"]

    def value(rule: Any) -> Fraction:
        return 1 - people.accuracy(rule) - lam * people.difference(rule)

    held = abs(people.difference(rival)) if constraint == "absolute" else people.difference(rival)
    premises = {
        "case 2": people.g(Fraction(0)) > eps,
        "(18)": people.difference(best) == eps and held == eps,
    }
    return Case((Relation(value(best), "<=", value(rival), "(20)"),), premises)


def shifted(level: str = "same") -> dict[str, Any]:
    """Over MD = ε the objective of (20) is that of (18) less λ ε: f(x, 0) is what MD = ε leaves."""
    lam, eps, other = sympy.symbols("lam eps other")
    p = sympy.symbols("p0:4")
    u = sympy.symbols("u0:4")
    difference = []
    for name, goal in (("f", eps), ("h", eps if level == "same" else other)):
        free = sympy.symbols(f"{name}1:4")
        first = (goal - free[0] * p[1] + free[1] * p[2] + free[2] * p[3]) / p[0]
        rule = (first, *free)
        wrong = sum(v * c for v, c in zip(rule, u, strict=True))
        held = rule[0] * p[0] + rule[1] * p[1] - rule[2] * p[2] - rule[3] * p[3]
        difference.append((wrong - lam * held, wrong))
    (one, plain), (two, simple) = difference
    return {"order of f and h": (one - two) - (plain - simple)}


def _check_inside(effort: Effort, q: Fraction = Fraction(1, 4)) -> Evidence:
    shows = "q = 1/4, λ = 3/4 = max(q, 1-q): η⁻¹(1/2 + λ/(2q)) is η⁻¹(2)"
    return Evidence.of(Counterexample.at(Call.of(inside), shows, q=q, lam=max(q, 1 - q)))


def _check_reach(effort: Effort, over: str = "q") -> Evidence:
    spots = ({"a": "1", "d": "0"}, {"a": "1", "d": "3"})
    return Evidence.of(
        DefiniteForm(Call.of(reach, over=over), "together", spots),
        DefiniteForm(Call.of(reach, turn=-1, over=over), "together", spots),
        SymbolicZero(Call.of(ends, over=over), "together", ({"q": "2/3"},)),
    )


def _check_mixed(effort: Effort, weight: str = "printed", gain: int = 1) -> Evidence:
    return Evidence.of(
        SymbolicZero(
            Call.of(mixed, weight=weight), "together", ({"m": "-1/3", "M": "1/2", "eps": "1/5"},)
        ),
        DefiniteForm(
            Call.of(lower, gain=gain),
            "together",
            ({"s": "1", "r": "1/2", "t": "1/3", "e": "1/4"},),
            strict=True,
        ),
    )


def _check_still(
    effort: Effort, lam: Fraction = Fraction(-10), constraint: str = "absolute"
) -> Evidence:
    shows = (
        "group 0 has η > 1/2, group 1 η < 1/2, q = 1/2, ε = 1/4, λ = -10: MD = 1/4 costs what a "
        "rule with MD = -1/4 gains"
    )
    one = Fraction(1)
    return Evidence.of(
        Counterexample.at(
            Call.of(still, constraint=constraint),
            shows,
            laws=[[[0, 1], [1, 0]]],
            q=Fraction(1, 2),
            eps=Fraction(1, 4),
            lam=lam,
            rival=[one, Fraction(3, 8)],
        )
    )


def _check_shifted(effort: Effort, level: str = "same") -> Evidence:
    names = [f"{n}{k}" for n in "pu" for k in range(4)] + [
        f"{n}{k}" for n in "fh" for k in (1, 2, 3)
    ]
    point = {name: f"{k + 1}/{k + 6}" for k, name in enumerate(names)}
    point |= {"lam": "-3", "eps": "1/4", "other": "-1/4"}
    return Evidence.of(SymbolicZero(Call.of(shifted, level=level), "together", (point,)))


PRINTED_10 = (
    r"Define $g:[-\max(q,1-q),\max(q,1-q)]\to[-1,1]$ as "
    r"$g(\lambda)=\int_{[\eta^{-1}(\frac12-\frac\lambda{2(1-q)}),+\infty]}d\mathcal "
    r"P_0-\int_{[\eta^{-1}(\frac12+\frac\lambda{2q}),+\infty]}d\mathcal P_1$."
)
PRINTED_18 = (
    r"[$f'=af^\star+(1-a)\tilde f$, $a=\frac{MD(\tilde f)-\varepsilon}{MD(\tilde f)-MD(f^\star)}$, "
    r"has $MD(f')=\varepsilon$ and $e(f')<e(f^\star)$.] Therefore $MD(f^\star)=\varepsilon$. Now, "
    r"solving CFL($\varepsilon$) is equivalent to solving [its objective] s.t. "
    r"$|MD(f)|=\varepsilon$."
)
PRINTED_20 = (
    r"Furthermore, the optimization problem above is also equivalent to "
    r"$\min_fE_{x,a}f(x,a)(1-2\eta(x))-\lambda MD(f)$ s.t. $|MD(f)|=\varepsilon$, for all "
    r"$\lambda\in\mathbb R$."
)
CASE_2 = ("case 2", "MD of the unconstrained solution exceeds ε")

CLAIMS = (
    Claim(
        id="fedfb/eq-10",
        number="Eq. (10)",
        line=390,
        title="(10) defines g on [-max(q, 1-q), max(q, 1-q)]",
        printed=PRINTED_10,
        statement=r"$\frac12-\frac\lambda{2(1-q)}$ and $\frac12+\frac\lambda{2q}$, of which "
        r"$\eta^{-1}$ is taken, lie in $[0,1]$ for $|\lambda|\le\max(q,1-q)$.",
        kind="existence",
        hypotheses=(("domain", "|λ| <= max(q, 1-q)"),),
        scope="as stated",
        expected="holds-repaired",
        check=_check_inside,
        mutants=(Mutant("q = 1/2", "equal groups", partial(_check_inside, q=Fraction(1, 2))),),
        severity="constant",
        erratum=r"For $q\ne\frac12$ they leave $[0,1]$ once $|\lambda|>\min(q,1-q)$. Write "
        r"$g(\lambda)=\mathcal P_0(\eta>\frac12-\frac\lambda{2(1-q)})-\mathcal "
        r"P_1(\eta>\frac12+\frac\lambda{2q})$, or set $\eta^{-1}(u)=-\infty$ for $u\le0$ and "
        r"$+\infty$ for $u\ge1$.",
    ),
    Claim(
        id="fedfb/eq-10/repaired",
        number="Eq. (10)",
        line=390,
        title="with thresholds on η in place of η⁻¹, g maps [-max(q, 1-q), max(q, 1-q)] onto its "
        "ends -1 and 1",
        printed=PRINTED_10,
        statement=r"At $\lambda=\max(q,1-q)$ everybody with $0<\eta$ in group 0 is accepted and "
        r"nobody with $\eta<1$ in group 1, so $g=1$; at $-\max(q,1-q)$ it is $-1$.",
        kind="identity",
        hypotheses=(),
        scope="q >= 1/2; q <= 1/2 with the groups exchanged",
        expected="holds",
        check=_check_reach,
        mutants=(Mutant("min", "min(q, 1-q)", partial(_check_reach, over="1-q")),),
    ),
    Claim(
        id="fedfb/eq-18",
        number="Eqs. (14)-(18)",
        line=449,
        title="where the unconstrained solution has MD > ε, every solution of CFL(ε) has MD = ε",
        printed=PRINTED_18,
        statement=r"If $MD(f^\star)<\varepsilon<MD(\tilde f)$ and $e(f^\star)>e(\tilde f)$, then "
        r"$MD(f')=\varepsilon$ and $e(f')<e(f^\star)$. So CFL($\varepsilon$) and (18) have the "
        r"same solutions.",
        kind="equivalence",
        hypotheses=(CASE_2,),
        scope="as stated",
        expected="holds",
        check=_check_mixed,
        mutants=(
            Mutant("turned", "a for 1 - a", partial(_check_mixed, weight="turned")),
            Mutant("half", "e(f*) no worse inside the mixture", partial(_check_mixed, gain=2)),
        ),
        notes="e(f*) > e(f~) since f~ is the only unconstrained solution: η = 1/2 at one point at "
        "most, which has no mass.",
    ),
    Claim(
        id="fedfb/eq-20",
        number="Eqs. (19)-(20)",
        line=453,
        title="over |MD| = ε, subtracting λ MD changes nothing, for every real λ",
        printed=PRINTED_20,
        statement=r"The solution of CFL($\varepsilon$) minimises $P(\hat y\ne y)-\lambda MD$ over "
        r"$|MD|=\varepsilon$.",
        kind="equivalence",
        hypotheses=(CASE_2, ("(18)", "both rules have |MD| = ε, the solution MD = ε")),
        scope="as stated",
        expected="holds-repaired",
        check=_check_still,
        mutants=(
            Mutant("λ = 0", "without the penalty", partial(_check_still, lam=Fraction(0))),
            Mutant("MD = ε", "over MD = ε", partial(_check_still, constraint="signed")),
        ),
        severity="step",
        erratum=r"On $|MD|=\varepsilon$ the penalty $\lambda MD$ takes two values, "
        r"$\pm\lambda\varepsilon$. Write the constraint as $MD(f)=\varepsilon$, which (18) has "
        r"shown. The proof goes on with $\lambda=g^{-1}(\varepsilon)$, where the step is harmless.",
    ),
    Claim(
        id="fedfb/eq-20/repaired",
        number="Eqs. (19)-(20)",
        line=453,
        title="over MD = ε, subtracting λ MD changes nothing, for every real λ",
        printed=PRINTED_20,
        statement=r"For $MD(f)=MD(h)=\varepsilon$ the objectives of (18) and (20) differ by the "
        r"same amount between $f$ and $h$.",
        kind="equivalence",
        hypotheses=(),
        scope="two points in each group; all is linear",
        expected="holds",
        check=_check_shifted,
        mutants=(Mutant("two levels", "MD(h) not ε", partial(_check_shifted, level="other")),),
    ),
)
