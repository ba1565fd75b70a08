"""Tables of published numbers and of this program's."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import special

from fairfl.studies.published_numbers import Printed

_THREE = """Acc., DP disp., |SPD|, E Acc., best E Acc., CP disp., EO disp., EOdds disp., disparity,
eo difference, eodds difference, accepted, Acc. gap, E gap, GB (9), GB (20), least gap,
above FedAvg, LS, loss, training loss, KL, after 10 %, after 50 %, at the end, mean loss, worst loss
"""
DIGITS = {"variance": 0, **dict.fromkeys(" ".join(_THREE.split()).split(", "), 3)}
"""Decimals of each measure in the tables, of validation measures too; one where none is given."""
COVERAGE = 0.95
"""Level of the confidence intervals over seeds."""
COLUMNS = ["dataset", "objective", "measure", "published", "published_sd"]


def published(table: Printed, rename: Mapping[str, Sequence[str]] | None = None) -> pd.DataFrame:
    """A row per number. ``rename``: our names of a row, one or several; the others keep theirs."""
    names = rename or {}
    rows = [
        (data, name, measure, float(mean), np.nan if spread is None else float(spread))
        for (data, row), cells in table.items()
        for name in names.get(row, (row,))
        for measure, (mean, spread) in cells.items()
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def compare(values: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """A row per dataset, objective and measure: mean, sd (divisor seeds - 1; NaN for one seed),
    seeds, half of the mean's interval, the published or NaN, and how far they are ``apart``, in the
    larger of the two spreads.
    """
    grouped = values.groupby(["dataset", "objective", "measure"], sort=False)["value"]
    ours = grouped.agg(mean="mean", sd="std", seeds="count").reset_index()
    ours["half"] = half_interval(ours["sd"], ours["seeds"])
    table = ours.merge(published, how="left", on=["dataset", "objective", "measure"])
    spread = table[["sd", "published_sd"]].max(axis=1)
    table["apart"] = (table["mean"] - table["published"]).abs() / spread.where(spread > 0)
    return table


def half_interval(sd: ArrayLike, count: ArrayLike) -> NDArray[np.float64]:
    """Half of Student's interval of a mean of ``count`` values; NaN for one value."""
    n = np.asarray(count, dtype=float)
    quantile = special.stdtrit(np.where(n > 1, n - 1, np.nan), (1 + COVERAGE) / 2)
    return quantile * np.asarray(sd, dtype=float) / np.sqrt(n)


def paired(values: pd.DataFrame) -> pd.DataFrame:
    """``values`` of all objectives but the first, less those of the first with the same data, seed
    and measure.
    """
    first = values["objective"].iloc[0]
    keys = ["dataset", "measure", "seed"]
    base = values.loc[values["objective"] == first, [*keys, "value"]]
    pairs = values[values["objective"] != first].merge(base, on=keys, suffixes=("", "_first"))
    return pairs.assign(value=pairs["value"] - pairs["value_first"]).drop(columns="value_first")


def cells(table: pd.DataFrame, spread: str = "sd") -> list[list[str]]:
    """The table as text, with a header and a row per dataset and objective; ``spread`` is "sd" or
    "half".
    """
    measures = list(dict.fromkeys(table["measure"]))
    texts: dict[tuple[str, str], dict[str, str]] = {}
    for row in table.to_dict("records"):
        line = texts.setdefault((row["dataset"], row["objective"]), {})
        line[row["measure"]] = cell(row, spread)
    body = [[*key, *(line.get(name, "") for name in measures)] for key, line in texts.items()]
    return [["data", "objective", *measures], *body]


def cell(row: dict[Hashable, Any], spread: str = "sd") -> str:
    """A row of ``compare`` as ``ours ± spread [published ± sd]``."""
    digits = DIGITS.get(row["measure"].removeprefix("validation "), 1)
    text = _number(row["mean"], row[spread], digits)
    if np.isnan(row["published"]):
        return text
    return f"{text} [{_number(row['published'], row['published_sd'], digits)}]"


def _number(mean: float, sd: float, digits: int) -> str:
    return f"{mean:.{digits}f}" if np.isnan(sd) else f"{mean:.{digits}f} ± {sd:.{digits}f}"
