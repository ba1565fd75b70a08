"""What studies share when they tell: table rows, counts, series of a picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fairfl._support.checks import Array
from fairfl.solvers.schemes import SOLVED, SchemeName
from fairfl.studies.crosscheck.population.frontier_distance import TOLERANCE, exact
from fairfl.studies.crosscheck.population.worlds import World
from fairfl.studies.crosscheck.rates import TOO_FEW, Rate, rms
from fairfl.studies.crosscheck.study import Drawing, Verdict
from fairfl.studies.frames import among, floats, groups

Table = Callable[[pd.DataFrame], pd.DataFrame]
"""Makes the table of a ``Drawing`` from the measures."""


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


def rules_of(found: pd.DataFrame, worlds: str = "world") -> str:
    """``12 rules of 4 worlds, 250 to 16,000 people, seeds 0 to 3``."""
    sizes = np.unique(floats(found, "rows"))
    span = " to ".join(f"{n:,.0f}" for n in dict.fromkeys((*sizes[:1], *sizes[-1:])))
    count = found[worlds].nunique()
    return counted(found, f"rules of {count} {worlds}{'s' * (count > 1)}, {span} people")


def bound_verdict(
    name: str, asked: str, found: pd.DataFrame, below: ArrayLike, worlds: str = "world"
) -> Verdict:
    """Whether nothing is above its bound, a theorem; NaN is no bound."""
    least = float(np.min(below))
    text = f"{rules_of(found, worlds)}: the nearest one is {least:.2g} below"
    return Verdict(name, bool(least >= -TOLERANCE), asked, text, hard=True)


def rate_verdict(
    name: str,
    asked: str,
    power: float,
    found: pd.DataFrame,
    distances: Array,
    worlds: str = "world",
) -> Verdict:
    """Whether distances shrink like n^-power."""
    sizes = floats(found, "rows")
    rate = Rate.of(sizes, distances, found[worlds]) if len(found) else None
    if rate is None:
        return Verdict(name, None, asked, TOO_FEW)
    most = max(rate.sizes)
    who = rules_of(among(found, "rows", rate.sizes), worlds)
    last = f"at {most:,.0f} people {rms(distances[sizes == most]):.2g}"
    slopes = ", ".join(f"{slope:.2f}" for slope in rate.by_world)
    text = f"{rate}; {len(rate.by_world)} worlds by themselves: {slopes}; {who}; {last}"
    return Verdict(name, rate.is_near(-power), asked, text)


def guided(table: pd.DataFrame, powers: dict[str, float]) -> pd.DataFrame:
    """The panels, each with a line n^power through the mean of its points."""
    parts = []
    for panel, power in powers.items():
        mine = among(table, "panel", [panel])
        x, y = floats(mine, "x"), floats(mine, "y")
        level, each = np.exp(np.mean(np.log(y) - power * np.log(x))), np.unique(x)
        parts += [mine, series(panel, f"n^{power:g}", "line", each, level * each**power)]
    return pd.concat(parts, ignore_index=True)


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


def exact_curve(world: World, scheme: SchemeName) -> pd.DataFrame:
    """The series of a scheme's exact frontier, in a panel without a name."""
    found = exact(world, scheme)
    return series("", f"{SOLVED[scheme].label}, exact", "line", found.disparity, found.accuracy)
