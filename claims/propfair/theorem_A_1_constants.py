"""The constants in the proof of theorem A.1, line by line."""

from __future__ import annotations

import sympy

from fairfl.claims.claim import Claim
from fairfl.claims.forms import definite, every, identity

Form = tuple[sympy.Expr, list[sympy.Expr]]


def identities(spread: int = 6, condition: int = 24) -> dict[str, sympy.Expr]:
    """(A.12), (A.27), (A.30), (A.34)-(A.39): what is an equality. a_j is (A.34)'s right side, S(j)
    the sum up to j.
    """
    K, L, eta, mu, c, P, Q, e = sympy.symbols("K L eta mu c P Q e", positive=True)
    j = sympy.symbols("j", nonnegative=True)
    r = 1 + 1 / K

    def a(m: sympy.Expr) -> sympy.Expr:
        return K * (r**m - 1) * c

    def total(m: sympy.Expr) -> sympy.Expr:
        return (K**2 * (r**m - 1) - K * m) * c

    # (A.38), Q = sum K_i^4, P = sum p_i^2
    limit = 1 / (L * sympy.sqrt(condition * (e - 2) * P * Q))
    drift = (e - 2) * K**2 * eta**2 * 6 * K  # of ||grad F||^2 in (A.35)
    return {
        "(A.10) to (A.12): ||grad F||^2": (L * eta**2 / 2 * mu**2 - eta * mu)
        + eta * mu * (1 - L * eta / 2 * mu),
        "(A.10) to (A.12): inner product": L * eta**2 * mu - eta + eta * (1 - L * eta * mu),
        "(A.27): Young's pair, alpha = 2K - 1": (1 + 1 / (2 * K - 1)) * (2 * K)
        - (2 * K) ** 2 / (2 * K - 1),
        "(A.30): 3 L^2 of (A.29)": 2 * K * eta**2 * 3 * L**2 - spread * K * eta**2 * L**2,
        "(A.34): start": a(sympy.Integer(0)),
        "(A.34): step": a(j + 1) - r * a(j) - c,
        "(A.35): start": total(sympy.Integer(0)),
        "(A.35): step": total(j + 1) - total(j) - a(j),
        "(A.35): all K": total(K) - K**2 * (r**K - 2) * c,
        "(A.36): ||grad F||^2": eta / 2 * 2 * L**2 * P * K * drift
        - 6 * (e - 2) * eta**3 * L**2 * P * K**4,
        "(A.37)": eta / 2 * (2 * L**2 * P * K * (e - 2) * K**2 * eta**2)
        - eta / 2 * P * 2 * (e - 2) * eta**2 * L**2 * K**3,
        "(A.39): at the limit": (6 * (e - 2) * L**2 * P * Q * limit**2) - sympy.Rational(1, 4),
        "(A.39): sum": (11 * mu - 6) / 12 - sympy.Rational(1, 4) - (11 * mu - 9) / 12,
    }


def first_coefficient(twelfths: int = 6) -> Form:
    """(A.14): L eta mu = 1/(6 (1+z)), z >= 0."""
    mu = sympy.symbols("mu", positive=True)
    z = sympy.symbols("z", nonnegative=True)
    x = 1 / (6 * (1 + z))
    left = mu * (1 - x / 2) - (1 - x) / 2
    return left - (11 * mu - twelfths) / 12, [mu * z / (12 * (1 + z)), x / 2]


def second_coefficient(sign: int = 1) -> Form:
    """(A.15), mu = 1 + m >= 1."""
    L, eta = sympy.symbols("L eta", positive=True)
    m = sympy.symbols("m", nonnegative=True)
    mu = 1 + sign * m
    return eta / 2 - (L * eta**2 / 2 + eta * (1 - L * eta * mu) / 2), [L * eta**2 * m / 2]


def growth() -> Form:
    """(A.32), second step: K = 2 + k."""
    k = sympy.symbols("k", nonnegative=True)
    K = 2 + k
    return 1 / K - 1 / (2 * K - 1) - 1 / (6 * K), [(4 * k + 3) / (6 * K * (2 * K - 1))]


def growth_step() -> Form:
    """(A.32), first step: eta L = 1/(6 K (1+z)), z >= 0."""
    K = sympy.symbols("K", positive=True)
    z = sympy.symbols("z", nonnegative=True)
    rate = 1 / (6 * K * (1 + z))
    return 1 / (6 * K) - 6 * K * rate**2, [z * (z + 2) / (6 * K * (1 + z) ** 2)]


def between_mean(n: int = 3) -> Form:
    """(A.22) and (A.29): (a+b)^2 <= 2 (a^2 + b^2) and (a+b+c)^2 <= n (a^2 + b^2 + c^2), n = 3;
    summed.
    """
    a, b, c, d, e = sympy.symbols("a b c d e", real=True)
    gap = 2 * (a**2 + b**2) - (a + b) ** 2 + n * (c**2 + d**2 + e**2) - (c + d + e) ** 2
    return gap, [(a - b) ** 2, (c - d) ** 2, (d - e) ** 2, (c - e) ** 2]


def young(shift: int = 0) -> Form:
    """(A.27): (1 + 1/(2K-1)) a^2 + 2K b^2 - (a+b)^2 is a square; K >= 1, K = 1 + k."""
    a, b = sympy.symbols("a b", real=True)
    k = sympy.symbols("k", nonnegative=True)
    alpha = 2 * (1 + k) - 1
    gap = (1 + 1 / alpha) * a**2 + (1 + alpha + shift) * b**2 - (a + b) ** 2
    return gap, [(a - alpha * b) ** 2 / alpha]


CLAIMS = (
    Claim(
        "propfair/theorem-A.1-constants",
        "(A.7)-(A.43)",
        440,
        "Every constant in the proof of theorem A.1",
        printed=r"(A.14) $\leq -\eta \frac{11\mu - 6}{12}$; (A.15) $\leq \frac{\eta}{2}$; (A.32) "
        r"$1 + \frac{1}{2K_i - 1} + 6K_i \eta^2 L^2 \leq 1 + \frac{1}{K_i}$; (A.35) $(e - 2)K_i^2 "
        r"(\dots)$; (A.39) $\geq \frac{11\mu - 9}{12}$",
        statement=r"Each of (A.12), (A.14), (A.15), (A.22), (A.27), (A.29), (A.30), (A.32), "
        r"(A.34)-(A.39) follows from the one before with the constants printed, given $\mu \ge "
        r"1$, $K_i \ge 2$ in (A.32), $6 \eta L K_i \le 1$ and (A.3).",
        kind="bound",
        hypotheses={
            "steps": "K_i >= 1, so mu >= 1; K_i >= 2 in part III",
            "step size": "eta <= 1/(6 L K_i) and (A.3)",
        },
        whose="printed",
        check=every(
            identity(identities, method="simplify"),
            *(
                definite(form, method="together")
                for form in (first_coefficient, second_coefficient, growth, growth_step, young)
            ),
            definite(between_mean),
        ),
        mutants={
            "5 for 6": ("5 K eta^2 L^2 in (A.30)", {"spread": 5}),
            "23 for 24": ("a larger step size in (A.3)", {"condition": 23}),
            "11 mu - 5": ("in (A.14)", {"twelfths": 5}),
            "mu <= 1": ("in (A.15)", {"sign": -1}),
            "2 for 3": ("(a+b+c)^2 <= 2 (a^2+b^2+c^2) in (A.29)", {"n": 2}),
            "2K - 1": ("the factor 2K of (A.27), less one", {"shift": -1}),
        },
        rests_on=("propfair/eq-4",),
        notes="(A.26) and (A.27) are printed with = where the assumption and Young's inequality "
        "give <=. (1 + 1/K)^K <= e in (A.35) is the tangent of log.",
    ),
)
