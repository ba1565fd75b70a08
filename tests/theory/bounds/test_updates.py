"""Updates layer by layer in plain loops: normalised, interpolated (7)-(8), clipped."""

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
    norms = updates.layer_norms(update, sizes)
    unit = updates.normalised_update(update, scale, sizes)
    mixed = updates.interpolated_update(update, beta, scale, rounds, sizes)
    bound = updates.clip_bound(update, sizes)
    clipped = updates.clipped_update(update, bound * scale, sizes)
    told = zip(
        *(parts(v, sizes) for v in (update, unit, mixed, clipped)), norms, scale, bound, strict=True
    )
    for own, ones, both, cut, norm, g, top in told:
        assert norm == pytest.approx(np.sqrt(sum(x * x for x in own)), rel=1e-14)
        assert ones == pytest.approx(g * own / norm, rel=1e-12)
        length = beta * g / (1 + rounds) + (1 - beta) * norm  # (8)
        assert both == pytest.approx(length * own / norm, rel=1e-12)
        assert top == max(abs(x) for x in own)
        assert cut.tolist() == [max(-top * g, min(top * g, x)) for x in own]
    whole = updates.clipped_update(update, bound, sizes)
    assert (whole == update).all()  # at its own bound an update stays
    assert updates.layer_norms(update) == pytest.approx([np.linalg.norm(update)])


@given(
    update=st.lists(st.floats(-2, 2), min_size=1, max_size=4).filter(
        lambda u: np.linalg.norm(u) > 1e-3
    ),
    beta=st.floats(0, 1),
    scale=st.floats(0, 3),
    rounds=st.integers(1, 9),
)
def test_interpolated_update(update, beta, scale, rounds):
    d = np.array(update)
    norm = np.sqrt((d * d).sum())
    expected = (beta * scale / (1 + rounds) + (1 - beta) * norm) * d / norm  # (8)
    assert updates.interpolated_update(d, beta, scale, rounds) == pytest.approx(
        expected, rel=1e-12, abs=1e-300
    )
    # each row its own norm
    both = updates.interpolated_update(np.stack([d, 2 * d]), beta, scale, rounds)
    assert both[0] == pytest.approx(expected, rel=1e-12, abs=1e-300)
    assert (updates.interpolated_update(d, 0.0, scale, rounds) == d).all()  # FedAvg
    # (7): a length that no client's gradient decides
    full = updates.interpolated_update(d, 1.0, scale, rounds)
    assert np.linalg.norm(full) == pytest.approx(scale / (1 + rounds), abs=1e-12)
    middle = updates.interpolated_update(d, 0.5, scale, rounds)
    assert middle == pytest.approx((d + full) / 2, abs=1e-12)


def test_the_printed_bound_is_negative_where_all_coordinates_are():
    assert updates.clip_bound([-2.0, -1.0], variant="printed").tolist() == [-1.0]
    assert updates.clip_bound([-2.0, -1.0]).tolist() == [2.0]
    with pytest.raises(ValueError, match="bound must be in"):
        updates.clipped_update([-2.0], -1.0)
