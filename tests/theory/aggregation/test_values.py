"""Values and dual weights: naive formulas in high precision, at extremes, in their limits."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fairfl.theory.aggregation import QFFL, TERM, NotAttained, Objective, PropFair, objectives

ALL = [example for cls in objectives().values() for example in cls.examples()]
IDS = [repr(example) for example in ALL]


GENERATORS = {  # s, s' and the inverse of s
    "fedavg": lambda _: (lambda t: t, lambda t: 1, lambda y: y),
    "qffl": lambda q: (lambda t: t ** (q + 1), lambda t: t**q, lambda y: y ** (1 / (q + 1))),
    "term": lambda a: (*[lambda t: mp.e ** (a * t)] * 2, lambda y: mp.log(y) / a),
    "propfair": lambda M: (lambda t: -mp.log(M - t), lambda t: 1 / (M - t), lambda y: M - mp.e**-y),
}
PARAMETERS = {"qffl": "q", "term": "alpha", "propfair": "M"}


def naive(objective: Objective, f):
    """s^-1(sum p s(f)) and p s'(f) / s'(A) with 60 digits, from PropFair's eq. (9)."""
    name, n = objective.name, len(f)
    with mp.workdps(60):
        parameter = getattr(objective, PARAMETERS[name]) if name in PARAMETERS else 0
        s, slope, inverse = GENERATORS[name](mp.mpf(parameter))
        p = [mp.mpf(x) for x in objective.client_weights or [mp.mpf(1) / n] * n]
        losses = [mp.mpf(x) for x in f]
        value = inverse(mp.fsum(a * s(x) for a, x in zip(p, losses, strict=True)))
        if value == 0:
            return 0.0, None
        weights = [a * slope(x) / slope(value) for a, x in zip(p, losses, strict=True)]
        return float(value), [float(w) for w in weights]


NAMED = [example for example in ALL if example.name in GENERATORS]


@pytest.mark.parametrize("objective", NAMED, ids=repr)
@given(data=st.data())
def test_value_is_the_definition(objective, data):
    n = data.draw(st.integers(1, 12))
    f = data.draw(hnp.arrays(np.float64, n, elements=st.floats(0, 0.999)))
    value, slopes = naive(objective, f)
    assert objective.value(f) == pytest.approx(value, rel=1e-12, abs=1e-15)
    if slopes is not None:
        assert objective.dual_weights(f) == pytest.approx(slopes, rel=1e-11, abs=1e-15)
    counts = data.draw(st.lists(st.integers(1, 5), min_size=n, max_size=n))
    weighted = objective.weighted(np.array(counts) / sum(counts))
    # weights sum to one up to a rounding, which 1/alpha and M magnify
    assert weighted.value(f) == pytest.approx(naive(weighted, f)[0], rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("objective", ALL, ids=IDS)
def test_leading_axes_memory_layout_and_order_do_not_matter(objective):
    rng = np.random.default_rng(3)
    f = rng.uniform(0.01, 0.99, (4, 3, 6))
    f[0, 0] = f[0, 0, 0]
    value, weights = objective.value_and_dual_weights(f)
    assert value.shape == (4, 3) and weights.shape == (4, 3, 6)
    for at in np.ndindex(4, 3):
        assert objective.value(f[at]) == pytest.approx(value[at], rel=1e-12)
        assert objective.dual_weights(f[at]) == pytest.approx(weights[at], rel=1e-12, abs=1e-15)
    f[1, 1] = np.clip(np.round(f[1, 1], 1), 0.1, 0.9)  # ties
    value, weights = objective.value_and_dual_weights(f)
    order = rng.permutation(6)
    assert objective.value(f[..., order]) == pytest.approx(value, rel=1e-12)
    permuted = objective.dual_weights(f[..., order])
    assert permuted == pytest.approx(weights[..., order], rel=1e-12, abs=1e-15)
    turned = np.asfortranarray(f)
    assert objective.dual_weights(turned) == pytest.approx(weights, rel=1e-12, abs=1e-15)
    assert np.ndim(objective.value(f[0, 0])) == 0
    empty_value, empty_weights = objective.value_and_dual_weights(np.empty((0, 6)))
    assert empty_value.shape == (0,) and empty_weights.shape == (0, 6)


# Extremes at which a naive formula overflows, underflows or cancels. Expected: the definition in 60
# digits.
EXTREMES = [(TERM(1e3), [1e6, 1e6 - 1e-3, 0.0]), (TERM(1e-9), [0.1, 0.9])]
EXTREMES += [(TERM(2.0), [-1e6, -1e6 + 1.0]), (QFFL(1e3), [0.1, 0.5, 0.50001])]
EXTREMES += [(QFFL(1e3), [1e-200, 1e-205]), (QFFL(70.25), [1e-6, 1e6, 0.0])]
EXTREMES += [(QFFL(1e-9), [0.0, 1.0, 2.0]), (PropFair(1.0), [1 - 1e-12, 0.5, 0.0])]
EXTREMES += [(PropFair(1.0), [1 - 2.0**-53] * 9 + [0.0]), (PropFair(1e12), [0.1, 0.7, 0.2])]
EXTREMES += [(PropFair(1e12), [1e12 - 1.0, 0.7, 0.2]), (PropFair(50.0), [1e-9, 1e-3])]
EXTREMES += [(PropFair(2.0), [-1e200, 1.0, 0.0]), (PropFair(1e-150), [0.0, 5e-151] * 20)]
EXTREMES += [(PropFair(1e12).weighted((0.25, 0.5, 0.25)), [0.1, 0.7, 0.2])]
EXTREMES += [(PropFair(3.0), [3.0 - 2.0**-40] + [1e-9] * 3999)]


@pytest.mark.parametrize(("objective", "f"), EXTREMES, ids=lambda x: str(x)[:60])
def test_extremes(objective, f):
    value, weights = objective.value_and_dual_weights(np.array(f))
    exact, slopes = naive(objective, f)
    assert value == pytest.approx(exact, rel=1e-13, abs=0)
    # alpha (f - max f) and q log(f / max f) are rounded before the exponential: about 700 roundings
    # at the worst
    assert weights == pytest.approx(slopes, rel=3e-13, abs=1e-290)


def test_zero_losses_and_boundaries():
    for q in (0.0, 0.4, 1.0, 1000.0):
        value, weights = QFFL(q).value_and_dual_weights([[0.0, 0.0], [0.0, 1.0]])
        assert value[0] == 0 and weights[0].tolist() == [0.5, 0.5]
        assert weights[1, 0] == (0.5 if q == 0 else 0.0)
    aim = PropFair(2.0)
    assert aim.value([2.0, 0.0]) == 2.0  # (13), by continuity
    assert aim.dual_weights([2.0, 2.0]).tolist() == [0.5, 0.5]
    assert aim.dual_weights([2.0]).tolist() == [1.0]
    with pytest.raises(NotAttained, match="M = 2"):
        aim.dual_weights([2.0, 0.0])
    # and indeed: along w = (1/(4t), t), t -> 0, feasible for every t, w.f - A*(w) = 2 - 2t rises to
    # 2 without end
    gaps = [
        2 - (np.dot([1 / (4 * t), t], [2.0, 0.0]) - aim.conjugate([1 / (4 * t), t]))
        for t in (1e-1, 1e-3, 1e-5)
    ]
    assert gaps == pytest.approx([2e-1, 2e-3, 2e-5], rel=1e-6)
