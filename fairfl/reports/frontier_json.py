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
        told |= dict(zip(ends, found.numbers[k].tolist(), strict=False))
        told["rule"] = rules.as_data(found.rules[scheme], found.groups)
        told["exact"] = reach.frontier.exact
        told["at"] = [
            {"disparity": d, value: v} for d, v in zip(found.disparities, reach.at, strict=True)
        ]
        if found.spread is not None:
            told["intervals"] = {name: found.between(scheme, c) for c, name in enumerate(ends)}
            told["intervals"]["cost_of_smallest"] = found.between(scheme, -1)
            for c, at in enumerate(told["at"]):
                at["interval"] = found.between(scheme, len(ENDS) + c)
                at["below_cfl"] = found.between(scheme, len(ENDS) + len(told["at"]) + c)
                at["reached"] = float(found.spread.reached[k, c])
        if found.judged:
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
    if found.failures:
        out["failures"] = found.failures
    if found.question != PLAIN:
        out["asked"] = asdict(found.question)
        del out["asked"]["only"]
        if out["asked"]["local_eps"] == np.inf:
            out["asked"]["local_eps"] = "inf"  # JSON has no such number
    if found.spread is not None:
        drawn = {name: getattr(found.spread, name) for name in ("bootstraps", "seed")}
        out["intervals"] = drawn | {"level": LEVEL}
    return out


def _known(values: Sequence[float]) -> list[float | None]:
    return [None if np.isnan(v) else float(v) for v in values]


def _held(found: Comparison, scheme: int) -> list[dict[str, Any]]:
    """A scheme's rules on people they were not fitted to, at the same disparity but at the ends."""
    assert found.spread is not None
    value, rows = found.question.value, []
    names = ["smallest disparity", *found.disparities, f"best {value}"]
    for name, (worth, disparity) in zip(
        names, map(_known, found.spread.held[scheme].tolist()), strict=True
    ):
        rows.append({"rule": name, value.replace(" ", "_"): worth, "disparity": disparity})
    return rows
