"""The rules behind a comparison: budgets, thresholds and rates by group, of each scheme at one
disparity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.solution import Solution
from fairfl.theory.populations.classifiers import Classifier, ClientClassifiers
from fairfl.theory.populations.notions import NOTIONS


@dataclass(frozen=True)
class Chosen:
    """A scheme's solution, and the notion's rates (E, A) of the groups under it."""

    solution: Solution
    rates: Array


LISTED = 20
"""Of more clients than this the range of budgets is told; JSON has them all."""


def budgets(found: Solution) -> str:
    """One number where all clients have the same; none at 1 or more."""
    own = [f"{eps:.3g}" if eps < 1.0 else "none" for eps in found.eps]
    if len(set(found.eps.tolist())) == 1:
        return own[0]
    if len(own) <= LISTED:
        return ", ".join(own)
    bound, free = found.eps[found.eps < 1.0], own.count("none")
    return f"{bound.min():.3g} to {bound.max():.3g}" + f", none for {free:,}" * (free > 0)


def as_data(chosen: Chosen, groups: Sequence[str]) -> dict[str, Any]:
    """Plain numbers, for JSON: steps are (low, high, share accepted), their open ends None, or of
    a categorical score (value, share); of rules that are told the client a table for each.
    """
    found = chosen.solution
    told = isinstance(found.classifier, ClientClassifiers)
    tables = [
        {name: _steps(rule, a) for a, name in zip(rule.groups, groups, strict=True)}
        for rule in (found.classifier if told else [found.classifier])
    ]
    return {
        "disparity": found.disparity,
        "budgets": [_finite(eps) for eps in found.eps.tolist()],
        "rates": {
            name: dict(zip(groups, map(_finite, own), strict=True))
            for name, own in zip(NOTIONS[found.notion], chosen.rates.tolist(), strict=True)
        },
        "steps": tables if told else tables[0],
    }


def _steps(rule: Classifier, group: Any) -> list[list[Any]]:
    if rule.names:
        shares = rule(np.arange(len(rule.names)), group)
        return [list(pair) for pair in zip(rule.names, shares.tolist(), strict=True)]
    return [[_finite(v) for v in step] for step in rule.steps(group) if step[0] < step[1]]


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
