"""The surfaces: exact on the grid, and never below the marked minimum."""

import numpy as np
import pytest

from fairfl.figures.catalog import fedfb_figure_4 as figure
from fairfl.solvers.api import min_disparity, solve

PANELS = list(figure.federations())


@pytest.fixture(scope="module")
def surfaces():
    return figure.data(points=11)


@pytest.mark.parametrize("panel", PANELS)
def test_a_grid_is_the_solvers_has_the_kinks_and_is_above_the_marked_minimum(surfaces, panel):
    fed, part = figure.federations()[panel], surfaces[surfaces["panel"] == panel]
    (best,), grid = part.loc[part["point"] == "minimum", "disparity"], part[part["point"] == "grid"]
    assert best == pytest.approx(min_disparity(fed, "lft_ensemble").disparity, abs=1e-14)
    assert best <= grid["disparity"].min() + 1e-14
    for _, row in grid.sample(8, random_state=0).iterrows():
        solution = solve(fed, "lft_ensemble", [row["eps_0"], row["eps_1"]])
        assert row["mean_difference"] == pytest.approx(solution.mean_difference, abs=1e-11)
    for erm in np.abs(figure.local_rules(fed).problem.free[1]):
        assert (grid["eps_0"] == erm).any() and (grid["eps_1"] == erm).any()


def test_the_papers_numbers(surfaces):
    marks = surfaces[surfaces["point"] != "grid"].set_index(["panel", "point"])["disparity"]
    a, b, c = PANELS
    # the paper rounds an approximation to 0.21
    assert marks[a, "minimum"] == pytest.approx(0.2043, abs=5e-5)
    assert marks[b, "minimum"] == pytest.approx(0, abs=1e-15)  # the paper says that it is positive
    assert marks[b, figure.POSITIVE] == pytest.approx(0.085336, abs=5e-7)  # what its picture shows
    assert marks[c, "minimum"] == pytest.approx(0.164647, abs=5e-7)
    assert list(surfaces.loc[surfaces["point"] == figure.POSITIVE, "panel"]) == [b]


def test_client_0_of_b_is_unfair_below_the_smallest_double(surfaces):
    log10 = surfaces.groupby("panel", sort=False)["log10_erm_0"].first()
    a, b, c = PANELS
    assert log10[a] == -np.inf
    # P(x <= 0 | a=1) = Φ(-49), by the first terms of its asymptotic series; group 0's Φ(-50) is
    # 1e-22 of it
    phi = -(49**2) / 2 - np.log(49 * np.sqrt(2 * np.pi)) + np.log1p(-1 / 49**2 + 3 / 49**4)
    assert log10[b] == pytest.approx(phi / np.log(10), abs=1e-6)
    erm = figure.local_rules(figure.federations()[c]).problem.free[1][0]
    assert log10[c] == pytest.approx(np.log10(abs(erm)), abs=1e-9)


def test_zero_is_a_budget_of_its_own_on_b(surfaces):
    part = surfaces[(surfaces["panel"] == PANELS[1]) & (surfaces["point"] == "grid")]
    by_eps = part.pivot(index="eps_0", columns="eps_1", values="disparity")
    assert (by_eps.iloc[1:].max() - by_eps.iloc[1:].min()).max() < 1e-14
    assert (by_eps.iloc[1] - by_eps.iloc[0]).min() > 0.08


def test_the_picture_says_it(surfaces):
    words = " ".join(t.get_text() for axes in figure.draw(surfaces).axes for t in axes.texts)
    said = "δ = 0.2043 (paper: ≈ 0.21)", "δ = 0, at (0, 0)", "δ = 0.0853", "δ = 0.1646", "523.5"
    assert all(part in words for part in said)
