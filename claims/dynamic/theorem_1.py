"""Theorem 1: when FedAvg is not dynamically fair; sign, order and constants of its conditions."""

from fractions import Fraction

import sympy

from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Decomposition
from fairfl.claims.dynamic.setting import gap, on_line, rounds, smoothness
from fairfl.claims.exact import Instance, dot
from fairfl.claims.forms import Claim, beside, counterexample, definite, drawn, every, witness

HEAD = Fraction(3, 16)
"""In the repaired form the head start of v_1 is at most this times eta ||g_2||^2."""


def printed(instance: Instance, turned: bool = False) -> Case:
    """Theorem 1 where g_1 = 0 and the paper's L_1(w_(t_2)) - L_1(w_1) is below 0: its conditions
    hold for all constants. With the sign ``turned``, as is right, for constants up to 1.
    """
    size = dot(instance["h"], instance["h"])
    margin = instance["gained"] if turned else -instance["gained"]
    premises = {
        "first gradient": not any(instance["g"]),
        "second gradient": size > 0,
        "head start": margin <= 0 or size >= margin**2,
        "step size": instance["eta"] * smoothness(instance) <= 1,
    }
    unfair = Relation(gap(instance), "<=", 0, "benefit of v_1 less that of v_2")
    return Case((unfair,), premises)


def any_step() -> Decomposition:
    """FedAvg's gap 2 - eta/2: L_1 = w^2/2, L_2 = (w - 1)^2/2, head start 2, eta = 1/(1+t)."""
    t = sympy.symbols("t", nonnegative=True)
    new = 1 / (2 * (1 + t))
    return (2 - new**2 / 2) - (1 - (new - 1) ** 2) / 2, [sympy.Rational(3, 2), t / (2 * (1 + t))]


def order(factor: int = 1) -> Decomposition:
    """FedAvg's gap D - 1/(2C^2) at L_1 = w^2/2, L_2 = (w - 1/C)^2/2, w = 0, eta = 1, head start D =
    ``factor``/C^2; and ||g_2|| = 1/C >= C D for factor 1.
    """
    c = sympy.symbols("C", positive=True)
    new = 1 / (2 * c)
    value = (factor / c**2 - new**2 / 2) - (1 / (2 * c**2) - (new - 1 / c) ** 2 / 2)
    return value, [1 / (2 * c**2)]


def bound(head: Fraction = HEAD, ratio: Fraction = Fraction(2)) -> Decomposition:
    """A lower bound of (benefit of v_2 less that of v_1)/eta by L-smoothness: (b^2 - a^2)/2 - (l/4)
    ||g_1 + g_2||^2 - D/eta, with a = ||g_1||, b = ||g_2||, l = eta L, D the head start.

    The conditions are written with slacks: b = ``ratio`` a + p, l = 1/3 - m, D/eta = ``head`` b^2 -
    q; and with cos = (U-V)/(U+V), ||g_1 + g_2||^2 = (a-b)^2 + 4abU/(U+V).
    """
    a, p, m, q = sympy.symbols("a p m q", nonnegative=True)
    u, v = sympy.symbols("U V", positive=True)
    b = sympy.Rational(ratio) * a + p
    square = (a - b) ** 2 + 4 * a * b * u / (u + v)
    ell = sympy.Rational(1, 3) - m
    value = (b**2 - a**2) / 2 - ell * square / 4 - (sympy.Rational(head) * b**2 - q)
    cross = a * b * v / (3 * (u + v))
    terms = [sympy.Rational(3, 4) * a * p, sympy.Rational(11, 48) * p**2, cross, m * square / 4, q]
    return value, terms


def unfair(instance: Instance, head: Fraction = HEAD, ratio: Fraction = Fraction(2)) -> Case:
    """The repaired form for quadratics: "gained" is a share of the largest head start."""
    a2, b2 = (dot(instance[name], instance[name]) for name in "gh")
    eta, share = instance["eta"], instance["gained"]
    premises = {
        "step size": 0 < eta and 3 * eta * smoothness(instance) <= 1,
        "gradients": b2 >= ratio**2 * a2,
        "head start": share <= 1,
    }
    value = gap({**instance, "gained": share * head * eta * b2})
    return Case((Relation(value, "<=", 0, "benefit of v_1 less that of v_2"),), premises)


def equal(instance: Instance, head: Fraction = HEAD, ratio: Fraction = Fraction(2)) -> Case:
    """At the edge of all hypotheses the benefits are equal: g_1 = 1, curvatures -1 and 1."""
    edge = {**instance, "h": [ratio], "gained": head * instance["eta"] * ratio**2}
    return Case((Relation(gap(edge), "==", 0, "benefit of v_1 less that of v_2"),))


EDGE = on_line(1, 2, "1/3", c=-1)
PRINTED = (
    r"Fedavg is not dynamically fair at the timepoint $t_2 + 1$ if $\|\nabla_w "
    r"L_{v_2}(w_{t_2})\|_2$ is sufficiently large such that $\|\nabla_w L_{v_2}(w_{t_2})\|_2 "
    r"\geq \Omega(\|\nabla_w L_{v_1}(w_{t_2})\|_2)$ and $\|\nabla_w L_{v_2}(w_{t_2})\|_2 \geq "
    r"\Omega(L_{v_1}(w_{t_2}) - L_{v_1}(w_1))$ and $\eta = O(1)$"
)
CLAIMS = (
    Claim(
        "dynamic/theorem-1",
        94,
        "FedAvg is not dynamically fair at t_2 + 1 if the gradient of v_2 is large enough",
        printed=PRINTED,
        statement=r"There are constants $C_1, C_2, C_3$ such that $\|g_2\| \ge C_1 \|g_1\|$, "
        r"$\|g_2\| \ge C_2 (L_1(w_{t_2}) - L_1(w_1))$ and $\eta \le C_3$ imply that the benefit of "
        r"$v_1$ at $t_2 + 1$ is at most that of $v_2$.",
        kind="implication",
        hypotheses={
            "first gradient": "||g_2|| >= C_1 ||g_1||: here g_1 = 0, so for every C_1",
            "second gradient": "g_2 is not 0",
            "head start": "||g_2|| >= C_2 (L_1(w_(t_2)) - L_1(w_1)): here that is negative, so for "
            "every C_2 >= 0",
            "step size": "eta L <= C_3: here eta L = 1, and in the form every eta L <= 1",
        },
        scope="every choice of the constants; d = 1",
        severity="theorem",
        check=every(
            counterexample(
                printed,
                "slopes 0 and -3/2, curvatures 3/4 and 5/4, eta = 4/5, a head start of 2",
                on_line(0, "-3/2", "4/5", 2, "3/4", "5/4"),
                "119/100 <= 0",
            ),
            definite(any_step, "23/14", strict=True),
        ),
        mutants={
            "the sign turned": ("||g_2|| >= L_1(w_1) - L_1(w_(t_2)): not met", {"turned": True}),
            "no head start": ("v_1 has gained nothing before", {"gained": 0}),
        },
        reading="Omega and O with constants that do not depend on the instance. One agent a group, "
        "equal weights, one local step, as above the theorem; 'not fair' is the negation of (3), "
        "read with L_{t_j}^{v_j} on its right.",
        erratum="L_1(w_(t_2)) - L_1(w_1) is negative once v_1 has trained, and the condition "
        "empty: it must be L_1(w_1) - L_1(w_(t_2)), what v_1 has gained. Its order is wrong too, "
        "even with the sign turned: the benefit grows with eta ||g_2||^2, so ||g_2||^2 must exceed "
        "it (dynamic/theorem-1-order). And eta must be small against 1/L: the remainder of the "
        "expansion is of the order of eta^2 ||g_2||^2, not less (dynamic/eq-10-11).",
        repaired=dict(
            title="FedAvg is not dynamically fair at t_2 + 1 if ||g_2||^2 is large against "
            "||g_1||^2 and the gain of v_1",
            statement=r"For $L$-smooth $L_1, L_2$ (convex or not): if $\eta L \le 1/3$, $\|g_2\| "
            r"\ge 2 \|g_1\|$ and $\eta \|g_2\|^2 \ge \frac{16}{3} (L_1(w_1) - L_1(w_{t_2}))$, then "
            r"the benefit of $v_1$ at $t_2 + 1$ is at most that of $v_2$.",
            hypotheses={
                "step size": "eta L <= 1/3",
                "gradients": "||g_2|| >= 2 ||g_1||",
                "head start": "eta ||g_2||^2 >= (16/3) (L_1(w_1) - L_1(w_(t_2)))",
            },
            check=every(
                definite(bound, "9.03731"),
                beside(
                    drawn(
                        unfair,
                        rounds,
                        examples=(10, 3000),
                        largest=Fraction(1, 3),
                        moved="g h eta gained",
                    ),
                    witness(
                        equal, "curvatures -1 and 1 at the edge of all hypotheses", EDGE, "0 == 0"
                    ),
                ),
            ),
            mutants={
                "1 % more": ("a head start up to 1.01 of what is allowed", {"head": "303/1600"}),
                "||g_2|| >= 1.98 ||g_1||": ("1 % less", {"ratio": "99/50"}),
            },
        ),
    ),
    Claim(
        "dynamic/theorem-1-order",
        94,
        "With its sign turned, ||g_2|| >= Omega(L_1(w_1) - L_1(w_(t_2))) is enough",
        printed=PRINTED,
        statement=r"There is a constant $C$ such that $\|g_2\| \ge C (L_1(w_1) - L_1(w_{t_2}))$, "
        r"$g_1 = 0$ and $\eta L \le 1$ imply that the benefit of $v_1$ is at most that of $v_2$.",
        kind="implication",
        scope="every C > 0: L_1 = w^2/2, L_2 = (w - 1/C)^2/2, eta = 1, a head start of 1/C^2",
        whose="reading",
        severity="theorem",
        check=every(definite(order, "25/8", strict=True), negation=True),
        mutants={"no head start": ("L_1(w_1) = L_1(w_(t_2))", {"factor": 0})},
        erratum="Their orders differ: ask for eta ||g_2||^2 >= (16/3) (L_1(w_1) - L_1(w_(t_2))).",
    ),
)
