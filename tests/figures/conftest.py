"""Tables that several tests look at, solved once."""

import pytest

from fairfl.figures.catalog import fedfb_figure_2, fedfb_figure_4, fedfb_figure_8
from fairfl.figures.catalog.fedfb_figures_5_and_9 import FIVE
from fairfl.figures.lib import frontier_panels


@pytest.fixture(scope="session")
def toy():
    return fedfb_figure_2.data()


@pytest.fixture(scope="session")
def surfaces():
    return fedfb_figure_4.data(points=11)


@pytest.fixture(scope="session")
def multipliers():
    return fedfb_figure_8.data(points=101)


@pytest.fixture(scope="session")
def frontiers():
    """Figure 5's first panel, with few points."""
    panel, federation = next(iter(FIVE.items()))
    return frontier_panels.table({panel: federation}, points=10)
