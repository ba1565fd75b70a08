"""After t_2 + 1: which of FedAvg and normalised gradient descent is fairer at each time."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from fairfl.claims.dynamic.setting import fedavg, normalised
from fairfl.claims.forms import Case, Claim, Relation, counterexample, definite, every, identity


def flow(speed: str = "2", kept: int = -1) -> dict[str, sympy.Expr]:
    """Along w' = -(u_1 + u_2)/2, u_i the unit vectors from x_1 = 0 and x_2 = (D, 0): r_2 - r_1 does
    not change, and e = r_1 + r_2 falls as ``speed`` (e^2 - D^2)/(e^2 - delta^2).

    "time" is that t(e) = (s - e)/2 + (D^2 - delta^2)/(4D) log(...) has this speed, s = e(0).
    """
    x, y = sympy.symbols("X Y", real=True)
    d, e, delta, start = sympy.symbols("D e delta s", positive=True)
    one, two = sympy.sqrt(x**2 + y**2), sympy.sqrt((x - d) ** 2 + y**2)
    velocity = [-(x / one + (x - d) / two) / 2, -(y / one + y / two) / 2]

    def change(value: sympy.Expr) -> sympy.Expr:
        return sympy.diff(value, x) * velocity[0] + sympy.diff(value, y) * velocity[1]

    factor = sympy.Rational(speed)
    square, difference = (one + two) ** 2, (two - one) ** 2
    time = (start - e) / 2 + (d**2 - delta**2) / (4 * d) * sympy.log(
        (start - d) * (e + d) / ((start + d) * (e - d))
    )
    return {
        "difference": change(two + kept * one),
        "sum": change(one + two) * (square - difference) + factor * (square - d**2),
        "time": sympy.diff(time, e) * factor * (e**2 - d**2) + e**2 - delta**2,
    }


def at_each_time(instance: dict[str, Any], rounds: int = 9) -> Case:
    """(4) after each of some rounds on a line, with L_i = (w - x_i)^2/2, from w = 0."""
    one, two = instance["x"]
    leads = []
    for rule in (normalised, fedavg):
        w = Fraction(0)
        leads.append([])
        for _ in range(rounds):
            w += rule([w - one], [w - two], instance["eta"])[0]
            leads[-1].append((two - one) * w)
    relations = (
        Relation(n, "<", f, f"lead after {t} rounds")
        for t, (n, f) in enumerate(zip(*leads, strict=True), start=1)
    )
    premises = {"order": one < two, "gradient": two >= 2, "step": instance["eta"] < Fraction(2, 5)}
    return Case(tuple(relations), premises)


def lead_difference(power: int = 1) -> dict[str, sympy.Expr]:
    """FedAvg's lead less NGD's, at one curvature 1: (b - a)/2 times e - e_0 exp(-t)."""
    delta, start, e, t = sympy.symbols("delta s e t", positive=True)
    one, two = (start - delta) / 2, (start + delta) / 2
    fall = (1 - sympy.exp(-t)) ** power
    averaged = fall * (two**2 - one**2) / 2  # (g_2 - g_1).(1 - exp(-t))(g_1 + g_2)/2
    now = [(e - delta) / 2, (e + delta) / 2]
    unit = (two**2 - now[1] ** 2) / 2 - (one**2 - now[0] ** 2) / 2
    return {"leads": averaged - unit - delta / 2 * (e - start * sympy.exp(-t))}


def slow(speed: str = "2") -> tuple[sympy.Expr, list[sympy.Expr]]:
    """``speed`` less the speed of e, 2 (e^2 - D^2)/(e^2 - delta^2), with delta <= D <= e."""
    delta, n = sympy.symbols("delta n", positive=True)
    m = sympy.symbols("m", nonnegative=True)
    d = delta + m
    e = d + n
    rest = sympy.Rational(speed) - 2 * (e**2 - d**2) / (e**2 - delta**2)
    return rest, [2 * m * (2 * delta + m) / ((m + n) * (2 * delta + m + n))]


def apart(least: str = "2") -> tuple[sympy.Expr, list[sympy.Expr]]:
    """Where e = e_0 exp(-t), this falls with speed e: e is larger than 2, the most that e falls.

    e > D >= ``least``. So e - e_0 exp(-t), 0 at the start, increases wherever it is 0.
    """
    k, n = sympy.symbols("k n", positive=True)
    bound = sympy.Rational(least)
    return bound + k + n - 2, [bound - 2, k, n]


PRINTED = (
    "Note that although in the previous theorem we only considered the time point $t_2 + 1$. As we "
    "can see from the experimental part, our algorithm is fairer than Fedavg in practice at each "
    "time point."
)
CLAIMS = (
    Claim(
        "dynamic/ngd-flow",
        116,
        "The normalised flow on two quadratics keeps the difference of the distances to their "
        "minima, and rests on the segment between them",
        number="Theorem 2, continued",
        printed=PRINTED,
        statement=r"Let $L_i = \frac{\ell_i}{2}\|w - x_i\|^2$, $r_i = \|w - x_i\|$, $D = \|x_1 - "
        r"x_2\|$ and $w' = -\frac12(u_1 + u_2)$, $u_i = (w - x_i)/r_i$. Then $\delta = r_2 - r_1$ "
        r"is constant and $e = r_1 + r_2$ has $e' = -2 \frac{e^2 - D^2}{e^2 - \delta^2}$, so $e "
        r"\to D$. With $\ell_i = 1$ the benefit of $v_2$ exceeds that of $v_1$ by $\frac12 (b - "
        r"a)(e_0 - e)$.",
        kind="identity",
        scope="as stated: the motion stays in the plane of w, x_1 and x_2",
        whose="ours",
        check=identity(flow),
        mutants={
            "2.02": ("1 % faster", {"speed": "101/50"}),
            "the sum": ("r_1 + r_2 is claimed to be kept", {"kept": 1}),
        },
        reading="The flow is the limit of small steps, time eta times rounds.",
        notes="Normalised steps of two clients descend on the sum of distances, not on that of the "
        "losses: every point of the segment is a minimum of it. The limit depends on where v_2 "
        "finds the model, which FedAvg's does not. There GB (9) is positive, exp((b - a) D/2) - 1; "
        "under FedAvg it tends to 0.",
    ),
    Claim(
        "dynamic/each-time",
        116,
        "Normalised gradient descent is fairer than FedAvg at each time after t_2",
        number="Section 4, after theorem 2",
        printed=PRINTED,
        statement=r"If $\|g_1\| < \|g_2\|$, $\|g_2\| \ge 2$ and $\eta L < 2/5$ at $t_2$, (4) holds "
        r"for NGD against FedAvg at every $t > t_2$.",
        kind="implication",
        hypotheses={
            "order": "||g_1|| < ||g_2||",
            "gradient": "||g_2|| >= 2",
            "step": "eta L < 2/5",
        },
        scope="d = 1, one curvature",
        whose="reading",
        severity="remark",
        check=counterexample(
            at_each_time,
            "L_1 = (w - 11/4)^2/2, L_2 = (w - 13/4)^2/2, w = 0, eta = 1/3: after 9 rounds FedAvg "
            "is at 2.92, NGD at 3, and v_2 leads by w/2",
            {"x": [Fraction(11, 4), Fraction(13, 4)], "eta": Fraction(1, 3)},
        ),
        mutants={"eight rounds": ("one round less: still fairer", {"rounds": 8})},
        reading="The experiments are theirs; the sentence is taken as a statement on the setting "
        "of theorem 2.",
        erratum="FedAvg slows down as its gradients shrink, normalised steps do not: where the "
        "minima of the groups are close to each other, the normalised model is ahead after a "
        "while, and v_2 leads by more. With small steps it is fairer at each time where the minima "
        "are apart by 2 or more in units of the gradient, and in the limit always.",
        repaired=dict(
            title="The normalised flow is fairer than FedAvg's at each time if ||g_1|| < ||g_2|| "
            "and ||g_1 - g_2|| >= 2",
            statement=r"For quadratics of one curvature 1, flows, $\|g_1\| < \|g_2\|$ and $\|g_1 - "
            r"g_2\| \ge 2$: the benefit of $v_2$ exceeds that of $v_1$ by more under FedAvg than "
            r"under NGD at every $t > t_2$. As $t \to \infty$ this needs no more than $\|g_1\| < "
            r"\|g_2\|$.",
            hypotheses={},
            check=every(identity(lead_difference), definite(slow), definite(apart)),
            mutants={
                "1.98": ("1 % closer", {"least": "99/50"}),
                "speed 1.98": ("e falls no faster than this", {"speed": "99/50"}),
                "squared": ("another course of FedAvg", {"power": 2}),
            },
            rests_on=("dynamic/ngd-flow",),
            notes="The leads differ by (b - a)/2 times e - e_0 exp(-t). e falls at a speed of at "
            "most 2, and e_0 exp(-t) at its own value: while that is at least 2 it cannot be "
            "overtaken, and afterwards e >= D >= 2 is above it. 2 is sharp: below it, x_1 and x_2 "
            "in one direction break it.",
        ),
    ),
)
