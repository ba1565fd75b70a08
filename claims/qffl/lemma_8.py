"""Lemma 8: the entropy of powered losses grows with q not as printed, but with F^(q+1)."""

from fractions import Fraction
from typing import Any

import sympy
from flint import arb

from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Decomposition
from fairfl.claims.exact import Instance, ball
from fairfl.claims.forms import Claim, Residual, counterexample, definite, every, identity


def slope(
    a: list[Fraction], b: list[Fraction], c: list[Fraction], q: Fraction, power: Fraction
) -> arb:
    """d/dp H(F^power(w_p*)) at p = q, where w_q* = 0; F_k = a_k + b_k w + c_k w^2/2, w_p* minimises
    sum F_k^(p+1).

    Implicit function: the derivative of sum F^p F' in w is sum (p F^(p-1) F'^2 + F^p F''), in p it
    is sum F^p F' log F. H of shares P_k proportional to F_k^s has dH/dw = -s^2 sum P_k (g_k - mean
    g) log F_k, g = F'/F, mean under P.
    """
    turn = moved = total = mean = arb(0)
    devices = [(ball(v), ball(r), ball(k)) for v, r, k in zip(a, b, c, strict=True)]
    for v, r, k in devices:
        weight = v ** ball(q)
        turn += weight * (ball(q) * r * r / v + k)
        moved -= weight * r * v.log()
        total += v ** ball(power)
        mean += v ** ball(power) * r / v
    change = arb(0)
    for v, r, _ in devices:
        change += v ** ball(power) * (r / v - mean / total) * v.log() / total
    return -(ball(power) ** 2) * change * moved / turn


def case(instance: Instance, shift: int = 0) -> Case:
    """Lemma 8 for quadratics of one parameter, with F^(q + shift)."""
    a, b, c, q = (instance[k] for k in "abcq")
    stationary = sum((v**q * r for v, r in zip(a, b, strict=True)), Fraction(0))
    premises = {
        "optimal": stationary == 0 and q == int(q) >= 0,  # sum F^(q+1) is convex, as F >= 0 is
        "convex": min(c) > 0,
        # F_k > 0 everywhere
        "losses": all(r * r < 2 * v * k for v, r, k in zip(a, b, c, strict=True)),
    }
    derivative = slope(a, b, c, Fraction(q), Fraction(q + shift))
    return Case((Relation(ball(-Fraction(1, 10**20)), "<=", derivative, "dH/dp"),), premises)


def residuals(shift: int = 1, factor: int = 1) -> dict[str, Residual]:
    """dH/dw for F^(q+1) at a stationary point: -(q+1)^2 X/S, X = sum F^q F' log F; m = 3."""
    q, w = sympy.symbols("q w", positive=True)
    a = sympy.symbols("a1:4", positive=True)
    b1, b2 = sympy.symbols("b1 b2", real=True)
    b = [b1, b2, -(a[0] ** q * b1 + a[1] ** q * b2) / a[2] ** q]  # stationary
    s = q + shift
    F = [x + y * w for x, y in zip(a, b, strict=True)]
    total = sum(f**s for f in F)
    entropy = sympy.log(total) - s * sum(f**s * sympy.log(f) for f in F) / total
    X = sum(x**q * y * sympy.log(x) for x, y in zip(a, b, strict=True))
    S = sum(x**s for x in a)
    return {"dH/dw": (sympy.diff(entropy, w).subs(w, 0), -factor * s**2 * X / S)}


def implicit(moved: int = 0) -> dict[str, Residual]:
    """dw/dp = -X/A: the derivatives of sum F^p F', F_k = a_k + b_k w + c_k w^2/2, at w = 0."""
    p, w = sympy.symbols("p w", positive=True)
    a = sympy.symbols("a1:4", positive=True)
    b, c = sympy.symbols("b1:4", real=True), sympy.symbols("c1:4", positive=True)
    F = [x + y * w + z * w**2 / 2 for x, y, z in zip(a, b, c, strict=True)]
    slope: Any = sum(f**p * sympy.diff(f, w) for f in F)
    A = sum(p * x ** (p - 1) * y**2 + x**p * z for x, y, z in zip(a, b, c, strict=True))
    X = sum(x ** (p + moved) * y * sympy.log(x) for x, y in zip(a, b, strict=True))
    return {"A": (slope.diff(w).subs(w, 0), A), "X": (slope.diff(p).subs(w, 0), X)}


def product(sign: int = 1) -> Decomposition:
    """dH/dw dw/dp = (-(q+1)^2 X/S) (-X/A) >= 0, as A > 0."""
    q, S, A = sympy.symbols("q S A", positive=True)
    X = sympy.symbols("X", real=True)
    return sign * (-((q + 1) ** 2) * X / S) * (-X / A), [(q + 1) ** 2 * X**2 / (S * A)]


def eleven(instance: Instance, divided: bool = False) -> Case:
    """(11), second sum: the p-derivative of grad F^p at fixed w, F = e, F' = 1, over e^(p-1)."""
    p, t = instance["p"], sympy.symbols("t", positive=True)
    exact = sympy.diff(t * sympy.E ** (t - 1), t).subs(t, p)  # grad F^t = t F^(t-1) F'
    printed = Fraction((p + 1) * p, p if divided else 1)
    derivative = sympy.simplify(exact / sympy.E ** (p - 1))
    return Case((Relation(derivative, "==", printed, "d/dp grad F^p"),))


CLAIMS = (
    Claim(
        "qffl/lemma-8",
        276,
        "The entropy of F^q(w_p*) does not decrease as p grows through q",
        printed=r"Let F(w) be twice differentiable in w with $\nabla^2 F(w) > 0$. The derivative "
        r"of $H(F^q(w_p^*))$ with respect to p evaluated at $p = q$ is non-negative, i.e., "
        r"$\frac{\partial}{\partial p} H(F^q(w_p^*)) |_{p=q} \ge 0$",
        statement=r"As printed, with $w_p^*$ as appendix A.1 defines it, the minimiser of "
        r"$(\frac1m\sum F_k^{p+1})^{1/(p+1)}$.",
        kind="bound",
        hypotheses={
            "convex": "every F_k has a positive definite Hessian",
            "losses": "F_k > 0, as log F_k must exist",
            "optimal": "w_q* = 0 minimises sum F_k^(q+1), which is convex",
        },
        scope="m = 3, one parameter, q = 1",
        severity="constant",
        check=counterexample(
            case,
            "F = (1 + w/2, 2 - 3w/4, 4 + w/4), each + w^2/2, q = 1: dH(F(w_p*))/dp at w_1* = 0",
            {"a": ["1/1", "2/1", "4/1"], "b": ["1/2", "-3/4", "1/4"], "c": ["1/1"] * 3, "q": 1},
            "-1e-20 <= -0.00108946",
        ),
        mutants={"F^(q+1)": ("the entropy of F^(q+1)", {"shift": 1})},
        reading="The proof uses sum grad F_k^p(w_p*) = 0 'by definition', which is the optimum of "
        "the power p, not p + 1. With that w_p* the lemma holds for q >= 1 (where sum F^q is "
        "convex): it is the repaired form, renumbered.",
        erratum="Exponents are off by one: with w_p* minimising sum F^(p+1) the entropy must be "
        "that of F^(q+1). With three or more devices the entropy of F^q can fall. (11)-(12) lack a "
        "factor 1/p (qffl/eq-11), and F_k > 0 must be supposed. After the lemma, 'guaranteed to be "
        "more uniform' needs a positive derivative; it may be zero.",
        repaired=dict(
            title="The entropy of F^(q+1)(w_p*) does not decrease as p grows through q",
            statement=r"$\frac{\partial}{\partial p} H(F^{q+1}(w_p^*))|_{p=q} = "
            r"\frac{(q+1)^2}{\sum F_k^{q+1}} X^\top A^{-1} X \ge 0$, $X = \sum_k F_k^q \ln F_k "
            r"\nabla F_k$, $A = \sum_k (q F_k^{q-1}\nabla F_k \nabla F_k^\top + F_k^q \nabla^2 "
            r"F_k) \succ 0$.",
            kind="identity",
            scope="one parameter, m = 3",
            size="m = 3",
            check=every(
                identity(residuals, "2.27443"),
                identity(implicit, "16.7209; -0.0838813"),
                definite(product, "1083/49"),
            ),
            mutants={
                "F^q": ("the printed power", {"shift": 0}),
                "<= 0": ("the derivative's sign turned", {"sign": -1}),
                "twice": ("twice X in dH/dw", {"factor": 2}),
                "X of F^(q+1)": ("another power in dw/dp", {"moved": 1}),
            },
        ),
    ),
    Claim(
        "qffl/eq-11",
        306,
        "The p-derivative of grad F^p is (ln F^p + 1) grad F^p",
        number="(11), (12)",
        printed=r"$\sum_k \nabla_w^2 F_k^p(w_p^*) \frac{\partial}{\partial p} w_p^* + \sum_k (\ln "
        r"F_k^p(w_p^*) + 1) \nabla_w F_k^p(w_p^*) = 0$",
        kind="identity",
        scope="F = e, p = 7/3",
        severity="step",
        check=counterexample(
            eleven, "F = e, F' = 1, p = 7/3: both sides over e^(p-1)", {"p": "7/3"}, "10/3 == 70/9"
        ),
        mutants={"1/p": ("the right side divided by p", {"divided": True})},
        erratum="A factor 1/p is missing: grad F^p = p F^(p-1) grad F. For p > 0 no sign changes.",
    ),
)
