"""Measures of uniformity: their definitions in 40 digits, and what must not change them."""

import doctest

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfl.theory.measures import uniformity

DIGITS = 40
MEASURES = {
    name: getattr(uniformity, name)
    for name in ("variance", "angle", "entropy", "kl_to_uniform", "worst", "best")
}


def slow(name, f, share="0.1"):
    """The definition, word by word."""
    n = len(f)
    with mp.workdps(DIGITS):
        f, p = [mp.mpf(float(x)) for x in f], [mp.mpf(1) / n] * n
        mean = mp.fsum(a * x for a, x in zip(p, f, strict=True))
        square = mp.fsum(a * x * x for a, x in zip(p, f, strict=True))
        shares = [a * x / mean for a, x in zip(p, f, strict=True)] if mean else p
        logs = [mp.log(s / a) if s else mp.mpf(0) for s, a in zip(shares, p, strict=True)]
        if name == "variance":
            return float(mp.fsum(a * (x - mean) ** 2 for a, x in zip(p, f, strict=True)))
        if name == "angle":
            return float(mp.acos(min(mean / mp.sqrt(square), mp.mpf(1)))) if square else 0.0
        if name == "entropy":
            return float(-mp.fsum(s * (mp.log(s) if s else 0) for s in shares))
        if name == "kl_to_uniform":
            return float(mp.fsum(s * z for s, z in zip(shares, logs, strict=True)))
        left, total = mp.mpf(share), mp.mpf(0)  # the worst or best share, taken client by client
        for x, a in sorted(zip(f, p, strict=True), reverse=name == "worst"):
            total += min(a, left) * x
            left -= min(a, left)
        return float(total / mp.mpf(share))


def losses(low=0.0):
    """Vectors with zeros, ties and near-ties among them."""
    loss = st.one_of(
        st.floats(max(low, -3.0), 3.0),
        st.sampled_from([0.0, 0.5, 1.0, 1.0 + 1e-9, 1.0 - 1e-12, 2.0]),
    )
    # below 1e-9 squares underflow beside the others: what is lost there is below the tolerance of
    # the tests
    return st.lists(loss.map(lambda x: x if abs(x) > 1e-9 else 0.0), min_size=1, max_size=30).map(
        np.array
    )


@given(f=losses(), signed=losses(low=-3.0))
def test_the_definition(f, signed):
    # sqrt of a rounded variance leaves an absolute 1e-16 in the angle; a share 0.1 of n is rounded,
    # too
    for name, measure in MEASURES.items():
        assert measure(f) == pytest.approx(slow(name, f), rel=1e-11, abs=3e-16), name
    for name in ("variance", "angle", "worst", "best"):
        assert MEASURES[name](signed) == pytest.approx(slow(name, signed), rel=1e-8, abs=1e-15)


@pytest.mark.parametrize("name", MEASURES)
def test_leading_axes_order_of_clients_and_scale(name):
    rng, measure = np.random.default_rng(1), MEASURES[name]
    f = rng.random((3, 2, 7))
    f[0, 0], f[1, 1, :3] = 0.0, 0.0
    measured = measure(f)
    assert measured.shape == (3, 2) and measure(np.empty((0, 3))).shape == (0,)
    for at in np.ndindex(3, 2):
        alone = measure(f[at])
        assert np.ndim(alone) == 0 and alone == pytest.approx(measured[at], rel=1e-13, abs=1e-15)
    assert measure(f[..., rng.permutation(7)]) == pytest.approx(measured, rel=1e-13, abs=1e-15)
    power = {"variance": 2, "worst": 1, "best": 1}.get(name, 0)
    for factor in (1e-300, 1e-5, 7.0, 1e150):
        expected = measured[1:] * (factor**power if power else 1.0)
        assert measure(f[1:] * factor) == pytest.approx(expected, rel=1e-12, abs=0.0)


@given(x=st.floats(1e-12, 1e-3))
def test_near_uniform_losses_keep_their_digits(x):
    f = np.array([1.0 - x, 1.0, 1.0 + x])  # rounded: the twin takes the rounded numbers
    for name in ("variance", "angle", "kl_to_uniform"):
        assert MEASURES[name](f) == pytest.approx(slow(name, f), rel=3e-16 / x + 1e-13, abs=0.0)


@given(f=losses(), share=st.floats(0.01, 1.0))
def test_worst_and_best_share(f, share):
    for name in ("worst", "best"):
        assert MEASURES[name](f, share) == pytest.approx(slow(name, f, share=share), abs=1e-10)
    assert uniformity.worst(f, 1.0) == pytest.approx(f.mean(), abs=1e-12)


def test_the_examples_of_the_docstring():
    assert doctest.testmod(uniformity) == doctest.TestResults(failed=0, attempted=2)
