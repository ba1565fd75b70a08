"""Figures are found by their files."""

import pytest

from fairfl.figures.catalog.all_figures import find, registered

NAMES = ["dual_weights", "fedfb_figure_2", "fedfb_figure_8", "rank_profiles", "real_data"]


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
