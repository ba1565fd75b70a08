"""g increases through the budget at the solver's multiplier."""

import numpy as np
import pytest
from scipy import stats

from fairfl.figures.catalog import fedfb_figure_8 as figure


@pytest.fixture(scope="module")
def multipliers():
    return figure.data(points=101)


def test_g_increases_from_minus_one_to_one(multipliers):
    curve = multipliers[multipliers["point"] == "curve"]
    assert (np.diff(curve["mean_difference"]) > 0).all()
    assert list(curve["mean_difference"].iloc[[0, -1]]) == pytest.approx([-1, 1])
    assert list(curve["multiplier"].iloc[[0, -1]]) == [-0.5, 0.5]
    assert (multipliers["disparity"] == multipliers["mean_difference"].abs()).all()


def test_g_by_the_papers_formula(multipliers):
    # equation (25) with q = 1/2, and the pooled laws written out
    row = multipliers[multipliers["point"] == "curve"].iloc[30]
    t0, t1 = (np.log(p / (1 - p)) for p in (0.5 - row["multiplier"], 0.5 + row["multiplier"]))
    rates = [stats.norm.sf(t, means).mean() for t, means in ((t0, [3, 1]), (t1, [5, -1]))]
    assert row["mean_difference"] == pytest.approx(rates[0] - rates[1], abs=1e-13)


def test_case_2_the_budget_binds_at_a_negative_multiplier(multipliers):
    marks = multipliers.set_index("point").loc[["unconstrained", "budget"]]
    assert marks["mean_difference"]["unconstrained"] > figure.EPS
    assert marks["multiplier"]["unconstrained"] == 0
    assert marks["multiplier"]["budget"] < 0
    assert marks["mean_difference"]["budget"] == pytest.approx(figure.EPS, abs=1e-12)
    curve = multipliers[multipliers["point"] == "curve"]
    interpolated = np.interp(figure.EPS, curve["mean_difference"], curve["multiplier"])
    assert marks["multiplier"]["budget"] == pytest.approx(interpolated, abs=1e-3)
