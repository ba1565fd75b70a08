"""Theorem A.1 without unbiased gradients: the constants of theorem 3.3's repaired form, line by
line. Ours.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import sympy

from fairfl.claims.call import Call
from fairfl.claims.certificates import DefiniteForm, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.propfair.cosines import NUMBERS, biased_psi
from fairfl.claims.propfair.theorem_A_1_constants import (
    first_coefficient,
    growth,
    second_coefficient,
)

Form = tuple[Any, list[Any]]


def identities(
    condition: int = 48, lead: int = 3, numbers: dict[str, int] = NUMBERS
) -> dict[str, Any]:
    """What becomes of (A.25), (A.30) and (A.36)-(A.39), s = sigma~_l^2, g = sigma~_g^2, b = ||grad
    pi||^2.
    """
    K, L, eta, P, Q, e, s, g, b = sympy.symbols("K L eta P Q e s g b", positive=True)
    # Young's 2K, four parts of g: error, drift, spread, grad pi
    step = 2 * K * eta**2 * 4 * (s + g + b)
    drift = (e - 2) * K**2 * step  # (A.35)
    squared = lead * P * K * (K * (s + g) + L**2 * drift)  # (A.25), three parts of g - grad pi
    psi = P * sum(biased_psi(eta, L, K, s, g, e - 2, numbers))
    gradient = 12 * (e - 2) * eta**3 * L**2 * P * K**4 * b
    limit = 1 / (L * sympy.sqrt(condition * (e - 2) * P * Q))
    return {
        "Psi~ and the gradient's part": eta / 2 * squared - psi - gradient,
        "(A.39)": 12 * (e - 2) * L**2 * P * Q * limit**2 - sympy.Rational(1, 4),
    }


def parts(four: int = 4) -> Form:
    """(a+b+c)^2 <= 3 (...) and (a+b+c+d)^2 <= 4 (...), summed."""
    v = sympy.symbols("a b c d", real=True)
    gap = 3 * sum(x**2 for x in v[:3]) - sum(v[:3]) ** 2 + four * sum(x**2 for x in v) - sum(v) ** 2
    pairs = [(x, y) for k, x in enumerate(v) for y in v[k + 1 :]]
    return gap, [(x - y) ** 2 * (2 if v[3] not in (x, y) else 1) for x, y in pairs]


def pathwise(sign: int = 1) -> Form:
    """-<b, x> <= (b^2 + x^2)/2, without an expectation."""
    b, x = sympy.symbols("b x", real=True)
    return (b**2 + sign * x**2) / 2 + b * x, [(b + x) ** 2 / 2]


def growth_step(parts_of_g: int = 4) -> Form:
    """1/(2K-1) + 2K 4 eta^2 L^2 <= 1/K for K = 2 + k, with eta L = 1/(6 K (1+z))."""
    k, z = sympy.symbols("k z", nonnegative=True)
    K = 2 + k
    left = 1 / (2 * K - 1) + 2 * K * parts_of_g / (6 * K * (1 + z)) ** 2
    # 1/K - 1/(2K-1) = (K-1)/(K (2K-1)), and (K-1)/(2K-1) - 2/9 = (5K-7)/(9 (2K-1))
    return 1 / K - left, [
        (5 * k + 3) / (9 * K * (2 * K - 1)),
        2 * z * (z + 2) / (9 * K * (1 + z) ** 2),
    ]


def check(
    effort: Effort, condition: int = 48, four: int = 4, lead: int = 3, sign: int = 1, **numbers: int
) -> Evidence:
    """All lines; those of theorem A.1 that do not change, too."""
    at = {
        "K": "3",
        "L": "2",
        "eta": "1/40",
        "P": "1/3",
        "Q": "7",
        "e": "27/10",
        "s": "1",
        "g": "2",
        "b": "1/2",
    }
    return Evidence.of(
        SymbolicZero(
            Call.of(identities, condition=condition, lead=lead, numbers={**NUMBERS, **numbers}),
            "simplify",
            (at,),
        ),
        DefiniteForm(Call.of(parts, four=four), "expand", ({v: "1" for v in "abcd"},)),
        DefiniteForm(Call.of(pathwise, sign=sign), "expand", ({"b": "1", "x": "-1"},)),
        DefiniteForm(Call.of(growth_step), "together", ({"k": "0", "z": "0"},)),
        DefiniteForm(Call.of(first_coefficient), "together", ({"mu": "2", "z": "0"},)),
        DefiniteForm(
            Call.of(second_coefficient), "together", ({"L": "2", "eta": "1/9", "m": "1"},)
        ),
        DefiniteForm(Call.of(growth), "together", ({"k": "0"},)),
    )


CLAIMS = (
    Claim(
        id="propfair/theorem-3.3-biased",
        number="Theorem 3.3",
        line=634,
        title="(ours) The constants of theorem A.1 for gradients that are not unbiased",
        printed=(
            r"It suffices to determine the constants in Assumptions 3.1 after adding the "
            r"composition $\varphi \circ f_i$."
        ),
        statement=(
            r"With $E\|g - \nabla\phi_i\|^2 \le s$ only: $\|g - \nabla\pi\|^2 \le 3(\dots)$ in "
            r"three parts, $\|g\|^2 \le 4(\dots)$ in four, so $\frac{1}{2K-1} + 8 K \eta^2 "
            r"\tilde L^2 \le \frac1K$ for $K \ge 2$, $\tilde\Psi = \frac{3\eta}{2}[\dots]$ as in "
            r"propfair/theorem-3.3/repaired, and 48 for 24 makes (A.39) hold."
        ),
        kind="bound",
        hypotheses=(
            ("steps", "K_i >= 1, K_i >= 2 in part III"),
            ("step size", "eta <= 1/(6 L~ K_i), and with 48 in (8)"),
        ),
        scope="as stated",
        expected="holds",
        check=check,
        mutants=(
            Mutant("24 for 48", "the printed step size", partial(check, condition=24)),
            Mutant("3 for 4", "(a+b+c+d)^2 <= 3 (...)", partial(check, four=3)),
            Mutant("2 for 3", "the unbiased split in (A.25)", partial(check, lead=2)),
            Mutant("sign", "Young's inequality with a minus", partial(check, sign=-1)),
            Mutant("7 for 8", "in Psi~'s second sum", partial(check, drift=7)),
            Mutant("K^3 for K^4", "in Psi~'s second sum", partial(check, fourth=3)),
            Mutant("K for K^2", "in Psi~'s first sum", partial(check, square=1)),
        ),
        rests_on=("propfair/eq-4",),
        whose="ours",
    ),
)
