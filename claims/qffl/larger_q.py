"""Section 3.2, table 9: is a larger q more uniform? Not by entropy from q = 0 to 1, by no measure
from 1 to 2.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

from flint import arb

from fairfl.claims.call import Call
from fairfl.claims.case import Case, Relation
from fairfl.claims.certificates import Counterexample
from fairfl.claims.claim import Claim, Effort, Mutant
from fairfl.claims.evidence import Evidence
from fairfl.claims.exact import ball


def total(values: list[arb]) -> arb:
    """The sum."""
    return sum(values, arb(0))


def variance(f: list[arb]) -> arb:
    """Definition 3."""
    mean = total(f) / len(f)
    return total([(v - mean) ** 2 for v in f]) / len(f)


def sine(f: list[arb]) -> arb:
    """Definition 4: of the angle with (1, ..., 1), squared; the angle of losses is below 90
    degrees.
    """
    return 1 - total(f) ** 2 / (len(f) * total([v * v for v in f]))


def order(f: list[arb]) -> arb:
    """Definition 5: the entropy, with a minus."""
    shares = [v / total(f) for v in f]
    return total([s * s.log() for s in shares])


MEASURES: dict[str, Callable[[list[arb]], arb]] = {
    "variance": variance,
    "angle": sine,
    "entropy": order,
}
"""Each is smaller where the losses are more uniform."""


def case(instance: dict[str, Any], measure: str, slack: Fraction = Fraction(0)) -> Case:
    """At w_q* of the larger q the measure is no larger (by ``slack``), for F_k = a_k/2 (w - b_k)^2
    + c_k.

    sum F_k^(q+1) is strictly convex where F_k >= 0 and a_k > 0, so its minimiser lies where the
    derivative sum F_k^q F_k' changes sign, between the two ends that ``at`` has for each q; at
    equal ends it must vanish.
    """
    a, b, c = (instance[key] for key in "abc")
    found, optimal = [], True
    for q, (low, high) in zip(instance["q"], instance["at"], strict=True):
        left, right = (
            sum(
                (
                    (k / 2 * (w - m) ** 2 + n) ** q * k * (w - m)
                    for k, m, n in zip(a, b, c, strict=True)
                ),
                Fraction(0),
            )
            for w in (low, high)
        )
        optimal &= left == 0 if low == high else left < 0 < right
        w = ball(low).union(ball(high))
        losses = [
            ball(k) / 2 * (w - ball(m)) ** 2 + ball(n) for k, m, n in zip(a, b, c, strict=True)
        ]
        found.append(MEASURES[measure](losses))
    premises = {
        "convex": min(a) > 0,
        "losses": min(c) >= 0,
        "optimal": optimal,
        "larger": instance["q"] == sorted(set(instance["q"])),
    }
    return Case((Relation(found[1], "<=", found[0] + ball(slack), measure),), premises)


def bracket(digits: str) -> list[Fraction]:
    """Between this decimal and the next of as many digits."""
    low = Fraction(digits)
    return [low, low + Fraction(1, 10 ** len(digits.partition(".")[2]))]


FIRST = {
    "a": [Fraction(3), Fraction(19), Fraction(13)],
    "b": [Fraction(5), Fraction(1), Fraction(-1)],
    "c": [Fraction(8), Fraction(1), Fraction(3)],
    "q": [0, 1],
    "at": [[Fraction(3, 5), Fraction(3, 5)], bracket("0.69109586")],
}
SECOND = {
    "a": [Fraction(1), Fraction(7), Fraction(1)],
    "b": [Fraction(-2), Fraction(-2), Fraction(0)],
    "c": [Fraction(7), Fraction(0), Fraction(2)],
    "q": [1, 2],
    "at": [bracket("-1.56710070"), bracket("-1.64157574")],
}
ONE = "F = (3, 19, 13)/2 (w - (5, 1, -1))^2 + (8, 1, 3), q = 0, 1: "
TWO = "F = (1, 7, 1)/2 (w - (-2, -2, 0))^2 + (7, 0, 2), q = 1, 2: "
PARTS = {
    "first": ("entropy", FIRST, ONE + "the entropy falls from 0.794 to 0.783"),
    "entropy": ("entropy", SECOND, TWO + "the entropy falls from 0.810 to 0.774"),
    "variance": ("variance", SECOND, TWO + "the variance rises from 7.00 to 7.33"),
    "angle": ("angle", SECOND, TWO + "sin^2 of the angle rises from 0.343 to 0.359"),
}


def check(effort: Effort, part: str = "", slack: str = "0", instead: str = "") -> Evidence:
    """A counterexample for each part; mutants weaken one of them by ``slack``, or measure it by
    ``instead``.
    """
    found = []
    for name, (measure, instance, shows) in PARTS.items():
        mine = name == part
        call = Call.of(
            case,
            measure=instead if mine and instead else measure,
            slack=Fraction(slack if mine else 0),
        )
        found.append(Counterexample.at(call, shows, **instance))
    return Evidence.of(*found)


def weaker(name: str, part: str, slack: str) -> Mutant:
    """One per cent more than what is lost."""
    return Mutant(name, f"worse by no more than {slack}", partial(check, part=part, slack=slack))


CLAIMS = (
    Claim(
        id="qffl/larger-q",
        number="Section 3.2, table 9",
        line=67,
        title="A larger q is more uniform, by variance, angle and entropy of the losses",
        printed=(
            "we theoretically explore how q-FFL results in more *uniform* accuracy distributions "
            "with increasing q. [Table 9:] A larger q results in more fairness (smaller "
            "variance), but potentially lower accuracy. Similarly, a larger q imposes more "
            "uniformity in terms of other metrics"
        ),
        statement=(
            r"For $0 \le q < q'$: $Var(F(w_{q'}^*)) \le Var(F(w_q^*))$, the angle of "
            r"$F(w_{q'}^*)$ with $(1, \dots, 1)$ is no larger than that of $F(w_q^*)$, and its "
            r"entropy is no smaller."
        ),
        kind="bound",
        hypotheses=(
            ("convex", "every F_k has a positive second derivative"),
            ("losses", "F_k >= 0"),
            ("optimal", "w_q* minimises sum F_k^(q+1)"),
            ("larger", "q < q'"),
        ),
        scope="m = 3, one parameter, quadratics; q = 0 to 1 by entropy, q = 1 to 2 by all three",
        expected="refuted",
        check=check,
        mutants=(
            weaker("entropy from 0 by 0.0112", "first", "0.0112"),
            weaker("entropy by 0.0365", "entropy", "0.0365"),
            weaker("variance by 0.333", "variance", "0.333"),
            weaker("angle by 0.0155", "angle", "0.0155"),
            Mutant(
                "lemma 6",
                "variance from q = 0 to 1",
                partial(check, part="first", instead="variance"),
            ),
            Mutant(
                "lemma 7", "angle from q = 0 to 1", partial(check, part="first", instead="angle")
            ),
        ),
        reading="Of the losses, which appendix A.1 calls the performance; table 9: see "
        "qffl/table-9-metrics.",
        severity="theorem",
        erratum=(
            "From q = 0 to q = 1 the variance and the angle of the losses do not increase "
            "(lemmas 6 and 7); their entropy may fall. From q = 1 to q = 2 each of the three may "
            "get worse. What grows with q is the entropy of F^(q+1), for small steps (lemma 8, "
            "repaired)."
        ),
    ),
)
