"""The groups' rates, by the notion, under the classifier of the largest utility; of several such
the least disparate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfl.reports.question import Question
from fairfl.solvers.api import solve
from fairfl.solvers.solution import rates_of
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import NOTIONS

TIED = 1e-9
"""Disparities further apart than this are not one."""


@dataclass(frozen=True)
class GroupRates:
    """A rate, by its key in ``fairfl.theory.populations.notions.RATES``: the groups' (A,), NaN of
    nobody, and the population's.
    """

    rate: str
    by_group: tuple[float, ...]
    of_all: float

    def apart(self, difference: str) -> float:
        """The disparity of this rate."""
        rates = np.array(self.by_group)
        rates = rates[~np.isnan(rates)]
        if not rates.size:  # nobody has the event
            return 0.0
        if difference == "overall":
            return float(np.abs(rates - self.of_all).max())
        return float(np.ptp(rates))


def group_rates(federation: Federation, question: Question, least: float) -> GroupRates:
    """See ``Comparison.rates``; ``least``: the smallest disparity of such classifiers."""
    found = solve(federation, "cfl", np.inf, **question.of("cfl"))
    if found.disparity > least + TIED:
        found = solve(federation, "cfl", least, **question.of("cfl"))
    counted, rates, _ = rates_of(federation, question.notion, found.classifier)
    mass = counted.mass.sum(axis=1)
    of_all = np.full(len(mass), np.nan)
    np.divide(np.nansum(rates * mass, axis=1), mass.sum(axis=1), of_all, where=mass.any(axis=1))
    every = [
        GroupRates(name, tuple(map(float, by_group)), float(mean))
        for name, by_group, mean in zip(NOTIONS[question.notion], rates, of_all, strict=True)
    ]
    return max(every, key=lambda rates: rates.apart(question.difference))
