"""(A.13): the inner product of gradient and drift, from (A.12)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from fairfl.claims.claim import Claim
from fairfl.claims.forms import definite


def whole(share: Fraction = Fraction(1, 2), sign: int = 1) -> tuple[Any, list[Any]]:
    """(A.13) less (A.12) before the expectation: u = ∇F, s = Σ p_i Σ_j (g - ∇F), two coordinates;
    L η μ = 1/(6 (1 + z)).
    """
    eta, mu = sympy.symbols("eta mu", positive=True)
    z = sympy.Symbol("z", nonnegative=True)
    u, s = sympy.symbols("u0 u1", real=True), sympy.symbols("s0 s1", real=True)
    rate = 1 / (6 * (1 + z))  # L η μ
    factor = eta * (1 - rate)
    left, right = sum(v * v for v in u), sum(v * v for v in s)
    inner = sum(a * b for a, b in zip(u, s, strict=True))
    half = sympy.Rational(str(share))
    more = rate * eta / (2 * mu)  # L η²/2
    descent = -eta * mu * (1 - rate / 2)
    before = descent * left - sign * factor * inner + more * right
    after = (descent + factor / 2) * left + (more + half * factor) * right
    weight = eta * (5 + 6 * z) / (12 * (1 + z))
    return after - before, [weight * (a + b) ** 2 for a, b in zip(u, s, strict=True)]


CLAIMS = (
    Claim(
        "propfair/eq-A.13",
        "(A.13)",
        464,
        "The last line of (A.13) follows from (A.12)",
        printed=r"$EF(\theta_{t+1})\le\dots+\eta(1-L\eta\mu)E[\|\nabla "
        r"F\|\cdot\|\sum_ip_i\sum_j(\nabla f_i(\theta_{t,j-1}^{(i)})-\nabla F)\|]+\dots\le "
        r"EF(\theta_t)+(-\eta\mu(1-\frac{L\eta}2\mu)+\frac12\eta(1-L\eta\mu))E\|\nabla "
        r"F(\theta_t)\|^2+(\frac{L\eta^2}2+\frac12\eta(1-L\eta\mu))E\|\sum_ip_i\sum_j(g_{t,j}^{(i)}-"
        r"\nabla F(\theta_t))\|^2$, where we used the inequality $ab\le\frac12(a^2+b^2)$ in the "
        r"second line.",
        statement=r"With $S = \sum_i p_i \sum_j (g - \nabla F)$ and $L\eta\mu \le \frac16$: "
        r"$-\eta(1 - L\eta\mu)\langle\nabla F, S\rangle \le \frac12\eta(1 - L\eta\mu)(\|\nabla "
        r"F\|^2 + \|S\|^2)$, for every outcome of the noise; the expectation of it is (A.13).",
        kind="bound",
        hypotheses={"step size": "6 eta L K_i <= 1 for all i"},
        scope="two coordinates, whose terms look the same for any number",
        size="d = 2",
        whose="printed",
        check=definite(whole, method="together"),
        mutants={
            "0.495": ("1 % off the half of ||S||^2", {"share": Fraction(99, 200)}),
            "0.505": ("1 % more than it, no longer (A.13)", {"share": Fraction(101, 200)}),
            "plus": ("the inner product of (A.12) added", {"sign": -1}),
        },
        gap="the statement survives: the line between has the drift of the true gradients, D, "
        "where the last has S = D + noise. ab <= (a^2 + b^2)/2 gives E||D||^2, not E||S||^2. "
        "Apply it to (A.12) directly. (E||D||^2 <= E||S||^2 is true as well, by the step size.)",
    ),
)
