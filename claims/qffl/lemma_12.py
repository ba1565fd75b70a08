"""Lemma 12: a bound of the Hessian of a powered loss, and the step sizes that rest on it."""

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

Form = tuple[sympy.Expr, list[sympy.Expr]]


def residuals(sign: int = 1) -> dict[str, sympy.Expr]:
    """(28), entry by entry: f(x, y) with arbitrary value and derivatives at 0."""
    x, y = sympy.symbols("x y", real=True)
    q, c = sympy.symbols("q c", positive=True)
    a, b, p, r, s = sympy.symbols("a b p r s", real=True)
    f = c + a * x + b * y + p * x**2 / 2 + r * x * y + s * y**2 / 2
    at, gradient, hessian = {x: 0, y: 0}, {x: a, y: b}, {(x, x): p, (x, y): r, (y, y): s}
    power = f ** (q + 1) / (q + 1)
    return {
        f"d{u}d{v}": sympy.diff(power, u, v).subs(at)
        - (sign * q * c ** (q - 1) * gradient[u] * gradient[v] + c**q * second)
        for (u, v), second in hessian.items()
    }


def upper(factor: int = 1) -> Form:
    """L_q |v|^2 - v' (28) v >= 0 in two dimensions: L I - Hess = A A' with A lower triangular, by
    smoothness.
    """
    q, f = sympy.symbols("q f", positive=True)
    a, b, v, w, i, j, k = sympy.symbols("a b v w i j k", real=True)
    L = sympy.symbols("L", positive=True)
    lost = (i * v + j * w) ** 2 + (k * w) ** 2  # v'(L I - Hess) v
    bent = L * (v**2 + w**2) - lost
    bound = L * f**q + factor * q * f ** (q - 1) * (a**2 + b**2)
    gap = bound * (v**2 + w**2) - (q * f ** (q - 1) * (a * v + b * w) ** 2 + f**q * bent)
    return gap, [
        q * f ** (q - 1) * (a * w - b * v) ** 2,
        f**q * (i * v + j * w) ** 2,
        f**q * (k * w) ** 2,
    ]


def lower(sign: int = 1) -> Form:
    """L_q |v|^2 + v' (28) v >= 0: L I + Hess = A A'."""
    q, f, L = sympy.symbols("q f L", positive=True)
    a, b, v, w, i, j, k = sympy.symbols("a b v w i j k", real=True)
    kept = (i * v + j * w) ** 2 + (k * w) ** 2  # v'(L I + Hess) v
    bent = kept - L * (v**2 + w**2)
    outer = q * f ** (q - 1)
    gap = (
        (L * f**q + outer * (a**2 + b**2)) * (v**2 + w**2)
        + sign * outer * (a * v + b * w) ** 2
        + f**q * bent
    )
    return gap, [
        outer * (a**2 + b**2) * v**2,
        outer * (a**2 + b**2) * w**2,
        outer * (a * v + b * w) ** 2,
        f**q * (i * v + j * w) ** 2,
        f**q * (k * w) ** 2,
    ]


def vanishing(factor: int = 2) -> Form:
    """(1 + 2q) L f^q - L_q >= 0, as |grad f|^2 <= 2 L f: L_q tends to 0 with f for q > 0. g2 = 2 L
    f - slack.
    """
    q, f, L = sympy.symbols("q f L", positive=True)
    slack = sympy.symbols("z", nonnegative=True)
    g2 = 2 * L * f - slack
    return (1 + factor * q) * L * f**q - (L * f**q + q * f ** (q - 1) * g2), [
        q * f ** (q - 1) * slack
    ]


def check(effort: Effort, sign: int = 1, factor: int = 1, vanish: int = 2) -> Evidence:
    """The certificates."""
    at = {"q": "2", "c": "3", "a": "1", "b": "-1/2", "p": "1", "r": "1/3", "s": "-2"}
    point = {"q": "1/2", "f": "2", "L": "3", "z": "1", **dict.fromkeys("abvwijk", "1")}
    return Evidence.of(
        SymbolicZero(Call.of(residuals, sign=sign), "simplify", (at,)),
        DefiniteForm(Call.of(upper, factor=factor), "simplify", (point,)),
        DefiniteForm(Call.of(lower), "simplify", (point,)),
        DefiniteForm(Call.of(vanishing, factor=vanish), "simplify", (point,)),
    )


def undefined(instance: dict[str, Any]) -> Case:
    """(27) is a number: f^(q-1) must be, so f > 0 or q >= 1 (sympy's 0**(q-1) is zoo otherwise)."""
    f, q = sympy.Rational(str(instance["f"])), sympy.Rational(str(instance["q"]))
    power = f ** (q - 1)
    return Case(
        (Relation(0, "==", int(power.is_finite is not True), "f^(q-1) is not a number"),),
        {"losses": f >= 0},
    )


def check_undefined(effort: Effort, f: Fraction = Fraction(0)) -> Evidence:
    """f = 0, q = 1/2."""
    shows = "f(w) = 0, q = 1/2: (27) has 0^(-1/2) |0|^2"
    return Evidence.of(Counterexample.at(Call.of(undefined), shows, f=f, q=Fraction(1, 2)))


def step(instance: dict[str, Any]) -> Case:
    """One step of Algorithm 3, all devices taking part, on F_1 = (w-1)^2/2 and n copies of w^2/2, q
    = 1, L = 1.

    The objective sum F^2/2 before and after w <- w - sum Delta/sum h, Delta = F F', h = F'^2 + F.
    """
    n, w = instance["copies"], instance["w"]

    def devices(x: Fraction) -> list[tuple[Fraction, Fraction, int]]:
        return [((x - 1) ** 2 / 2, x - 1, 1), (x * x / 2, x, n)]

    moved = w - sum((c * f * g for f, g, c in devices(w)), Fraction(0)) / sum(
        (c * (g * g + f) for f, g, c in devices(w)), Fraction(0)
    )
    before, after = (
        sum((c * f * f / 2 for f, _, c in devices(x)), Fraction(0)) for x in (w, moved)
    )
    return Case((Relation(after, "<=", before, "objective after and before"),), {"start": n >= 0})


def check_step(effort: Effort, copies: int = 100) -> Evidence:
    """Devices at their optimum have no say in the step."""
    shows = (
        "F_1 = (w-1)^2/2, 100 copies of w^2/2, q = 1, w = 0: the step raises sum "
        "F^2/2 from 0.125 to 0.179"
    )
    return Evidence.of(Counterexample.at(Call.of(step), shows, copies=copies, w=Fraction(0)))


PRINTED = (
    r"for any $q \ge 0$ and at any point w, $L_q(w) = Lf(w)^q + qf(w)^{q-1} \|\nabla f(w)\|^2$ "
    r"is an upper-bound for the local Lipschitz constant of the gradient of "
    r"$\frac{1}{q+1}f^{q+1}(\cdot)$ at point w."
)
CLAIMS = (
    Claim(
        id="qffl/lemma-12",
        number="Lemma 12",
        line=405,
        title="L f^q + q f^(q-1) |grad f|^2 bounds the local Lipschitz constant of the gradient "
        "of f^(q+1)/(q+1)",
        printed=PRINTED,
        statement=(
            r"For $f(w) > 0$ the Hessian (28) has norm at most $L_q(w)$: $v^\top (L_q I \mp "
            r"(28)) v$ is a sum of squares; $L_q$ is continuous, and at most $(1 + 2q) L f^q$, "
            r"as $\|\nabla f\|^2 \le 2Lf$."
        ),
        kind="bound",
        hypotheses=(
            ("smooth", "f >= 0 twice differentiable, -L I <= Hess <= L I"),
            ("losses", "f(w) > 0"),
        ),
        scope="two dimensions, which hold the gradient and v; every q > 0 (q = 0 is L)",
        expected="holds",
        check=check,
        mutants=(
            Mutant("minus", "the outer product subtracted in (28)", partial(check, sign=-1)),
            Mutant("no gradient", "L f^q alone", partial(check, factor=0)),
            Mutant("1 + q", "(1 + q) L f^q for the limit", partial(check, vanish=1)),
        ),
        reading=(
            "'At point w' is the norm of the Hessian there, and so the Lipschitz constant of "
            "small neighbourhoods, in the limit; no neighbourhood of a given size. Where f(w) = "
            "0 see qffl/lemma-12-zero."
        ),
        gap=(
            "A Lipschitz gradient does not make f twice differentiable; the statement survives, "
            "as the Hessian exists almost everywhere and L_q is continuous. (28) bounds the "
            "Hessian from above only; from below -L f^q does."
        ),
    ),
    Claim(
        id="qffl/lemma-12-zero",
        number="Lemma 12, Algorithms 1 and 3",
        line=405,
        title="L_q(w) is defined for any q >= 0 at any point w",
        printed=PRINTED,
        statement=r"$L f^q + q f^{q-1}\|\nabla f\|^2$ is a number for every $f \ge 0$, $q \ge 0$.",
        kind="existence",
        hypotheses=(("losses", "f >= 0"),),
        scope="f = 0, q = 1/2",
        expected="refuted",
        check=check_undefined,
        mutants=(Mutant("f = 1", "a positive loss", partial(check_undefined, f=Fraction(1))),),
        severity="theorem",
        erratum=(
            "For 0 < q < 1 and f(w) = 0 it is infinity times 0, and so are h_k in Algorithms 1 "
            "and 3, for a device that has reached zero loss. The limit is 0 (as grad f = 0 "
            "there, and |grad f|^2 <= 2 L f): say so, and take it."
        ),
        whose="implied",
    ),
    Claim(
        id="qffl/algorithm-3-descent",
        number="Algorithm 3",
        line=100,
        title="(ours) A step of q-FedSGD with all devices does not raise the objective",
        printed=(
            r"This information is used to compute the step-sizes (weights) for combining the "
            r"updates from each device."
        ),
        statement=(
            r"$w^{t+1} = w^t - \sum_k \Delta_k / \sum_k h_k$ has $f_q(w^{t+1}) \le f_q(w^t)$ for "
            r"$L$-smooth $F_k \ge 0$."
        ),
        kind="implication",
        hypotheses=(("start", "quadratics, q = 1, L = 1"),),
        scope="101 devices",
        expected="refuted",
        check=check_step,
        mutants=(
            Mutant("10 copies", "fewer devices at their optimum", partial(check_step, copies=10)),
        ),
        erratum=(
            "The bound is local: a device with a small loss has a small h_k at w, and a large "
            "one a step later. For one device the step does descend. A bound for all is (1 + 2q) "
            "L c^q wherever every F_k <= c."
        ),
        whose="ours",
    ),
)
