"""Figures 1 to 8 of the dynamic paper: what their curves show, and what marks them."""

import numpy as np
import pandas as pd
import pytest

from fairfl.figures.catalog.dynamic_figures import FIGURES
from fairfl.figures.lib import dynamic
from fairfl.studies.experiment import Scale
from fairfl.studies.papers.all_experiments import experiments

EVERY = dict(enumerate(FIGURES, 1))


def rows_of(figure):
    """(a) and the rest."""
    return (*figure.data.args[0], *figure.data.args[1])


@pytest.fixture(scope="module")
def units():
    """Data set and objective of every unit of the three experiments."""
    return {
        (unit.dataset, unit.objectives[0])
        for name, experiment in experiments().items()
        if name.startswith("dynamic-")
        for unit in experiment.units(Scale("paper", 5))
    }


@pytest.mark.parametrize("k", EVERY)
def test_every_curve_of_a_figure_is_one_of_an_experiment(k, units):
    """A name that is wrong would leave a panel without curves, or a curve without a colour."""
    for row in rows_of(EVERY[k]):
        assert {(row.dataset, name) for name in row.objectives} <= units
        assert set(row.objectives) <= set(dynamic.LOOKS)


def test_a_colour_an_algorithm():
    """A variant shares its algorithm's colour and has a line of its own; others share none. Each β
    has a colour, as the curves lie close.
    """
    families = {}
    for name, (colour, _) in dynamic.LOOKS.items():
        if "β" in name:
            continue
        families.setdefault(name.split(",")[0].split(" on ")[0], set()).add(colour)
    assert all(len(colours) == 1 for colours in families.values())
    assert len(set.union(*families.values())) == len(families) == 6
    for figure in FIGURES:
        for row in rows_of(figure):
            assert len({dynamic.LOOKS[name] for name in row.objectives}) == len(row.objectives)


@pytest.mark.parametrize("k", EVERY)
@pytest.mark.every(3)
def test_the_kept_curves(k, monkeypatch):
    """All of (a) is there, from round 0 on, each mean within its band; drawn: a panel a measure."""
    monkeypatch.delenv(dynamic.RUNS, raising=False)
    table, rows = EVERY[k].data(), EVERY[k].data.args[0]
    first_rounds = table.groupby(["row", "measure", "part", "objective"])["round"].min()
    assert len(first_rounds) == sum(len(row.objectives) * len(row.measures) for row in rows)
    assert (first_rounds == 0).all() and np.isfinite(table[["mean", "min", "max"]]).all(axis=None)
    rounded = 1e-2 * table["mean"].abs()  # three digits are kept
    assert (table["min"] <= table["mean"] + rounded).all()
    assert (table["mean"] <= table["max"] + rounded).all()
    figure = EVERY[k].draw(table)
    assert len([axes for axes in figure.axes if axes.lines]) == sum(len(r.measures) for r in rows)
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend[: len(rows[0].objectives)] == list(rows[0].objectives)
    assert "band: 5 seeds, least to most" in legend and "a group joins" in legend


def curve(values, groups, measure, accuracy=90.0):
    """A table of one measure, and of accuracies that end at ``accuracy``."""
    rows = pd.DataFrame(
        {"row": "R", "measure": measure, "part": "test", "objective": "Algorithm 1", "seeds": 3}
        | {"round": range(len(values)), "groups": groups, "mean": values}
        | {"min": values, "max": values}
    )
    end = rows.assign(measure="accuracy", mean=accuracy, min=accuracy, max=accuracy)
    return pd.concat([rows, end], ignore_index=True)


@pytest.mark.parametrize("measure, breaks", [("GB (9)", 2), ("LS", 2), ("loss", 0)])
def test_no_line_climbs_to_a_joining(measure, breaks):
    """A group that joins enters GB and LS at once; the loss is of all clients at all times."""
    figure = dynamic.draw(curve([0.0, 0.0, 5.0, 1.0, 7.0], [1, 1, 2, 2, 3], measure), 2)
    axes = figure.axes[0]
    values = np.asarray(axes.lines[0].get_ydata())
    assert np.isnan(values).sum() == breaks
    climbs = np.diff(values) > 0
    assert climbs.sum() == (0 if breaks else 2)
    joins = [line.get_xdata()[0] for line in axes.lines if line.get_color() == "#888888"]
    assert joins == [2, 4]


@pytest.mark.parametrize("accuracy, pale", [(79.0, True), (81.0, False)])
def test_what_is_under_trained_is_pale(accuracy, pale):
    figure = dynamic.draw(curve([0.0, 5.0], [1, 2], "GB (9)", accuracy), 2)
    assert (figure.axes[0].lines[0].get_alpha() < 1) == pale
    legend = " ".join(text.get_text() for text in figure.legends[0].get_texts())
    assert ("under-trained" in legend) == pale


def test_an_axis_of_accuracy_begins_where_the_curves_are_compared():
    """From the first joining on: what training began with is off the axis."""
    accuracies = pd.Series([9.0, 60.0, 83.0, 88.0, 95.0])
    table = curve([0.0] * 5, [1, 1, 2, 2, 2], "GB (9)", accuracies)
    accuracy = dynamic.draw(table, 2).axes[1]
    assert accuracy.get_ylim()[0] == 80.0 and accuracy.get_ylim()[1] > 95.0
