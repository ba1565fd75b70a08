"""The Nash product: (4), the least that a client gets, and the product of losses (section 3)."""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import Any

import sympy
from hypothesis import strategies as st

from fairfl.claims.forms import (
    Case,
    Claim,
    Part,
    Relation,
    counterexample,
    definite,
    drawn,
    every,
    identity,
    witness,
)


def case(instance: dict[str, Any]) -> Case:
    """(4), exponentiated: the product against the n-th power of the mean, in fractions."""
    u: list[Fraction] = instance["u"]
    power = (sum(u, Fraction(0)) / len(u)) ** len(u)
    equal = "==" if len(set(u)) == 1 else "!="
    return Case(
        (
            Relation(prod(u), "<=", power, "bound", float(power)),
            Relation(prod(u), equal, power, "equality iff all equal", float(power)),
        ),
        {"positive": min(u) > 0},
    )


def tangent_line(tangent: int = 1, mean: str = "arithmetic") -> dict[str, sympy.Expr]:
    """The tangent of log at 1: h(x) = x - 1 - log x has h(1) = 0 and h' = (x-1)/x; and sum
    (u_i/mean - 1) = 0.
    """
    x, n, total, inverse = sympy.symbols("x n S R", positive=True)  # R: sum of 1/u_i
    middle = total / n if mean == "arithmetic" else n / inverse
    h = tangent * x - 1 - sympy.log(x)
    return {
        "h(1)": h.subs(x, 1),
        "h'": sympy.diff(h, x) - (x - 1) / x,
        "sum of u_i/mean - 1": total / middle - n,
    }


def slope() -> tuple[sympy.Expr, list[sympy.Expr]]:
    """(x-1) h'(x) >= 0, and 0 at x = 1 alone: h falls before 1 and rises after it."""
    x = sympy.symbols("x", positive=True)
    return (x - 1) * (1 - 1 / x), [(x - 1) ** 2 / x]


def vectors() -> st.SearchStrategy[dict[str, Any]]:
    """Positive vectors, with ties; nearly equal ones among them."""
    one = st.builds(Fraction, st.integers(1, 40), st.integers(1, 6))
    near = st.integers(-3, 3).map(lambda k: 1 + Fraction(k, 1000))
    both = (st.lists(numbers, min_size=1, max_size=5) for numbers in (one, near))
    return st.one_of(*both).map(lambda u: {"u": u})


N = 3


def floor(instance: dict[str, Any]) -> Case:
    """The vector of largest product gives every client ``share`` of the best worst utility."""
    best = max(instance["vectors"], key=prod)
    most = max(min(u) for u in instance["vectors"])
    premises = {"positive": min(map(min, instance["vectors"])) > 0}
    return Case((Relation(instance["share"] * most, "<=", min(best), "worst utility"),), premises)


def two(clients: int = 10, low: Fraction = Fraction(1, 100)) -> dict[str, Any]:
    """One client far below the others, or all alike."""
    vectors = [[low, *[Fraction(1)] * (clients - 1)], [Fraction(63, 100)] * clients]
    return {"vectors": vectors, "share": Fraction(1, 60)}


def share(factor: Fraction = Fraction(1)) -> tuple[Any, list[Any]]:
    """n u_1* - u_1 >= 0 from (1): Σ u_i/u_i* <= n, with slack z; u > 0."""
    u = sympy.symbols(f"u1:{N + 1}", positive=True)
    best = sympy.symbols(f"v1:{N + 1}", positive=True)
    z = sympy.Symbol("z", nonnegative=True)
    others = [a / b for a, b in zip(u[1:], best[1:], strict=True)]
    ratio = N - z - sum(others)  # u_1/u_1*
    return sympy.Rational(str(factor)) * N - ratio, [z, *others]


def reached(instance: dict[str, Any]) -> Case:
    """On the simplex {u >= e, Σ u_i <= n}, u* = (1, ..., 1), and a client's best is n - (n - 1) e:
    within (n - 1) e of n u*.
    """
    n, e = instance["n"], instance["e"]
    most = n - (n - 1) * e
    return Case((Relation(n - n * e, "<", most, "a client's best utility"),), {"positive": e > 0})


def near(n: int) -> Part:
    """That no larger share than 1/n holds."""
    shows = f"{n} clients on a simplex: a best utility above {n} (1 - 10^-6) u*"
    return witness(reached, shows, {"n": n, "e": Fraction(1, 10**6)})


def schur(power: int = 1) -> dict[str, sympy.Expr]:
    """Schur's condition for the pair f_i, f_j of P = f_i f_j R, R the product of the others."""
    f, g, rest = sympy.symbols("f g R", nonnegative=True)
    product = (f * g) ** power * rest
    schur = (f - g) * (sympy.diff(product, f) - sympy.diff(product, g))
    return {"Schur's condition": schur + (f - g) ** 2 * rest}


def moved(sign: int = 1) -> tuple[sympy.Expr, list[sympy.Expr]]:
    """What the product loses when c + d, c - d are moved apart by h > 0, their sum kept: R h (2d +
    h).
    """
    c, d, h, rest = sympy.symbols("c d h R", nonnegative=True)
    loss = rest * ((c + d) * (c - d) - (c + d + h) * (c - d - h))
    return sign * loss, [2 * rest * d * h, rest * h**2]


def printed(instance: dict[str, Any]) -> Case:
    """The printed pair."""
    a, b = instance["unequal"], instance["equal"]
    return Case(
        (
            Relation(prod(a), "<", prod(b), "products"),
            Relation(sum(a), "==", sum(b), "the same sum"),
            Relation(b[1] - b[0], "<", a[1] - a[0], "disparity"),
        )
    )


CLAIMS = (
    Claim(
        "propfair/eq-4",
        68,
        "The mean log-utility is at most the log of the mean utility, with equality iff all are "
        "equal",
        printed=r"$\frac{1}{n} \log \Pi(u) \leq \log \frac{\sum_i u_i}{n}$, where the equality "
        r"holds iff $u_1 = \dots = u_n$.",
        statement=r"With $x_i = u_i/\bar u$: $h(x) = x - 1 - \log x$ has $h(1) = 0$ and "
        r"$(x-1)h'(x) = (x-1)^2/x$, so $\log x_i \le x_i - 1$ with equality iff $x_i = 1$; the "
        r"sum over $i$ is (4), as $\sum (x_i - 1) = 0$.",
        kind="bound",
        hypotheses={"positive": "u_i > 0"},
        scope="every n",
        check=every(
            identity(tangent_line, method="simplify"),
            definite(slope, method="together"),
            extra=[drawn(case, vectors, tolerance=0.0)],
        ),
        mutants={
            "harmonic mean": ("the harmonic mean on the right", {"mean": "harmonic"}),
            "slope 2": ("log x <= 2x - 1, no tangent", {"tangent": 2}),
        },
        notes="The text concludes that a large product means a large sum. A maximiser of the "
        "product need not maximise the sum: on the segment from (1, 9) to (3, 1) the sum is 10 at "
        "most, the product is largest where it is 65/8.",
    ),
    Claim(
        "propfair/nash-floor",
        70,
        "Where the Nash product is largest, no client's utility is extremely low",
        number="Section 2, 'Efficiency and fairness'",
        printed=r"Despite these obstacles [non-convex $\mathcal U$], we still have the efficiency "
        r"and fairness guarantee as follows [...]. On the other hand, if any of the utilities is "
        r"close to 0, then the Nash product would also be negligible. Therefore, maximizing the "
        r"Nash product does not yield extremely undesirable performance for any client.",
        statement="Over a finite set of utilities, the one of the largest product has a worst "
        "utility of at least a sixtieth of the best worst utility.",
        kind="bound",
        hypotheses={"positive": "u > 0"},
        scope="ten clients, two models; a sixtieth stands for any share",
        whose="reading",
        severity="remark",
        check=counterexample(
            floor,
            "ten clients, utilities (0.01, 1, ..., 1) or all 0.63: the first product is larger",
            two,
        ),
        mutants={
            "three": ("three clients", {"clients": 3}),
            "0.011": ("0.011 for 0.01: above a sixtieth", {"low": Fraction(11, 1000)}),
        },
        reading="'Extremely low' as far below what all can have at once. With more clients, or "
        "utilities nearer to 1 for the others, there is no bound.",
        erratum="A product of many utilities may be largest with one of them near 0: one client "
        "at 1 %, nine at 100 %, beats all ten at 63 %. For convex U there is a floor: u_i* is at "
        "least 1/n of the largest utility that client i has anywhere in U.",
        repaired=dict(
            title="For convex U every client gets at least 1/n of its largest utility, and may "
            "get no more",
            statement=r"$u_i^* \ge \frac1n u_i$ for all $u \in \mathcal U$, from (1); on $\{u \ge "
            r"e, \sum u_i \le n\}$, $e \to 0$, nothing better than $\frac1n$ holds.",
            kind="tight bound",
            hypotheses={
                "proportional": "u* satisfies (1), as the Nash solution of a convex U does",
                "positive": "u > 0",
            },
            scope="n = 3, whose terms look the same for any number; tightness for n = 2, 3, 10",
            size="n = 3",
            check=every(definite(share, method="together"), *map(near, (2, 3, 10))),
            mutants={
                "1/(0.99 n)": ("1 % more", {"factor": Fraction(99, 100)}),
                "1/(1.01 n)": ("1 % less, not what (1) gives", {"factor": Fraction(101, 100)}),
            },
            rests_on=("propfair/proposition-2.3",),
        ),
    ),
    Claim(
        "propfair/product-of-losses",
        95,
        "Minimising the product of the losses rewards disparity",
        number="Section 3",
        printed=r"simply minimizing $\prod_i f_i$ ... will encourage the client losses to be even "
        r"more disparate. For instance, $(f_1, f_2) = (0, 1)$ has smaller product than $(f_1, "
        r"f_2) = (\frac{1}{2}, \frac{1}{2})$.",
        statement=r"$\prod f_i$ is Schur-concave on $f \ge 0$: $(f_i - f_j)(\partial_i - "
        r"\partial_j)\prod f = -(f_i - f_j)^2 \prod_{k \ne i,j} f_k$; so moving two losses apart, "
        r"their sum kept, never raises it.",
        kind="implication",
        hypotheses={"losses": "f_i >= 0; the sum of the two is kept"},
        scope="every n",
        check=every(
            identity(schur, method="expand"),
            definite(moved),
            witness(
                printed,
                "(0, 1) against (1/2, 1/2)",
                {"unequal": [Fraction(0), Fraction(1)], "equal": [Fraction(1, 2)] * 2},
            ),
        ),
        mutants={
            "squares": ("the product of the squares in the identity", {"power": 2}),
            "lowers": ("moving apart raises the product", {"sign": -1}),
            "(0, 2)": (
                "the printed pair with another sum",
                {"unequal": [Fraction(0), Fraction(2)]},
            ),
        },
        reading="'Disparate' compares losses of the same sum; otherwise f = 0 for all has the "
        "smallest product of all.",
    ),
)
