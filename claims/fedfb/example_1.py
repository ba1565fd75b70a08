"""FedFB, example 1: the numbers of figure 4(a)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from flint import arb

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Operator, Relation
from fairfl.claims.certificates import Counterexample, Witness
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.exact import ball
from fairfl.claims.fedfb.normal_clients import NormalClient, ends, phi

WIDE, NARROW = ((0, 0), 70), ((3, -1), 1)
INSTANCE: dict[str, Any] = {"wide": WIDE[0], "narrow": NARROW[0], "sd": (WIDE[1], NARROW[1])}


def clients(instance: dict[str, Any]) -> tuple[NormalClient, NormalClient]:
    """The two clients, in exact numbers."""
    wide, narrow, sd = (tuple(map(Fraction, instance[name])) for name in ("wide", "narrow", "sd"))
    return NormalClient((wide[0], wide[1]), sd[0]), NormalClient((narrow[0], narrow[1]), sd[1])


def condition(instance: dict[str, Any], product: Operator = "<") -> Case:
    """Corollary 11's, on the means."""
    first, second = clients(instance)
    means = (first.mean[0] - first.mean[1]) * (second.mean[0] - second.mean[1])
    return Case((Relation(means, product, 0, "product of the differences of means"),))


def rounded(instance: dict[str, Any], digits: Fraction) -> Case:
    """δ rounds to ``digits``, two of them."""
    delta, _ = ends(*clients(instance))
    half = Fraction(1, 200)
    return Case(
        (
            Relation(ball(digits - half), "<=", delta, "δ"),
            Relation(delta, "<=", ball(digits + half), "δ"),
        )
    )


def exact(instance: dict[str, Any], low: str, high: str) -> Case:
    """δ in closed form, between decimals, and within the enclosure that the solver certifies by
    another route.
    """
    from fairfl.solvers.api import min_disparity
    from fairfl.theory.populations.federation import Federation

    first, second = clients(instance)
    delta, largest = ends(first, second)
    formula = (phi(Fraction(3)) - phi(Fraction(-1)) - 2 * phi(Fraction(1, 35)) + 1) / 4
    means = [[float(m) for m in client.mean] for client in (first, second)]
    federation = Federation.normal(means, [float(first.sd), float(second.sd)], 0.5)
    found = min_disparity(federation, "lft_ensemble", certify=True)
    assert found.lower is not None and found.upper is not None
    return Case(
        (
            Relation(ball(Fraction(low)), "<", delta, "δ"),
            Relation(delta, "<", ball(Fraction(high)), "δ"),
            Relation(abs(formula - delta), "<", ball(Fraction(1, 10**14)), "closed form"),
            Relation(ball(found.lower) - arb("1e-14"), "<", delta, "enclosure"),
            Relation(delta, "<", ball(found.upper) + arb("1e-14"), "enclosure"),
            Relation(arb(0), "<", largest, "MD > 0"),
        )
    )


def _check_printed(effort: Effort, digits: str = "21/100", product: Operator = "<") -> Evidence:
    means = "μ_0^(0) = μ_1^(0) = 0: the product of the differences is 0, not negative"
    wrong = Call.of(condition, product=product)
    other = Call.of(rounded, digits=Fraction(digits))
    return Evidence.of(
        Counterexample.at(wrong, means, **INSTANCE),
        Counterexample.at(other, "δ = 0.20430..., not 0.21", **INSTANCE),
    )


def _check_exact(effort: Effort, low: str = "0.2043003118", high: str = "0.2043003119") -> Evidence:
    shows = "δ = (Φ(3) - Φ(-1) - 2Φ(1/35) + 1)/4"
    return Evidence.of(Witness.at(Call.of(exact, low=low, high=high), shows, **INSTANCE))


PRINTED = (
    r"[An example that satisfies the conditions of Corollary 2:] Let "
    r"$\mu_0^{(0)}=\mu_1^{(0)}=0,\mu_0^{(1)}=3,\mu_1^{(1)}=-1,\sigma^{(0)}=70$ and "
    r"$\sigma^{(1)}=1$. Then, $\delta\approx0.21$."
)

CLAIMS = (
    Claim(
        id="fedfb/example-1",
        number="Example 1",
        line=116,
        title="the example satisfies corollary 2 (= 11), and δ ≈ 0.21",
        printed=PRINTED,
        statement=r"$(\mu_0^{(0)}-\mu_1^{(0)})(\mu_0^{(1)}-\mu_1^{(1)})<0$, and $\delta$ rounds "
        r"to $0.21$.",
        kind="figure",
        hypotheses=(),
        scope="as stated; q = 1/2, logistic η",
        expected="holds-repaired",
        check=_check_printed,
        mutants=(
            Mutant(
                "0.20, at most 0",
                "δ rounds to 0.20, product <= 0",
                lambda e: _check_printed(e, "1/5", "<="),
            ),
            Mutant("0.20", "δ rounds to 0.20", lambda e: _check_printed(e, digits="1/5")),
            Mutant("at most 0", "product <= 0", lambda e: _check_printed(e, product="<=")),
        ),
        severity="constant",
        erratum="The means of client 0 are equal, so the product is 0 and the corollary's "
        "condition fails (lemma 10's g_0(0) g_1(0) < 0 as well). δ = 0.2043003...; 0.21 is the "
        "approximation |g_0(0) + g_1(0)|/4 = 0.2099988.",
        notes="With μ_0^(0) slightly below μ_1^(0) the conditions hold, and δ is continuous in "
        "them.",
    ),
    Claim(
        id="fedfb/example-1/repaired",
        number="Example 1",
        line=116,
        title="the smallest disparity of example 1 is 0.2043003118...",
        printed=PRINTED,
        statement=r"$\min "
        r"DP\,Disp=\frac14(\Phi(3)-\Phi(-1)-2\Phi(\frac1{35})+1)\in(0.2043003118,0.2043003119)$.",
        kind="figure",
        hypotheses=(),
        scope="as stated; q = 1/2, logistic η",
        expected="holds",
        check=_check_exact,
        mutants=(
            Mutant(
                "next digit",
                "0.2043003117 to ...118",
                lambda e: _check_exact(e, "0.2043003117", "0.2043003118"),
            ),
        ),
        notes="Two routes: the closed form of the root of g_1, and the enclosure of "
        "solvers/lft_ensemble/enclosure.py.",
    ),
)
