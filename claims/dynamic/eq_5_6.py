"""Equations (5), (6): bounds of one gradient step's benefit, by smoothness and strong convexity."""

from __future__ import annotations

import sympy

from fairfl.claims.forms import Claim, definite, every, identity


def residuals(divisor: str = "2") -> dict[str, sympy.Expr]:
    """Smoothness and strong convexity at w' = w - eta g, which are (5), (6) word for word.

    f(w) + g.(w' - w) + c ||w' - w||^2/2 bounds f(w') from above for c = L, from below for c = mu;
    it is written with the square of ||g||.
    """
    square, f, eta, c = sympy.symbols("square f eta c", real=True)
    quadratic = f - eta * square + c * eta**2 * square / 2
    benefit = (eta - eta**2 * c / sympy.Rational(divisor)) * square
    return {"f(w) less the quadratic": f - quadratic - benefit}


def rise(distance: int = 3) -> tuple[sympy.Expr, list[sympy.Expr]]:
    """How much a derivative rises over ``distance``/mu, at least mu times that, less the 2 from -1
    to 1 that a 1-Lipschitz function leaves it.
    """
    mu = sympy.symbols("mu", positive=True)
    more = sympy.symbols("more", nonnegative=True)
    return mu * distance / mu + more - 2, [sympy.Integer(distance - 2), more]


CLAIMS = (
    Claim(
        "dynamic/eq-5-6",
        100,
        "One step of gradient descent brings between (eta - eta^2 L/2) and (eta - eta^2 mu/2) "
        "times ||g||^2",
        number="Eqs. (5), (6)",
        printed=r"$(\eta - \frac{\eta^2 L}{2}) \|\nabla_w L_{v_2}(w_{t_2})\|_2^2 \le "
        r"L_{v_2}(w_{t_2}) - L_{v_2}(w_{t_2+1}^2) \le (\eta - \frac{\eta^2 \mu}{2}) \|\nabla_w "
        r"L_{v_2}(w_{t_2})\|_2^2$",
        statement=r"For an $L$-smooth, $\mu$-strongly convex $f$ and $w' = w - \eta \nabla f(w)$, "
        r"any $\eta$: $(\eta - \eta^2 L/2) \|\nabla f(w)\|^2 \le f(w) - f(w') \le (\eta - \eta^2 "
        r"\mu/2) \|\nabla f(w)\|^2$; equal where $L = \mu$.",
        kind="tight bound",
        check=identity(residuals),
        mutants={
            "1 % less": ("eta^2 L/2.02", {"divisor": "101/50"}),
            "eta^2 L/4": ("a quarter for the half", {"divisor": "4"}),
        },
        reading="The paper also assumes 1-Lipschitz losses: no loss on R^d has all three, see "
        "dynamic/assumptions.",
        notes="For local models; the benefit of definition 1 is that of the aggregate, which may "
        "lie outside. To first order the mean of the two steps leaves of the local difference of "
        "benefits the half for FedAvg and (1 + cos)/2 for NGD, so that it keeps its sign.",
    ),
    Claim(
        "dynamic/assumptions",
        98,
        "There are losses on R^d that are mu-strongly convex and 1-Lipschitz",
        number="Section 4",
        printed=r"We assume both $L_{v_1}(w)$ and $L_{v_2}(w)$ are $L$-smooth, $\mu$-strongly "
        r"convex and 1-Lispschitz.",
        statement=r"Some $f$ on $R^d$ is $\mu$-strongly convex, $\mu > 0$, and 1-Lipschitz.",
        kind="existence",
        scope="every mu > 0, on every line",
        expected="refuted",
        severity="remark",
        check=every(definite(rise, strict=True), negation=True),
        mutants={
            "a distance of 2/mu": ("where the two do not exclude each other", {"distance": 2})
        },
        erratum="Strong convexity makes the derivative along a line rise by mu times the distance; "
        "1-Lipschitz keeps it in [-1, 1]. Over 3/mu the first asks for 3, the second allows 2. "
        "Assume mu = 0, or the three on a bounded set that holds all iterates. No later result "
        "uses mu > 0: the upper bounds in (5), (6) hold with mu = 0.",
    ),
)
