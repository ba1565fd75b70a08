"""What studies share when they tell: table rows, counts, series of a picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from fairfl.solvers.schemes import LABELS, Scheme
from fairfl.studies.crosscheck.population.frontier_distance import exact
from fairfl.studies.crosscheck.population.worlds import World
from fairfl.studies.frames import floats, groups


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


def points_of(panel: str, name: str, found: pd.DataFrame) -> pd.DataFrame:
    """The series of what was learned: accuracy against disparity."""
    return series(panel, name, "points", floats(found, "disparity"), floats(found, "accuracy"))


def exact_curve(world: World, scheme: Scheme) -> pd.DataFrame:
    """The series of a scheme's exact frontier, in a panel without a name."""
    found = exact(world, scheme)
    return series("", f"{LABELS[scheme]}, exact", "line", found.disparity, found.accuracy)
