"""Results that are kept by what the arguments hold."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from federations import classified, quick, trained

from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.engine import Aggregate, Softmax, remembered


def test_a_result_is_kept_by_what_the_arrays_hold():
    """Equal arrays are one question, other numbers another; the oldest result goes first."""
    asked = []

    @remembered.remembered
    def total(values, more):
        asked.append((values.tolist(), more))
        return values.sum() + more

    ramp = np.arange(4)
    assert total(ramp, 1) == total(ramp.copy(), 1) == 7 and len(asked) == 1
    assert total(ramp, 2) == 8 and total(ramp[::-1], 1) == 7 and len(asked) == 3
    ramp[0] = 5  # another array now, in the same place
    assert total(ramp, 1) == 12 and len(asked) == 4
    for more in range(remembered.MOST):
        total(ramp, 10 + more)
    count = len(asked)
    assert total(np.arange(4), 1) == 7 and len(asked) == count + 1


def test_what_is_kept_cannot_be_changed():
    """Arrays are the caller's own, in a tuple too."""
    pair = remembered.remembered(lambda values: (values + 1, (values + 2, 7)))
    for _ in range(2):
        one, (two, seven) = pair(np.arange(3))
        assert one.tolist() == [1, 2, 3] and two.tolist() == [2, 3, 4] and seven == 7
        one[:] = two[:] = 0


@dataclass(frozen=True)
class Overwriting(FedAvg):
    """FedAvg that writes into all that it was given, once it has no more use for it."""

    def server(self, received):
        made = Aggregate(received.p.copy())
        for own in (received.clients, received.p, received.draws, received.rows):
            own[:] = 0
        for shared in (received.everyone, *self.shared):
            with pytest.raises(ValueError, match="read-only"):
                shared[:] = 0
        return made


def test_an_algorithm_that_writes_into_what_it_is_given_changes_no_later_round():
    data = classified([9, 5, 7])
    Overwriting.shared = data.p, data.train.names, data.train.offsets
    both = trained(Softmax(4, 3), data, [Overwriting(), FedAvg()], quick(rounds=4))
    alone = trained(Softmax(4, 3), data, [FedAvg()], quick(rounds=4))
    assert alone.params.any() and torch.equal(both.params, alone.params.expand(2, -1))
