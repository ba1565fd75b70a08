"""Figures are found by their files."""

from fairfl.figures.catalog.all_figures import find, registered


def test_names_are_kept_in_order_and_once():
    assert [e.name for e in find(["fedfb_figure_8", "fedfb_figure_2", "fedfb_figure_8"])] == [
        "fedfb_figure_8",
        "fedfb_figure_2",
    ]
    assert [e.name for e in find(None)] == [e.name for e in find([])] == list(registered())
