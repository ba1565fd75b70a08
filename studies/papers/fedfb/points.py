"""Points of accuracy against disparity, a row a method and setting, for FedFB's pictures."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pandas as pd

from fairfl._support.checks import Array
from fairfl.studies.experiment import Picture
from fairfl.studies.frames import among, floats, loose
from fairfl.studies.papers.fedfb.data import REAL

COLUMNS = "dataset kind objective setting disparity disparity_sd accuracy accuracy_sd seeds".split()
"""``kind`` ours, published, constant or frontier; means and sd over seeds (NaN for one)."""

AXIS = "disparity max$_a$ |P(ŷ=1 | a) - P(ŷ=1)|"
PRINTED = ("Acc.", "DP disp.")
"""The measures of the published tables, but for table 6."""
EXACT, OF_SCORE = "exact frontier", "frontier of a score"
Limit = Callable[[str], tuple[Array, Array]]


def trade_off(
    test: pd.DataFrame,
    published: pd.DataFrame | None = None,
    limit: Limit | None = None,
    disparity: str = "dp",
    accuracy: str = "accuracy",
) -> pd.DataFrame:
    """Points of test rows, one an α; the published ones of the same data; frontiers; COLUMNS."""
    datasets = [str(name) for name in dict.fromkeys(test["dataset"])]
    parts = [_ours(test, disparity, accuracy)]
    if published is not None:
        parts.append(_published(published, datasets, set(test["objective"])))
    if limit is not None:
        parts.append(frontiers(datasets, limit))
    return pd.concat([part for part in parts if len(part)], ignore_index=True)


def by_setting(
    rows: pd.DataFrame,
    listed: Iterable[tuple[str, float, object]],
    label: Callable[[str, float], str],
) -> pd.DataFrame:
    """The rows, methods' names as objectives, settings as alpha; those not ``listed`` have none."""
    settings = {label(name, setting): (name, setting) for name, setting, _ in listed}
    both = [settings.get(str(name), (str(name), np.nan)) for name in rows["objective"]]
    return rows.assign(objective=[n for n, _ in both], alpha=[setting for _, setting in both])


def picture(name: str, title: str) -> tuple[Picture, ...]:
    """The picture of an experiment's points."""
    return (Picture(name, "tradeoff", title, x=AXIS),)


def in_expectation(test: pd.DataFrame) -> pd.DataFrame:
    """The expected accuracy over labels by the true P(y=1 | x), where known."""
    if "expected" not in test:
        return test
    expected = floats(test, "expected")
    return test.assign(accuracy=np.where(np.isnan(expected), floats(test, "accuracy"), expected))


def frontiers(datasets: Sequence[str], limit: Limit) -> pd.DataFrame:
    """A row per point of each data set's frontier."""
    parts = []
    for name in datasets:
        x, y = limit(name)
        labels = {"dataset": name, "objective": OF_SCORE if name in REAL else EXACT, "seeds": 1}
        parts.append(
            pd.DataFrame({"disparity": x, "accuracy": y}).assign(kind="frontier", **labels)
        )
    return pd.concat(parts, ignore_index=True).reindex(columns=COLUMNS)


def _ours(test: pd.DataFrame, disparity: str, accuracy: str) -> pd.DataFrame:
    columns = {"disparity": test[disparity], "accuracy": test[accuracy]}
    shown = test[["dataset", "objective", "seed"]].assign(
        **columns, setting=test["alpha"] if "alpha" in test else np.nan
    )
    point = ["dataset", "objective", "setting"]
    # constants come with every schedule
    once = loose(shown.drop_duplicates([*point, "seed"])).groupby(point, sort=False, dropna=False)
    points = once.agg(
        disparity=("disparity", "mean"),
        disparity_sd=("disparity", "std"),
        accuracy=("accuracy", "mean"),
        accuracy_sd=("accuracy", "std"),
        seeds=("seed", "count"),
    ).reset_index()
    constant = points["objective"].isin(["all 0", "all 1"])
    return points.assign(kind=np.where(constant, "constant", "ours"))[COLUMNS]


def _published(table: pd.DataFrame, datasets: Sequence[str], objectives: set[str]) -> pd.DataFrame:
    """Published points of the objectives as the paper names them, once each."""
    # a variant of ours, which has a comma, repeats its method's numbers
    rows = among(table, "dataset", datasets)
    rows = among(rows, "objective", [name for name in objectives if "," not in name])
    key = ["dataset", "objective"]
    accuracy, disparity = (among(rows, "measure", [name]) for name in PRINTED)
    both = disparity.merge(accuracy, on=key, suffixes=("_x", ""))
    names = {"published_x": "disparity", "published_sd_x": "disparity_sd"}
    names |= {"published": "accuracy", "published_sd": "accuracy_sd"}
    points = both.rename(columns=names).assign(kind="published", seeds=0)
    return points.reindex(columns=COLUMNS)
