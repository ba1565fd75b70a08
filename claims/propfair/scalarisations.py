"""Sections 3 and D.1: the objective (6), and what (D.1), (D.2) and (D.3) are of FedAvg, q-FFL and
PropFair.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from fairfl.claims.case import Case, Relation
from fairfl.claims.claim import Claim, Repaired
from fairfl.claims.forms import counterexample, identity

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


def linear(instance: dict[str, Any]) -> Case:
    """Every minimiser of sum lambda_i f_i over the set is Pareto optimal, lambda in the simplex."""
    among, weight = instance["set"], instance["lambda"]
    value = [sum((a * b for a, b in zip(weight, f, strict=True)), Fraction(0)) for f in among]
    best = [f for f, v in zip(among, value, strict=True) if v == min(value)]
    dominated = sum(
        any(g != f and all(b <= a for a, b in zip(f, g, strict=True)) for g in among) for f in best
    )
    premises = {"simplex": sum(weight, Fraction(0)) == 1 and min(weight) >= 0}
    return Case((Relation(dominated, "==", 0, "minimisers that are dominated"),), premises)


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


CLAIMS = (
    Claim(
        "propfair/eq-6",
        "Eqs. (3), (5), (6), (D.3)",
        85,
        "(6) is the Nash product of the utilities M - f, and (D.3) with lambda = 1, p = M",
        printed=r"$\max_\theta \frac1n \sum_i \log u_i(\theta)$ (5), $u_i = M - f_i$; "
        r"$\min_\theta \pi(\theta) := -\frac1n \sum_i \log(M - f_i(\theta))$ (6); $\max_x \prod_i "
        r"(p_i - f_i(x))^{\lambda_i}$ (D.3). If we take $\lambda = \mathbf{1}$ then it resembles "
        r"our objective in (6).",
        statement=r"$\Pi(u) = e^{-n\pi}$, (5) is $-\pi$, and (D.3) is $e^{-n\pi}$ for $\lambda_i "
        r"= 1$, $p_i = M$: all have the same optima.",
        kind="identity",
        hypotheses={"range": "f < M"},
        scope="n = 3, whose terms look the same for any number",
        size="n = 3",
        whose="printed",
        check=identity(residuals, method="simplify"),
        mutants={
            "1/(2n)": ("half of (6)", {"root": 2}),
            "nadir": ("p_i of (D.4) for M", {"base": "p"}),
        },
        reading="'Resembles': the nadir point (D.4) in place of one M for all is another "
        "objective.",
    ),
    Claim(
        "propfair/linear-weighting",
        "(D.1)",
        1011,
        "Minimisers of a convex combination of the losses are always Pareto optimal",
        printed=r"with $\lambda \in \Delta_{n-1}$ in the $(n-1)$-simplex ... Such solution is "
        r"always Pareto optimal",
        statement=r"Every minimiser of $\sum\lambda_i f_i$, $\lambda \ge 0$, $\sum\lambda_i = 1$, "
        r"is Pareto optimal.",
        kind="implication",
        hypotheses={"simplex": "lambda >= 0 of sum one"},
        scope="n = 2, two points",
        whose="printed",
        severity="remark",
        expected="refuted",
        check=counterexample(
            linear,
            "losses {(0, 0), (0, 1)}, lambda = (1, 0): both minimise, (0, 1) is dominated",
            {"set": [[Fraction(0)] * 2, [Fraction(0), Fraction(1)]], "lambda": [Fraction(1), 0]},
        ),
        mutants={"positive": ("lambda = (1/2, 1/2)", {"lambda": [Fraction(1, 2)] * 2})},
        erratum="It holds for lambda > 0. With a weight of zero a minimiser is weakly Pareto "
        "optimal only, unless it is unique.",
    ),
    Claim(
        "propfair/eq-D.2",
        "(D.2)",
        1013,
        "(D.2) with r = 0 is q-FFL",
        printed=r"$\min_x \|f(x) - r\|_q^q := \sum_{i=1}^n (f_i(x) - r_i)^q$, with [...] "
        r"$\|\cdot\|_q$ the $\ell_q$-norm ($q \geq 1$). This method has been applied to Federated "
        r"Learning as $q$-FFL [10] (by assuming $r = \mathbf{0}$). [Section 4: $q$-FFL: $s(t) = "
        r"t^{q+1}$ for some $q \geq 0$.]",
        statement=r"For the same $q$, (D.2) with $r = 0$ and $\sum_i f_i^{q+1}$ order two models "
        r"alike.",
        kind="equivalence",
        hypotheses={"losses": "f >= 0", "q": "q >= 1"},
        scope="two clients, q = 1",
        whose="printed",
        severity="constant",
        check=counterexample(
            powers,
            "losses (3, 0) and (2, 2), q = 1: (D.2) has 3 and 4, q-FFL 9 and 8",
            {"q": 1, "f": [3, 0], "g": [2, 2]},
        ),
        mutants={"q + 1": ("the exponent q + 1", {"shift": 2})},
        erratum="The exponent of (D.2) is $q + 1$ of $q$-FFL: (D.2) with $q = 1$ is FedAvg, "
        "$q$-FFL with $q = 0$.",
        repaired=Repaired(
            title="(D.2) with r = 0 and exponent q + 1 is q-FFL",
            statement=r"$\|f\|_{q+1}^{q+1} = \sum_i f_i^{q+1}$, FedAvg at $q = 0$.",
            kind="identity",
            scope="n = 3, whose terms look the same for any number",
            size="n = 3",
            hypotheses={},
            check=identity(norm, method="simplify"),
            mutants={"q": ("the exponent as printed", {"shift": 0})},
        ),
    ),
)
