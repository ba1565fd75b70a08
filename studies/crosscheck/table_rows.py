"""Shared by the studies' reports: table rows, counts, series of a picture."""

from collections.abc import Callable, Mapping

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
    measures: pd.DataFrame, keys: list[str], of: Callable[[pd.DataFrame], Mapping[str, object]]
) -> pd.DataFrame:
    """A row for each combination of the keys, with the columns that ``of`` computes."""
    lines = [
        {**dict(zip(keys, key, strict=True)), **of(part)} for key, part in groups(measures, keys)
    ]
    return pd.DataFrame(lines)


def counted(measures: pd.DataFrame, noun: str) -> str:
    """``7 runs, seeds 0 to 4``; ``noun`` is "runs", with more words if need be."""
    if measures.empty:
        return f"no {noun}"
    seeds = np.unique(floats(measures, "seed"))
    values = ", ".join(f"{v:g}" for v in seeds)
    close = len(seeds) > 1 and np.ptp(seeds) == len(seeds) - 1
    span = f"s {seeds[0]:g} to {seeds[-1]:g}" if close else f"{'s' * (len(seeds) > 1)} {values}"
    return f"{len(measures)} {noun}, seed{span}"


def series(
    panel: str, name: str, kind: str, x: ArrayLike, y: ArrayLike, **bars: ArrayLike
) -> pd.DataFrame:
    """One series of a ``Drawing``'s table; ``bars`` are low and high. All are made float64."""
    values = {key: np.asarray(v, dtype=float) for key, v in {"x": x, "y": y, **bars}.items()}
    return pd.DataFrame({"panel": panel, "series": name, "kind": kind, **values})


def rules_of(measures: pd.DataFrame, worlds: str = "world") -> str:
    """``12 rules of 4 worlds, 250 to 16,000 people, seeds 0 to 3``."""
    sizes = np.unique(floats(measures, "rows"))
    span = " to ".join(f"{n:,.0f}" for n in dict.fromkeys((*sizes[:1], *sizes[-1:])))
    count = measures[worlds].nunique()
    return counted(measures, f"rules of {count} {worlds}{'s' * (count > 1)}, {span} people")


def bound_verdict(
    name: str, statement: str, measures: pd.DataFrame, below: ArrayLike, worlds: str = "world"
) -> Verdict:
    """Whether nothing is above its bound, a theorem; NaN is no bound."""
    smallest = float(np.min(below))
    text = f"{rules_of(measures, worlds)}: the nearest one is {smallest:.2g} below"
    return Verdict(name, bool(smallest >= -TOLERANCE), statement, text, hard=True)


def rate_verdict(
    name: str,
    statement: str,
    power: float,
    measures: pd.DataFrame,
    distances: Array,
    worlds: str = "world",
) -> Verdict:
    """Whether distances shrink like n^-power."""
    sizes = floats(measures, "rows")
    rate = Rate.of(sizes, distances, measures[worlds]) if len(measures) else None
    if rate is None:
        return Verdict(name, None, statement, TOO_FEW)
    largest = max(rate.sizes)
    rules = rules_of(among(measures, "rows", rate.sizes), worlds)
    last = f"at {largest:,.0f} people {rms(distances[sizes == largest]):.2g}"
    slopes = ", ".join(f"{slope:.2f}" for slope in rate.by_world)
    text = f"{rate}; {len(rate.by_world)} worlds by themselves: {slopes}; {rules}; {last}"
    return Verdict(name, rate.is_near(-power), statement, text)


def by_size(panel: str, name: str, sizes: Array, distances: Array) -> pd.DataFrame:
    """The series of the root mean square of the distances at each size."""
    distinct = np.unique(sizes)
    return series(panel, name, "path", distinct, [rms(distances[sizes == n]) for n in distinct])


def trade_off(name: str, title: str, table: Table, x: str = "disparity |MD|") -> Drawing:
    """The picture of accuracy against disparity."""
    return Drawing(name, title, f"{x} (difference of rates)", "accuracy (share correct)", table)


def by_people(name: str, title: str, y: str, table: Table) -> Drawing:
    """The picture of distances by sample size."""
    return Drawing(name, title, "people in the sample", y, table, log="xy")


def points_of(panel: str, name: str, rules: pd.DataFrame) -> pd.DataFrame:
    """The series of the learned rules: accuracy against disparity."""
    return series(panel, name, "points", floats(rules, "disparity"), floats(rules, "accuracy"))


def exact_curve(world: World, scheme: SchemeName) -> pd.DataFrame:
    """The series of a scheme's exact frontier, in a panel without a name."""
    curve = exact(world, scheme)
    return series("", f"{SOLVED[scheme].label}, exact", "line", curve.disparity, curve.accuracy)
