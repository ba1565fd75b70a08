"""Real data: skipped with its reason where it is missing; ordered and fair where it is there."""

import pandas as pd
import pytest

from fairfl.figures.catalog import real_data
from fairfl.figures.lib import frontier_panels
from fairfl.figures.render import render_all


def test_missing_data_is_a_skipped_figure_with_its_reason(tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("FAIRFL_DATA", str(tmp_path / "empty"))
    out = tmp_path / "out"
    outcomes = render_all(["real_data", "fedfb_figure_8"], out)
    assert [o.status for o in outcomes] == ["skipped", "drawn"]
    assert "adult" in outcomes[0].reason and outcomes[0].files == ()
    kinds = ("csv", "manifest.json", "png", "svg")
    assert sorted(p.name for p in out.iterdir()) == [f"fedfb_figure_8.{kind}" for kind in kinds]


@pytest.fixture(scope="module")
def bank(fairfl_data):
    """The data set that is scored fastest."""
    return real_data.federation("bank")


def test_the_clients_and_groups_are_fedfbs(bank):
    assert bank.n_clients == 3 and bank.n_groups == 2
    assert bank.model.points.size <= 101  # scores to 0.01: no score is a person's own
    assert bank.weight == pytest.approx([0.451, 0.181, 0.368], abs=1e-3)


def test_titles_name_the_groups_and_the_panels_are_drawn():
    rows = [
        (title, scheme, d == 0, d, 0.8 + d, 0.0, 0.0)
        for title in real_data.DATASETS.values()
        for scheme in ("cfl", "lft_fedavg", "lft_ensemble")
        for d in (0.0, 0.1)
    ]
    columns = "panel scheme minimum disparity accuracy below_cfl gap".split()
    figure = real_data.draw(pd.DataFrame(rows, columns=columns))
    titles = " ".join(axes.get_title(loc="left") for axes in figure.axes)
    for name in ("Adult", "COMPAS", "Bank", "women", "men", "African-American", "age 33 to 51"):
        assert name in titles
    assert figure.axes[-1].get_xlabel() == frontier_panels.DISPARITY
