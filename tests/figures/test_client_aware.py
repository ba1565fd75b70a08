"""Client-aware rules in two disparities: order, budgets, edges, and where other schemes stand."""

import numpy as np
import pytest
from matplotlib.colors import to_rgba

from fairfl.figures.catalog import client_aware
from fairfl.solvers.api import solve
from fairfl.solvers.schemes import LABELS, SHARED_RULE, SOLVED
from fairfl.theory.populations.fedfb_figures import SHARES_5, figure_5

FED = client_aware.federation()


@pytest.fixture(scope="module")
def table():
    return client_aware.data(points=7)


def test_the_cells_are_close_to_the_laws():
    laws = figure_5(SHARES_5[1])
    np.testing.assert_allclose(FED.q, laws.q)
    for eps in (0.0, 0.2, np.inf):
        cells, exact = (solve(fed, "cfl", eps).accuracy for fed in (FED, laws))
        assert cells == pytest.approx(exact, abs=1e-3)


def test_a_larger_budget_never_hurts_and_budgets_are_kept(table):
    grid = table[table["scheme"] == "client_aware"]
    accuracy = grid.pivot(index="local_eps", columns="eps", values="accuracy").to_numpy()
    assert (np.diff(accuracy, axis=0) >= -1e-12).all()
    assert (np.diff(accuracy, axis=1) >= -1e-12).all()
    assert (grid["disparity"] <= grid["eps"] + 1e-12).all()
    assert (grid["local_disparity"] <= grid["local_eps"] + 1e-12).all()


@pytest.mark.parametrize("scheme", list(LABELS))
def test_no_rule_is_above_the_frontier_at_its_place(table, scheme):
    for _, row in table[table["scheme"] == scheme].iterrows():
        eps, local = (row[name] + 1e-12 for name in ("disparity", "local_disparity"))
        best = solve(FED, "client_aware", eps, local_eps=local).accuracy
        assert row["accuracy"] <= best + 1e-11
        if scheme == "cfl":
            assert row["accuracy"] == pytest.approx(best, abs=1e-9)


def test_the_map_and_its_cuts_show_every_scheme(table):
    figure = client_aware.draw(table)
    left, right = figure.axes[:2]
    for axes in (left, right):
        colours = {to_rgba(line.get_color()) for line in axes.lines}
        assert {to_rgba(look.colour) for look in SHARED_RULE} <= colours
    cuts = [text.get_text() for text in right.texts]
    assert cuts == ["no local budget", "0.3", "0.2", "0.1", "0"]
    labels = [text.get_text() for text in figure.legends[0].texts]
    assert labels == [look.label for look in SOLVED.values()]
    highest = max(np.nanmax(line.get_ydata()) for line in right.lines if len(line.get_ydata()))
    assert highest == pytest.approx(table["accuracy"].max())
