"""Updates layer by layer in plain loops: interpolated (7)-(8), clipped."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl.theory.bounds import updates

LAYERS = st.lists(st.integers(1, 3), min_size=1, max_size=4)


def parts(update, sizes):
    return np.split(update, np.cumsum(sizes)[:-1])


@given(sizes=LAYERS, seed=st.integers(0, 2**32 - 1), beta=st.floats(0, 1), rounds=st.integers(1, 9))
def test_each_layer_is_an_update_of_its_own(sizes, seed, beta, rounds):
    rng = np.random.default_rng(seed)
    update, scale = rng.normal(size=sum(sizes)), rng.random(len(sizes))
    lengths = updates.interpolated_length(np.ones(len(sizes)), beta, scale, rounds)
    bound = updates.clip_bound(update, sizes)
    clipped = updates.clipped_update(update, bound * scale, sizes)
    steps = parts(update, sizes), parts(clipped, sizes)
    for layer, cut, length, g, top in zip(*steps, lengths, scale, bound, strict=True):
        assert length == pytest.approx(beta * g / (1 + rounds) + 1 - beta)  # (8)
        assert top == max(abs(x) for x in layer)
        assert cut.tolist() == [max(-top * g, min(top * g, x)) for x in layer]
    whole = updates.clipped_update(update, bound, sizes)
    assert (whole == update).all()  # at its own bound an update stays


def test_interpolation_ends_at_fedavg_and_at_a_length_that_no_client_decides():
    assert updates.interpolated_length(2.5, 0.0, 9.0, 3) == 2.5
    assert updates.interpolated_length(2.5, 1.0, 9.0, 2) == 3.0  # (7)


def test_the_printed_bound_is_negative_where_all_coordinates_are():
    assert updates.clip_bound([-2.0, -1.0], variant="printed").tolist() == [-1.0]
    assert updates.clip_bound([-2.0, -1.0]).tolist() == [2.0]
    with pytest.raises(ValueError, match="bound must be in"):
        updates.clipped_update([-2.0], -1.0)
