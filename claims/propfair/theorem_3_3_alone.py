"""Theorem 3.3 as printed, where nothing is random and the clients are equal: no loss, however much
it winds along a round, breaks the bound. Ours.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import sympy

from fairfl.claims.call import Call
from fairfl.claims.certificates import DefiniteForm, SymbolicZero
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence

Form = tuple[Any, list[Any]]


def smoother(half: str = "1/2") -> Form:
    """L~/2 less the constant 2L/M + 4 L_0^2/M^2 of propfair/smoothness-direct, L_0^2 = LM/2 - r."""
    L, M = sympy.symbols("L M", positive=True)
    r = sympy.symbols("r", nonnegative=True)
    square = L * M / 2 - r
    tilde = 4 / M**2 * (sympy.Rational(3, 2) * M * L + square)
    return sympy.Rational(half) * tilde - (2 * L / M + 4 * square / M**2), [2 * r / M**2]


def added(slope: int = 2) -> dict[str, Any]:
    """S = K (1 - (K-1) x) is the sum of 1 - 2jx over j < K."""
    K, x = sympy.symbols("K x", positive=True)

    def total(k: Any) -> Any:
        return k * (1 - (k - 1) * x)

    return {"start": total(sympy.S.Zero), "step": total(K + 1) - total(K) - (1 - slope * K * x)}


def lowered(twelfths: int = 11) -> Form:
    """(1 - x/2) S less 11 K/12, K = 1 + k steps, x = 1/(12 K (1 + z))."""
    k, z = sympy.symbols("k z", nonnegative=True)
    K = 1 + k
    x = 1 / (12 * K * (1 + z))
    value = (1 - x / 2) * K * (1 - (K - 1) * x) - sympy.Rational(twelfths, 12) * K
    return value, [K * z / (12 * (1 + z)), 1 / (24 * (1 + z)), K * k * x**2 / 2]


def check(effort: Effort, half: str = "1/2", slope: int = 2, twelfths: int = 11) -> Evidence:
    """All three."""
    point = {"L": "2", "M": "3", "r": "1/2"}
    return Evidence.of(
        DefiniteForm(Call.of(smoother, half=half), "together", (point,)),
        SymbolicZero(Call.of(added, slope=slope), "expand", ({"K": "3", "x": "1/9"},)),
        DefiniteForm(Call.of(lowered, twelfths=twelfths), "together", ({"k": "2", "z": "0"},)),
    )


CLAIMS = (
    Claim(
        id="propfair/theorem-3.3-alone",
        number="Theorem 3.3",
        line=634,
        title="(ours) PropFair's bound as printed holds for equal clients without noise, for any "
        "number of local steps",
        printed=r"Given Assumption 3.1 and Assumption 3.2, [...] (8)",
        statement=(
            r"$\min_t \|\nabla\pi(\theta_t)\|^2 \le \frac{12}{11 K \eta} \frac{\pi_0 - \pi^*}{T}$ "
            r"if $\eta \le \frac{1}{6 \tilde L K}$. With $x = \eta L' \le \frac{1}{12K}$, $L' \le "
            r"\frac12 \tilde L$ the true constant: a step changes $\nabla\pi$ by $x "
            r"\|\nabla\pi\|$ at most, so that step $j$ of a round has $\|\nabla\pi\|^2 \ge "
            r"(1-x)^{2j} G \ge (1 - 2jx) G$, and lowers $\pi$ by $\eta (1 - \frac x2)$ times this."
        ),
        kind="bound",
        hypotheses=(
            ("range", "L_0^2 <= L M/2, as assumptions 3.1 and 3.2 imply"),
            ("step size", "the first condition of (8)"),
            ("alone", "one client or equal ones, batches without noise"),
        ),
        scope="as stated",
        expected="holds",
        check=check,
        mutants=(
            Mutant("a third", "L' <= L~/3", partial(check, half="1/3")),
            Mutant("slower", "a fall by x a step in place of 2x", partial(check, slope=1)),
            Mutant("12 for 11", "a twelfth less of the bound", partial(check, twelfths=12)),
        ),
        rests_on=("propfair/smoothness-direct",),
        whose="ours",
    ),
)
