"""Figures 5 and 9: their federations, their table on few points, and that it is all they draw."""

import numpy as np
import pandas as pd
import pytest

from fairfl.figures.catalog.fedfb_figures_5_and_9 import ENDS, FIVE, NINE
from fairfl.figures.lib import frontier_panels
from fairfl.solvers.api import frontier
from fairfl.solvers.schemes import SHARED_RULE
from fairfl.theory.populations.federation import Federation

PANEL, FEDERATION = next(iter(FIVE.items()))


@pytest.fixture(scope="module")
def frontiers():
    return frontier_panels.table({PANEL: FEDERATION}, points=10)


def test_the_table_is_the_frontiers(frontiers):
    """A scheme's first point is its smallest disparity; what CFL has more is beside every point."""
    cfl = frontier(FEDERATION, "cfl", 10)
    for scheme, part in frontiers.groupby("scheme"):
        curve = frontier(FEDERATION, scheme, 10)
        table = curve.to_frame()
        pd.testing.assert_frame_equal(part[list(table)].reset_index(drop=True), table)
        assert part["minimum"].tolist() == [True] + [False] * (len(part) - 1)
        loss = cfl.accuracy_at(curve.disparity) - curve.accuracy
        assert part["below_cfl"].to_numpy() == pytest.approx(loss, abs=1e-15)


@pytest.mark.parametrize(
    ("federations", "means", "middle"),
    [(FIVE, [[3, 5], [1, -1]], []), (NINE, [[3, 5], [1, -1], [1, 2]], [0.5])],
)
def test_the_papers_federations(federations, means, middle):
    """As FedFB prints them: N(mean, 1), and the shares of the first and the second client."""
    for (name, federation), low in zip(federations.items(), (0.5, 0.4, 0.3, 0.2), strict=True):
        q = [low, *middle, 1 - low]
        assert name == f"q = ({', '.join(f'{v:g}' for v in q)})"
        np.testing.assert_allclose(federation.q, q)
        assert federation.model.laws == Federation.normal(means, 1.0).model.laws


def test_equal_opportunity_has_the_equal_and_the_most_different_shares():
    shares = [federation.q.tolist() for federation in ENDS.values()]
    assert shares == [[0.5, 0.5], [0.2, 0.8], [0.5, 0.5, 0.5], [0.2, 0.5, 0.8]]


def test_one_legend_one_style(frontiers):
    copies = pd.concat([frontiers.assign(panel=f"q = {k}") for k in range(4)], ignore_index=True)
    figure = frontier_panels.draw_panels(copies)
    assert len(figure.axes) == 4 and len(figure.legends) == 1
    for axes in figure.axes:
        colours = [line.get_color() for line in axes.lines]
        assert set(colours) == {look.colour for look in SHARED_RULE}
        verticals = [line for line in axes.lines if line.get_linestyle() == ":"]
        assert len(verticals) == 3


def test_the_styles_differ_in_colour_line_and_marker():
    looks = list(SHARED_RULE)
    for part in ("label", "colour", "line", "width", "marker"):
        assert len({str(getattr(look, part)) for look in looks}) == 3


def test_a_row_of_losses_is_in_percentage_points(frontiers):
    figure = frontier_panels.draw(frontiers, columns=1, height=4, losses=True)
    top, bottom = figure.axes
    assert (
        bottom.get_ylabel() == frontier_panels.LOSS and top.get_ylabel() == frontier_panels.ACCURACY
    )
    heights = [line.get_ydata() for line in bottom.lines if line.get_linestyle() != ":"]
    worst = max(np.max(y, where=np.isfinite(y), initial=0.0) for y in heights)
    assert worst == pytest.approx(100 * frontiers["below_cfl"].max())
