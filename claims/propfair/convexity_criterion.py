"""Section 4.1: A_s is convex iff -s'/s'' is."""

from __future__ import annotations

from typing import Any

import sympy

from fairfl.claims.forms import Claim, definite, every, identity

JETS = sympy.symbols("s1:6", positive=True)
"""s', s'', ..., the fifth derivative at one point, as independent numbers."""


def along(expression: Any) -> Any:
    """d/dt of an expression in the derivatives of s."""
    return sum(sympy.diff(expression, a) * b for a, b in zip(JETS, JETS[1:], strict=False))


def residuals(inverted: bool = False) -> dict[str, Any]:
    """The Hessian of A_s along v, and what -s'/s'' has to do with it.

    With s(A) = (1/n) sum s(f_i): A'' = ((1/n) sum s''_i v_i^2 - S'' A'^2)/S', A' = (1/n) sum s'_i
    v_i / S'. By Cauchy-Schwarz it is >= 0 for all v iff (1/n) sum r(f_i) <= r(A), r = s'^2/s'': iff
    r is concave as a function of y = s(t) (for all n >= 2 and f). And d^2 r/dy^2 = (s'/s'')''/s'.
    """
    s1, s2 = JETS[:2]
    r, h = s1**2 / s2, (s2 / s1 if inverted else s1 / s2)
    a, b, c, d, S, T, v, w, e = sympy.symbols("a b c d S T v w e", positive=True)
    first = (a * v + b * w) / (2 * S)
    second = ((c * v**2 + d * w**2) / 2 - T * first**2) / S
    moved = first * e + second * e**2 / 2
    left = S * moved + T * moved**2 / 2
    right = ((a * v * e + c * v**2 * e**2 / 2) + (b * w * e + d * w**2 * e**2 / 2)) / 2
    gap = sympy.expand(left - right)
    return {
        "d^2 r/dy^2": along(along(r) / s1) / s1 - along(along(h)) / s1,
        "A' (n = 2)": gap.coeff(e, 1),
        "A'' (n = 2)": gap.coeff(e, 2),
    }


def schwarz(sign: int = 1) -> tuple[Any, list[Any]]:
    """(sum c v^2)(sum a^2/c) - (sum a v)^2 >= 0, 0 at v = a/c: the largest quotient; three
    clients.
    """
    a, c, v = (sympy.symbols(f"{x}1:4", positive=True) for x in "acv")
    gap = sum(p * x**2 for p, x in zip(c, v, strict=True)) * sum(
        x**2 / p for p, x in zip(c, a, strict=True)
    )
    gap -= sign * sum(p * x for p, x in zip(a, v, strict=True)) ** 2
    pairs = ((i, j) for i in range(3) for j in range(i + 1, 3))
    return gap, [(c[i] * v[i] * a[j] - c[j] * v[j] * a[i]) ** 2 / (c[i] * c[j]) for i, j in pairs]


CLAIMS = (
    Claim(
        "propfair/convexity-criterion",
        223,
        "For s increasing and convex, the mean A_s is convex iff -s'/s'' is",
        number="Section 4.1",
        printed="let s be (strictly) increasing, convex and thrice differentiable. Then, the "
        "generalized mean function A_s is convex iff -s'/s'' is convex (Theorem 1 of [31])",
        statement=r"For $s' > 0$, $s'' > 0$: the Hessian of $A_s$ is positive semidefinite at $f$ "
        r"iff $\frac1n\sum r(f_i) \le r(A_s(f))$, $r = s'^2/s''$; that is concavity of $r$ in $y "
        r"= s(t)$, and $d^2 r/dy^2 = (s'/s'')''/s'$.",
        kind="equivalence",
        hypotheses={
            "strict": "s'' > 0, without which -s'/s'' is undefined; n >= 2; four derivatives for "
            "(s'/s'')''"
        },
        scope="the Hessian for n = 2, Cauchy-Schwarz for n = 3: both look the same for any n",
        size="n = 2",
        check=every(identity(residuals), definite(schwarz, method="together")),
        mutants={
            "s''/s'": ("the ratio turned over", {"inverted": True}),
            "sign": ("plus in Cauchy-Schwarz", {"sign": -1}),
        },
        reading="s'' > 0. For the paper's own s(t) = t, s'' = 0 and the ratio is undefined, while "
        "A_s is convex. With three derivatives only, read 'convex' of -s'/s'' without (s'/s'')''.",
        notes="The hypothesis that s is convex is needed: for s = log t, -s'/s'' = t is convex, "
        "and the geometric mean is not.",
    ),
)
