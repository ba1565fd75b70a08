"""Sums over the clients who are there: what they estimate, and for which algorithms."""

import numpy as np
import pytest
from federations import Masks
from grouped import people, run

from fairfl.sims.engine import Uniform
from fairfl.sims.engine.task import as_floats
from fairfl.sims.group_fairness import FairBatch, FairFed, FedFB, LocalFairBatch

pytestmark = pytest.mark.exact

ALL = np.ones(3, dtype=bool)


class Spy(FedFB):
    """FedFB that writes down each sum of reports, and the λ that it has then."""

    name = ""
    seen: list = []

    def steer(self, total, state):
        Spy.seen.append((total, as_floats(state["lam"]), int(state["reports"])))
        return super().steer(total, state)


def first_sum(algorithm, mask, rounds=2, **settings):
    """The first sum of reports, at the model that everybody trained in round 0."""
    Spy.seen.clear()
    run(people(), algorithm, rounds, participation=Masks(ALL, mask), **settings)
    return Spy.seen[0]


def alone(k):
    return np.arange(3) == k


@pytest.mark.parametrize("notion", ["dp", "eo", "eodds"])
@pytest.mark.parametrize("surrogate", ["loss", "acceptance", "zero_one"])
def test_the_mean_over_draws_by_weight_is_the_sum_over_all(notion, surrogate):
    """One draw by π_k: what client k alone reports, weighed by π_k, adds up to the sum over all."""
    algorithm, share = Spy(FairBatch(notion, surrogate=surrogate)), people().p
    whole, _, count = first_sum(algorithm, ALL)
    assert count == 3
    mean = sum(share[k] * first_sum(algorithm, alone(k))[0] for k in range(3))
    np.testing.assert_allclose(mean, whole, atol=1e-9)  # secure sums are rounded to 2^-36
    if surrogate != "zero_one":  # nobody of label 1 is misclassified there
        assert np.abs(first_sum(algorithm, alone(0))[0] - whole).max() > 1e-3


def test_two_of_three_are_the_ratio_estimate():
    """Clients 0 and 2 by hand: their reports' sum over their share of the people."""
    algorithm, share = Spy(), people().p
    zero, two = (first_sum(algorithm, alone(k))[0] * share[k] for k in (0, 2))
    both, _, count = first_sum(algorithm, [True, False, True])
    np.testing.assert_allclose(both, (zero + two) / (share[0] + share[2]), atol=1e-9)
    assert count == 2


def test_bytes_and_bits_are_of_those_who_report():
    """Two codes of ten bits sum below 2^11; two such numbers: 3 bytes, beside 3 of 8."""
    masks = Masks(ALL, [True, False, True])
    _, rows = run(people(), FedFB(bits=10), 2, participation=masks)
    assert rows[1]["bytes_up"] == 2 * (24 + 3)


@pytest.mark.parametrize(
    "algorithm",
    [FedFB(FairBatch("cp")), FairFed(), LocalFairBatch(), LocalFairBatch(average_every=2)],
    ids=repr,
)
def test_others_need_everyone(algorithm):
    two = Masks(ALL, [True, True, False])
    with pytest.raises(ValueError, match=r"must be of every client.*got 2 of 3 in round 1"):
        run(people(), algorithm, 5, participation=two)
    # before any work, though nothing is measured yet
    with pytest.raises(ValueError, match=r"got Uniform\(count=2\), dropout 0"):
        run(people(), algorithm, 1, participation=Uniform(2))
    with pytest.raises(ValueError, match=r"got Everyone\(\), dropout 0.01"):
        run(people(), algorithm, 1, dropout=0.01)
