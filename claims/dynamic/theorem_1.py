"""Theorem 1: when FedAvg is not dynamically fair; the sign, the order and the constants of its
conditions.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy
from hypothesis import strategies as st

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, DefiniteForm
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.dynamic.phases import picture
from fairfl.claims.dynamic.setting import Round, dot
from fairfl.claims.evidence import Evidence
from fairfl.claims.instances import explore
from fairfl.claims.search import Attack

THIRD = Fraction(1, 3)
SHARE = Fraction(16, 3)


def printed(instance: dict[str, Any], turned: bool = False) -> Case:
    """Theorem 1 as printed, where its conditions hold whatever the constants: g_1 = 0, and a head
    start below 0.

    With the sign ``turned`` as it must be, the condition on the head start holds for constants up
    to ``constant``.
    """
    round_ = Round.of(instance)
    one, two = round_.gradients
    margin = round_.head_start if turned else -round_.head_start  # the paper's L_1(w_2) - L_1(w_1)
    size = dot(two, two)
    return Case(
        (Relation(round_.gap(), "<=", 0, "benefit of v_1 less that of v_2"),),
        {
            "first gradient": not any(one),
            "second gradient": size > 0,
            "head start": margin <= 0 or size >= (instance["constant"] * margin) ** 2,
            "step size": round_.eta * max(round_.first.smoothness, round_.second.smoothness) <= 1,
        },
    )


def order(factor: int = 1) -> tuple[sympy.Expr, list[sympy.Expr]]:
    """The gap of FedAvg at L_1 = w^2/2, L_2 = (w - 1/C)^2/2, w = 0, eta = 1, head start D =
    ``factor``/C^2.

    Then ||g_2|| = 1/C >= C D for every C > 0 (factor 1), and the gap is D - 1/(2C^2) > 0.
    """
    c = sympy.symbols("C", positive=True)
    start = factor / c**2
    new = 1 / (2 * c)
    gap = (start - new**2 / 2) - (1 / (2 * c**2) - (new - 1 / c) ** 2 / 2)
    return gap, [1 / (2 * c**2)]


def bound(share: str = "3/16", slope: int = 2) -> tuple[sympy.Expr, list[sympy.Expr]]:
    """A lower bound of (benefit of v_2 less that of v_1)/eta by L-smoothness, as a sum of
    non-negative terms.

    It is (b^2 - a^2)/2 - (l/4) ||g_1 + g_2||^2 - D/eta, where a = ||g_1||, b = ||g_2||, l = eta L,
    D the head start. The conditions are written with slacks: b = ``slope`` a + p, l = 1/3 - m,
    D/eta = ``share`` b^2 - q; and with cos = (U-V)/(U+V), ||g_1 + g_2||^2 = (a-b)^2 + 4abU/(U+V) =
    (a+b)^2 - 4abV/(U+V).
    """
    a, p, m, q = sympy.symbols("a p m q", nonnegative=True)
    u, v = sympy.symbols("U V", positive=True)
    b = slope * a + p
    square = (a - b) ** 2 + 4 * a * b * u / (u + v)
    ell = sympy.Rational(1, 3) - m
    expression = (b**2 - a**2) / 2 - ell * square / 4 - (sympy.Rational(share) * b**2 - q)
    rest = a * b * v / (3 * (u + v))
    terms = [sympy.Rational(3, 4) * a * p, sympy.Rational(11, 48) * p**2, rest, m * square / 4, q]
    return expression, terms


def repaired(instance: dict[str, Any], share: str = "16/3") -> Case:
    """The repaired theorem at two quadratics, of any curvatures."""
    round_ = Round.of(instance)
    one, two = round_.gradients
    ell = round_.eta * max(round_.first.smoothness, round_.second.smoothness)
    limit = type(ell)(Fraction(share)) if isinstance(ell, float) else Fraction(share)
    return Case(
        (Relation(round_.gap(), "<=", 0, "benefit of v_1 less that of v_2"),),
        {
            "step size": 3 * ell <= 1,
            "gradients": 4 * dot(one, one) <= dot(two, two),
            "head start": limit * round_.head_start <= round_.eta * dot(two, two),
        },
    )


def build(
    g: list[Any], h: list[Any], c: list[Any], d: list[Any], ell: Any, part: Any, head: Any
) -> dict[str, Any]:
    """An instance that satisfies the repaired conditions: gradients g (scaled) and h at w = 0,
    curvatures in [-1, 1].

    ``part`` in [0, 1] is the share of the largest ||g_1|| allowed, ``head`` that of the largest
    head start.
    """
    size = dot(h, h)
    small = dot(g, g)
    # at most (1/2) ||h||/||g||, as ||g|| ||h|| <= (||g||^2 + ||h||^2)/2
    scale = part * size / (2 * (small + size))
    g = [scale * x for x in g]
    eta = ell / 3
    first = {"c": [x if x else 1 for x in c], "x": []}
    second = {"c": [x if x else 1 for x in d], "x": []}
    first["x"] = [-x / k for x, k in zip(g, first["c"], strict=True)]
    second["x"] = [-x / k for x, k in zip(h, second["c"], strict=True)]
    # the head start is taken along a third coordinate, of curvature 1, in which L_1 has no gradient
    # at w
    most = 3 * eta * size / 16
    first["c"] = [*first["c"], 1]
    first["x"] = [*first["x"], 0]
    second["c"] = [*second["c"], 1]
    second["x"] = [*second["x"], 0]
    root = head * most / (1 + most / 2)  # root^2/2 <= most for head <= 1
    return {
        "L1": first,
        "L2": second,
        "w1": [0] * len(g) + [root],
        "w": [0] * (len(g) + 1),
        "eta": eta,
    }


def instances() -> st.SearchStrategy[dict[str, Any]]:
    """Instances of :func:`build` in fractions."""
    eighth = st.integers(-8, 8).map(lambda k: Fraction(k, 8))
    unit = st.integers(0, 8).map(lambda k: Fraction(k, 8))
    two = partial(st.lists, min_size=2, max_size=2)
    whole = two(st.integers(-20, 20).map(Fraction)).filter(any)
    return st.builds(
        build, two(eighth), whole, two(eighth), two(eighth), unit.filter(bool), unit, unit
    )


def attacked(x: list[float]) -> dict[str, Any]:
    """A point of the box as an instance; curvatures of 0 stand for 1."""
    return build(x[0:2], [x[2] + 1e-3, x[3]], x[4:6], x[6:8], x[8], x[9], x[10])


def _instance(**changed: Any) -> dict[str, Any]:
    return {
        "L1": {"c": [1], "x": [0]},
        "L2": {"c": [1], "x": [1]},
        "w1": [2],
        "w": [0],
        "eta": 1,
        "constant": 1,
        **changed,
    }


def _check(effort: Effort, turned: bool = False) -> Evidence:
    shows = (
        "L_1 = w^2/2, L_2 = (w-1)^2/2, eta = 1, w_1 = 2, w_(t_2) = 0: g_1 = 0, L_1(w_(t_2)) - "
        "L_1(w_1) = -2; the benefits are 15/8 and 3/8"
    )
    return Evidence.of(Counterexample.at(Call.of(printed, turned=turned), shows, **_instance()))


def _check_order(effort: Effort, factor: int = 1) -> Evidence:
    return Evidence.against(
        DefiniteForm(Call.of(order, factor=factor), "cancel", ({"C": "1/9"}, {"C": "100"}), True)
    )


def _check_repaired(effort: Effort, share: str = "3/16", slope: int = 2) -> Evidence:
    points = (
        {"a": "1", "p": "0", "m": "0", "q": "0", "U": "5", "V": "1"},
        {"a": "2/3", "p": "1/5", "m": "1/7", "q": "3", "U": "1", "V": "9"},
    )
    box = (
        [(-1.0, 1.0)] * 2
        + [(0.0, 20.0), (-20.0, 20.0)]
        + [(-1.0, 1.0)] * 4
        + [(1e-3, 1.0), (0.0, 1.0), (0.0, 1.0)]
    )
    return Evidence.of(
        DefiniteForm(Call.of(bound, share=share, slope=slope), "simplify", points),
        extra=(
            explore(Call.of(repaired), Call.of(instances), effort, attacks=[Attack(box, attacked)]),
        ),
    )


PRINTED = (
    r"Fedavg is not dynamically fair at the timepoint $t_2 + 1$ if $\|\nabla_w "
    r"L_{v_2}(w_{t_2})\|_2$ is sufficiently large such that $\|\nabla_w L_{v_2}(w_{t_2})\|_2 "
    r"\geq \Omega(\|\nabla_w L_{v_1}(w_{t_2})\|_2)$ and $\|\nabla_w L_{v_2}(w_{t_2})\|_2 \geq "
    r"\Omega(L_{v_1}(w_{t_2}) - L_{v_1}(w_1))$ and $\eta = O(1)$"
)
CLAIMS = (
    Claim(
        id="dynamic/theorem-1",
        number="Theorem 1",
        line=94,
        title="FedAvg is not dynamically fair at t_2 + 1 if the gradient of v_2 is large enough",
        printed=PRINTED,
        statement=(
            r"There are constants $C_1, C_2, C_3$ such that $\|g_2\| \ge C_1 \|g_1\|$, $\|g_2\| "
            r"\ge C_2 (L_1(w_{t_2}) - L_1(w_1))$ and $\eta \le C_3$ imply that the benefit of "
            r"$v_1$ at $t_2 + 1$ is at most that of $v_2$."
        ),
        kind="implication",
        hypotheses=(
            ("first gradient", "||g_2|| >= C_1 ||g_1||: here g_1 = 0, so for every C_1"),
            ("second gradient", "g_2 is not 0"),
            (
                "head start",
                "||g_2|| >= C_2 (L_1(w_(t_2)) - L_1(w_1)): here that is negative, so for every "
                "C_2 >= 0",
            ),
            ("step size", "eta L <= 1"),
        ),
        scope="every choice of the constants; d = 1",
        expected="holds-repaired",
        check=_check,
        mutants=(
            Mutant(
                "the sign turned",
                "||g_2|| >= L_1(w_1) - L_1(w_(t_2)): not met",
                partial(_check, turned=True),
            ),
        ),
        reading=(
            "Omega and O with constants that do not depend on the instance. One agent a group, "
            "equal weights, one local step, as above the theorem; 'not fair' is the negation of "
            "(3), read with L_{t_j}^{v_j} on its right."
        ),
        severity="theorem",
        erratum=(
            "L_1(w_(t_2)) - L_1(w_1) is negative once v_1 has trained, and the condition empty: "
            "it must be L_1(w_1) - L_1(w_(t_2)), what v_1 has gained. Its order is wrong too, "
            "even with the sign turned: the benefit grows with eta ||g_2||^2, so ||g_2||^2 must "
            "exceed it (dynamic/theorem-1-order). And eta must be small against 1/L: the "
            "remainder of the expansion is of the order of eta^2 ||g_2||^2, not less "
            "(dynamic/eq-10-11)."
        ),
    ),
    Claim(
        id="dynamic/theorem-1/repaired",
        number="Theorem 1",
        line=94,
        title="FedAvg is not dynamically fair at t_2 + 1 if ||g_2||^2 is large against ||g_1||^2 "
        "and the gain of v_1",
        printed=PRINTED,
        statement=(
            r"For $L$-smooth $L_1, L_2$ (convex or not): if $\eta L \le 1/3$, $\|g_2\| \ge 2 "
            r"\|g_1\|$ and $\eta \|g_2\|^2 \ge \frac{16}{3} (L_1(w_1) - L_1(w_{t_2}))$, then the "
            r"benefit of $v_1$ at $t_2 + 1$ is at most that of $v_2$."
        ),
        kind="implication",
        hypotheses=(
            ("step size", "eta L <= 1/3"),
            ("gradients", "||g_2|| >= 2 ||g_1||"),
            ("head start", "eta ||g_2||^2 >= (16/3) (L_1(w_1) - L_1(w_(t_2)))"),
        ),
        scope="as stated",
        expected="holds",
        check=_check_repaired,
        mutants=(
            Mutant(
                "1 % more",
                "a head start up to 1.01 of what is allowed",
                partial(_check_repaired, share="303/1600"),
            ),
            Mutant(
                "1/4 for 3/16",
                "the head start up to a quarter of eta ||g_2||^2",
                partial(_check_repaired, share="1/4"),
            ),
            Mutant("||g_2|| >= ||g_1||", "without the factor 2", partial(_check_repaired, slope=1)),
        ),
        notes=(
            "Smoothness bounds each loss at the new model within (L/2) of the squared step, "
            "eta^2 ||g_1 + g_2||^2/4. Theorem 1's qualitative message survives."
        ),
    ),
    Claim(
        id="dynamic/theorem-1-order",
        number="Theorem 1",
        line=94,
        title="With its sign turned, ||g_2|| >= Omega(L_1(w_1) - L_1(w_(t_2))) is enough",
        printed=PRINTED,
        statement=(
            r"There is a constant $C$ such that $\|g_2\| \ge C (L_1(w_1) - L_1(w_{t_2}))$, $g_1 "
            r"= 0$ and $\eta L \le 1$ imply that the benefit of $v_1$ is at most that of $v_2$."
        ),
        kind="implication",
        hypotheses=(),
        scope="every C > 0: L_1 = w^2/2, L_2 = (w - 1/C)^2/2, eta = 1, a head start of 1/C^2",
        expected="refuted",
        check=_check_order,
        mutants=(
            Mutant("no head start", "L_1(w_1) = L_1(w_(t_2))", partial(_check_order, factor=0)),
        ),
        severity="theorem",
        whose="reading",
        erratum="The sides differ in order: ask for eta ||g_2||^2 >= (16/3) (L_1(w_1) - "
        "L_1(w_(t_2))).",
    ),
)
PICTURES = {
    "dynamic/theorem-1/repaired": partial(
        picture,
        "Two quadratics at 60°, η = 1/3, v₁ has gained 1 before: shaded where FedAvg is unfair",
        "unfair",
    )
}
