"""A comparison as plain numbers, for JSON."""

from dataclasses import asdict
from typing import Any

import numpy as np

from fairfl._support.checks import Array
from fairfl.reports import rules
from fairfl.reports.comparison import ENDS, Comparison
from fairfl.reports.comparison_words import sentences
from fairfl.reports.question import PLAIN
from fairfl.reports.sampling import LEVEL


def as_data(comparison: Comparison) -> dict[str, Any]:
    """Plain numbers, for JSON."""
    schemes, value = [], comparison.question.value.replace(" ", "_")
    ends = [name.replace("accuracy", value) for name in ENDS]
    for k, (scheme, reach) in enumerate(comparison.reaches.items()):
        row: dict[str, Any] = {"scheme": scheme}
        row |= dict(zip(ends, comparison.numbers[k].tolist(), strict=False))
        row["rule"] = rules.as_data(comparison.rules[scheme], comparison.groups)
        row["exact"] = reach.frontier.exact
        rows = zip(comparison.disparities, reach.values_at, reach.gaps_at, strict=True)
        row["at"] = [{"disparity": d, value: v, "gap": gap} for d, v, gap in rows]
        if comparison.spread is not None:
            row["intervals"] = {name: comparison.between(scheme, c) for c, name in enumerate(ends)}
            row["intervals"]["cost_of_smallest"] = comparison.between(scheme, -1)
            for c, at in enumerate(row["at"]):
                at["interval"] = comparison.between(scheme, len(ENDS) + c)
                at["below_cfl"] = comparison.between(scheme, len(ENDS) + len(row["at"]) + c)
                at["reached"] = float(comparison.spread.reached[k, c])
        if comparison.spread is not None and comparison.judged:
            row["held_out"] = _by_rule(comparison, comparison.spread.held_out[k])
        if comparison.counted is not None:
            row["counted_minus_promised"] = _by_rule(comparison, comparison.counted[k])
        curve = reach.frontier
        names = ("disparity", "accuracy", "eps")
        row["frontier"] = {name: getattr(curve, name).tolist() for name in names}
        row["frontier"] |= {value: reach.values.tolist(), "gap": reach.gap.tolist()}
        schemes.append(row)
    out: dict[str, Any] = {
        "groups": list(comparison.groups),
        "clients": [
            {"name": n, "weight": w}
            for n, w in zip(comparison.clients, comparison.weight, strict=True)
        ],
        "people": comparison.people,
        "unconstrained_rates": rules.finite(comparison.rates.by_group),
        "schemes": schemes,
        "in_words": sentences(comparison),
    }
    if comparison.failures:
        out["failures"] = comparison.failures
    if comparison.question != PLAIN:
        out["asked"] = asdict(comparison.question)
        del out["asked"]["only"]
        if out["asked"]["local_eps"] == np.inf:
            out["asked"]["local_eps"] = "inf"  # JSON has no such number
    if comparison.spread is not None:
        settings = {name: getattr(comparison.spread, name) for name in ("bootstraps", "seed")}
        out["intervals"] = settings | {"level": LEVEL}
    return out


def _by_rule(comparison: Comparison, table: Array) -> list[dict[str, Any]]:
    """Values and disparities (K + 2, 2) of a scheme's rules."""
    value, rows = comparison.question.value, []
    names = ["smallest disparity", *comparison.disparities, f"best {value}"]
    for name, (worth, disparity) in zip(names, map(rules.finite, table.tolist()), strict=True):
        rows.append({"rule": name, value.replace(" ", "_"): worth, "disparity": disparity})
    return rows
