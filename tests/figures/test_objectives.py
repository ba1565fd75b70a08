"""Figures of the objectives: their tables hold what they say they show."""

import numpy as np
import pytest

from fairfl.figures.catalog import dual_weights, feasible_weights, rank_profiles

WEIGHTS = ["weight_1", "weight_2", "weight_3"]


@pytest.fixture(scope="module")
def sets():
    return feasible_weights.data(cells=12)


def test_dual_weights_against_the_formulas():
    table = dual_weights.data(points=20)
    assert list(dict.fromkeys(table["objective"])) == list(dual_weights.LOOKS)
    ten = table[table["panel"] == "ten"].set_index("objective")
    f = dual_weights.TEN
    expected = {
        "FedAvg": np.ones(10),
        "PropFair, M = 1.25": np.exp(np.log(1.25 - f).mean()) / (1.25 - f),
        "q-FFL, q = 2": f**2 / ((f**3).mean()) ** (2 / 3),
        "TERM, α = 3": np.exp(3 * f) / np.exp(3 * f).mean(),
        "p-FFL, Gini": (2 * np.arange(10) + 1) / 10,
        "CVaR, worst 30 %": np.where(f > 0.7, 10 / 3, 0),
        "AFL": np.where(f > 0.9, 10.0, 0),
    }
    for name, weights in expected.items():
        assert ten.loc[name, "loss"].to_numpy() == pytest.approx(f)
        assert ten.loc[name, "weight"].to_numpy() == pytest.approx(weights, rel=1e-12, abs=1e-12)
    two = table[table["panel"] == "two"]
    # more loss, more
    assert (two.groupby("objective")["weight"].apply(lambda w: (np.diff(w) >= -1e-12).all())).all()
    assert two[two["loss"] == dual_weights.OTHER]["weight"].to_numpy() == pytest.approx(
        1.0, rel=1e-12
    )


def test_feasible_sets_meet_table_1_and_nothing_beyond_does(sets):
    panels = set()
    for (panel, kind), rows in sets.groupby(["panel", "kind"]):
        weights = rows[WEIGHTS].to_numpy()
        objective = (
            feasible_weights.INNER
            if panel == feasible_weights.CVAR
            else feasible_weights.OBJECTIVES[panel]
        )
        assert np.isfinite(objective.conjugate(weights)).all()
        assert rows["total"].to_numpy() == pytest.approx(weights.sum(1))
        panels.add(panel)
        if panel == "PropFair":
            assert (27 * weights.prod(1)) == pytest.approx(1, rel=1e-12)
            assert not np.isfinite(objective.conjugate(0.999 * weights)).any()
            assert rows["conjugate"].to_numpy() == pytest.approx(
                2 * (rows["total"].to_numpy() - 1), abs=1e-12
            )
        elif panel == "q-FFL, q = 1":
            assert (weights**2).sum(1) == pytest.approx(1 / 3, rel=1e-12)
            assert not np.isfinite(objective.conjugate(1.001 * weights)).any()
        else:
            assert not np.isfinite(objective.conjugate(1.001 * weights)).any()
            assert not np.isfinite(objective.conjugate(0.999 * weights)).any()
        # beyond a corner, away from the centre, nothing is feasible
        if kind == "polygon" and panel != "AFL":
            outward = 1 / 3 + 1.001 * (weights - 1 / 3)
            assert not np.isfinite(objective.conjugate(outward)).any()
    assert panels == {*feasible_weights.OBJECTIVES, feasible_weights.CVAR}


def test_corners_of_the_permutahedron_go_round(sets):
    """Neighbouring corners swap neighbouring values: sides of the hexagon are edges."""
    for panel, w in (
        ("Rank-weighted", (5 / 9, 3 / 9, 1 / 9)),
        (feasible_weights.CVAR, (2 / 3, 1 / 3, 0.0)),
    ):
        corners = sets[sets["panel"] == panel][WEIGHTS].to_numpy()
        assert len(np.unique(corners.round(9), axis=0)) == 6
        assert np.sort(corners, axis=1)[:, ::-1] == pytest.approx(np.tile(w, (6, 1)))
        sides = np.linalg.norm(corners - np.roll(corners, -1, axis=0), axis=1)
        # both gaps of these weights are equal
        assert sides == pytest.approx(np.sqrt(2) * (w[0] - w[1]))


def test_rank_profiles_are_summed_up_to_one():
    table = rank_profiles.data()
    for _, rows in table.groupby(["profile", "clients"]):
        assert rows["cumulated"].to_numpy() == pytest.approx(np.cumsum(rows["weight"]))
        assert rows["cumulated"].iloc[-1] == pytest.approx(1)
