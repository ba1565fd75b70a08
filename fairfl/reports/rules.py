"""Budgets, thresholds and rates by group of the rules behind a comparison."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairfl._support.checks import Array
from fairfl.reports.question import Question
from fairfl.solvers.api import solve
from fairfl.solvers.schemes import SCHEMES
from fairfl.solvers.solution import Solution, rates_of
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.client_classifiers import ClientClassifiers
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import NOTIONS, Rate, disparity


@dataclass(frozen=True)
class Chosen:
    """A scheme's solution, and the notion's rates (E, A) of the groups under it."""

    solution: Solution
    rates: Array


LISTED = 20
"""With more clients than this the range of budgets is printed; JSON has them all."""


def budgets(solution: Solution) -> str:
    """The budgets, and the local ones beside a pooled one."""
    local = () if solution.local_eps is None else (f"local {_budgets(solution.local_eps)}",)
    return ", ".join((_budgets(solution.eps), *local))


def _budgets(budgets: Array) -> str:
    """One number where all clients have the same; none at 1 or more."""
    texts = [f"{eps:.3g}" if eps < 1.0 else "none" for eps in budgets]
    if len(set(budgets.tolist())) == 1:
        return texts[0]
    if len(texts) <= LISTED:
        return ", ".join(texts)
    bound, free = budgets[budgets < 1.0], texts.count("none")
    return f"{bound.min():.3g} to {bound.max():.3g}" + f", none for {free:,}" * (free > 0)


def as_data(chosen: Chosen, groups: Sequence[str]) -> dict[str, Any]:
    """Plain numbers, for JSON: steps are (low, high, share accepted), their open ends None, or of
    a categorical score (value, share); of rules that are told the client a table for each.
    """
    solution, scheme = chosen.solution, SCHEMES[chosen.solution.scheme]
    prices = None  # of an ensemble, whose clients have each their own problem
    if not scheme.is_averaged:
        prices = solution.local_prices if scheme.is_pooled else solution.prices
    by_client = isinstance(solution.classifier, ClientClassifiers)
    tables = [
        {name: _steps(rule, a) for a, name in zip(rule.groups, groups, strict=True)}
        for rule in (solution.classifier if by_client else [solution.classifier])
    ]
    return {
        "disparity": solution.disparity,
        "budgets": finite(solution.eps.tolist()),
        "client_prices": None if prices is None else prices.tolist(),
        "rates": {
            rate.key: dict(zip(groups, finite(by_group), strict=True))
            for rate, by_group in zip(
                NOTIONS[solution.notion].rates, chosen.rates.tolist(), strict=True
            )
        },
        "steps": tables if by_client else tables[0],
    }


def _steps(rule: Classifier, group: Any) -> list[list[Any]]:
    if rule.names:
        shares = rule(np.arange(len(rule.names)), group)
        return [list(pair) for pair in zip(rule.names, shares.tolist(), strict=True)]
    return [finite(step) for step in rule.steps(group) if step[0] < step[1]]


def finite(values: Iterable[float]) -> list[float | None]:
    """Numbers as JSON has them: None in place of NaN and infinities."""
    return [float(value) if np.isfinite(value) else None for value in values]


TIED = 1e-9
"""Disparities further apart than this are not one."""


@dataclass(frozen=True)
class GroupRates:
    """A rate by group (A,), NaN of nobody, and of all; rates that are ``undefined``, in words."""

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
