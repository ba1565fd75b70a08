"""The rules' points on both sets, from their definitions and by hand."""

import numpy as np
import pytest
from scipy import optimize

from fairfl.figures.catalog import propfair_figure_1 as figure


@pytest.fixture(scope="module")
def points():
    return figure.data()


def point(table, panel, rule):
    row = table[(table["panel"] == panel) & (table["part"] == rule)]
    return row[["u1", "u2"]].to_numpy()[0]


def test_on_the_papers_picture_all_rules_meet_at_equal_utilities(points):
    """The edge from (1.5, 3.1) to (3.1, 1.5) has total 4.6; (2.3, 2.3) is on it, as printed."""
    for rule in figure.RULES:
        assert point(points, "polytope", rule) == pytest.approx([2.3, 2.3], abs=1e-6)
    face = points[points["part"] == "face"][["u1", "u2"]].to_numpy()
    assert face.sum(1) == pytest.approx([4.6, 4.6]) and len(face) == 2
    corners = np.array(figure.POLYTOPE)
    assert (corners.sum(1) <= 4.6 + 1e-12).all()


@pytest.mark.parametrize("panel", ["polytope", "losses"])
def test_the_nash_point_is_proportionally_fair(points, panel):
    u = point(points, panel, figure.NASH)
    outline = points[(points["panel"] == panel) & (points["part"] == "set")][
        ["u1", "u2"]
    ].to_numpy()
    assert ((outline - u) / u).sum(1).max() <= 1e-7
    assert outline.prod(1).max() <= u.prod() * (1 + 1e-7)


def test_the_rules_on_quadratic_losses_by_hand(points):
    """Utilitarian: θ = 1/2. Max-min: u_2 <= 1 < u_1, so θ = 1. Nash and harmonic: roots in θ."""

    def root(alpha):
        def slope(t):
            u1, u2 = figure.utilities(t)
            return -2 * t / u1**alpha + 2 * (1 - t) / u2**alpha

        return figure.utilities(optimize.brentq(slope, 0.01, 0.999, xtol=1e-14))

    assert point(points, "losses", "utilitarian") == pytest.approx(figure.utilities(0.5), abs=1e-4)
    assert point(points, "losses", figure.NASH) == pytest.approx(root(1), abs=1e-5)
    assert point(points, "losses", "harmonic") == pytest.approx(root(2), abs=1e-5)
    assert point(points, "losses", "max-min") == pytest.approx(figure.utilities(1.0), abs=1e-4)
    assert root(0) == pytest.approx(figure.utilities(0.5))


def test_prices_rise_with_alpha_and_gains_are_certified(points):
    rules = points[points["alpha"].notna()]
    assert (rules["gain"].abs() <= 1e-6).all()
    price = rules[rules["panel"] == "losses"].sort_values("alpha")["price"].to_numpy()
    assert (np.diff(price) > 0).all() and price[0] < 1e-8
    u = point(points, "losses", "max-min")
    # the largest total: 2.2 - 1/4 + 1 - 1/4
    assert price[-1] == pytest.approx(1 - u.sum() / 2.7, abs=1e-6)
