"""Section 3.2, table 9: is a larger q more uniform? Not by entropy, nor from 1 to 2."""

from collections.abc import Callable
from fractions import Fraction

from flint import arb

from fairfl.claims.exact import Instance, ball, dot
from fairfl.claims.forms import Case, Claim, Part, Relation, counterexample, every


def variance(f: list[arb]) -> arb:
    """Definition 3."""
    mean = sum(f, arb(0)) / len(f)
    return sum(((v - mean) ** 2 for v in f), arb(0)) / len(f)


def sine(f: list[arb]) -> arb:
    """Definition 4: sin^2 of the angle with (1, ..., 1), which is below 90 degrees for losses."""
    return 1 - sum(f, arb(0)) ** 2 / (len(f) * dot(f, f))


def order(f: list[arb]) -> arb:
    """Definition 5: the entropy, with a minus."""
    total = sum(f, arb(0))
    return sum((v / total * (v / total).log() for v in f), arb(0))


MEASURES: dict[str, Callable[[list[arb]], arb]] = {
    "variance": variance,
    "angle": sine,
    "entropy": order,
}
"""Each is smaller where the losses are more uniform."""


def case(instance: Instance, measure: str, slack: Fraction = Fraction(0)) -> Case:
    """At w_q* of the larger q the measure is no larger (by ``slack``), for F_k = a_k/2 (w - b_k)^2
    + c_k.

    sum F_k^(q+1) is strictly convex where F_k >= 0 and a_k > 0, so its minimiser lies where the
    derivative sum F_k^q F_k' changes sign, between the two ends in ``at`` for each q; at
    equal ends it must vanish.
    """
    devices = list(zip(*(map(Fraction, instance[key]) for key in "abc"), strict=True))
    values, is_optimal = [], True
    for q, ends in zip(instance["q"], instance["at"], strict=True):
        low, high = map(Fraction, ends)
        left, right = (
            sum(((a / 2 * (w - b) ** 2 + c) ** q * a * (w - b) for a, b, c in devices), Fraction(0))
            for w in (low, high)
        )
        is_optimal &= left == 0 if low == high else left < 0 < right
        w = ball(low).union(ball(high))
        losses = [ball(a) / 2 * (w - ball(b)) ** 2 + ball(c) for a, b, c in devices]
        values.append(MEASURES[measure](losses))
    premises = {
        "convex": min(a for a, _, _ in devices) > 0,
        "losses": min(c for _, _, c in devices) >= 0,
        "optimal": is_optimal,
        "larger": instance["q"] == sorted(set(instance["q"])),
    }
    return Case((Relation(values[1], "<=", values[0] + ball(slack), measure),), premises)


FIRST = {
    "a": [3, 19, 13],
    "b": [5, 1, -1],
    "c": [8, 1, 3],
    "q": [0, 1],
    "at": [["3/5", "3/5"], ["0.69109586", "0.69109587"]],
}
SECOND = {
    "a": [1, 7, 1],
    "b": [-2, -2, 0],
    "c": [7, 0, 2],
    "q": [1, 2],
    "at": [["-1.56710070", "-1.56710069"], ["-1.64157574", "-1.64157573"]],
}
WORSE = (
    ("entropy", FIRST, "-0.782788 <= -0.79381", "0.0112"),
    ("entropy", SECOND, "-0.774363 <= -0.810428", "0.0365"),
    ("variance", SECOND, "7.32942 <= 7.00053", "0.333"),
    ("angle", SECOND, "0.358637 <= 0.343331", "0.0155"),
)
"""Measure (entropy with a minus, sin^2 of the angle), numbers, a slack 1 % above the loss."""


def worse(measure: str, instance: Instance, numbers: str = "", slack: str = "0") -> Part:
    """The measure at an instance, up to ``slack``."""
    where = ", ".join(f"{key} = {instance[key]}" for key in "abcq")
    shows = f"{measure} at {where}"
    return counterexample(case, shows, instance, numbers, measure=measure, slack=Fraction(slack))


CLAIMS = (
    Claim(
        "qffl/larger-q",
        67,
        "A larger q is more uniform, by variance, angle and entropy of the losses",
        number="Section 3.2, table 9",
        printed="we theoretically explore how q-FFL results in more *uniform* accuracy "
        "distributions with increasing q. [Table 9:] A larger q results in more fairness (smaller "
        "variance), but potentially lower accuracy. Similarly, a larger q imposes more uniformity "
        "in terms of other metrics",
        statement=r"For $0 \le q < q'$: $Var(F(w_{q'}^*)) \le Var(F(w_q^*))$, the angle of "
        r"$F(w_{q'}^*)$ with $(1, \dots, 1)$ is no larger than that of $F(w_q^*)$, and its "
        r"entropy is no smaller.",
        kind="bound",
        hypotheses={
            "convex": "every F_k has a positive second derivative",
            "losses": "F_k >= 0",
            "optimal": "w_q* minimises sum F_k^(q+1)",
            "larger": "q < q'",
        },
        scope="m = 3, one parameter, quadratics; q = 0 to 1 by entropy, q = 1 to 2 by all three",
        whose="reading",
        severity="theorem",
        check=every(*(worse(*row[:3]) for row in WORSE)),
        mutants={
            **{
                f"{row[0]} by {row[3]}": (
                    f"worse by no more than {row[3]}",
                    worse(*row[:2], slack=row[3]),
                )
                for row in WORSE
            },
            "lemma 6": ("variance from q = 0 to 1", worse("variance", FIRST)),
            "lemma 7": ("angle from q = 0 to 1", worse("angle", FIRST)),
        },
        reading="For all losses and every q < q', which no sentence says: A.1 has guarantees 'in "
        "some cases' and would 'ideally' prove more. Of the losses, which A.1 calls the "
        "performance. As a tendency it is not touched.",
        erratum="From q = 0 to q = 1 the variance and the angle of the losses do not increase "
        "(lemmas 6 and 7); their entropy may fall. From q = 1 to q = 2 each of the three may get "
        "worse. What grows with q is the entropy of F^(q+1), for small steps (lemma 8, repaired).",
    ),
)
