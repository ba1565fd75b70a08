"""A comparison as plain numbers, for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from fairfl.reports import rules
from fairfl.reports.comparison import ENDS, Comparison
from fairfl.reports.comparison_words import sentences
from fairfl.reports.question import PLAIN
from fairfl.reports.sampling import LEVEL


def as_data(found: Comparison) -> dict[str, Any]:
    """Plain numbers, for JSON."""
    schemes, value = [], found.question.value.replace(" ", "_")
    ends = [name.replace("accuracy", value) for name in ENDS]
    for k, (scheme, reach) in enumerate(found.reaches.items()):
        told: dict[str, Any] = {"scheme": scheme}
        told |= dict(zip(ends, reach.numbers, strict=False))
        told["rule"] = rules.as_data(found.rules[scheme], found.groups)
        told["exact"] = reach.frontier.exact
        told["at"] = [
            {"disparity": d, value: v} for d, v in zip(found.disparities, reach.at, strict=True)
        ]
        if found.spread is not None:
            told["intervals"] = {name: found.between(scheme, c) for c, name in enumerate(ends)}
            for c, at in enumerate(told["at"], start=len(ENDS)):
                at["interval"], at["reached"] = (
                    found.between(scheme, c),
                    float(found.spread.reached[k, c]),
                )
        if found.held is not None:
            told["held_out"] = _held(found, k)
        curve = reach.frontier
        names = ("disparity", "accuracy", "eps")
        told["frontier"] = {name: getattr(curve, name).tolist() for name in names}
        told["frontier"][value] = reach.values.tolist()
        schemes.append(told)
    out: dict[str, Any] = {
        "groups": list(found.groups),
        "clients": [
            {"name": n, "weight": w} for n, w in zip(found.clients, found.weight, strict=True)
        ],
        "people": found.people,
        "unconstrained_rates": _known(found.rates.by_group),
        "schemes": schemes,
        "in_words": sentences(found),
    }
    if found.question != PLAIN:
        out["asked"] = asdict(found.question)
        if out["asked"]["local_eps"] == np.inf:
            out["asked"]["local_eps"] = "inf"  # JSON has no such number
    if found.spread is not None:
        drawn = {name: getattr(found.spread, name) for name in ("bootstraps", "failed", "seed")}
        out["intervals"] = drawn | {"level": LEVEL}
    return out


def _known(values: Sequence[float]) -> list[float | None]:
    return [None if np.isnan(v) else float(v) for v in values]


def _held(found: Comparison, scheme: int) -> list[dict[str, Any]]:
    """A scheme's rules, fitted to half of the people."""
    assert found.held is not None
    rows, value = [], found.question.value
    for k, name in enumerate(["smallest disparity", *found.disparities, f"best {value}"]):
        row: dict[str, Any] = {"rule": name, "reached": float(found.held.reached[scheme, k])}
        for half, values in (("inside", found.held.inside), ("outside", found.held.outside)):
            worth, disparity = _known(values[scheme, k])
            row[half] = {value.replace(" ", "_"): worth, "disparity": disparity}
        rows.append(row)
    return rows
