"""The groups' rates, by the notion, under the classifier of the largest utility; of several such
the least disparate.
"""

from dataclasses import dataclass

import numpy as np

from fairfl.reports.question import Question
from fairfl.solvers.api import solve
from fairfl.solvers.solution import rates_of
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import NOTIONS, Rate, disparity

TIED = 1e-9
"""Disparities further apart than this are not one."""


@dataclass(frozen=True)
class GroupRates:
    """A rate: the groups' (A,), NaN of nobody, and the population's; rates of the notion that are
    ``undefined``, in words.
    """

    rate: Rate
    by_group: tuple[float, ...]
    of_all: float
    undefined: tuple[str, ...] = ()


def group_rates(federation: Federation, question: Question, smallest: float) -> GroupRates:
    """See ``Comparison.rates``; ``smallest``: that disparity of such classifiers.

    ValueError : no two groups can be compared.
    """
    solution = solve(federation, "cfl", np.inf, **question.of("cfl"))
    if solution.disparity > smallest + TIED:
        solution = solve(federation, "cfl", smallest, **question.of("cfl"))
    counted, rates, _ = rates_of(federation, question.notion, solution.classifier)
    mass = counted.mass.sum(axis=1)
    notion = NOTIONS[question.notion]
    missing = notion.undefined(mass, federation.groups)
    gaps = [disparity(rates[[k]], mass[[k]], question.difference) for k in range(len(mass))]
    if np.isnan(gaps).all():
        raise ValueError(
            f"notion {question.notion!r} must have two groups to compare: {' and '.join(missing)}"
        )
    k = int(np.nanargmax(gaps))
    of_all = float(np.nansum(rates[k] * mass[k]) / mass[k].sum())
    return GroupRates(notion.rates[k], tuple(rates[k].tolist()), of_all, missing)
