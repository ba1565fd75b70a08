"""Section 2, 'Efficiency and fairness': how little a client may get where the Nash product is
largest.
"""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import Any

import sympy

from fairfl.claims.claim import Claim
from fairfl.claims.forms import Case, Part, Relation, counterexample, definite, every, witness

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


CLAIMS = (
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
)
