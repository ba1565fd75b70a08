"""The picture of partitions: every row is somewhere, and skew is what it is called."""

import numpy as np
import pytest

from fairfl.figures.catalog import partitions


@pytest.fixture(scope="module")
def data():
    return partitions.data()


def test_no_row_is_lost(data):
    totals = data.groupby(["partition", "class"])["rows"].sum()
    assert (totals == partitions.ROWS / partitions.CLASSES).all()


def test_skew_is_the_distance_from_equal_shares(data):
    """All classes are equal, so that the whole has a tenth of each."""
    for _, mine in data.groupby(["partition", "client"]):
        share = mine["rows"] / mine["rows"].sum()
        assert mine["skew"].iloc[0] == pytest.approx(0.5 * np.abs(share - 0.1).sum())


def test_the_panels_differ_as_they_should(data):
    skew = data.groupby("partition")["skew"].mean()
    assert (
        skew["iid"]
        < skew["Dirichlet, β = 5"]
        < skew["Dirichlet, β = 0.5"]
        < skew["label shards, 2 each"]
    )
    assert skew["two groups, α = 0.9"] == pytest.approx(0.4, abs=0.02)  # 0.9 - 0.5
    figure = partitions.draw(data)
    panels = [axes for axes in figure.axes if axes.axison]
    assert len(panels) == data["partition"].nunique() == 5
    told = [text.get_text() for text in figure.axes[-1].texts]  # the sixth holds the legend
    assert f"{data['rows'].max()} rows" in told and any("skew" in text for text in told)
