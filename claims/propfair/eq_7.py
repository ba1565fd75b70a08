"""Equation (7): gradient and Hessian of -log(M - f)."""

from __future__ import annotations

import sympy

from fairfl.claims.forms import Claim, identity


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


CLAIMS = (
    Claim(
        "propfair/eq-7",
        139,
        "Gradient and Hessian of -log(M - f)",
        printed=r"$\nabla(\varphi \circ f_i) = \frac{\nabla f_i}{M - f_i}, \quad \nabla^2(\varphi "
        r"\circ f_i) = \frac{(M - f_i)\nabla^2 f_i + (\nabla f_i)(\nabla f_i)^\top}{(M - f_i)^2}$",
        statement="As printed, entry by entry: an entry depends on f, two first derivatives and "
        "one second derivative.",
        kind="identity",
        hypotheses={"smooth": "f twice differentiable, f < M"},
        scope="every dimension",
        check=identity(residuals),
        mutants={
            "minus": ("the outer product subtracted", {"sign": -1}),
            "cubed": ("the denominator to the third power", {"power": 3}),
        },
    ),
)
