"""What has changed since a study: numbers of clients and groups that differ by more than both
samples explain, by the interval of a difference (MOVER, Zou and Donner, 2008).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from fairfl.reports.comparison_words import number
from fairfl.reports.judgement.parts import Number, Part, cell, difference
from fairfl.reports.sampling import LEVEL

MEASURES = {
    "positive": "the share with y = 1",
    "right": "the share decided rightly",
    "accepted": "acceptance",
    "true_positive": "acceptance of y = 1",
    "false_positive": "acceptance of y = 0",
    "auc": "the AUC",
    "calibration": "y less the score",
    "disparity": "the disparity",
    "ratio": "the ratio of the rates",
}
"""Numbers of a part, and what they are called."""
NAMED = 12
"""Changes that are put in words."""


@dataclass(frozen=True)
class Drift:
    """A number of a client's or group's people (None: of all), and what it has moved by at least,
    by the interval of the difference: more than 0.
    """

    client: str | None
    group: str | None
    rate: str
    before: Number
    now: Number
    least: float


def drift_between(earlier: Sequence[Part], now: Sequence[Part]) -> tuple[tuple[Drift, ...], int]:
    """What changed of the same clients and groups, the largest first; how many were compared."""
    places = {(part.client, part.group): part for part in earlier if part.by is None}
    drift, count = [], 0
    for part in now:
        old = None if part.by else places.get((part.client, part.group))
        for name in MEASURES if old else ():
            pair = getattr(old, name), getattr(part, name)
            if None not in pair:
                count += 1
                change = difference(*sorted(pair, key=lambda end: -end.value))
                if change.low > 0.0:
                    drift.append(Drift(part.client, part.group, name, *pair, change.low))
    return tuple(sorted(drift, key=lambda change: -change.least)), count


def drift_words(drift: Sequence[Drift], count: int) -> list[str]:
    """Which numbers changed, and whose, beside how many would by chance."""
    lines = [
        f"Since the study {len(drift)} of {count} numbers changed by more than both samples "
        f"explain; by chance about {(1.0 - LEVEL) * count:.2g} would."
    ]
    for change in drift[:NAMED]:
        places = (("group", change.group), ("at", change.client))
        whose = " ".join(f"{word} {name}" for word, name in places if name is not None)
        values = [cell(n, number, low=-1.0) for n in (change.before, change.now)]
        lines.append(f"{whose or 'all'}: {MEASURES[change.rate]} was {values[0]}, is {values[1]}.")
    return lines[: count and None]
