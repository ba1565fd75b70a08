"""What studies share when they tell: table rows, counts, series of a picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from fairfl._support.checks import Array
from fairfl.solvers.schemes import LABELS, Scheme
from fairfl.studies.crosscheck.population.frontier_distance import exact
from fairfl.studies.crosscheck.population.worlds import World
from fairfl.studies.crosscheck.rates import TOO_FEW, Rate, rms
from fairfl.studies.crosscheck.study import Drawing, Verdict
from fairfl.studies.frames import floats, groups

Table = Callable[[pd.DataFrame], pd.DataFrame]
"""Measures to what a ``Drawing`` shows."""


def summary(
    found: pd.DataFrame, keys: list[str], of: Callable[[pd.DataFrame], dict[str, Any]]
) -> pd.DataFrame:
    """A row for each combination of the keys, with what ``of`` makes of its rows."""
    lines = [dict(zip(keys, key, strict=True)) | of(part) for key, part in groups(found, keys)]
    return pd.DataFrame(lines)


def counted(found: pd.DataFrame, what: str) -> str:
    """``7 runs, seeds 0 to 4``; ``what`` are runs, and what else is to be said of them."""
    if found.empty:
        return f"no {what}"
    seeds = np.unique(floats(found, "seed"))
    each = ", ".join(f"{v:g}" for v in seeds)
    close = len(seeds) > 1 and np.ptp(seeds) == len(seeds) - 1
    told = f"s {seeds[0]:g} to {seeds[-1]:g}" if close else f"{'s' * (len(seeds) > 1)} {each}"
    return f"{len(found)} {what}, seed{told}"


def series(panel: str, name: str, kind: str, x: Any, y: Any, **bars: Any) -> pd.DataFrame:
    """One series of a ``Drawing``'s table; ``bars`` are low and high. All are made float64."""
    values = {key: np.asarray(v, dtype=float) for key, v in {"x": x, "y": y, **bars}.items()}
    return pd.DataFrame({"panel": panel, "series": name, "kind": kind, **values})


def rate_verdict(
    name: str,
    asked: str,
    power: float,
    found: pd.DataFrame,
    distances: Array,
    said: Callable[[Rate], str],
    worlds: str = "world",
) -> Verdict:
    """Whether distances shrink like n^-power; ``said`` is the sentence of the measured rate."""
    rate = Rate.of(floats(found, "rows"), distances, found[worlds]) if len(found) else None
    if rate is None:
        return Verdict(name, None, asked, TOO_FEW)
    return Verdict(name, rate.is_near(-power), asked, said(rate))


def by_size(panel: str, name: str, sizes: Array, distances: Array) -> pd.DataFrame:
    """The series of the root mean square of the distances at each size."""
    each = np.unique(sizes)
    return series(panel, name, "path", each, [rms(distances[sizes == n]) for n in each])


def trade_off(name: str, title: str, table: Table, x: str = "disparity |MD|") -> Drawing:
    """The picture of accuracy against disparity."""
    return Drawing(name, title, f"{x} (difference of rates)", "accuracy (share correct)", table)


def by_people(name: str, title: str, y: str, table: Table) -> Drawing:
    """The picture of distances by sample size."""
    return Drawing(name, title, "people in the sample", y, table, log="xy")


def points_of(panel: str, name: str, found: pd.DataFrame) -> pd.DataFrame:
    """The series of what was learned: accuracy against disparity."""
    return series(panel, name, "points", floats(found, "disparity"), floats(found, "accuracy"))


def exact_curve(world: World, scheme: Scheme) -> pd.DataFrame:
    """The series of a scheme's exact frontier, in a panel without a name."""
    found = exact(world, scheme)
    return series("", f"{LABELS[scheme]}, exact", "line", found.disparity, found.accuracy)
