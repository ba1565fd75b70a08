"""(A.13): the inner product of gradient and drift, from (A.12), and the line between."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy

from fairfl.claims.call import Call
from fairfl.claims.certificates import DefiniteForm, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence

Form = tuple[Any, list[Any]]


def whole(share: Fraction = Fraction(1, 2), sign: int = 1) -> Form:
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


def answer() -> Form:
    """<Δ, ξ> >= -c |ξ|² where |Δ|² <= c² |ξ|²: 2 <Δ, ξ> + |Δ|²/c + c |ξ|² is a square, Δ² = c² ξ²
    - r.
    """
    c = sympy.Symbol("c", positive=True)
    d, x = sympy.symbols("d x", real=True)
    return 2 * d * x + d * d / c + c * x * x, [(d + c * x) ** 2 / c]


def growth(rate: int = 1) -> dict[str, Any]:
    """A change of θ by η|ξ| grows by 1 + x, x = η L, at each local step; it changes the m gradients
    that follow by at most ((1 + x)^m - 1)|ξ|.
    """
    x = sympy.Symbol("x", positive=True)
    m = sympy.Symbol("m", integer=True, nonnegative=True)

    def total(k: sympy.Expr) -> sympy.Expr:
        return (1 + x) ** k - 1

    return {
        "start": total(sympy.Integer(0)),
        "step": total(m + 1) - total(m) - rate * x * (1 + x) ** m,
    }


def compound(step: int = 1) -> Form:
    """(1 + x)^m (1 - m x) does not rise with m, so (1 + x)^m <= 1/(1 - m x)."""
    x = sympy.Symbol("x", positive=True)
    m = sympy.Symbol("m", nonnegative=True)
    return (1 - m * x) - (1 + x) * (1 - (m + step) * x), [(m + 1) * x**2]


def room(limit: int = 6) -> Form:
    """1 - 2 ((1 + x)^m - 1) >= 0 with 1/(1 - y) for the power, y = m x = 1/(limit (1 + z))."""
    z = sympy.Symbol("z", nonnegative=True)
    y = 1 / (limit * (1 + z))
    return (1 - 2 * (1 / (1 - y) - 1)), [(3 + 6 * z) / (5 + 6 * z)]


def check(effort: Effort, share: Fraction = Fraction(1, 2), sign: int = 1) -> Evidence:
    """Young's inequality, under the expectation."""
    point = {"eta": "1/7", "mu": "2", "z": "0", "u0": "1", "u1": "-1/2", "s0": "-1", "s1": "3"}
    return Evidence.of(DefiniteForm(Call.of(whole, share=share, sign=sign), "together", (point,)))


def check_between(effort: Effort, rate: int = 1, step: int = 1, limit: int = 6) -> Evidence:
    """What the noise does to the later drift."""
    return Evidence.of(
        DefiniteForm(Call.of(answer), "expand", ({"c": "1/2", "d": "-1", "x": "1/3"},)),
        SymbolicZero(Call.of(growth, rate=rate), "simplify", ({"x": "1/9", "m": "3"},)),
        DefiniteForm(Call.of(compound, step=step), "expand", ({"x": "1/9", "m": "3"},)),
        DefiniteForm(Call.of(room, limit=limit), "together", ({"z": "0"}, {"z": "4"})),
    )


PRINTED = (
    r"$EF(\theta_{t+1})\le\dots+\eta(1-L\eta\mu)E[\|\nabla F\|\cdot\|\sum_ip_i\sum_j(\nabla "
    r"f_i(\theta_{t,j-1}^{(i)})-\nabla F)\|]+\dots\le "
    r"EF(\theta_t)+(-\eta\mu(1-\frac{L\eta}2\mu)+\frac12\eta(1-L\eta\mu))E\|\nabla "
    r"F(\theta_t)\|^2+(\frac{L\eta^2}2+\frac12\eta(1-L\eta\mu))E\|\sum_ip_i\sum_j(g_{t,j}^{(i)}-"
    r"\nabla F(\theta_t))\|^2$, where we used the inequality $ab\le\frac12(a^2+b^2)$ in the second "
    r"line."
)
STEP = ("step size", "6 eta L K_i <= 1 for all i")

CLAIMS = (
    Claim(
        id="propfair/eq-A.13",
        number="(A.13)",
        line=464,
        title="The last line of (A.13) follows from (A.12)",
        printed=PRINTED,
        statement=(
            r"With $S = \sum_i p_i \sum_j (g - \nabla F)$ and $L\eta\mu \le \frac16$: $-\eta(1 - "
            r"L\eta\mu)\langle\nabla F, S\rangle \le \frac12\eta(1 - L\eta\mu)(\|\nabla F\|^2 + "
            r"\|S\|^2)$, for every outcome of the noise; the expectation of it is (A.13)."
        ),
        kind="bound",
        hypotheses=(STEP,),
        scope="two coordinates, whose terms look the same for any number",
        expected="holds",
        check=check,
        mutants=(
            Mutant("0.495", "1 % off the half of ||S||^2", partial(check, share=Fraction(99, 200))),
            Mutant(
                "0.505",
                "1 % more than it, no longer (A.13)",
                partial(check, share=Fraction(101, 200)),
            ),
            Mutant("plus", "the inner product of (A.12) added", partial(check, sign=-1)),
        ),
        gap=(
            "the statement survives: the line between has the drift of the true gradients, D, "
            "where the last has S = D + noise. ab <= (a^2 + b^2)/2 gives E||D||^2, not E||S||^2. "
            "Apply it to (A.12) directly. (E||D||^2 <= E||S||^2 is true as well, by the step size: "
            "propfair/eq-A.13-between.)"
        ),
    ),
    Claim(
        id="propfair/eq-A.13-between",
        whose="implied",
        number="(A.13)",
        line=460,
        title="The drift of the true gradients has no larger second moment than that of the "
        "sampled ones",
        printed=PRINTED,
        statement=(
            r"$E\|D\|^2 \le E\|S\|^2$ for $D = \sum_i p_i \sum_j (\nabla f_i(\theta_{t,j-1}^{(i)}) "
            r"- \nabla F)$, $S = D + \sum_i p_i \sum_j \xi_{ij}$: $E\|S\|^2 - E\|D\|^2 \ge \sum_i "
            r"p_i^2 \sum_j (1 - 2((1 + \eta L)^{K_i - j} - 1)) E\|\xi_{ij}\|^2 \ge 0$."
        ),
        kind="bound",
        hypotheses=(
            STEP,
            ("noise", "unbiased given the past, independent between clients"),
            ("smooth", "each f_i is L-smooth"),
        ),
        scope=(
            "the steps of the proof: the coupling that gives (1 + eta L)^m - 1, Cauchy-Schwarz, "
            "Bernoulli, the constant"
        ),
        expected="holds",
        check=check_between,
        mutants=(
            Mutant("2 x", "twice the growth of a change", partial(check_between, rate=2)),
            Mutant("m + 2", "1/(1 - (m + 1) x) in Bernoulli", partial(check_between, step=2)),
            Mutant("eta L K <= 1/2", "three times the step", partial(check_between, limit=2)),
        ),
        notes=(
            "Noise xi_ij changes later drift by at most c = (1 + eta L)^(K-j) - 1 times its own "
            "size, and is orthogonal to the earlier, so E<D, noise> >= -c E||xi||^2; c <= 1/5 at 6 "
            "eta L K = 1. Beyond the step size it fails: one client, f = L theta^2/2, eta L = 1, K "
            "= 2 has E||D||^2 = E||S||^2, and eta L = 3/2 has more."
        ),
    ),
)
