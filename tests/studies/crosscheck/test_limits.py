"""q-FFL towards AFL and PropFair towards FedAvg: the constants against exact optima far out, and
verdicts that can fail.
"""

import numpy as np
import pytest

from fairfl.studies.convergence import PROBLEMS
from fairfl.studies.crosscheck.studies import limits
from fairfl.theory import aggregation as aims


def verdicts(measures):
    return {verdict.name: verdict for verdict in limits.verdicts(measures)}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_constants_are_those_of_exact_optima(name, seed):
    """At q = 600 and M = 2,000 what is left is of the order of 1/q and 1/M; half or twice the
    constant is refuted.
    """
    problem, q, M = PROBLEMS[name](seed), 600.0, 2_000.0
    afl, mean = (limits.optimum(problem, aim) for aim in (aims.AFL(), aims.FedAvg()))
    worst = limits.optimum(problem, aims.QFFL(q)).losses.max() / afl.losses.max() - 1
    assert worst * q == pytest.approx(limits.worst_constant(afl.dual_weights), rel=0.05)
    excess = limits.optimum(problem, aims.PropFair(M)).losses.mean() - mean.losses.mean()
    assert excess * M**2 == pytest.approx(limits.mean_constant(problem, mean.theta), rel=0.05)


def test_constants_by_hand():
    """Even weights leave nothing of the order of 1/q; (3/4, 1/4): log 4/3 · (3/4 - 1) + log 4 · 1/4
    = log(3) / 4.
    """
    assert limits.worst_constant(np.array([0.5, 0.5])) == pytest.approx(0, abs=1e-15)
    assert limits.worst_constant(np.array([0.75, 0.25, 0.0])) == pytest.approx(np.log(3) / 4)
    assert np.isnan(limits.worst_constant(np.array([1.0, 0.0])))


@pytest.fixture(scope="module")
def measures():
    return limits.measure("softmax", 2, 60)


def test_bounds_hold_and_can_turn(measures):
    found = verdicts(measures)
    assert all(found[name].hard and found[name].holds for name in ("q-bound", "m-bound"))
    over = measures.assign(exact=measures["bound"] * 1.01)
    assert not verdicts(over)["q-bound"].holds and not verdicts(over)["m-bound"].holds


def test_rates_and_constants_can_turn(measures):
    """Planted models at the constants' powers, and at others."""
    power = np.where(measures["objective"] == limits.QFFL, 1, 2)
    right = measures.assign(trained=measures["constant"] / measures["parameter"] ** power)
    names = ("q-rate", "q-constant", "m-rate", "m-constant")
    assert [verdicts(right)[name].holds for name in names] == [True] * 4
    slower = right.assign(trained=right["trained"] * measures["parameter"] ** 0.5)
    assert [verdicts(slower)[name].holds for name in names] == [False] * 4
    assert len(limits.PICTURES[0].table(right)) == 30
    assert verdicts(right.assign(seed=3))["training-reaches-the-optimum"].holds is False
