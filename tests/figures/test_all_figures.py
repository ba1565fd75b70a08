"""Figures are found by their files."""

import subprocess
import sys

import pytest

import fairfl.figures.catalog as catalog
from fairfl.figures.catalog.all_figures import find, registered

NAMES = ["dual_weights", "fedfb_figure_2", "fedfb_figure_8", "rank_profiles", "real_data"]
MODULE = """
import pandas as pd
from matplotlib.figure import Figure

NAME = {name!r}
TITLE = "A picture of nothing"


def data():
    return pd.DataFrame({{"x": [0.0, 1.0]}})


def draw(data):
    figure = Figure()
    figure.add_subplot().plot(data["x"], data["x"])
    return figure
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder whose modules count among those of the catalogue, forgotten afterwards."""
    monkeypatch.setattr(catalog, "__path__", [*catalog.__path__, str(tmp_path)])
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith("fairfl.figures."):
            del sys.modules[name]


def test_every_figure_is_found():
    assert set(NAMES) <= set(registered())
    assert list(registered()) == sorted(registered())


def test_a_new_file_is_a_new_figure(folder):
    (folder / "nothing_at_all.py").write_text(MODULE.format(name="nothing_at_all"))
    assert "nothing_at_all" in registered()
    assert find(["nothing_at_all"])[0].source == folder / "nothing_at_all.py"


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(
        ValueError, match=rf"figure must be one of .*{'.*'.join(NAMES)}, got 'fedfb_figure_99'"
    ):
        find(["fedfb_figure_2", "fedfb_figure_99"])


def test_names_are_kept_in_order_and_once():
    assert [e.name for e in find(["fedfb_figure_8", "fedfb_figure_2", "fedfb_figure_8"])] == [
        "fedfb_figure_8",
        "fedfb_figure_2",
    ]
    assert [e.name for e in find(None)] == [e.name for e in find([])] == list(registered())


def test_finding_figures_loads_neither_pyplot_nor_torch_nor_cvxpy():
    code = (
        "import sys; from fairfl.figures.catalog.all_figures import registered; registered();"
        "print([m for m in ('matplotlib.pyplot', 'torch', 'cvxpy') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
