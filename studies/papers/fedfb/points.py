"""Points of accuracy against disparity, a row a method and setting, for FedFB's pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pandas as pd

from fairfl._support.checks import Array
from fairfl.studies.experiment import Picture
from fairfl.studies.frames import among, floats, groups
from fairfl.studies.frames import rows as kept_rows
from fairfl.studies.papers.fedfb.data import REAL
from fairfl.studies.papers.fedfb.limits import limit
from fairfl.studies.papers.fedfb.published_numbers import MEASURES as PRINTED
from fairfl.studies.papers.fedfb.runs import chosen

COLUMNS = "dataset kind objective setting disparity disparity_sd accuracy accuracy_sd seeds".split()
"""``kind`` ours, published, constant or frontier; means and sd over seeds (NaN for one)."""

AXIS = "disparity max$_a$ |P(ŷ=1 | a) - P(ŷ=1)|"
EXACT, OF_SCORE = "exact frontier", "frontier of a score"
Limit = Callable[[str], tuple[Array, Array]]


def trade_off(
    test: pd.DataFrame,
    published: pd.DataFrame,
    limit: Limit | None,
    disparity: str = "dp",
    accuracy: str = "accuracy",
) -> pd.DataFrame:
    """Points of test rows, one an α; the published ones of the same data; frontiers; COLUMNS."""
    datasets = [str(name) for name in dict.fromkeys(test["dataset"])]
    parts = [
        _ours(test, disparity, accuracy),
        _published(published, datasets, set(test["objective"])),
    ]
    if limit is not None:
        parts.append(frontiers(datasets, limit))
    return pd.concat([part for part in parts if len(part)], ignore_index=True)


def picture(name: str, title: str) -> tuple[Picture, ...]:
    """The picture of an experiment's points."""
    return (Picture(name, "tradeoff", title, x=AXIS),)


def of_choices(published: pd.DataFrame) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """``points`` of a table: each method's chosen setting, with the exact frontiers."""
    return lambda rows: trade_off(in_expectation(chosen(rows)), published, limit)


def of_all(published: pd.DataFrame) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """``points`` of a figure: every setting."""
    return lambda rows: trade_off(in_expectation(among(rows, "part", ["test"])), published, limit)


def in_expectation(test: pd.DataFrame) -> pd.DataFrame:
    """The expected accuracy over labels by the true P(y=1 | x), where known."""
    if "expected" not in test:
        return test
    expected = floats(test, "expected")
    return test.assign(accuracy=np.where(np.isnan(expected), floats(test, "accuracy"), expected))


def frontiers(datasets: Sequence[str], limit: Limit) -> pd.DataFrame:
    """A row a point of each data set's frontier."""
    found = ((name, *limit(name)) for name in datasets)
    rows = [
        _row(name, "frontier", OF_SCORE if name in REAL else EXACT, np.nan, [x], [y])
        for name, xs, ys in found
        for x, y in zip(xs, ys, strict=True)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _ours(test: pd.DataFrame, disparity: str, accuracy: str) -> pd.DataFrame:
    rows = []
    settings = test.assign(setting=floats(test, "alpha") if "alpha" in test else np.nan)
    for (dataset, objective), mine in groups(settings, ["dataset", "objective"]):
        kind = "constant" if str(objective) in ("all 0", "all 1") else "ours"
        for setting in _distinct(floats(mine, "setting")):
            level = floats(mine, "setting")
            here = kept_rows(mine, np.isnan(level) if np.isnan(setting) else level == setting)
            # constants come with every schedule
            _, once = np.unique(floats(here, "seed"), return_index=True)
            both = (floats(here, column)[once] for column in (disparity, accuracy))
            rows.append(_row(dataset, kind, objective, setting, *both))
    return pd.DataFrame(rows, columns=COLUMNS)


def _published(table: pd.DataFrame, datasets: Sequence[str], objectives: set[str]) -> pd.DataFrame:
    """Published rows of the objectives as the paper names them, once each."""
    rows, mine = [], among(table, "dataset", datasets)
    for (dataset, objective), cell in groups(mine, ["dataset", "objective"]):
        # a variant of ours repeats its method's numbers
        if objective not in objectives or "," in objective:
            continue
        y, x = (among(cell, "measure", [name]) for name in PRINTED)
        if len(x) and len(y):
            values = [
                float(floats(part, column)[0])
                for part in (x, y)
                for column in ("published", "published_sd")
            ]
            rows.append([dataset, "published", objective, np.nan, *values, 0])
    return pd.DataFrame(rows, columns=COLUMNS)


def _distinct(values: Iterable[float]) -> list[float]:
    """In the order in which they come, NaN once."""
    seen = list(dict.fromkeys("nan" if np.isnan(v) else v for v in values))
    return [float(v) for v in seen]


def _row(
    dataset: object,
    kind: str,
    objective: object,
    setting: float,
    disparity: Sequence[float] | Array,
    accuracy: Sequence[float] | Array,
) -> list[object]:
    seeds = len(disparity)
    told = [
        told
        for values in (disparity, accuracy)
        for told in (float(np.mean(values)), float(np.std(values, ddof=1)) if seeds > 1 else np.nan)
    ]
    return [dataset, kind, objective, setting, *told, seeds]
