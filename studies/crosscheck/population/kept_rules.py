"""Learned rules as committed data, short and exact once rounded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fairfl.studies.crosscheck.population.learned_rules import from_json
from fairfl.studies.crosscheck.population.worlds import World, by_name
from fairfl.theory.populations.classifiers import Classifier

if TYPE_CHECKING:  # reading needs no pandas
    import pandas as pd

DIGITS = 6
"""Of an edge, in the unit of x, and of a value. The rounded rule is the one that is kept: a rule
near the learned one, evaluated exactly as any other.
"""

RUN = ("notion", "scheme", "degree", "rows", "seed", "budget")
"""What is kept of a run beside its rule, as far as its measures have it."""


def kept_rules(measures: pd.DataFrame) -> list[dict[str, Any]]:
    """The worlds as numbers, each with its rules: what ``fairfl crosscheck --record`` writes."""
    found: dict[str, dict[str, Any]] = {}
    for row in measures.to_dict("records"):
        name = str(row["world"])
        world = found.setdefault(name, {"world": by_name(name).to_json(), "rules": []})
        run = {key: row[key] for key in RUN if key in row}
        world["rules"].append(run | short(row["rule"]))
    return list(found.values())


def short(text: str) -> dict[str, Any]:
    """A rule's edges and values, rounded; of a deterministic one the first value."""
    rule = from_json(text)
    edges = [np.round(e, DIGITS).tolist() for e in rule.edges]
    sharp = all(np.isin(v, (0.0, 1.0)).all() and (np.diff(v) != 0).all() for v in rule.values)
    values = (
        [int(v[0]) for v in rule.values]
        if sharp
        else [np.round(v, DIGITS).tolist() for v in rule.values]
    )
    return {"edges": edges, "values": values}


def rule_of(data: Mapping[str, Any]) -> Classifier:
    """The classifier of what ``short`` gives."""
    values = [
        [float((start + k) % 2) for k in range(len(e) + 1)] if isinstance(start, int) else start
        for e, start in zip(data["edges"], data["values"], strict=True)
    ]
    return Classifier(data["edges"], values)


def read(data: Mapping[str, Any]) -> Iterator[tuple[World, Mapping[str, Any], Classifier]]:
    """World, what was run, and rule, of every rule kept."""
    for part in data["worlds"]:
        world = World.from_json(part["world"])
        for run in part["rules"]:
            yield world, run, rule_of(run)
