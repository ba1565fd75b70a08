"""The corrected Table 1 against the conjugates of theory.aggregation, and against a maximiser."""

import numpy as np
import pytest
from scipy.optimize import minimize

from fairfl.claims.propfair.table_1 import dual, value
from fairfl.theory.aggregation import AFL, QFFL, TERM, FedAvg, PropFair

OBJECTIVES = {
    "FedAvg": FedAvg(),
    "AFL": AFL(),
    "q-FFL": QFFL(q=1.0),
    "TERM": TERM(alpha=1.0),
    "PropFair": PropFair(M=2.0),
}
WEIGHTS = [
    [0.5, 0.5],
    [0.3, 0.2],
    [1.0, 0.0],
    [0.7, 0.6],
    [0.1, 0.9],
    [2.0, 0.05],
    [1.0, 0.25],
    [0.0, 0.0],
    [1.0, 0.249],  # near each domain's end, and beyond it
    [1.0, 0.251],
    [0.5, 0.503],
    [0.5, 0.497],
]


@pytest.mark.parametrize("row", OBJECTIVES)
@pytest.mark.parametrize("domain", ["native", "nonnegative"])
def test_duals_are_those_of_theory(row, domain):
    for x in WEIGHTS:
        told = float(OBJECTIVES[row].conjugate(x, domain=domain))
        assert dual(row, domain, np.array(x)) == pytest.approx(told, abs=1e-9), x


@pytest.mark.parametrize("row", ["TERM", "PropFair"])
def test_duals_on_nonnegative_losses_are_suprema(row):
    """The maximand is concave in f: a local maximum over 0 <= f <= 2 (20 for TERM) is the
    supremum.
    """
    top = 2.0 if row == "PropFair" else 20.0
    for x in ([0.3, 0.2], [0.1, 0.9], [0.45, 0.3]):
        weights = np.array(x)
        best = max(
            -minimize(
                lambda f, w=weights: value(row, f) - w @ f,
                start,
                bounds=[(0, top)] * 2,
                options={"ftol": 1e-15},
            ).fun
            for start in ([0.1, 0.1], [1.5, 0.2], [0.2, 1.5])
        )
        assert best == pytest.approx(dual(row, "nonnegative", weights), abs=2e-6)
