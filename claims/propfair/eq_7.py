"""Equation (7): gradient and Hessian of -log(M - f)."""

from __future__ import annotations

from functools import partial

import sympy

from fairfl.claims.call import Call
from fairfl.claims.certificates import SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence


def residuals(sign: int = 1, power: int = 2) -> dict[str, sympy.Expr]:
    """Chain rule for f(x, y) with arbitrary values of f and its derivatives: a 2-jet stands for
    every smooth f.
    """
    x, y, M, c, a, b, p, q, r = sympy.symbols("x y M c a b p q r", real=True)
    f = c + a * x + b * y + p * x**2 / 2 + q * x * y + r * y**2 / 2
    phi = -sympy.log(M - f)
    at = {x: 0, y: 0}
    gradient, hessian = {x: a, y: b}, {(x, x): p, (x, y): q, (y, y): r}
    found = {f"d{u}": sympy.diff(phi, u).subs(at) - gradient[u] / (M - c) for u in (x, y)}
    for (u, v), second in hessian.items():
        printed = ((M - c) * second + sign * gradient[u] * gradient[v]) / (M - c) ** power
        found[f"d{u}d{v}"] = sympy.diff(phi, u, v).subs(at) - printed
    return found


def check(effort: Effort, sign: int = 1, power: int = 2) -> Evidence:
    """The certificates."""
    spot = {"M": "3", "c": "1/2", "a": "2/3", "b": "-1", "p": "4", "q": "1/7", "r": "-2"}
    return Evidence.of(
        SymbolicZero(Call.of(residuals, sign=sign, power=power), "together", (spot,))
    )


CLAIMS = (
    Claim(
        id="propfair/eq-7",
        number="Eq. (7)",
        line=139,
        title="Gradient and Hessian of -log(M - f)",
        printed=(
            r"$\nabla(\varphi \circ f_i) = \frac{\nabla f_i}{M - f_i}, \quad \nabla^2(\varphi "
            r"\circ f_i) = \frac{(M - f_i)\nabla^2 f_i + (\nabla f_i)(\nabla f_i)^\top}{(M - "
            r"f_i)^2}$"
        ),
        statement=(
            r"As printed, entry by entry: an entry depends on f, two first derivatives and one "
            r"second derivative."
        ),
        kind="identity",
        hypotheses=(("smooth", "f twice differentiable, f < M"),),
        scope="every dimension",
        expected="holds",
        check=check,
        mutants=(
            Mutant("minus", "the outer product subtracted", partial(check, sign=-1)),
            Mutant("cubed", "the denominator to the third power", partial(check, power=3)),
        ),
    ),
)
