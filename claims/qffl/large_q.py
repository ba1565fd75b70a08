"""Sections 2 and 4.3: AFL as q-FFL with a large enough q."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from fairfl.claims.forms import Case, Claim, Relation, counterexample, definite, every


def case(instance: dict[str, Any]) -> Case:
    """AFL's optimum minimises sum F^(q+1) too, for F_1 = w^2, F_2 = (k (w - 1))^2, k > 0.

    Both are convex, so AFL's optimum is where they cross between 0 and 1, w = k/(1 + k), and
    q-FFL's is where sum F^q F' vanishes. At the crossing F_1 = F_2, so F_1' + F_2' must: no q makes
    a difference.
    """
    k, q = instance["k"], instance["q"]
    w = k / (1 + k)
    values = [w**2, (k * (w - 1)) ** 2]
    slopes = [2 * w, 2 * k**2 * (w - 1)]
    derivative = sum((f**q * g for f, g in zip(values, slopes, strict=True)), Fraction(0))
    relation = Relation(derivative / values[0] ** q, "==", 0, "slope at AFL's optimum, over F^q")
    return Case((relation,), {"crossing": values[0] == values[1] and slopes[0] > 0 > slopes[1]})


def bound(factor: Fraction = Fraction(1)) -> tuple[Any, list[Any]]:
    """m b - x_1 >= 0 for x = F^(q+1) at w_q*, x_1 its largest, z = Σ y - Σ x >= 0 and y_k = b -
    s_k at the model with the least maximum b.
    """
    b = sympy.Symbol("b", positive=True)
    z = sympy.Symbol("z", nonnegative=True)
    s, x = sympy.symbols("s1:4", nonnegative=True), sympy.symbols("x2:4", nonnegative=True)
    top = sum(b - v for v in s) - z - sum(x)  # x_1
    return sympy.Rational(str(factor)) * 3 * b - top, [*s, z, *x]


CLAIMS = (
    Claim(
        "qffl/large-q",
        164,
        "AFL is equivalent to q-FFL with a large enough q",
        number="Sections 2, 4.3",
        printed="AFL is equivalent to q-FFL with a large enough q; AFL can in fact be seen as a "
        "special case, with large enough q",
        statement=r"For $q$ large enough, a minimiser of $\max_k F_k$ minimises $\sum_k "
        r"F_k^{q+1}$.",
        kind="equivalence",
        hypotheses={
            "crossing": "the two losses are equal at AFL's optimum, with slopes of opposite signs"
        },
        scope="two devices, one parameter, convex quadratics; q = 1, 15, 1000, and by the same "
        "number every q",
        expected="refuted",
        severity="remark",
        check=every(
            *(
                counterexample(
                    case,
                    f"F = (w^2, 4 (w-1)^2), q = {q}: at AFL's optimum sum F^q F' = -(4/3) F^q",
                    {"k": Fraction(2), "q": q},
                )
                for q in (1, 15, 1000)
            )
        ),
        mutants={
            "k = 1": ("mirrored losses, where both optima are 1/2 for every q", {"k": Fraction(1)})
        },
        erratum="For no finite q in general: AFL is the limit (propfair/generalized-means), which "
        "optima of q-FFL approach. On a finite set of models with different worst losses a finite "
        "q is enough.",
    ),
    Claim(
        "qffl/worst-device-bound",
        65,
        "(ours) The largest loss of q-FFL's optimum is at most m^(1/(q+1)) times the least "
        "possible",
        number="Section 3.2",
        printed=r"Setting $f_q(w)$ with a large enough $q$ reduces to classical min-max fairness, "
        r"as the device with the worst performance (largest loss) will dominate the objective.",
        statement=r"$\max_k F_k(w_q^*)^{q+1} \le m \min_w \max_k F_k(w)^{q+1}$.",
        kind="bound",
        hypotheses={"losses": "F_k >= 0", "optimal": "w_q* minimises sum F^(q+1)"},
        scope="m = 3; tight at one device, and as the others tend to the same loss",
        size="m = 3",
        whose="ours",
        check=definite(bound),
        mutants={
            "0.99 m": ("1 % less", {"factor": Fraction(99, 100)}),
            "m - 1": ("one device less", {"factor": Fraction(2, 3)}),
        },
    ),
)
