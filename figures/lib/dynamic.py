"""Curves by round of the dynamic paper's runs, from the folder where ``fairfl simulate`` keeps
them: a mean over the seeds, and a band from the least to the most.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fairfl.figures.lib import style
from fairfl.figures.lib.experiments import COLOURS, LINES
from fairfl.figures.lib.tables import names, numbers, pick
from fairfl.sims.data.fetch import DataUnavailable
from fairfl.studies.frames import loose

if TYPE_CHECKING:
    from fairfl.studies.experiment import Unit

RUNS = "FAIRFL_RUNS"
"""The environment variable that names the folder of the runs."""
HERE = "out/simulate/runs"
"""Where they are unless it is set."""
EXPERIMENTS = {
    "MNIST": "dynamic-mnist",
    "Fashion-MNIST": "dynamic-fashion-mnist",
    "CIFAR-10": "dynamic-cifar-10",
}
PROFILE, SEEDS = "paper", 5
WIDE = 100.0
"""A GB above has a scale that is linear up to 1 and logarithmic beyond: curves below stay apart."""
UNITS = {"accuracy": " (%)", "loss": " (nats)"}


FOUR = (("GB (9)", "test"), ("GB (20)", "test"), ("accuracy", "test"), ("loss", "train"))
SIX = (("GB (9)", "train"), ("GB (9)", "test"), ("GB (20)", "train"), *FOUR[1:])
WITHIN = (*FOUR[:3], ("LS", "test"))
MAIN = ("FedAvg", "Algorithm 1", "Algorithm 2")


@dataclass(frozen=True)
class Row:
    """A row of panels: its name, the data and the scene of an experiment (``data, scene`` in its
    table), the algorithms shown, and the measures, a panel each, as (measure, part).
    """

    name: str
    data: str
    scene: str
    objectives: tuple[str, ...] = MAIN
    measures: tuple[tuple[str, str], ...] = FOUR


def curves(rows: Sequence[Row], optional: Sequence[Row] = ()) -> pd.DataFrame:
    """The rows' curves; of ``optional`` those whose runs are there.

    Returns
    -------
    Columns: row, measure, part, objective, round; mean, least and most over the seeds.

    Raises
    ------
    DataUnavailable : a run of ``rows`` is not there; the message says which command makes it.
    """
    there = [row for row in optional if all(_place(unit).exists() for unit in _units(row))]
    return pd.concat([_curves(row) for row in (*rows, *there)], ignore_index=True)


def _units(row: Row) -> list[Unit]:
    from fairfl.studies.experiment import Scale
    from fairfl.studies.registry import find

    every = find(EXPERIMENTS[row.data]).units(Scale(PROFILE, SEEDS))
    mine = [unit for unit in every if unit.dataset == f"{row.data}, {row.scene}"]
    return [unit for unit in mine if unit.objectives[0] in row.objectives]


def _place(unit: Unit) -> Path:
    """The run's folder."""
    return Path(os.environ.get(RUNS) or HERE) / unit.name


def _curves(row: Row) -> pd.DataFrame:
    from filelock import FileLock

    from fairfl.studies.execute import run_units
    from fairfl.studies.papers.dynamic.measures import by_round

    units = _units(row)
    for place in map(_place, units):
        if not place.exists():
            raise DataUnavailable(
                f"{place} is not available: `fairfl simulate {EXPERIMENTS[row.data]} --profile "
                f"{PROFILE} --out DIR` makes it, and {RUNS}=DIR/runs names it"
            )
    folder = _place(units[0]).parent
    with FileLock(folder / "figures.lock"):  # other figures may look at the same runs
        rounds = by_round(run_units(units, folder, resume=True))
    parts = []
    for measure, part in row.measures:
        for objective in row.objectives:
            mine = pick(rounds, part=part, objective=objective)
            found = mine.groupby("round")[measure].agg(["mean", "min", "max"]).reset_index()
            where = {"row": row.name, "measure": measure, "part": part, "objective": objective}
            parts.append(found.rename(columns={"min": "least", "max": "most"}).assign(**where))
    columns = ["row", "measure", "part", "objective", "round", "mean", "least", "most"]
    return loose(pd.concat(parts, ignore_index=True))[columns]


@style.styled
def draw(table: pd.DataFrame, columns: int = 4) -> Figure:
    """A panel a row and measure, ``columns`` side by side."""
    panels = list(dict.fromkeys(zip(table["row"], table["measure"], table["part"], strict=True)))
    lines = -(-len(panels) // columns)
    looks = {
        name: {"color": COLOURS[k % len(COLOURS)], "ls": LINES[k % len(LINES)], "label": name}
        for k, name in enumerate(names(table, "objective"))
    }
    figure = Figure(figsize=(style.PAGE, 1.75 * lines + 0.5))
    grid = figure.subplots(lines, columns, squeeze=False)
    handles: dict[str, Artist] = {}
    for k, (axes, (row, measure, part)) in enumerate(zip(grid.flat, panels, strict=True)):
        panel = pick(table, row=row, measure=measure, part=part)
        for name in names(panel, "objective"):
            mine = pick(panel, objective=name)
            x = numbers(mine, "round")
            (handles[name],) = axes.plot(x, numbers(mine, "mean"), lw=1.2, **looks[name])
            band = numbers(mine, "least"), numbers(mine, "most")
            axes.fill_between(x, *band, color=looks[name]["color"], alpha=0.15, lw=0)
        if measure.startswith("GB"):
            axes.axhline(0.0, color=style.INK, lw=0.5)
            if max(axes.get_ylim()) > WIDE:
                axes.set_yscale("symlog", linthresh=1.0)
                axes.set_ylim(bottom=min(2 * float(numbers(panel, "least").min()), -0.5))
        style.letter(axes, k, f"{measure}{UNITS.get(measure, '')}, {part}")
        axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        if k >= len(panels) - columns:
            axes.set_xlabel("round")
        if k % columns == 0 and len(names(table, "row")) > 1:
            axes.set_ylabel(row)
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4)
    return figure
