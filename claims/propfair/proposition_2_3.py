"""Proposition 2.3: Nash bargaining and proportional fairness; and (D.9), (D.10),
the same condition for the harmonic mean.
"""

from __future__ import annotations

from fractions import Fraction

import sympy

from fairfl.claims.forms import Claim, definite, every, identity, proof

Form = tuple[sympy.Expr, list[sympy.Expr]]


def residuals(
    mean: str = "geometric", power: int = 1, factor: Fraction = Fraction(1)
) -> dict[str, sympy.Expr]:
    """The directional derivative of sum log u_i, or of - sum 1/u_i, from u to v, a term."""
    u, v, t = sympy.symbols("u v t", positive=True)
    at = u + t * (v - u)
    slope = sympy.diff(sympy.log(at) if mean == "geometric" else -1 / at, t).subs(t, 0)
    return {"a term of the slope less that of the condition": slope - factor * (v - u) / u**power}


def concavity(mean: str = "geometric", sign: int = 1) -> Form:
    """Minus the second derivative along the segment: w is the point at t, w > 0 for t in [0, 1]."""
    w, t = sympy.symbols("w t", positive=True)
    a, u = sympy.symbols("a", real=True), sympy.symbols("u")  # a = v - u
    at = u + t * a
    second = sympy.diff(sympy.log(at) if mean == "geometric" else -1 / at, t, 2)
    term = a**2 / w**2 if mean == "geometric" else 2 * a**2 / w**3
    return -sign * second.subs(u, w - t * a), [term]


CLAIMS = (
    Claim(
        "propfair/proposition-2.3",
        62,
        "On a convex compact U the Nash bargaining solution is the proportionally fair point; PF "
        "maximises the product",
        printed=r"For any convex compact set $\mathcal{U} \in \mathbb{R}_{++}^n$, a point $u \in "
        r"\mathcal{U}$ is the Nash bargaining solution iff it is proportionally fair. If "
        r"$\mathcal{U}$ is non-convex, then a PF solution, when exists, necessarily maximizes the "
        r"Nash product.",
        statement=r"$g(t) = \sum_i \log(u_i + t(v_i - u_i))$ is concave on $[0,1]$ with $g'(0) = "
        r"\sum_i (v_i - u_i)/u_i$. So $g'(0) \le 0$ gives $\prod v_i \le \prod u_i$, for any $U$; "
        r"and $g'(0) > 0$ gives a larger product on the segment, which a convex $U$ contains.",
        kind="equivalence",
        hypotheses={"positive": "U in R^n_{++}, convex for 'only if'"},
        scope="as stated; the derivatives are those of one term of a sum",
        check=proof("nash.v", "fair", identity(residuals), definite(concavity)),
        mutants={
            "squared": ("the optimality condition (D.10) of the harmonic mean", {"power": 2}),
            "log convex": ("the second derivative's sign turned", {"sign": -1}),
            "1 % more": ("1.01/u_i for 1/u_i in (1)", {"factor": "101/100"}),
        },
    ),
    Claim(
        "propfair/harmonic",
        1078,
        "Maximising the harmonic mean of utilities over a convex set: the condition with squared "
        "denominators",
        number="(D.9), (D.10)",
        printed=r"$\max_{\theta} \frac{n}{\sum_i u_i(\theta)^{-1}}$; optimality condition, "
        r"assuming the utility set convex: $\sum_{i=1}^n \frac{u_i - u_i^*}{(u_i^*)^2} \leq 0$ "
        r"for all $u \in \mathcal{U}$",
        statement=r"$-\sum 1/u_i$, an increasing function of the harmonic mean, is concave along "
        r"segments with slope $\sum (v_i - u_i)/u_i^2$ at $u$: (D.10) is necessary and sufficient "
        r"on a convex $U$.",
        kind="equivalence",
        hypotheses={"positive": "U convex, in R^n_{++}"},
        scope="every n and U: the derivatives are those of one term of a sum",
        check=every(
            identity(residuals, mean="harmonic", power=2), definite(concavity, mean="harmonic")
        ),
        mutants={
            "first power": ("the condition (D.8) of proportional fairness", {"power": 1}),
            "convex": ("the second derivative's sign turned", {"sign": -1}),
        },
    ),
)
