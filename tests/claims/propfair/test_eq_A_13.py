"""(A.13)'s line between, against a tree of every outcome of the noise."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st


def moments(bends, slopes, shares, steps, noise, rate):
    """E|D|² and E|S|² of a round from θ = 0 on f_i = h_i θ²/2 + b_i θ, by every sign of the
    noise.
    """
    mean = float(np.mean(slopes))
    found = np.zeros(2)
    outcomes = list(product(*(product((-1, 1), repeat=k) for k in steps)))
    for outcome in outcomes:
        drift = total = 0.0
        for h, b, p, s, signs in zip(bends, slopes, shares, noise, outcome, strict=True):
            at = 0.0
            for sign in signs:
                slope = h * at + b
                drift += p * (slope - mean)
                total += p * (slope + sign * s - mean)
                at -= rate * (slope + sign * s)
        found += (drift**2, total**2)
    return found / len(outcomes)


@given(
    st.lists(
        st.tuples(
            st.floats(-1, 1),
            st.floats(-3, 3),
            st.floats(0.1, 1),
            st.integers(1, 4),
            st.floats(0, 3),
        ),
        min_size=1,
        max_size=2,
    ),
    st.floats(0.1, 1),
)
def test_drift_is_no_larger_than_what_is_sampled(clients, part):
    bends, slopes, shares, steps, noise = zip(*clients, strict=True)
    drift, sampled = moments(bends, slopes, shares, steps, noise, part / (6 * max(steps)))
    assert drift <= sampled + 1e-9


def test_beyond_the_step_size_it_fails():
    drift, sampled = moments([1.0], [0.0], [1.0], [2], [1.0], 1.0)
    assert drift == pytest.approx(sampled)
    drift, sampled = moments([1.0], [0.0], [1.0], [2], [1.0], 1.5)
    assert drift == pytest.approx(2.25) and sampled == pytest.approx(1.25)
