"""Normalised gradient descent after t_2 + 1, by its flow on two quadratics."""

from __future__ import annotations

import sympy

from fairfl.claims.forms import Claim, identity


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
)
