"""The largest standard errors of a test on n people, in which "near" is counted. No torch."""

from __future__ import annotations

from fairfl._support.checks import positive

PEOPLE = 10_000
"""Rules are *near* where a test on so many people, half a group each, cannot part them."""


def accuracy_error(people: float) -> float:
    r"""The largest standard error of an accuracy measured on ``people``: sqrt(p (1 - p) / n) <= 1 /
    (2 sqrt n).

    0.005 on 10,000. Errors: ValueError unless ``people`` > 0.
    """
    return 0.5 / float(positive("people", people)) ** 0.5


def difference_error(people: float) -> float:
    r"""The largest standard error of MD measured on ``people``, half in each group.

    sqrt(r_0 (1 - r_0) / (n / 2) + r_1 (1 - r_1) / (n / 2)) <= 1 / sqrt n: 0.01 on 10,000.
    Errors: ValueError unless ``people`` > 0.
    """
    return 1 / float(positive("people", people)) ** 0.5


NEAR, OVER = accuracy_error(PEOPLE), difference_error(PEOPLE)
"""Of accuracies, and of mean differences."""
