"""Curves by round of the dynamic paper's runs: the mean over seeds, and a band of them."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from fairfl._support.checks import Array
from fairfl.figures.lib import style
from fairfl.figures.lib.crosscheck import LINES
from fairfl.studies.frames import among, first, floats, groups, loose, names

RUNS = "FAIRFL_RUNS"
"""The environment variable with the folder of the user's runs, their ``--out``."""
STORED = Path(__file__).with_suffix(".csv")
"""curves.csv of ``fairfl simulate dynamic-mnist --profile paper``."""
WIDE = 100.0
"""Panels with a GB above this are logarithmic beyond 1, to separate the lower curves."""
TRAINED = 80.0
"""Test accuracy in percent; below it at the end, a model counts as under-trained."""
TALLEST = 8.0
"""Largest height of all panels together, in inches, so that a figure fits on a page."""
PALE = 0.4
"""Opacity of the curves of under-trained models."""
JOIN = {"color": "#888888", "lw": 0.6, "ls": (0, (4, 2))}
UNITS = {"accuracy": " (%)", "loss": " (nats)"}
SOLID, DASHED, DOTTED, MIXED = LINES
BLUE, RED, GREEN, PINK, YELLOW = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"
PURPLE = "#6A3D9A"
LOOKS = {
    "FedAvg": ("#000000", SOLID),
    "Algorithm 1": (BLUE, DASHED),
    "Algorithm 1, global norm": (BLUE, DOTTED),
    "Algorithm 2": (RED, DOTTED),
    "Algorithm 2, global norm": (RED, DASHED),
    "Algorithm 2, β = 0.25": (PURPLE, SOLID),
    "Algorithm 2, β = 0.5": (GREEN, MIXED),
    "Algorithm 2, β = 0.75": (YELLOW, DASHED),
    "Algorithm 3": (GREEN, DASHED),
    "Algorithm 4 on 1": (YELLOW, DASHED),
    "Algorithm 4 on 2": (YELLOW, DOTTED),
    "Algorithm 4 on 2, printed": (YELLOW, MIXED),
    "q-FedAvg, q = 0.01": (PINK, DASHED),
    "q-FedAvg, q = 0.1": (PINK, DOTTED),
    "q-FedAvg, q = 1": (PINK, MIXED),
}
"""Each algorithm has a colour, each variant a line style. Each β, whose curves touch, has both."""

Measures = tuple[tuple[str, str], ...]
FOUR: Measures = (("GB (9)", "test"), ("GB (20)", "test"), ("accuracy", "test"), ("loss", "train"))
SIX: Measures = (("GB (9)", "train"), ("GB (9)", "test"), ("GB (20)", "train"), *FOUR[1:])
WITHIN: Measures = (*FOUR[:3], ("LS", "test"))
MAIN = ("FedAvg", "Algorithm 1", "Algorithm 2")


@dataclass(frozen=True)
class Row:
    """A row of panels: its name, the curves' data set, algorithms, and (measure, part) each."""

    name: str
    dataset: str
    objectives: tuple[str, ...] = MAIN
    measures: Measures = FOUR


def curves(rows: Sequence[Row], optional: Sequence[Row] = ()) -> pd.DataFrame:
    """The curves of ``rows``, and of those of ``optional`` that have been run. Columns: row,
    measure, part, objective, seeds, round, groups (that have joined); mean, min and max over the
    seeds.
    """
    table = pd.concat([_read(file) for file in (STORED, *runs())], ignore_index=True)
    keys = ["dataset", "measure", "part", "objective", "round"]
    table = table.drop_duplicates(keys, keep="last")  # the user's runs replace the stored ones
    available = [row for row in optional if row.dataset in set(table["dataset"])]
    shown = [
        (row.name, row.dataset, *measure, name)
        for row in (*rows, *available)
        for measure in row.measures
        for name in row.objectives
    ]
    merged = pd.DataFrame(shown, columns=["row", *keys[:4]]).merge(table, on=keys[:4])
    columns = ["row", *keys[1:4], "seeds", "round", "groups", "mean", "min", "max"]
    return loose(merged)[columns]


def runs() -> list[Path]:
    """The curves of the user's runs."""
    folder = os.environ.get(RUNS)
    return sorted(Path(folder).glob("dynamic-*/curves.csv")) if folder else []


def _read(file: Path) -> pd.DataFrame:
    """A row per measure and part of a curves.csv."""
    wide = pd.read_csv(file, header=[0, 1, 2], index_col=list(range(5)))
    tall = wide.stack([0, 1], future_stack=True)
    return tall.rename_axis(index=[*wide.index.names, "measure", "part"]).reset_index()


def draw(table: pd.DataFrame, columns: int = 4) -> Figure:
    """A panel per row and measure, ``columns`` side by side."""
    panels: dict[tuple[str, ...], dict[str, pd.DataFrame]] = {}
    for (*panel, name), curve in groups(table, ["row", "measure", "part", "objective"]):
        panels.setdefault(tuple(panel), {})[name] = curve
    tested = among(table, "measure", ["accuracy"])
    last = tested.groupby(["row", "objective"])["mean"].last()
    final_accuracies = cast(dict[tuple[str, str], float], last.to_dict())
    n_rows = -(-len(panels) // columns)
    figure = Figure()
    grid = figure.subplots(n_rows, columns, squeeze=False)
    has_untrained = False
    for k, (axes, (row, measure, part)) in enumerate(zip(grid.flat, panels, strict=True)):
        curves = panels[row, measure, part]
        for name, curve in curves.items():
            is_untrained = final_accuracies[row, name] < TRAINED
            has_untrained |= bool(is_untrained)
            _curve(axes, curve, name, PALE if is_untrained else 1.0)
        _joins(axes, next(iter(curves.values())))
        if measure == "accuracy":
            axes.set_ylim(bottom=_accuracy_floor(curves.values()))
        axes.locator_params("y", nbins=4)
        if measure.startswith("GB"):
            axes.axhline(0.0, color=style.INK, lw=0.5)
            if max(axes.get_ylim()) > WIDE:
                axes.set_yscale("symlog", linthresh=1.0)
                lowest = min(curve["min"].min() for curve in curves.values())
                axes.set_ylim(bottom=min(2.0 * lowest, -0.5))
        style.letter(axes, k, f"{measure}{UNITS.get(measure, '')}, {part}")
        axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        if k >= len(panels) - columns:
            axes.set_xlabel("round")
        if k % columns == 0:
            axes.set_ylabel(row)
    figure.align_ylabels(grid[:, 0])
    handles = _legend(table, has_untrained)
    height = min(1.75, TALLEST / n_rows)
    figure.set_size_inches(style.PAGE, height * n_rows + 0.3 + 0.17 * -(-len(handles) // 3))
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure


def _curve(axes: Axes, curve: pd.DataFrame, name: str, opacity: float) -> None:
    """Mean and band. GB and LS include a group once it joins: their lines break there."""
    columns = [floats(curve, column) for column in ("round", "mean", "min", "max")]
    if names(curve, "measure")[0] not in ("accuracy", "loss"):
        breaks = _changes(curve)
        columns = [np.insert(values, breaks, np.nan) for values in columns]
    x, mean, lower, upper = columns
    colour, line = LOOKS[name]
    axes.plot(x, mean, lw=1.2, color=colour, ls=line, alpha=opacity)
    axes.fill_between(x, lower, upper, color=colour, alpha=0.15 * opacity, lw=0)


def _changes(curve: pd.DataFrame) -> Array:
    """Indices of the rows at which another group has joined."""
    return np.flatnonzero(np.diff(floats(curve, "groups"))) + 1


def _accuracy_floor(curves: Iterable[pd.DataFrame]) -> float:
    """The least accuracy from the first joining on, where curves are compared, down to a ten."""
    later = [floats(curve, "min")[[0, *_changes(curve)][:2][-1] :].min() for curve in curves]
    return 10.0 * float(np.floor(min(later) / 10.0))


def _joins(axes: Axes, curve: pd.DataFrame) -> None:
    """A vertical line at each round in which a group joins after the first, instead of a grid."""
    axes.grid(visible=False, axis="x")
    for t in floats(curve, "round")[_changes(curve)]:
        axes.axvline(t, **JOIN, zorder=0)


def _legend(table: pd.DataFrame, pale: bool) -> list[Artist]:
    """The algorithms, and the meaning of bands, vertical lines and pale curves."""
    ink = style.INK
    handles: list[Artist] = [
        Line2D([], [], color=LOOKS[name][0], ls=LOOKS[name][1], lw=1.2, label=name)
        for name in names(table, "objective")
    ]
    seeds = int(first(table, "seeds"))
    handles += [
        Patch(fc=ink, alpha=0.2, label=f"band: {seeds} seeds, least to most"),
        Line2D([], [], **JOIN, label="a group joins"),
    ]
    if pale:
        words = f"pale: under-trained, ends below {TRAINED:g} %"
        handles.append(Line2D([], [], color=ink, lw=1.2, alpha=PALE, label=words))
    return handles
