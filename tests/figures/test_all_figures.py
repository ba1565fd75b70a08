"""Figures are found by their files, and name what they show."""

import pytest
from matplotlib.text import Text

from fairfl.figures.catalog import dual_weights, propfair_figure_1, rank_profiles
from fairfl.figures.catalog.all_figures import find, registered


def test_names_are_kept_in_order_and_once():
    assert [e.name for e in find(["fedfb_figure_8", "fedfb_figure_2", "fedfb_figure_8"])] == [
        "fedfb_figure_8",
        "fedfb_figure_2",
    ]
    assert [e.name for e in find(None)] == [e.name for e in find([])] == list(registered())


@pytest.mark.parametrize(
    ("name", "parameters", "words"),
    [
        ("dual_weights", {"points": 20}, dual_weights.LOOKS),
        ("rank_profiles", {}, rank_profiles.PROFILES),
        ("propfair_figure_1", {}, (*propfair_figure_1.RULES, "largest total")),
        ("propfair_m_sweep", {"points": 5}, ("AFL", "FedAvg")),
        ("qffl_q_sweep", {"points": 5}, ("client 1", "variance", "log n − entropy")),
    ],
)
def test_a_picture_names_its_curves_and_axes(name, parameters, words):
    figure = find([name])[0].figure(**parameters)
    assert {*words} <= {text.get_text() for text in figure.findobj(Text)}
    assert figure.axes[-1].get_xlabel() and figure.axes[0].get_ylabel()
