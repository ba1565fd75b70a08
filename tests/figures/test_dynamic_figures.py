"""Figures 1 to 8 of the dynamic paper: drawn from runs, skipped with the command where there are
none.
"""

import numpy as np
import pandas as pd
import pytest

from fairfl.figures.catalog.dynamic_figures import FIGURES
from fairfl.figures.lib import dynamic
from fairfl.figures.lib.render import render_all

EVERY = dict(enumerate(FIGURES, 1))


def rows_of(figure):
    """(a) and the rest."""
    return (*figure.data.args[0], *figure.data.args[1])


@pytest.mark.parametrize("k", EVERY)
def test_every_curve_of_a_figure_is_one_of_its_experiment(k):
    """A name that is wrong would leave a panel without curves."""
    for row in rows_of(EVERY[k]):
        found = [unit.objectives[0] for unit in dynamic._units(row)]
        assert sorted(found) == sorted(row.objectives)


def table_of(rows, rounds=4):
    """Curves that rise, a band of 1 around them."""
    x = np.arange(rounds)
    return pd.concat(
        [
            pd.DataFrame(
                {"row": row.name, "measure": measure, "part": part, "objective": name, "round": x}
                | {"mean": x + j, "least": x + j - 0.5, "most": x + j + 0.5}
            )
            for row in rows
            for measure, part in row.measures
            for j, name in enumerate(row.objectives)
        ],
        ignore_index=True,
    )


@pytest.mark.parametrize("k", EVERY)
def test_a_panel_a_measure_with_a_band_a_curve(k):
    rows = rows_of(EVERY[k])
    figure = EVERY[k].draw(table_of(rows))
    shown = [axes for axes in figure.axes if axes.lines]
    assert len(shown) == sum(len(row.measures) for row in rows)
    curves = [len(row.objectives) for row in rows for _ in row.measures]
    assert [len(axes.collections) for axes in shown] == curves
    legend = {text.get_text() for text in figure.legends[0].get_texts()}
    assert legend == {name for row in rows for name in row.objectives}
    assert f"figure {k}" in EVERY[k].title and EVERY[k].name == f"dynamic_figure_{k}"


def test_without_runs_it_is_skipped_with_the_command(tmp_path, monkeypatch):
    monkeypatch.setenv(dynamic.RUNS, str(tmp_path / "none"))
    found = render_all(["dynamic_figure_4"], tmp_path / "out")
    assert found[0].status == "skipped"
    assert "`fairfl simulate dynamic-mnist --profile paper --out DIR`" in found[0].reason
