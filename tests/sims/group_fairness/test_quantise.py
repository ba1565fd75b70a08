"""Statistics in b bits: the error bound, reached."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fairfl.sims.group_fairness.fedfb import Quantiser


@given(
    st.integers(1, 16),
    st.floats(-5, 0),
    st.floats(0.1, 5),
    st.integers(0, 10**6),
    st.integers(1, 8),
)
def test_sum_is_right_within_half_a_step_a_client(bits, low, width, seed, clients):
    quantiser = Quantiser(bits, low, low + width)
    x = np.random.default_rng(seed).uniform(low, low + width, clients)
    codes = quantiser.encode(x)
    assert codes.min() >= 0
    assert codes.max() < 2**bits
    error = quantiser.decode(codes.sum(), terms=clients) - x.sum()
    assert abs(error) <= clients * quantiser.step / 2 * (1 + 1e-9) + 1e-12


def test_the_bound_is_reached():
    """Two bits on [0, 3]: the levels 0, 1, 2, 3; 0.5 goes to 0, an error of half a step."""
    quantiser = Quantiser(2, 0.0, 3.0)
    assert quantiser.step == 1
    assert quantiser.decode(quantiser.encode(np.array([0.5, 1.4, 3.0]))).tolist() == [0, 1, 3]
    assert quantiser.outside(np.array([-0.1, 0.0, 3.0, 3.1])) == 2
