"""Updates in plain loops: interpolated (7)-(8), clipped."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl.theory.bounds import updates


@given(size=st.integers(1, 6), seed=st.integers(0, 2**32 - 1), share=st.floats(0, 1))
def test_an_update_is_clipped_coordinate_by_coordinate(size, seed, share):
    update = np.random.default_rng(seed).normal(size=size)
    (top,) = updates.clip_bound(update)
    assert top == max(abs(x) for x in update)
    clipped = updates.clipped_update(update, share * top)
    assert clipped.tolist() == [max(-share * top, min(share * top, x)) for x in update]
    assert (updates.clipped_update(update, top) == update).all()  # at its own bound it stays


@given(norm=st.floats(0, 9), beta=st.floats(0, 1), scale=st.floats(0, 9), rounds=st.integers(1, 9))
def test_a_length_between_its_own_and_the_scale(norm, beta, scale, rounds):
    length = updates.interpolated_length(norm, beta, scale, rounds)
    assert length == pytest.approx(beta * scale / (1 + rounds) + (1 - beta) * norm)  # (8)


def test_the_printed_bound_is_negative_where_all_coordinates_are():
    assert updates.clip_bound([-2.0, -1.0], variant="printed").tolist() == [-1.0]
    assert updates.clip_bound([-2.0, -1.0]).tolist() == [2.0]
    with pytest.raises(ValueError, match="bound must be in"):
        updates.clipped_update([-2.0], -1.0)
