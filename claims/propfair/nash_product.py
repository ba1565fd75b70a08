"""The Nash product: (4), proposition 2.3, products of losses; (D.9), (D.10) on harmonic means."""

from fractions import Fraction
from math import prod

import sympy
from hypothesis import strategies as st

from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Decomposition
from fairfl.claims.claim import Claim
from fairfl.claims.exact import Instance
from fairfl.claims.forms import Residual, beside, definite, every, exactly, identity, proof, witness


def tangent_line(tangent: int = 1, mean: str = "arithmetic") -> dict[str, Residual]:
    """h(x) = x - 1 - log x: h(1) = 0, h' = (x-1)/x; and sum (u_i/mean - 1) = 0."""
    x, n, total, inverse = sympy.symbols("x n S R", positive=True)  # R: sum of 1/u_i
    middle = total / n if mean == "arithmetic" else n / inverse
    h = tangent * x - 1 - sympy.log(x)
    return {
        "h(1)": (h.subs(x, 1), 0),
        "h'": (sympy.Derivative(h, x), (x - 1) / x),
        "sum of u_i/mean - 1": (total / middle, n),
    }


def slope() -> Decomposition:
    """(x-1) h'(x) >= 0, and 0 at x = 1 alone: h falls before 1 and rises after it."""
    x = sympy.symbols("x", positive=True)
    return (x - 1) * (1 - 1 / x), [(x - 1) ** 2 / x]


def means(instance: Instance, share: Fraction = Fraction(1)) -> Case:
    """(4) in n-th powers: the product is below that of the mean, and equal iff all are equal."""
    u = instance["u"]
    power = (share * sum(u) / len(u)) ** len(u)
    operator = "==" if len(set(u)) == 1 else "<"
    return Case((Relation(prod(u), operator, power, "product"),), {"positive": min(u) > 0})


def fair(instance: Instance, power: int = 1) -> Case:
    """u is at least as good as v where (1) holds; else a point next to u towards v is better."""
    u, v = instance["u"], instance["v"]
    slope = sum((b - a) / a**power for a, b in zip(u, v, strict=True))
    rival = v if slope <= 0 else [a + (b - a) / 10**6 for a, b in zip(u, v, strict=True)]
    worth = [prod(x) for x in (u, rival)]
    ends = worth if slope > 0 else worth[::-1]
    strict = "<" if slope > 0 else "<="
    is_far = abs(slope) > Fraction(1, 1000) or slope <= 0
    return Case((Relation(ends[0], strict, ends[1]),), {"positive": min(*u, *v) > 0 and is_far})


@st.composite
def utilities(draw: st.DrawFn) -> Instance:
    """Two positive vectors; the second next to the first, or any."""
    n, quarter = draw(st.integers(1, 4)), st.integers(1, 20).map(lambda k: Fraction(k, 4))
    u, v = ([draw(quarter) for _ in range(n)] for _ in range(2))
    return {"u": draw(st.sampled_from([u, v, [u[0]] * n])), "v": v}


def moved(sign: int = 1) -> Decomposition:
    """Decrease of the product when c + d, c - d move apart by h > 0 at one sum: R h (2d + h)."""
    c, d, h, rest = sympy.symbols("c d h R", nonnegative=True)
    loss = rest * ((c + d) * (c - d) - (c + d + h) * (c - d - h))
    return sign * loss, [2 * rest * d * h, rest * h**2]


def printed(instance: Instance) -> Case:
    """The printed pair."""
    a, b = instance["unequal"], instance["equal"]
    return Case(
        (
            Relation(prod(a), "<", prod(b), "products"),
            Relation(sum(a), "==", sum(b), "the same sum"),
            Relation(b[1] - b[0], "<", a[1] - a[0], "disparity"),
        )
    )


def residuals(power: int = 2) -> dict[str, Residual]:
    """The directional derivative of - sum 1/u_i from u to v, a term."""
    u, v, t = sympy.symbols("u v t", positive=True)
    slope = sympy.diff(-1 / (u + t * (v - u)), t).subs(t, 0)
    return {"a term of the slope less that of the condition": (slope, (v - u) / u**power)}


def concavity(sign: int = 1) -> Decomposition:
    """Minus the second derivative along the segment: w is the point at t, w > 0 for t in [0, 1]."""
    w, t = sympy.symbols("w t", positive=True)
    a, u = sympy.symbols("a", real=True), sympy.symbols("u")  # a = v - u
    second = sympy.diff(-1 / (u + t * a), t, 2)
    return -sign * second.subs(u, w - t * a), [2 * a**2 / w**3]


CLAIMS = (
    Claim(
        "propfair/eq-4",
        68,
        "Mean log-utility is at most the log of mean utility, with equality iff all are equal",
        printed=r"$\frac{1}{n} \log \Pi(u) \leq \log \frac{\sum_i u_i}{n}$, where the equality "
        r"holds iff $u_1 = \dots = u_n$.",
        statement=r"With $x_i = u_i/\bar u$: $h(x) = x - 1 - \log x$ has $h(1) = 0$ and "
        r"$(x-1)h'(x) = (x-1)^2/x$, so $\log x_i \le x_i - 1$ with equality iff $x_i = 1$; the "
        r"sum over $i$ is (4), as $\sum (x_i - 1) = 0$.",
        kind="bound",
        hypotheses={"positive": "u_i > 0"},
        scope="every n",
        check=every(
            identity(tangent_line, "0; -1/5; 2/5"),
            definite(slope, "9/10"),
            beside(
                witness(means, "unequal", {"u": ["5/4", "9/2"]}, "45/8 < 529/64"),
                witness(means, "equal", {"u": ["1/2", "1/2"]}, "1/4 == 1/4"),
            ),
        ),
        mutants={
            "harmonic mean": ("the harmonic mean on the right", {"mean": "harmonic"}),
            "1 % more": ("1.01 times the mean", {"share": "101/100"}),
            "slope 2": ("log x <= 2x - 1, no tangent", {"tangent": 2}),
        },
        notes="The text concludes that a large product means a large sum. A maximiser of the "
        "product need not maximise the sum: on the segment from (1, 9) to (3, 1) the sum is 10 at "
        "most, the product is largest where it is 65/8.",
    ),
    Claim(
        "propfair/product-of-losses",
        95,
        "Minimising the product of the losses rewards disparity",
        number="Section 3",
        printed=r"simply minimizing $\prod_i f_i$ ... will encourage the client losses to be even "
        r"more disparate. For instance, $(f_1, f_2) = (0, 1)$ has smaller product than $(f_1, "
        r"f_2) = (\frac{1}{2}, \frac{1}{2})$.",
        statement=r"Moving two losses apart, their sum kept, never raises $\prod f_i$ on $f \ge "
        "0$: it is Schur-concave.",
        kind="implication",
        hypotheses={"losses": "f_i >= 0; the sum of the two is kept"},
        scope="every n",
        check=every(
            definite(moved, "451/224"),
            witness(
                printed,
                "(0, 1) against (1/2, 1/2)",
                {"unequal": [Fraction(0), Fraction(1)], "equal": [Fraction(1, 2)] * 2},
                "0 < 1/4; 1 == 1; 0 < 1",
            ),
        ),
        mutants={
            "lowers": ("moving apart raises the product", {"sign": -1}),
            "(0, 2)": ("another sum", {"unequal": [Fraction(0), Fraction(2)]}),
        },
        reading="'Disparate' compares losses of the same sum; else f = 0 has the smallest product.",
    ),
    Claim(
        "propfair/proposition-2.3",
        62,
        "On a convex compact U the Nash solution is proportionally fair; PF maximises the product",
        printed=r"For any convex compact set $\mathcal{U} \in \mathbb{R}_{++}^n$, a point $u \in "
        r"\mathcal{U}$ is the Nash bargaining solution iff it is proportionally fair. If "
        r"$\mathcal{U}$ is non-convex, then a PF solution, when exists, necessarily maximizes the "
        r"Nash product.",
        statement=r"$g(t) = \sum_i \log(u_i + t(v_i - u_i))$ is concave on $[0,1]$ with $g'(0) = "
        r"\sum_i (v_i - u_i)/u_i$. So $g'(0) \le 0$ gives $\prod v_i \le \prod u_i$, for any $U$; "
        r"and $g'(0) > 0$ gives a larger product on the segment, which a convex $U$ contains.",
        kind="equivalence",
        hypotheses={"positive": "U in R^n_{++}, convex for 'only if'"},
        check=proof("nash.v", "fair", exactly(fair, utilities, moved="u v")),
        mutants={"squared": ("the optimality condition (D.10) of the harmonic mean", {"power": 2})},
    ),
    Claim(
        "propfair/harmonic",
        1078,
        "Maximising the harmonic mean over a convex set: a condition with squared denominators",
        number="(D.9), (D.10)",
        printed=r"$\max_{\theta} \frac{n}{\sum_i u_i(\theta)^{-1}}$; optimality condition, "
        r"assuming the utility set convex: $\sum_{i=1}^n \frac{u_i - u_i^*}{(u_i^*)^2} \leq 0$ "
        r"for all $u \in \mathcal{U}$",
        statement=r"$-\sum 1/u_i$, an increasing function of the harmonic mean, is concave along "
        r"segments with slope $\sum (v_i - u_i)/u_i^2$ at $u$: (D.10) is necessary and sufficient "
        r"on a convex $U$.",
        kind="equivalence",
        hypotheses={"positive": "U convex, in R^n_{++}"},
        scope="every n and U: the derivatives are those of one term of a sum",
        check=every(identity(residuals, "65/24"), definite(concavity, "1728/3125")),
        mutants={
            "first power": ("the condition (D.8) of proportional fairness", {"power": 1}),
            "convex": ("the second derivative's sign turned", {"sign": -1}),
        },
    ),
)
