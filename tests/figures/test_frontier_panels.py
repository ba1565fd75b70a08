"""Figures 5 and 9, on few points: ordering, monotony, verticals; and that they draw from the table
alone.
"""

import numpy as np
import pandas as pd
import pytest

from fairfl.figures.catalog.fedfb_frontiers import FIVE, NINE
from fairfl.figures.lib import frontier_panels, style
from fairfl.solvers.api import min_disparity, solve
from fairfl.theory.populations.federation import Federation

FEDERATION = next(iter(FIVE.values()))


def curve(table, scheme):
    return table[table["scheme"] == scheme]


@pytest.mark.parametrize("scheme", list(style.SCHEMES))
def test_accuracy_rises_with_disparity(frontiers, scheme):
    part = curve(frontiers, scheme)
    assert (np.diff(part["disparity"]) > 0).all() and (np.diff(part["accuracy"]) > 0).all()


def test_every_point_is_on_or_under_the_cfl_curve(frontiers):
    for _, row in curve(frontiers, "lft_fedavg").iterrows():
        assert row["accuracy"] <= solve(FEDERATION, "cfl", row["disparity"]).accuracy + 1e-10
    assert (frontiers["below_cfl"] >= -1e-10).all()
    assert curve(frontiers, "cfl")["below_cfl"].abs().max() < 1e-12


@pytest.mark.parametrize("scheme", list(style.SCHEMES))
def test_the_vertical_stands_at_the_smallest_disparity(frontiers, scheme):
    first = curve(frontiers, scheme)["minimum"]
    assert first.iloc[0] and first.sum() == 1
    lowest = curve(frontiers, scheme)["disparity"].iloc[0]
    assert lowest == pytest.approx(min_disparity(FEDERATION, scheme).disparity, abs=1e-9)


@pytest.mark.parametrize("scheme", list(style.SCHEMES))
def test_the_budgets_attain_the_points(frontiers, scheme):
    part = curve(frontiers, scheme)
    for _, row in part.iloc[[0, len(part) // 2, -1]].iterrows():
        eps = row["eps_0"] if scheme == "cfl" else [row["eps_0"], row["eps_1"]]
        found = solve(FEDERATION, scheme, eps)
        assert found.disparity == pytest.approx(row["disparity"], abs=1e-8)
        assert found.accuracy == pytest.approx(row["accuracy"], abs=1e-8)


def test_all_schemes_end_at_the_unconstrained_optimum(frontiers):
    ends = frontiers.groupby("scheme")[["disparity", "accuracy"]].last()
    assert np.ptp(ends["disparity"]) < 1e-12 and np.ptp(ends["accuracy"]) < 1e-12


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


def test_one_legend_one_style(frontiers):
    copies = pd.concat([frontiers.assign(panel=f"q = {k}") for k in range(4)], ignore_index=True)
    figure = frontier_panels.draw_panels(copies)
    assert len(figure.axes) == 4 and len(figure.legends) == 1
    for axes in figure.axes:
        colours = [line.get_color() for line in axes.lines]
        assert set(colours) == {look.colour for look in style.SCHEMES.values()}
        verticals = [line for line in axes.lines if line.get_linestyle() == ":"]
        assert len(verticals) == 3


def test_the_styles_differ_in_colour_line_and_marker():
    looks = list(style.SCHEMES.values())
    for part in ("label", "colour", "line", "width", "marker"):
        assert len({str(getattr(look, part)) for look in looks}) == 3


def test_a_row_of_losses_is_in_percentage_points(frontiers):
    figure = frontier_panels.draw(frontiers, columns=1, height=4, losses=True)
    top, bottom = figure.axes
    assert (
        bottom.get_ylabel() == frontier_panels.LOSS and top.get_ylabel() == frontier_panels.ACCURACY
    )
    worst = max(np.max(line.get_ydata()) for line in bottom.lines if line.get_linestyle() != ":")
    assert worst == pytest.approx(100 * frontiers["below_cfl"].max())
