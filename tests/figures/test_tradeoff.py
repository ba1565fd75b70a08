"""Accuracy against disparity: every kind of point is drawn, and a constant far below is not."""

import numpy as np
import pandas as pd
from matplotlib.colors import to_rgba

from fairfl.figures.lib.tradeoff import LINE, constants, draw_tradeoff
from fairfl.studies.papers.fedfb.points import COLUMNS

TABLE = pd.DataFrame(
    [
        ["A", "frontier", "exact frontier", np.nan, 0.0, np.nan, 0.7, np.nan, 1],
        ["A", "frontier", "exact frontier", np.nan, 0.2, np.nan, 0.9, np.nan, 1],
        ["A", "ours", "FedAvg", np.nan, 0.2, 0.01, 0.88, 0.01, 5],
        ["A", "ours", "FedFB", 0.1, 0.1, 0.01, 0.8, 0.01, 5],
        ["A", "ours", "FedFB", 0.2, 0.05, 0.01, 0.75, 0.01, 5],
        ["A", "published", "FedFB", np.nan, 0.06, 0.02, 0.72, 0.01, 0],
        ["A", "constant", "all 1", np.nan, 0.0, np.nan, 0.7, np.nan, 1],
        ["A", "constant", "all 0", np.nan, 0.0, np.nan, 0.3, np.nan, 1],
        ["B", "ours", "FedAvg", np.nan, 0.3, 0.01, 0.9, 0.01, 5],
    ],
    columns=COLUMNS,
)


def grey(axes):
    """The frontier's lines."""
    return [line for line in axes.lines if to_rgba(line.get_color()) == to_rgba(LINE["color"])]


def test_every_kind_is_drawn():
    figure = draw_tradeoff(TABLE)
    first, second = figure.axes[:2]
    marks = [line for line in first.lines if line.get_marker() not in (None, "None", "none", "")]
    hollow = [
        line for line in marks if line.get_markerfacecolor() == "none" and len(line.get_xdata())
    ]
    assert [list(line.get_xdata()) for line in hollow] == [[0.06]]
    (frontier,) = grey(first)
    assert [*frontier.get_xdata()] == [0.0, 0.2, 0.2]
    assert [*frontier.get_ydata()] == [0.7, 0.9, 0.9]
    # settings, joined in their order
    assert any(list(line.get_xdata()) == [0.1, 0.05] for line in first.lines)
    assert not grey(second)
    labels = [text.get_text() for text in figure.legends[0].texts]
    assert labels == ["FedAvg", "FedFB", "published", "constant", "exact frontier"]


def test_a_constant_far_below_is_left_out():
    assert list(constants(TABLE[TABLE["dataset"] == "A"])["objective"]) == ["all 1"]
    alone = TABLE[(TABLE["kind"] != "constant") | (TABLE["objective"] == "all 0")]
    assert "constant" not in [text.get_text() for text in draw_tradeoff(alone).legends[0].texts]


def test_a_frontier_is_level_beyond_its_end():
    far = TABLE.assign(disparity=np.where(TABLE["objective"] == "FedAvg", 0.5, TABLE["disparity"]))
    (frontier,) = grey(draw_tradeoff(far).axes[0])
    assert [*frontier.get_xdata()] == [0.0, 0.2, 0.5]
    assert [*frontier.get_ydata()] == [0.7, 0.9, 0.9]


def test_a_large_spread_does_not_squeeze_the_panel():
    """Means from .7 to .9 and one spread of .6: the panel is a fifth of .2 larger each side."""
    wide = TABLE.assign(
        accuracy_sd=np.where(TABLE["objective"] == "FedAvg", 0.6, TABLE["accuracy_sd"])
    )
    low, high = draw_tradeoff(wide).axes[0].get_ylim()
    assert 0.6 < low < 0.7
    assert 0.9 < high < 1.0


def test_no_two_objectives_look_alike():
    many = pd.concat([TABLE.iloc[[2]].assign(objective=f"objective {k}") for k in range(30)])
    handles = draw_tradeoff(many).legends[0].legend_handles
    assert len({(line.get_color(), line.get_marker()) for line in handles}) == 30
