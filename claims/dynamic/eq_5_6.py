"""Equations (5), (6): bounds of one gradient step's benefit, by smoothness and strong convexity."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import RationalPrimalDual, SymbolicZero, Witness
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.dynamic.setting import Quadratic, dot, fedavg
from fairfl.claims.evidence import Evidence
from fairfl.claims.instances import explore


def residuals(divisor: int | Fraction = 2) -> dict[str, sympy.Expr]:
    """Smoothness and strong convexity at w - eta g, which are (5), (6) word for word; g in three
    dimensions.

    f(w) + g.(w' - w) + c ||w' - w||^2 / 2 bounds f(w') from above for c = L, from below for c = mu.
    """
    g = sympy.Matrix(sympy.symbols("g1:4", real=True))
    f, eta, c = sympy.symbols("f eta c", real=True)
    step = -eta * g
    quadratic = f + g.dot(step) + c * step.dot(step) / 2
    return {
        "f(w) less the quadratic": f
        - quadratic
        - (eta - eta**2 * c / sympy.Rational(divisor)) * g.dot(g)
    }


def case(instance: dict[str, Any], divisor: int | Fraction = 2) -> Case:
    """(5) for a quadratic with curvatures in [mu, L]."""
    loss = Quadratic.of(instance["L"])
    low, high = min(loss.curvatures), max(loss.curvatures)
    w, eta = instance["w"], instance["eta"]
    g = loss.gradient(w)
    benefit = loss(w) - loss(fedavg(w, g, g, eta))
    return Case(
        (
            Relation((eta - eta**2 * high / divisor) * dot(g, g), "<=", benefit, "from below"),
            Relation(benefit, "<=", (eta - eta**2 * low / divisor) * dot(g, g), "from above"),
        ),
        {"convex": low >= 0},
    )


def tight(instance: dict[str, Any], divisor: int | Fraction = 2) -> Case:
    """With one curvature both bounds are met with equality."""
    found = case(instance, divisor)
    return Case(
        tuple(Relation(r.left, "==", r.right, r.name) for r in found.relations), found.premises
    )


def instances() -> st.SearchStrategy[dict[str, Any]]:
    """Quadratics in three dimensions, step sizes beyond 2/L among them."""
    quarter = st.integers(-12, 12).map(lambda k: Fraction(k, 4))
    curvature = st.integers(0, 12).map(lambda k: Fraction(k, 4))
    three = partial(st.lists, min_size=3, max_size=3)
    loss = st.fixed_dictionaries({"c": three(curvature), "x": three(quarter)})
    step = st.integers(1, 12).map(lambda k: Fraction(k, 4))
    return st.fixed_dictionaries({"L": loss, "w": three(quarter), "eta": step})


def no_room(distance: int = 3) -> tuple[list[int], list[list[int]], list[int], Fraction]:
    """The largest rise of a 1-Lipschitz function's derivative between two points, as a linear
    programme.

    With x = g + 1 in [0, 2]: min x_0 - x_1 over -x_0 >= -2, -x_1 >= -2 is -2. Over a distance of
    3/mu strong convexity asks for a rise of 3: -3 is claimed to be reached.
    """
    return [1, -1], [[-1, 0], [0, -1]], [-2, -2], Fraction(-distance)


def rise(instance: dict[str, Any]) -> Case:
    """Over a distance of ``distance``/mu the derivative rises by more than a 1-Lipschitz function
    allows.
    """
    return Case((Relation(2, "<", instance["distance"], "rise"),))


def _check(effort: Effort, divisor: int | Fraction = 2) -> Evidence:
    point = {"g1": "1/2", "g2": "-3", "g3": "2/7", "f": "4", "eta": "1/3", "c": "5/2"}
    instance = {"L": {"c": [2, 2], "x": [1, 0]}, "w": [3, -1], "eta": Fraction(1, 4)}
    return Evidence.of(
        SymbolicZero(Call.of(residuals, divisor=divisor), "expand", (point,)),
        extra=(
            Witness.at(
                Call.of(tight, divisor=divisor), "one curvature: equality on both sides", **instance
            ),
            explore(Call.of(case, divisor=divisor), Call.of(instances), effort, tolerance=0.0),
        ),
    )


def _check_assumptions(effort: Effort, distance: int = 3) -> Evidence:
    return Evidence.against(
        RationalPrimalDual(Call.of(no_room, distance=2), ("0/1", "2/1"), ("0/1", "1/1")),
        Witness.at(Call.of(rise), "the derivative must rise by 3, and can by 2", distance=distance),
    )


CLAIMS = (
    Claim(
        id="dynamic/eq-5-6",
        number="Eqs. (5), (6)",
        line=100,
        title="One step of gradient descent brings between (eta - eta^2 L/2) and (eta - eta^2 "
        "mu/2) times ||g||^2",
        printed=(
            r"$(\eta - \frac{\eta^2 L}{2}) \|\nabla_w L_{v_2}(w_{t_2})\|_2^2 \le "
            r"L_{v_2}(w_{t_2}) - L_{v_2}(w_{t_2+1}^2) \le (\eta - \frac{\eta^2 \mu}{2}) "
            r"\|\nabla_w L_{v_2}(w_{t_2})\|_2^2$"
        ),
        statement=(
            r"For an $L$-smooth, $\mu$-strongly convex $f$ and $w' = w - \eta \nabla f(w)$, any "
            r"$\eta$: $(\eta - \eta^2 L/2) \|\nabla f(w)\|^2 \le f(w) - f(w') \le (\eta - \eta^2 "
            r"\mu/2) \|\nabla f(w)\|^2$; equal where $L = \mu$."
        ),
        kind="tight bound",
        hypotheses=(("convex", "f is L-smooth and mu-strongly convex, mu >= 0"),),
        scope="as stated",
        expected="holds",
        check=_check,
        mutants=(
            Mutant("1 % less", "eta^2 L/2.02", partial(_check, divisor=Fraction(101, 50))),
            Mutant("eta^2 L", "without the half", partial(_check, divisor=1)),
            Mutant("eta^2 L/4", "a quarter for the half", partial(_check, divisor=4)),
        ),
        reading="The paper also assumes 1-Lipschitz losses: no loss on R^d has all three, see "
        "dynamic/assumptions.",
        notes="For local models; the benefit of definition 1 is that of the aggregate, which may "
        "lie outside.",
    ),
    Claim(
        id="dynamic/assumptions",
        number="Section 4",
        line=98,
        title="There are losses on R^d that are mu-strongly convex and 1-Lipschitz",
        printed=r"We assume both $L_{v_1}(w)$ and $L_{v_2}(w)$ are $L$-smooth, $\mu$-strongly "
        r"convex and 1-Lispschitz.",
        statement=r"Some $f$ on $R^d$ is $\mu$-strongly convex, $\mu > 0$, and 1-Lipschitz.",
        kind="existence",
        hypotheses=(),
        scope="every mu > 0, on every line",
        expected="refuted",
        check=_check_assumptions,
        mutants=(
            Mutant(
                "a distance of 2/mu",
                "where the two do not exclude each other",
                partial(_check_assumptions, distance=2),
            ),
        ),
        severity="remark",
        erratum=(
            "Strong convexity makes the derivative along a line rise by mu times the distance; "
            "1-Lipschitz keeps it in [-1, 1]. Over 3/mu the first asks for 3, the second allows "
            "2. Assume mu = 0, or the three on a bounded set that holds all iterates. No later "
            "result uses mu > 0: the upper bounds in (5), (6) hold with mu = 0."
        ),
    ),
)
