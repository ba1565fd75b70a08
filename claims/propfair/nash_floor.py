"""Section 2, 'Efficiency and fairness': how little a client may get where the Nash product is
largest.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import prod
from typing import Any

import sympy

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample, DefiniteForm, Witness
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence

N = 3


def floor(instance: dict[str, Any]) -> Case:
    """The vector of largest product gives every client ``share`` of the best worst utility."""
    best = max(instance["vectors"], key=prod)
    most = max(min(u) for u in instance["vectors"])
    premises = {"positive": min(map(min, instance["vectors"])) > 0}
    return Case((Relation(instance["share"] * most, "<=", min(best), "worst utility"),), premises)


def share(factor: Fraction = Fraction(1)) -> tuple[Any, list[Any]]:
    """n u_1* - u_1 >= 0 from (1): Σ u_i/u_i* <= n, with slack z; u > 0."""
    u, best = (
        sympy.symbols(f"u1:{N + 1}", positive=True),
        sympy.symbols(f"v1:{N + 1}", positive=True),
    )
    z = sympy.Symbol("z", nonnegative=True)
    ratio = N - z - sum(a / b for a, b in zip(u[1:], best[1:], strict=True))  # u_1/u_1*
    more = sympy.Rational(str(factor)) * N
    return (more - ratio), [z, *(a / b for a, b in zip(u[1:], best[1:], strict=True))]


def reached(instance: dict[str, Any], factor: Fraction = Fraction(1)) -> Case:
    """On the simplex {u >= e, Σ u_i <= n}, u* = (1, ..., 1), and a client's best is n - (n - 1) e:
    at most ``factor`` n u*, and within (n - 1) e of n.
    """
    n, e = instance["n"], instance["e"]
    most = n - (n - 1) * e
    premises = {"positive": 0 < e <= 1}
    return Case((Relation(factor * n - n * e, "<", most, "a client's best utility"),), premises)


def check(effort: Effort, clients: int = 10, low: Fraction = Fraction(1, 100)) -> Evidence:
    """One client against nine."""
    shows = "ten clients, utilities (0.01, 1, ..., 1) or all 0.63: the first has the larger product"
    vectors = [[low, *[Fraction(1)] * (clients - 1)], [Fraction(63, 100)] * clients]
    return Evidence.of(
        Counterexample.at(Call.of(floor), shows, vectors=vectors, share=Fraction(1, 60))
    )


def check_repaired(effort: Effort, factor: Fraction = Fraction(1)) -> Evidence:
    """The bound, and how near to it one can come."""
    point = {
        **{f"u{k}": f"{k}/2" for k in (1, 2, 3)},
        **{f"v{k}": f"{k + 1}" for k in (1, 2, 3)},
        "z": "1/3",
    }
    near = Call.of(reached)
    return Evidence.of(
        DefiniteForm(Call.of(share, factor=factor), "together", (point,)),
        *(
            Witness.at(
                near,
                f"{n} clients on a simplex: a best utility above {n} (1 - 10^-6) u*",
                n=n,
                e=Fraction(1, 10**6),
            )
            for n in (2, 3, 10)
        ),
    )


PRINTED = (
    r"Despite these obstacles [non-convex $\mathcal U$], we still have the efficiency and fairness "
    r"guarantee as follows [...]. On the other hand, if any of the utilities is close to 0, then "
    r"the Nash product would also be negligible. Therefore, maximizing the Nash product does not "
    r"yield extremely undesirable performance for any client."
)
CLAIMS = (
    Claim(
        id="propfair/nash-floor",
        whose="reading",
        number="Section 2, 'Efficiency and fairness'",
        line=70,
        title="Where the Nash product is largest, no client's utility is extremely low",
        printed=PRINTED,
        statement=(
            "Over a finite set of utilities, the one of the largest product has a worst utility of "
            "at least a sixtieth of the best worst utility."
        ),
        kind="bound",
        hypotheses=(("positive", "u > 0"),),
        scope="ten clients, two models; a sixtieth stands for any share",
        expected="holds-repaired",
        check=check,
        mutants=(
            Mutant("three", "three clients", partial(check, clients=3)),
            Mutant(
                "0.011", "0.011 for 0.01: above a sixtieth", partial(check, low=Fraction(11, 1000))
            ),
        ),
        reading="'Extremely low' as far below what all can have at once. With more clients, or "
        "utilities nearer to 1 for the others, there is no bound.",
        severity="remark",
        erratum=(
            "A product of many utilities may be largest with one of them near 0: one client at 1 "
            "%, nine at 100 %, beats all ten at 63 %. For convex U there is a floor: u_i* is at "
            "least 1/n of the largest utility that client i has anywhere in U."
        ),
    ),
    Claim(
        id="propfair/nash-floor/repaired",
        number="Section 2, 'Efficiency and fairness'",
        line=70,
        title="For convex U every client gets at least 1/n of its largest utility, and may get no "
        "more",
        printed=PRINTED,
        statement=(
            r"$u_i^* \ge \frac1n u_i$ for all $u \in \mathcal U$, from (1); on $\{u \ge e, \sum "
            r"u_i \le n\}$, $e \to 0$, nothing better than $\frac1n$ holds."
        ),
        kind="tight bound",
        hypotheses=(
            ("proportional", "u* satisfies (1), as the Nash solution of a convex U does"),
            ("positive", "u > 0"),
        ),
        scope="n = 3, whose terms look the same for any number; tightness for n = 2, 3, 10",
        expected="holds",
        check=check_repaired,
        mutants=(
            Mutant("1/(0.99 n)", "1 % more", partial(check_repaired, factor=Fraction(99, 100))),
            Mutant(
                "1/(1.01 n)",
                "1 % less, not what (1) gives",
                partial(check_repaired, factor=Fraction(101, 100)),
            ),
        ),
        rests_on=("propfair/proposition-2.3",),
    ),
)
