"""The step of λ in numpy is FairBatch's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl.sims.group_fairness import FairBatch
from fairfl.studies.crosscheck.population.fairbatch_step import Ascent


def sixteenths(low: float, high: float) -> st.SearchStrategy[float]:
    """Multiples of 1/16: an F that meets its budget exactly does so in both."""
    return st.integers(round(16 * low), round(16 * high)).map(lambda k: k / 16)


@given(
    q=sixteenths(1 / 16, 15 / 16),
    place=st.tuples(sixteenths(0, 2), sixteenths(0, 2)),
    difference=sixteenths(-1, 1),
    budget=sixteenths(0, 1),
    number=st.integers(0, 50),
    alpha=sixteenths(1 / 16, 3),
    decay=sixteenths(0, 2),
    projection=st.sampled_from(["box", "sum"]),
)
def test_steps_are_those_of_fairbatch(
    q, place, difference, budget, number, alpha, decay, projection
):
    """``known`` (A, 2) holds people of label 1 alone, so that F_1 = -MD is the second report."""
    share = np.array([[1 - q, q]])
    lam = share * np.array(place)
    if projection == "sum":  # a λ that has been on the line from the start
        one = np.clip(lam[:, 1], max(0.0, 1 - 2 * share[0, 0]), min(1.0, 2 * share[0, 1]))
        lam = np.stack([1 - one, one], axis=1)
    rule = FairBatch("dp", alpha, decay, "zero_one", budget=budget, projection=projection)
    wanted = rule.step(lam[0], np.array([0.0, -difference]), np.array([[0, 1 - q], [0, q]]), number)
    found = Ascent(alpha, decay, projection).step(
        lam, np.array([difference]), share, np.array([budget]), number
    )
    assert np.allclose(found[0], wanted, atol=1e-12)


def test_clients_move_on_their_own():
    """α = 0.3 √2, t = 0: 0.3. MD = 0.5 > ε: λ_1 falls; -0.5: rises; |MD| < ε: to 0."""
    share = np.full((3, 2), 0.5)
    lam = np.array([[0.5, 0.5], [0.9, 0.1], [0.4, 0.6]])
    found = Ascent(0.3 * 2**0.5, 1.0).step(
        lam, np.array([0.5, -0.5, 0.05]), share, np.full(3, 0.1), 0
    )
    assert np.allclose(found, [[0.8, 0.2], [0.6, 0.4], [0.5, 0.5]])


@pytest.mark.parametrize(("alpha", "decay"), [(0.0, 1.0), (1.0, -1.0)])
def test_wrong_arguments(alpha, decay):
    with pytest.raises(ValueError, match="alpha|decay"):
        Ascent(alpha, decay)
