"""Who takes part: sizes, frequencies, and independence of how clients are listed."""

import numpy as np
import pytest
from federations import EXACT, classified, quick, trained
from hypothesis import given
from hypothesis import strategies as st

from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.engine import ByWeight, Everyone, Given, Replicate, Simulation, Softmax, Uniform
from fairfl.sims.engine.draws import participation
from fairfl.sims.engine.draws.participation import smallest

IDS = np.array([4, 0, 7, 2, 9])
P = np.array([0.1, 0.15, 0.2, 0.25, 0.3])
EVERY = [
    Everyone(),
    Uniform(3),
    ByWeight(3),
    ByWeight(3, replace=False),
    Given(np.array([[1, 0, 1, 0, 1]]) == 1),
]


@pytest.mark.parametrize("rule", EVERY, ids=repr)
def test_choices_are_sorted_and_weights_sum_to_one(rule):
    for round in range(50):
        drawn = rule.choose(0, round, IDS, P)
        chosen, weights, draws = participation.merged(*drawn)
        assert (
            (np.diff(drawn[0]) >= 0).all()
            and (np.diff(chosen) > 0).all()
            and draws.sum() == len(drawn[0])
        )
        assert rule == ByWeight(3) or (draws == 1).all()
        assert set(chosen) <= set(range(5))
        assert (
            weights.sum() == pytest.approx(1)
            and (weights > 0).all()
            and len(weights) == len(chosen)
        )


def test_masks_come_round_again():
    masks = np.array([[True, False], [True, True]])
    rule = Given(masks)
    for round, expected in enumerate(([0], [0, 1], [0], [0, 1])):
        assert rule.choose(0, round, np.arange(2), np.array([0.25, 0.75]))[0].tolist() == expected


def test_rates_of_dropouts_and_stragglers():
    ids = np.arange(20_000)
    assert participation.dropouts(0.3, 0, 0, ids).mean() == pytest.approx(0.3, abs=0.015)
    effort = participation.efforts(0.4, 0, 0, ids)
    assert (effort < 1).mean() == pytest.approx(0.4, abs=0.015)
    assert effort[effort < 1].mean() == pytest.approx(0.5, abs=0.02)
    assert (
        not participation.dropouts(0.0, 0, 0, ids).any()
        and participation.dropouts(1.0, 0, 0, ids).all()
    )
    assert (participation.efforts(0.0, 0, 0, ids) == 1).all()


def test_counts_are_told():
    simulation = Simulation(
        Softmax(4, 3),
        classified((8,) * 10),
        [Replicate(FedAvg())],
        quick(participation=Uniform(6), dropout=0.5, stragglers=0.5, epochs=3),
        EXACT,
    )
    rows = [simulation.step()[0] for _ in range(20)]
    assert all(row["chosen"] == 6 and row["received"] == 6 - row["dropouts"] for row in rows)
    assert (
        0 < sum(row["dropouts"] for row in rows) < 120
        and sum(row["stragglers"] for row in rows) > 0
    )
    full = [row for row in rows if row["stragglers"] == 0]
    assert all(row["steps"] == 6 * row["received"] for row in full)
    assert all(row["received"] <= row["steps"] <= 6 * row["received"] for row in rows)


def test_a_round_without_anybody_changes_nothing():
    done = trained(Softmax(4, 3), classified((8,) * 3), [FedAvg()], quick(dropout=1.0, rounds=2))
    assert float(done.params.abs().max()) == 0 and done.round == 2


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.integers(1, 30), st.randoms())
def test_the_smallest_keys_are_those_of_a_full_sort(keys, count, random):
    """Ties go by id, however the clients are listed."""
    count, ids = min(count, len(keys)), list(range(len(keys)))
    random.shuffle(ids)
    expected = sorted(sorted(range(len(keys)), key=lambda k: (keys[k], ids[k]))[:count])
    assert smallest(count, np.array(keys), np.array(ids)).tolist() == expected
