"""Pictures of the cross-check: every series drawn in every panel that has it."""

import numpy as np
import pandas as pd
import pytest

from fairfl.figures.lib import style
from fairfl.figures.lib.crosscheck import draw, draw_together, figure_of, look_of
from fairfl.solvers.schemes import CFL
from fairfl.studies.crosscheck.study import Drawing


def table():
    parts = []
    for panel in ("one", "two", "three"):
        kinds = {"CFL, exact": "line", "path": "path"}
        for series in ("CFL, exact", "CFL, learned", "FedFB, learned", "path", "spread"):
            kind = kinds.get(series, "points")
            y = np.arange(1.0, 5.0)
            columns = {"panel": panel, "series": series, "kind": kind}
            parts.append(pd.DataFrame({**columns, "x": y, "y": y, "low": y - 0.5, "high": y + 1}))
    return pd.concat(parts, ignore_index=True)


def test_panels_series_and_legend():
    with style.sheet():
        drawing = Drawing("n", "A title", "x label", "y label", lambda m: m)
        figure = figure_of("A title", [(drawing, table())])
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title(loc="left") for axes in shown] == ["(a) one", "(b) two", "(c) three"]
    assert all(axes.get_xlabel() == "x label" for axes in shown)
    assert [axes.get_ylabel() for axes in shown] == ["y label", "", ""]
    for axes in shown:
        plain = [line for line in axes.lines if line.get_xdata().size]
        assert sum(line.get_linestyle() == "None" for line in plain) >= 2
        assert len(axes.collections) >= 1
        np.testing.assert_array_equal(plain[0].get_ydata(), np.arange(1.0, 5.0))
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["CFL, exact", "CFL, learned", "FedFB, learned", "path", "spread"]


def test_a_scheme_has_its_own_colour_and_others_differ():
    colour = {name: look["color"] for name, look in look_of(table()).items()}
    assert colour["CFL, exact"] == colour["CFL, learned"] == CFL.colour
    assert len({*colour.values()}) == len(colour) - 1 == 4


def test_three_files_and_none_without_rows(tmp_path):
    drawing = Drawing("picture", "A title", "x", "y", lambda measures: measures)
    files = draw(drawing, table(), tmp_path)
    assert [file.name for file in files] == ["picture.csv", "picture.svg", "picture.png"]
    assert draw(drawing, table().iloc[:0], tmp_path) == []


def test_panels_of_several_drawings_keep_their_axes_and_bands(tmp_path):
    bands = table().assign(kind="band", panel="four")
    first, second = (Drawing(n, "t", f"x {n}", f"y {n}", lambda m: m) for n in ("one", "two"))
    with style.sheet():
        figure = figure_of("together", [(first, table()), (second, bands)])
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_xlabel() for axes in shown] == ["x one"] * 3 + ["x two"]
    assert [axes.get_ylabel() for axes in shown] == ["y one"] * 3 + ["y two"]
    low, high = np.arange(1.0, 5.0) - 0.5, np.arange(1.0, 5.0) + 1
    edges = np.asarray(shown[3].collections[0].get_paths()[0].vertices)
    assert edges[:, 1].min() == low.min() and edges[:, 1].max() == high.max()
    files = draw_together("both", "together", [(first, table()), (second, bands)], tmp_path)
    assert [file.name for file in files] == ["both.csv", "both.svg", "both.png"]
    assert len(pd.read_csv(files[0])) == 2 * len(bands)


@pytest.mark.parametrize("panels", [1, 2, 4, 5])
def test_any_number_of_panels(panels):
    columns = {"panel": [*map(str, range(panels))], "series": "s", "kind": "line"}
    rows = pd.DataFrame({**columns, "x": 1.0, "y": 2.0})
    with style.sheet():
        figure = figure_of("t", [(Drawing("n", "t", "x", "y", lambda m: m), rows)])
    assert sum(axes.get_visible() for axes in figure.axes) == panels
