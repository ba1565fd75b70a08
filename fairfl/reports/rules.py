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

PARTS = 3
"""So many intervals are shown one by one; of more, their range."""
ROUNDING = 1e-9
"""Shares of people this near to none or all are these."""


@dataclass(frozen=True)
class Chosen:
    """A scheme's solution, and the notion's rates (E, A) of the groups under it."""

    solution: Solution
    rates: Array


def thresholds(rule: Classifier, group: int) -> str:
    """Who is accepted, such as "above 0.64, and 10.4 % of 0.60 to 0.64"."""
    steps = [step for step in rule.steps(group) if step[0] < step[1]]
    sure = rule.accept(group, 1.0 - ROUNDING)
    part = [step for step in steps if ROUNDING < step[2] < 1.0 - ROUNDING]
    told = [_interval(*ends) for ends in sure]
    if len(sure) > PARTS:
        told = [f"{len(sure)} intervals {_interval(sure[0][0], sure[-1][1])}"]
    if len(part) > PARTS:
        shares = [f"{100 * share([p for *_, p in part]):.3g}" for share in (min, max)]
        told.append(f"{' to '.join(shares)} % {_interval(part[0][0], part[-1][1])}")
    else:
        told += [f"{100 * p:.3g} % {_interval(lo, hi)}" for lo, hi, p in part]
    return ", and ".join(told) or "nobody"


def _interval(low: float, high: float) -> str:
    if high == np.inf:
        return "everybody" if low == -np.inf else f"above {low:.3g}"
    return f"up to {high:.3g}" if low == -np.inf else f"of {low:.3g} to {high:.3g}"


def budgets(found: Solution) -> str:
    """One number where all clients have the same; none at 1 or more."""
    own = [f"{eps:.3g}" if eps < 1.0 else "none" for eps in found.eps]
    return own[0] if len(set(found.eps.tolist())) == 1 else ", ".join(own)


def as_data(chosen: Chosen, groups: Sequence[str]) -> dict[str, Any]:
    """Plain numbers, for JSON: steps are (low, high, share accepted), their open ends None; of
    rules that are told the client a table for each.
    """
    found = chosen.solution
    told = isinstance(found.classifier, ClientClassifiers)
    tables = [
        {name: _steps(rule, a) for a, name in enumerate(groups)}
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


def _steps(rule: Classifier, group: int) -> list[list[float | None]]:
    return [[_finite(v) for v in step] for step in rule.steps(group) if step[0] < step[1]]


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
