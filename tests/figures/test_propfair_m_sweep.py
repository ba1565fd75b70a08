"""PropFair between AFL and FedAvg: the limits in M, and how fast the second is reached."""

import numpy as np
import pytest
from scipy import optimize

from fairfl.figures.catalog import propfair_m_sweep as figure


@pytest.fixture(scope="module")
def sweep():
    return figure.data(points=13)


def test_ends_and_order(sweep):
    ends, models = sweep.set_index("aim"), sweep[sweep["aim"] == "PropFair"].sort_values("excess")
    for column in ("mean", "worst"):
        assert models[column].iloc[-1] == pytest.approx(ends.loc["FedAvg", column], abs=1e-4)
        assert models[column].iloc[0] == pytest.approx(ends.loc["AFL", column], abs=3e-3)
    assert (np.diff(models["worst"]) > 0).all() and (np.diff(models["mean"]) < 0).all()
    assert (np.diff(models["variance"]) > 0).all()
    assert (models["worst"] < models["M"]).all() and (sweep["stationarity"] < 1e-7).all()
    infimum = (models["M"] - models["excess"]).to_numpy()
    assert infimum == pytest.approx(np.full(len(models), ends.loc["AFL", "worst"]))


def test_the_distance_to_fedavg_falls_as_one_over_m(sweep):
    far = sweep[(sweep["aim"] == "PropFair") & (sweep["excess"] > 50)]
    product = (far["M"] * far["distance"]).to_numpy()
    assert len(product) > 2
    assert product == pytest.approx(np.full(len(product), product[0]), rel=0.05)


def test_propfair_is_the_largest_product_of_utilities(sweep):
    """-(1/n) Σ log(M - f_i) by Nelder and Mead, M - M₀ about 0.3: the same losses."""
    row = sweep[sweep["aim"] == "PropFair"].iloc[7]

    def cost(theta):
        gap = row["M"] - figure.losses(theta)[0]
        return -np.log(gap).mean() if gap.min() > 0 else np.inf

    theta = np.array([0.3, -0.2, 0.1])
    f = [np.mean(np.log(1 + np.exp(-x @ theta))) + 1e-3 * theta @ theta for x in figure.DATA]
    assert figure.losses(theta)[0] == pytest.approx(f)
    start = optimize.minimize(
        lambda t: figure.losses(t)[0].max(), np.zeros(3), method="Nelder-Mead"
    ).x
    minimum = optimize.minimize(
        cost, start, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14, "maxiter": 5000}
    )
    assert figure.losses(minimum.x)[0].max() == pytest.approx(row["worst"], abs=1e-5)
    assert figure.losses(minimum.x)[0].mean() == pytest.approx(row["mean"], abs=1e-5)
