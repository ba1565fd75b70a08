"""Published numbers, and ours beside them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd

NUMBER = re.compile(r"\s*(-?\d*\.?\d+)\s*(?:±\s*(\d*\.?\d+))?\s*")
_SHARES = ("Acc.", "DP disp.", "|SPD|", "E Acc.", "best E Acc.", "CP disp.", "EO disp.", "EOdds disp.", "accepted",
           "Acc. gap", "E gap")  # fmt: skip
_HELD = ("validation Acc.", "validation DP disp.", "validation EO disp.", "validation EOdds disp.")
_OTHERS = ("KL", "after 10 %", "after 50 %", "at the end", "mean loss", "worst loss", "11-mean of losses")
DIGITS = {"variance": 0, **dict.fromkeys((*_SHARES, *_HELD, *_OTHERS), 3)}
"""Printed after the point, where it is not one."""
COLUMNS = ["dataset", "objective", "measure", "published", "published_sd"]


def published(text: str, measures: tuple[str, ...]) -> pd.DataFrame:
    """Read lines ``dataset | objective | number ± spread | ...``, a number for each measure; "-" where there is none.

    Raises
    ------
    ValueError : a line that is not so.
    """
    rows = []
    for line in filter(None, map(str.strip, text.splitlines())):
        dataset, objective, *cells = (cell.strip() for cell in line.split("|"))
        if len(cells) != len(measures):
            raise ValueError(f"a line must have {len(measures)} numbers ({', '.join(measures)}), got {line!r}")
        for measure, cell in zip(measures, cells, strict=True):
            found = NUMBER.fullmatch(cell)
            if found is None and cell != "-":
                raise ValueError(f"{measure} must be a number, with or without ± spread, got {cell!r} in {line!r}")
            if found is not None:
                sd = float(found[2]) if found[2] else np.nan
                rows.append((dataset, objective, measure, float(found[1]), sd))
    return pd.DataFrame(rows, columns=COLUMNS)


def compare(values: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """A row a dataset, objective and measure: mean, sd (divisor seeds - 1; NaN for one seed), seeds, and the published.

    ``apart`` is |mean - published| over the larger of the two spreads, NaN where neither is known or both are 0. What
    was measured and never published has NaN there; what was published and not measured is left out.
    """
    grouped = values.groupby(["dataset", "objective", "measure"], sort=False)["value"]
    ours = grouped.agg(mean="mean", sd="std", seeds="count").reset_index()
    both = ours.merge(published, how="left", on=["dataset", "objective", "measure"])
    spread = both[["sd", "published_sd"]].max(axis=1)
    both["apart"] = (both["mean"] - both["published"]).abs() / spread.where(spread > 0)
    return both


def lines(table: pd.DataFrame) -> list[str]:
    """The table as text: a line a dataset and objective, cells ``ours ± sd [published ± sd]``."""
    measures = list(dict.fromkeys(table["measure"]))
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for row in table.to_dict("records"):
        cells.setdefault((row["dataset"], row["objective"]), {})[row["measure"]] = _cell(row)
    header = ["data", "objective", *measures]
    body = [[*key, *(found.get(measure, "") for measure in measures)] for key, found in cells.items()]
    widths = [max(len(line[k]) for line in [header, *body]) for k in range(len(header))]
    return ["  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
            for line in [header, *body]]  # fmt: skip


def _cell(row: dict[Any, Any]) -> str:
    digits = DIGITS.get(row["measure"], 1)
    text = _number(row["mean"], row["sd"], digits)
    return text if np.isnan(row["published"]) else f"{text} [{_number(row['published'], row['published_sd'], digits)}]"


def _number(mean: float, sd: float, digits: int) -> str:
    return f"{mean:.{digits}f}" if np.isnan(sd) else f"{mean:.{digits}f} ± {sd:.{digits}f}"
