"""Equation (9): harmonic-number weights grow logarithmically; the spacing between them shrinks."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from fairfl.claims.forms import Case, Claim, Relation, counterexample, definite, every, identity


def spacing(instance: dict[str, Any], sign: int = 1) -> Case:
    """The spacing H_(k+1) - H_k grows with k (or shrinks, for ``sign`` -1)."""
    k = instance["k"]
    h = [sum((Fraction(1, i) for i in range(1, m + 1)), Fraction(0)) for m in (k, k + 1, k + 2)]
    return Case((Relation(sign * (h[1] - h[0]), "<=", sign * (h[2] - h[1]), "spacing"),))


def steps(shift: int = 0) -> dict[str, Any]:
    """H_(k+1) - H_k by the gamma function's own recurrence: 1/(k+1), which falls with k."""
    k = sympy.symbols("k", positive=True)
    gap: Any = sympy.digamma(k + 2) - sympy.digamma(k + 1)
    return {
        "spacing": sympy.expand_func(gap) - 1 / (k + 1 + shift),
        "its change": 1 / (k + 2) - 1 / (k + 1) + 1 / ((k + 1) * (k + 2)),
    }


def below(factor: int = 1) -> tuple[Any, list[Any]]:
    """The slope of x - ln(1+x), which is 0 at 0: so ln(1 + 1/k) <= 1/k, and ln(k+1) <= H_k by
    adding up.
    """
    x = sympy.symbols("x", nonnegative=True)
    return sympy.diff(x - factor * sympy.log(1 + x), x), [x / (1 + x)]


def above(factor: int = 1) -> tuple[Any, list[Any]]:
    """The slope of ln(1+x) - x/(1+x): so 1/(k+1) <= ln((k+1)/k), and H_k <= 1 + ln k by adding up
    from H_1 = 1.
    """
    x = sympy.symbols("x", nonnegative=True)
    return sympy.diff(sympy.log(1 + x) - factor * x / (1 + x), x), [x / (1 + x) ** 2]


CLAIMS = (
    Claim(
        "pffl/eq-9",
        100,
        "The spacing between harmonic-number weights increases, logarithmically",
        number="Eq. (9), Section 3.2.3",
        printed=r"For the $n$-th harmonic number $H_n \in O(\log(n))$, making the spacing between "
        r"weights increase only logarithmically. $p_k = H_k = \sum_{i=1}^k 1/i$",
        statement=r"For $p_k = H_k$: the spacing $p_{k+1} - p_k$ increases with $k$.",
        kind="implication",
        scope="k = 1; by the repaired form every k",
        severity="remark",
        check=counterexample(
            spacing, "from H_1 to H_2 the spacing is 1/2, from H_2 to H_3 it is 1/3", {"k": 1}
        ),
        mutants={"decreases": ("the spacing shrinks", {"sign": -1})},
        erratum="The weights grow logarithmically; the spacing between neighbours, 1/(k+1), "
        "shrinks.",
        repaired=dict(
            title="Harmonic-number weights grow logarithmically, and their spacing shrinks",
            statement=r"$\ln(k+1) \le H_k \le 1 + \ln k$ and $H_{k+1} - H_k = 1/(k+1)$, decreasing "
            r"in $k$, for every $k \ge 1$.",
            kind="bound",
            scope="every k",
            check=every(
                identity(steps, method="simplify"),
                definite(below, method="cancel"),
                definite(above, method="cancel"),
            ),
            mutants={
                "1/(k+2)": ("a wrong spacing", {"shift": 1}),
                "twice the logarithm": ("2 ln(1+x) <= x", {"factor": 2}),
            },
            notes="Each step adds 1/(k+1), between ln((k+2)/(k+1)) and ln((k+1)/k): both are "
            "slopes that are non-negative.",
        ),
    ),
)
