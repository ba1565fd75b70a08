"""Table 1: variances of three accuracies that no three accuracies have."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from fairfl.claims.claim import Claim
from fairfl.claims.exact import ball
from fairfl.claims.forms import every, leaves
from fairfl.studies.papers.pffl.published_numbers import TABLE_1

HALF_DIGIT = Fraction(1, 2000)


def margin(x: list[arb], variance: str, divisor: int = 2) -> arb:
    """The printed variance, rounded down, less that of three accuracies in [0, 1]."""
    a, b, c = centre = [arb(v.mid()) for v in x]
    spread = ((a - b) ** 2 + (b - c) ** 2 + (c - a) ** 2) / 3  # the squares about the mean
    # mean value form: the squares are smooth, and their plain enclosure over a box is wide
    for k, v in enumerate(x):
        spread += (2 * v - 2 * (x[0] + x[1] + x[2]) / 3) * (v - centre[k])
    return ball(Fraction(variance) - HALF_DIGIT) - spread / divisor


CUBE = [(Fraction(0), Fraction(1))] * 3
CLAIMS = (
    Claim(
        "pffl/table-1-variance",
        "Table 1, FMNIST",
        149,
        "The variances of Table 1's FMNIST rows are variances of three accuracies",
        printed="FMNIST ('only has three clients'): Gini 50.7, variance 0.350; Geo = 0.5: 53.5, "
        "variance 0.396",
        statement=r"Some $x \in [0,1]^3$ has the sample variance $\frac12\sum(x_i - \bar x)^2 \ge "
        r"0.3495$, and some has one of at least 0.3955 (divisor $n-1$, the larger of the two in "
        r"use; the printed digits rounded down).",
        kind="figure",
        hypotheses={"accuracies": "three accuracies as fractions of one, each in [0, 1]"},
        scope="all of [0, 1]^3, both rows",
        whose="printed",
        expected="refuted",
        severity="constant",
        check=every(
            *(
                leaves(margin, CUBE, variance=TABLE_1["FMNIST", row]["variance"][0])
                for row in ("Gini", "Geo = 0.5")
            ),
            negation=True,
        ),
        mutants={
            "the row q = 15": ("0.047 is attainable", {"variance": "0.047"}),
            "divisor 1": ("the sum of squares, undivided, reaches 2/3", {"divisor": 1}),
        },
        reading="Variances are of fractions, as other rows show: Synthetic, q = 0 has 0.08 with an "
        "average of 72.8 percent.",
        erratum="FMNIST has three clients, and three accuracies in [0, 1] have a sample variance "
        "of at most 1/3 (0, 0, 1) and a population variance of at most 2/9: 0.350 and 0.396 are "
        "neither. The other four are possible.",
    ),
)
