"""Sections 3 and D.1: the objective (6), and what (D.2) and (D.3) are of q-FFL and PropFair."""

from __future__ import annotations

from functools import partial
from typing import Any

import sympy

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence

N = 3


def residuals(base: str = "M", root: int = 1) -> dict[str, Any]:
    """(3) at u = M - f, (D.3) at lambda = 1 and p = M, and exp of n times (5), against exp(-n
    (6)).
    """
    M = sympy.Symbol("M", positive=True)
    u = sympy.symbols(f"u1:{N + 1}", positive=True)  # M - f_i
    f = [M - v for v in u]
    objective = -sum(sympy.log(M - v) for v in f) / (root * N)
    nadir = [M] * N if base == "M" else list(sympy.symbols(f"p1:{N + 1}", positive=True))
    product = sympy.prod([p - v for p, v in zip(nadir, f, strict=True)])
    return {
        "(3) and (6)": sympy.exp(-N * objective) - sympy.prod(u),
        "(5) and (6)": sum(sympy.log(v) for v in u) / N + objective,
        "(D.3) and (6)": product - sympy.exp(-N * objective),
    }


def powers(instance: dict[str, Any], shift: int = 1) -> Case:
    """Of two models, (D.2) with r = 0 and exponent q prefers the one that q-FFL with q prefers."""
    q = instance["q"]
    first, second = (
        [sum(x**k for x in instance[name]) for name in ("f", "g")] for k in (q + shift - 1, q + 1)
    )
    lead = [v[0] - v[1] for v in (first, second)]
    premises = {"losses": min(*instance["f"], *instance["g"]) >= 0, "q": q >= 1}
    return Case((Relation(0, "<", lead[0] * lead[1], "one order of both models"),), premises)


def norm(shift: int = 1) -> dict[str, Any]:
    """(D.2) with r = 0 and exponent q + 1 is q-FFL's sum; at q = 0 it is FedAvg's."""
    q = sympy.Symbol("q", nonnegative=True)
    f = sympy.symbols(f"f1:{N + 1}", positive=True)
    reference: Any = sum((v - 0) ** (q + shift) for v in f)
    return {
        "q-FFL": reference - sum(v ** (q + 1) for v in f),
        "FedAvg": (reference - sum(f)).subs(q, 0),
    }


def check(effort: Effort, base: str = "M", root: int = 1) -> Evidence:
    """The identities."""
    point = {
        "M": "9",
        **{f"u{k}": f"{k}/2" for k in (1, 2, 3)},
        **{f"p{k}": str(9 + k) for k in (1, 2, 3)},
    }
    return Evidence.of(SymbolicZero(Call.of(residuals, base=base, root=root), "simplify", (point,)))


def check_powers(effort: Effort, shift: int = 1) -> Evidence:
    """Two models."""
    shows = "losses (3, 0) and (2, 2), q = 1: (D.2) has 3 and 4, q-FFL 9 and 8"
    return Evidence.of(
        Counterexample.at(Call.of(powers, shift=shift), shows, q=1, f=[3, 0], g=[2, 2])
    )


def check_norm(effort: Effort, shift: int = 1) -> Evidence:
    """The exponent."""
    point = {"q": "2", **{f"f{k}": f"{k}/3" for k in (1, 2, 3)}}
    return Evidence.of(SymbolicZero(Call.of(norm, shift=shift), "simplify", (point,)))


REFERENCE = (
    r"$\min_x \|f(x) - r\|_q^q := \sum_{i=1}^n (f_i(x) - r_i)^q$, with [...] $\|\cdot\|_q$ the "
    r"$\ell_q$-norm ($q \geq 1$). This method has been applied to Federated Learning as $q$-FFL "
    r"[10] (by assuming $r = \mathbf{0}$). [Section 4: $q$-FFL: $s(t) = t^{q+1}$ for some $q \geq "
    r"0$.]"
)
CLAIMS = (
    Claim(
        id="propfair/eq-6",
        number="Eqs. (3), (5), (6), (D.3)",
        line=85,
        title="(6) is the Nash product of the utilities M - f, and (D.3) with lambda = 1, p = M",
        printed=(
            r"$\max_\theta \frac1n \sum_i \log u_i(\theta)$ (5), $u_i = M - f_i$; $\min_\theta "
            r"\pi(\theta) := -\frac1n \sum_i \log(M - f_i(\theta))$ (6); $\max_x \prod_i (p_i - "
            r"f_i(x))^{\lambda_i}$ (D.3). If we take $\lambda = \mathbf{1}$ then it resembles our "
            r"objective in (6)."
        ),
        statement=r"$\Pi(u) = e^{-n\pi}$, (5) is $-\pi$, and (D.3) is $e^{-n\pi}$ for $\lambda_i = "
        r"1$, $p_i = M$: all have the same optima.",
        kind="identity",
        hypotheses=(("range", "f < M"),),
        scope="n = 3, whose terms look the same for any number",
        expected="holds",
        check=check,
        mutants=(
            Mutant("1/(2n)", "half of (6)", partial(check, root=2)),
            Mutant("nadir", "p_i of (D.4) for M", partial(check, base="p")),
        ),
        reading="'Resembles': the nadir point (D.4) in place of one M for all is another "
        "objective.",
    ),
    Claim(
        id="propfair/eq-D.2",
        number="(D.2)",
        line=1013,
        title="(D.2) with r = 0 is q-FFL",
        printed=REFERENCE,
        statement=r"For the same $q$, (D.2) with $r = 0$ and $\sum_i f_i^{q+1}$ order two models "
        r"alike.",
        kind="equivalence",
        hypotheses=(("losses", "f >= 0"), ("q", "q >= 1")),
        scope="two clients, q = 1",
        expected="holds-repaired",
        check=check_powers,
        mutants=(Mutant("q + 1", "the exponent q + 1", partial(check_powers, shift=2)),),
        severity="constant",
        erratum=r"The exponent of (D.2) is $q + 1$ of $q$-FFL: (D.2) with $q = 1$ is FedAvg, "
        r"$q$-FFL with $q = 0$.",
    ),
    Claim(
        id="propfair/eq-D.2/repaired",
        number="(D.2)",
        line=1013,
        title="(D.2) with r = 0 and exponent q + 1 is q-FFL",
        printed=REFERENCE,
        statement=r"$\|f\|_{q+1}^{q+1} = \sum_i f_i^{q+1}$, FedAvg at $q = 0$.",
        kind="identity",
        hypotheses=(),
        scope="n = 3, whose terms look the same for any number",
        expected="holds",
        check=check_norm,
        mutants=(Mutant("q", "the exponent as printed", partial(check_norm, shift=0)),),
    ),
)
