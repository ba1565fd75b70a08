"""Where a larger q is more uniform, where it is not, and what the lemmas say of q = 0 and q = 1."""

import numpy as np
import pytest

from fairfl.figures.catalog import qffl_q_sweep as figure
from fairfl.theory.measures import uniformity

MEASURES = ["variance", "angle", "kl_to_uniform"]


@pytest.fixture(scope="module")
def sweep():
    return figure.data(points=15)


def family(sweep, name):
    return sweep[sweep["family"] == name].reset_index(drop=True)


def test_every_point_is_the_minimum_on_a_grid(sweep):
    grid = np.linspace(-0.5, 2.5, 30001)
    for name, (a, c, h) in figure.FAMILIES.items():
        f = np.array(a)[:, None] * (grid - np.array(c)[:, None]) ** 2 + np.array(h)[:, None]
        for _, row in family(sweep, name).iterrows():
            top = f.max(0)
            mean = (
                top
                if np.isinf(row["q"])
                else top * ((f / top) ** (row["q"] + 1)).mean(0) ** (1 / (row["q"] + 1))
            )
            assert row["theta"] == pytest.approx(grid[mean.argmin()], abs=1.01e-4 + 1e-7)
            losses = np.array(a) * (row["theta"] - np.array(c)) ** 2 + np.array(h)
            assert row[["f1", "f2", "f3"]].to_numpy(float) == pytest.approx(losses)
            assert row["kl_to_uniform"] == pytest.approx(
                np.log(3) - uniformity.entropy(losses), abs=1e-12
            )
    assert (sweep["stationarity"] < 1e-8 * 5).all()


def test_what_the_curves_show(sweep):
    """One family gets more uniform all the way, the other less by every measure. Lemmas 6 and 7 on
    both: variance and angle at q = 1 are at most those at q = 0. The ends: least mean, least worst.
    """
    even, uneven = (family(sweep, name) for name in ("even", "uneven"))
    for measure in MEASURES:
        assert (np.diff(even[measure]) < 0).all()
        values = uneven[measure].to_numpy()
        assert values[-1] > 1.1 * values[0] > values[0]
        assert (np.diff(values[uneven["q"] >= 3]) > 0).all()
    assert even["variance"].iloc[-1] < 1e-12  # at q = inf all losses agree
    for table in (even, uneven):
        f, by_q = table[["f1", "f2", "f3"]].to_numpy(), table.set_index("q")
        assert f.mean(1).argmin() == 0 and f.max(1).argmin() == len(f) - 1
        assert (by_q.loc[1.0, MEASURES[:2]] <= by_q.loc[0.0, MEASURES[:2]]).all()
