"""FedFB, the remark after assumption 1: do convex losses have a positive definite weighted
Hessian?
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import sympy

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence


def definite(instance: dict[str, Any]) -> Case:
    """Losses (w_1 - c_y)^power of a model with ``size`` parameters: (75) at w_λ, two groups of
    equal size, both with the same λ.

    With a second parameter that no loss depends on, as under a feature that is constant, the
    Hessian has a row of zeros.
    """
    lam, power, size, w = (instance[k] for k in ("lam", "power", "size", "w"))
    one, two = (w - c for c in instance["centre"])
    slope = lam * one ** (power - 1) + (1 - lam) * two ** (power - 1)
    curve = power * (power - 1) * (lam * one ** (power - 2) + (1 - lam) * two ** (power - 2))
    premises = {
        "convex": power % 2 == 0,
        "stationary points": len(set(instance["centre"])) == 2,
        "Λ": 0 <= lam <= 1,
        "w_λ": slope == 0,
    }
    return Case((Relation(0, "<", 2 * curve if size == 1 else 0, "determinant of (75)"),), premises)


def corners(share: int = 2) -> dict[str, Any]:
    """v'(75)v is the mean of its values at the 2^A corners of Λ, with weights Π θ_a or 1 - θ_a; A
    = 2, λ_a = 2 s_a θ_a, h = v'∇²L'v.
    """
    theta, s = sympy.symbols("t0 t1"), sympy.symbols("s0 s1")
    h = {(y, a): sympy.Symbol(f"h{y}{a}") for y in (0, 1) for a in (0, 1)}
    at = sum(
        2 * s[a] * theta[a] * h[0, a] + (share - 2 * theta[a]) * s[a] * h[1, a] for a in (0, 1)
    )
    mean = 0
    for choice in product((0, 1), repeat=2):
        weight = sympy.prod([1 - t if y else t for y, t in zip(choice, theta, strict=True)])
        mean += weight * sum(2 * s[a] * h[choice[a], a] for a in (0, 1))
    return {"(75)": at - mean}


def _check(effort: Effort, power: int = 4, size: int = 2) -> Evidence:
    first = Counterexample.at(
        Call.of(definite),
        "(w - 1)^4 and (w + 1)^4, λ = 0: w_λ = -1, where the Hessian is 0",
        lam=Fraction(0),
        power=power,
        size=1,
        w=Fraction(-1),
        centre=[1, -1],
    )
    second = Counterexample.at(
        Call.of(definite),
        "(w_1 ± 1)² and a second weight on a constant feature: singular for every λ",
        lam=Fraction(1, 2),
        power=2,
        size=size,
        w=Fraction(0),
        centre=[1, -1],
    )
    return Evidence.of(*((first,) if power == 2 else (second,) if size == 1 else (first, second)))


def _check_repaired(effort: Effort, share: int = 2) -> Evidence:
    names = ["t0", "t1", "s0", "s1", *(f"h{y}{a}" for y in (0, 1) for a in (0, 1))]
    point = {name: f"{k + 1}/{k + 4}" for k, name in enumerate(names)}
    return Evidence.of(SymbolicZero(Call.of(corners, share=share), "expand", (point,)))


PRINTED = (
    r"$\sum_{a=0}^{A-1}[\lambda_a\nabla^2L'_{0,a}(w_\lambda)+(2\frac{n_{\star,a}}n-\lambda_a)"
    r"\nabla^2L'_{1,a}(w_\lambda)]\succ0$ for all $\lambda\in\Lambda$ (75). If "
    r"$L'_{y,a}(w_\lambda)$ is convex for all $y\in\{0,1\},a\in[A]$, the condition (75) holds "
    r"unless for all $a$, $L'_{0,a}(\cdot)$, $L'_{1,a}(\cdot)$ share their stationary points, "
    r"which is very unlikely."
)

CLAIMS = (
    Claim(
        id="fedfb/assumption-1-remark",
        number="After assumption 1",
        line=1176,
        title="convex losses satisfy (75) unless they share their stationary points",
        printed=PRINTED,
        statement=r"If every $L'_{y,a}$ is convex and $L'_{0,a}$, $L'_{1,a}$ share no stationary "
        r"point, (75) holds.",
        kind="implication",
        hypotheses=(
            ("convex", "every L'_{y,a} is convex"),
            ("stationary points", "those of L'_{0,a} and L'_{1,a} differ"),
            ("Λ", "0 <= λ_a <= 2 n_a/n"),
            ("w_λ", "minimises the weighted sum"),
        ),
        scope="A = 2, one and two parameters",
        expected="holds-repaired",
        check=_check,
        mutants=(
            Mutant("squares", "squares for fourth powers", partial(_check, power=2)),
            Mutant("one weight", "without the constant feature", partial(_check, size=1)),
        ),
        severity="remark",
        erratum=r"Stationary points are not what matters. At the ends of $\Lambda$ one of the two "
        r"losses has no weight, and a convex loss may have a singular Hessian at its minimum (or "
        r"everywhere: collinear features, more weights than people). Require that each of the "
        r"$2^A$ sums $\sum_a2\frac{n_{\star,a}}n\nabla^2L'_{y_a,a}(w_\lambda)$ is positive "
        r"definite, which a ridge term in every loss gives.",
    ),
    Claim(
        id="fedfb/assumption-1-remark/repaired",
        number="After assumption 1",
        line=1176,
        title="(75) holds for all λ in Λ where it holds at the 2^A corners of Λ",
        printed=PRINTED,
        statement=r"The matrix of (75) at $\lambda$ is a mean, with non-negative weights, of the "
        r"$2^A$ matrices $\sum_a2\frac{n_{\star,a}}n\nabla^2L'_{y_a,a}$, $y\in\{0,1\}^A$, at the "
        r"same $w$: it is positive definite for all $\lambda$ iff all of them are; strongly convex "
        r"losses suffice.",
        kind="equivalence",
        hypotheses=(),
        scope="A = 2",
        expected="holds",
        check=_check_repaired,
        mutants=(Mutant("n_a/n", "n_a/n for 2 n_a/n", partial(_check_repaired, share=1)),),
    ),
)
