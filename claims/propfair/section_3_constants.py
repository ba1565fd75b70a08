"""Sections 3.1.2 and 3.1.3: how far the learning rate adapts, and the bound for gradient
descent.
"""

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


def at_least(factor: Fraction = Fraction(1)) -> Form:
    """1/(M - f) - 1/M >= 0 for 0 <= f < M."""
    f, u = sympy.Symbol("f", nonnegative=True), sympy.Symbol("u", positive=True)
    M = f + u
    return 1 / u - sympy.Rational(str(factor)) / M, [f / (M * u)]


def at_most(factor: Fraction = Fraction(2)) -> Form:
    """2/M - 1/(M - f) >= 0 for f = (M - s)/2, s >= 0: assumption 3.2."""
    M, s = sympy.Symbol("M", positive=True), sympy.Symbol("s", nonnegative=True)
    rest = (M + s) / 2  # M - f
    return sympy.Rational(str(factor)) / M - 1 / rest, [2 * s / (M * (M + s))]


def rising(power: int = 1) -> Form:
    """d/df 1/(M - f) = 1/(M - f)² > 0."""
    f, u, t = sympy.symbols("f u t", positive=True)
    rate: Any = (f + u - t) ** (-power)
    return rate.diff(t).subs(t, f), [1 / u**2]


def bound(steps: int = 1) -> dict[str, Any]:
    """12/(11 μ - 9) for μ = K = 1, and Ψ at no variance."""
    second, third, eta, L = sympy.symbols("second third eta L")
    variance = sympy.Integer(0)
    psi = eta / 2 * (second * variance + 2 * (sympy.E - 2) * eta**2 * L**2 * third * variance)
    return {"factor": sympy.Rational(12, 11 * steps - 9) - 6, "Psi": psi}


def descent(constant: Fraction = Fraction(12, 11)) -> Form:
    """(12/11)(F - F_new)/η - |∇F|² >= 0 for F_new <= F - η (1 - L η/2)|∇F|², L η = 1/(6 (1 +
    z)).
    """
    g, z, r = sympy.symbols("g z r", nonnegative=True)
    eta = sympy.Symbol("eta", positive=True)
    rate = 1 / (6 * (1 + z))
    fall = eta * (1 - rate / 2) * g + r
    more = sympy.Rational(str(constant))
    return more * fall / eta - g, [g * z / (11 * (1 + z)), more * r / eta]


def check_rate(
    effort: Effort, low: Fraction = Fraction(1), high: Fraction = Fraction(2), power: int = 1
) -> Evidence:
    """Between 1/M and 2/M, rising."""
    return Evidence.of(
        DefiniteForm(Call.of(at_least, factor=low), "together", ({"f": "0", "u": "2"},)),
        DefiniteForm(Call.of(at_most, factor=high), "together", ({"M": "2", "s": "0"},)),
        DefiniteForm(Call.of(rising, power=power), "simplify", ({"f": "1", "u": "2"},), True),
    )


def check_bound(effort: Effort, steps: int = 1, constant: Fraction = Fraction(12, 11)) -> Evidence:
    """6, and 12/11."""
    place = {"second": "1", "third": "2", "eta": "1/9", "L": "1"}
    spot = {"g": "1", "z": "0", "r": "0", "eta": "1/6"}
    return Evidence.of(
        SymbolicZero(Call.of(bound, steps=steps), "simplify", (place,)),
        DefiniteForm(Call.of(descent, constant=constant), "together", (spot,)),
    )


CLAIMS = (
    Claim(
        id="propfair/adaptive-rate",
        number="Section 3.1.2",
        line=141,
        title="A client's effective learning rate rises with its loss, from eta/M to 2 eta/M",
        printed=(
            "PropFair automatically has an adaptive learning rate for each client. When the local "
            "client loss function f_i is small, the learning rate is smaller; when f_i is large, "
            "the learning rate is larger."
        ),
        statement=r"$\frac{1}{M - f}$ rises with $f$, and $\frac1M \le \frac{1}{M - f} \le "
        r"\frac2M$ under assumption 3.2, with equality at $f = 0$ and $f = M/2$.",
        kind="tight bound",
        hypotheses=(("bounded", "0 <= f <= M/2 (assumption 3.2)"),),
        scope="every M and f",
        expected="holds",
        check=check_rate,
        mutants=(
            Mutant("1.98/M", "1 % less above", partial(check_rate, high=Fraction(198, 100))),
            Mutant("2.02/M", "1 % more above", partial(check_rate, high=Fraction(202, 100))),
            Mutant("1.01/M", "1 % more below", partial(check_rate, low=Fraction(101, 100))),
            Mutant("falls", "M - f for 1/(M - f)", partial(check_rate, power=-1)),
        ),
        notes="So under assumption 3.2 no client weighs more than twice any other: the theory "
        "covers a mild form of the algorithm. Against FedAvg with the same eta every rate is "
        "smaller once M > 2.",
    ),
    Claim(
        id="propfair/gradient-descent",
        whose="reading",
        number="Section 3.1.3, after theorem 3.3",
        line=181,
        title="Without variance and with one local step, theorem 3.3 is gradient descent's O(1/T), "
        "at 5.5 times its constant",
        printed=(
            r"When the variance terms $\tilde\sigma_{l,i} = \tilde\sigma_g = 0$, and the local "
            r"step number $K_i = 1$ for all $i$, our result reduces to the standard result of "
            r"gradient descent, with $\min_t E\|\nabla\pi(\theta_t)\|^2 \leq O(\frac1T)$."
        ),
        statement=(
            r"For $K_i = 1$ and no variance the bound is $\frac{6(\pi_0 - \pi^*)}{\eta T}$; the "
            r"descent lemma gives $\frac{12(\pi_0 - \pi^*)}{11\eta T}$ for the same step sizes."
        ),
        kind="implication",
        hypotheses=(("step size", "6 eta L <= 1"),),
        scope="full participation, as stated",
        expected="holds",
        check=check_bound,
        mutants=(
            Mutant("K = 2", "two local steps", partial(check_bound, steps=2)),
            Mutant(
                "1.08", "1 % less than 12/11", partial(check_bound, constant=Fraction(108, 100))
            ),
        ),
        reading="In the order of T, as printed. The factor comes from Young's inequality in "
        "(A.13), which costs eta/2 even where there is no drift.",
    ),
)
