"""One step's benefit: (5), (6), the expansions (10), (11) for theorem 1, and a lost factor."""

from fractions import Fraction

import sympy

from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Decomposition
from fairfl.claims.dynamic.setting import HALF
from fairfl.claims.exact import Instance, dot
from fairfl.claims.forms import Claim, Residual, counterexample, definite, every, identity


def residuals(divisor: str = "2") -> dict[str, Residual]:
    """Smoothness, c = L, and strong convexity, c = mu, at w' = w - eta g: (5), (6)."""
    square, f, eta, c = sympy.symbols("square f eta c", real=True)
    quadratic = f - eta * square + c * eta**2 * square / 2
    factor = eta - eta**2 * c / sympy.Rational(divisor)
    w = sympy.Symbol("w", real=True)  # f = c w^2/2, of slope c w
    exact = c * w**2 / 2 - c * (w - eta * c * w) ** 2 / 2
    return {
        "f(w) less the quadratic": (f - quadratic, factor * square),
        "equal where L = mu": (exact, factor * (c * w) ** 2),
    }


def rise(distance: int = 3) -> Decomposition:
    """The rise of a slope over ``distance``/mu, at least mu times that, less 2 (1-Lipschitz)."""
    mu = sympy.symbols("mu", positive=True)
    excess = sympy.symbols("more", nonnegative=True)
    return mu * distance / mu + excess - 2, [sympy.Integer(distance - 2), excess]


def remainder(instance: Instance, order: int = 2) -> Case:
    """Of L = w^2/2 after a small ``step``: step^2/2 <= step^order/100, as o(step^order) is."""
    step = instance["step"]
    return Case(
        (Relation(HALF * step**2, "<=", step**order / 100, "remainder"),),
        {"small step": 0 < step <= Fraction(1, 1000)},
    )


def within(share: str = "1/2") -> Decomposition:
    """``share`` L s^2 less the remainder along a coordinate of curvature L - m."""
    ell, m = sympy.symbols("L m", nonnegative=True)
    s, w, x = sympy.symbols("s w x", real=True)
    loss = (ell - m) * (w - x) ** 2 / 2
    error = loss.subs(w, w + s) - loss - sympy.diff(loss, w) * s
    return sympy.Rational(share) * ell * s**2 - error, [m * s**2 / 2]


def factor(instance: Instance, share: Fraction = Fraction(1)) -> Case:
    """The linear parts of (11) and (10) differ by ``share`` eta (||g_2||^2 - ||g_1||^2)."""
    g, h, eta = instance["g1"], instance["g2"], instance["eta"]
    total = [a + b for a, b in zip(g, h, strict=True)]
    difference = eta * HALF * (dot(h, total) - dot(g, total))
    return Case((Relation(difference, "==", share * eta * (dot(h, h) - dot(g, g)), "linear part"),))


CLAIMS = (
    Claim(
        "dynamic/eq-5-6",
        100,
        "A gradient step brings eta - eta^2 L/2 to eta - eta^2 mu/2 times ||g||^2",
        number="Eqs. (5), (6)",
        printed=r"$(\eta - \frac{\eta^2 L}{2}) \|\nabla_w L_{v_2}(w_{t_2})\|_2^2 \le "
        r"L_{v_2}(w_{t_2}) - L_{v_2}(w_{t_2+1}^2) \le (\eta - \frac{\eta^2 \mu}{2}) \|\nabla_w "
        r"L_{v_2}(w_{t_2})\|_2^2$",
        statement=r"For an $L$-smooth, $\mu$-strongly convex $f$ and $w' = w - \eta \nabla f(w)$, "
        r"any $\eta$: $(\eta - \eta^2 L/2) \|\nabla f(w)\|^2 \le f(w) - f(w') \le (\eta - \eta^2 "
        r"\mu/2) \|\nabla f(w)\|^2$; equal where $L = \mu$.",
        kind="tight bound",
        check=identity(residuals, "50/63; 121/576"),
        mutants={"1 % less": ("eta^2 L/2.02", {"divisor": "101/50"})},
        reading="Not with 1-Lipschitz losses, as none on R^d has all three: dynamic/assumptions.",
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
        kind="existence",
        scope="every mu > 0, on every line",
        severity="remark",
        check=every(definite(rise, "7/5", strict=True), negation=True),
        mutants={"a distance of 2/mu": ("where the two exclude nothing", {"distance": 2})},
        erratum="Strong convexity makes the derivative along a line rise by mu times the distance; "
        "1-Lipschitz keeps it in [-1, 1]. Over 3/mu the first asks for 3, the second allows 2. "
        "Assume mu = 0, or the three on a bounded set that holds all iterates. No later result "
        "uses mu > 0: the upper bounds in (5), (6) hold with mu = 0.",
    ),
    Claim(
        "dynamic/eq-10-11",
        267,
        "The remainder of the first-order expansion is o(||w' - w||^2)",
        number="Eqs. (10)-(13), proofs of theorems 1 and 2",
        printed=r"$L_{v_1}(w_{t_2+1}) = L_{v_1}(w_{t_2}) - \eta \nabla_w L_{v_1}(w_{t_2}) \cdot "
        r"\frac{\nabla_w L_{v_1}(w_{t_2}) + \nabla_w L_{v_2}(w_{t_2})}{2} + o\left[\|w_{t_2+1} - "
        r"w_{t_2}\|^2\right]$",
        statement=r"For a small step, $|L_1(w') - L_1(w) - g_1 \cdot (w' - w)| \le \frac{1}{100} "
        r"\|w' - w\|^2$.",
        kind="bound",
        hypotheses={"small step": "||w' - w|| <= 1/1000"},
        scope="L_1 = w^2/2, every step (the remainder is exactly half of its square)",
        severity="step",
        check=counterexample(
            remainder,
            "L_1 = w^2/2, a step of 1/1000: the remainder is half of its square",
            {"step": "1/1000"},
            "1/2000000 <= 1/100000000",
        ),
        mutants={"o(||w' - w||)": ("the first power of the step", {"order": 1})},
        reading="o(s^2) is below s^2/100 for small steps s; the counterexample scales.",
        erratum="A first-order expansion leaves o(||w' - w||), or O(||w' - w||^2) where the "
        "gradient is Lipschitz. For a fixed eta the remainder has the order of eta^2 ||g||^2, that "
        "of the terms that are compared: eta L must be small.",
        repaired=dict(
            title="The remainder is at most (L/2) ||w' - w||^2, and can be that",
            statement=r"For an $L$-smooth $L_1$: $|L_1(w') - L_1(w) - g_1 \cdot (w' - w)| \le "
            r"\frac{L}{2} \|w' - w\|^2$, with equality for $L_1 = \frac{L}{2} \|w - x\|^2$.",
            kind="tight bound",
            hypotheses={},
            scope="quadratics, coordinate by coordinate, of both signs; equality where m = 0",
            check=definite(within, "80/147"),
            mutants={
                "1 % less": ("0.99 L/2", {"share": "99/200"}),
                "1 % more": ("1.01 L/2 is not attained", {"share": "101/200"}),
            },
        ),
    ),
    Claim(
        "dynamic/theorem-1-factor",
        275,
        "The difference of the step's benefits is eta (||g_2||^2 - ||g_1||^2) to first order",
        number="Proof of theorem 1",
        printed=r"$[L_{v_2}(w_{t_2}) - L_{v_2}(w_{t_2+1})] - [L_{v_1}(w_{t_2}) - "
        r"L_{v_1}(w_{t_2+1})] \approx \eta \|\nabla_w L_{v_2}(w_{t_2})\|_2^2 - \eta \|\nabla_w "
        r"L_{v_1}(w_{t_2})\|_2^2$",
        kind="identity",
        scope="d = 1",
        severity="constant",
        check=counterexample(
            factor,
            "g_1 = (2/7, 3), g_2 = (5, -1), eta = 2/9",
            {"g1": ["2/7", 3], "g2": [5, -1], "eta": "2/9"},
            "829/441 == 1658/441",
        ),
        mutants={"eta/2": ("with the factor 1/2", {"share": HALF})},
        erratum="The half of the aggregation is lost: it is (eta/2)(||g_2||^2 - ||g_1||^2). Only "
        "with it does the condition ||g_2|| >= 2 of theorem 2's proof come out.",
    ),
)
