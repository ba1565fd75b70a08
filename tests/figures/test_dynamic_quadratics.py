"""The maps of two quadratics: their regions are those of the theorems."""

import numpy as np
import pytest

from fairfl.figures.catalog import dynamic_quadratics as figure
from fairfl.studies import dynamic_phases as phases


@pytest.fixture(scope="module")
def table():
    return figure.data(points=25)


def panel(table, name):
    part = table[table["panel"] == name]
    return part["x"].to_numpy(), part["y"].to_numpy(), part


@pytest.mark.parametrize(("name", "cosine"), [("round-60", 0.5), ("round-120", -0.5)])
def test_one_round_is_theorem_2_with_its_order(table, name, cosine):
    x, y, part = panel(table, name)
    gain = (part["fedavg"] - part["normalised"]).to_numpy()
    expected = (y - x) * (x + y - 1 - cosine) / 2
    np.testing.assert_allclose(gain, expected, atol=1e-12)
    repaired = (y >= 4) & (x <= y / 2)
    assert repaired.any() and (gain[repaired] > 0).all()
    printed = y >= 2
    assert (gain[printed] < 0).any()  # ||g_2|| >= 2 alone is not enough


def test_fedavg_is_unfair_where_the_repaired_theorem_1_says_so(table):
    x, y, part = panel(table, "unfair")
    says = (y >= 2 * x) & (phases.STEP * y**2 >= 16 / 3 * phases.HEAD_START)
    assert says.any() and (part["fedavg"].to_numpy()[says] >= phases.HEAD_START).all()


def test_the_fairer_rule_may_change_with_time(table):
    x, y, part = panel(table, "flow")
    gain = (part["fedavg"] - part["normalised"]).to_numpy()
    late = (y > x) & (gain < 0)
    assert late.any()
    turn = np.cos(np.radians(15))
    distance = np.sqrt(x**2 + y**2 - 2 * x * y * turn)
    assert (distance[late] < 2).all()  # claim dynamic/each-time/repaired


def test_layers_alone_have_a_third_rule(table):
    assert table["by layer"].notna().equals(table["panel"] == "layers")


def test_every_panel_is_drawn_with_its_region(table):
    drawn = figure.draw(table)
    assert len(drawn.axes) == len(phases.PANELS) == 8
    for axes, name in zip(drawn.axes, phases.PANELS, strict=True):
        assert axes.get_title(loc="left").endswith(phases.PANELS[name].title)
        assert axes.collections
    assert len(drawn.legends[0].get_texts()) == 5
