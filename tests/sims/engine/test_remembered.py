"""Results that are kept by what the arguments hold."""

import numpy as np

from fairfl.sims.engine import remembered


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
