"""Shared by the studies' reports: table rows, series of a picture."""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fairfl.solvers.schemes import SOLVED, SchemeName
from fairfl.studies.crosscheck.population.frontier_distance import exact
from fairfl.studies.crosscheck.population.worlds import World
from fairfl.studies.crosscheck.study import Drawing
from fairfl.studies.frames import groups
from fairfl.theory.populations.notions import Notion

Table = Callable[[pd.DataFrame], pd.DataFrame]
"""Makes the table of a ``Drawing`` from the measures."""


def summary(
    measures: pd.DataFrame, keys: list[str], of: Callable[[pd.DataFrame], Mapping[str, object]]
) -> pd.DataFrame:
    """A row for each combination of the keys, with the columns that ``of`` computes."""
    lines = [
        {**dict(zip(keys, key, strict=True)), **of(part)} for key, part in groups(measures, keys)
    ]
    return pd.DataFrame(lines)


def series(
    panel: str, name: str, kind: str, x: ArrayLike, y: ArrayLike, **bars: ArrayLike
) -> pd.DataFrame:
    """One series of a ``Drawing``'s table; ``bars`` are low and high. All are made float64."""
    values = {key: np.asarray(v, dtype=float) for key, v in {"x": x, "y": y, **bars}.items()}
    return pd.DataFrame({"panel": panel, "series": name, "kind": kind, **values})


def trade_off(name: str, title: str, table: Table, x: str = "disparity |MD|") -> Drawing:
    """The picture of accuracy against disparity."""
    return Drawing(name, title, f"{x} (difference of rates)", "accuracy (share correct)", table)


def exact_curve(world: World, scheme: SchemeName, notion: Notion = "dp") -> pd.DataFrame:
    """The series of a scheme's exact frontier, in a panel without a name."""
    curve = exact(world, scheme, notion)
    return series("", f"{SOLVED[scheme].label}, exact", "line", curve.disparity, curve.accuracy)
