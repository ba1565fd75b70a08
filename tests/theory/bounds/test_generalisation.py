"""Generalisation bounds: their coverage computed exactly from binomial laws, as printed and as
repaired.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fairfl.theory.bounds import generalisation_bound, uniform_generalisation_bound

MIXTURES = np.array([[a, 1 - a] for a in np.linspace(0, 1, 21)])


def outcomes(rates, samples):
    """Every (empirical losses, probability) of two clients with Bernoulli losses."""
    ranges = [range(n + 1) for n in samples]
    for counts in itertools.product(*ranges):
        chance = np.prod(
            [stats.binom.pmf(k, n, r) for k, n, r in zip(counts, samples, rates, strict=True)]
        )
        yield np.array(counts) / samples, chance


@given(
    rates=st.tuples(st.floats(0.05, 0.95), st.floats(0.05, 0.95)),
    q=st.sampled_from([0.0, 0.5, 1.0, 30.0]),
    samples=st.tuples(st.integers(1, 12), st.integers(1, 12)),
    delta=st.sampled_from([0.05, 0.3, 0.7]),
)
def test_coverage_of_one_hypothesis(rates, q, samples, delta):
    """A single h, so complexity 0: the bound fails with probability at most delta, for one mixture
    or for all.
    """
    n = np.array(samples)
    cells = list(outcomes(rates, n))
    losses, chance = np.array([f for f, _ in cells]), np.array([p for _, p in cells])
    common = {"bound": 1.0, "samples": n, "delta": delta, "complexity": 0.0}
    for mixture in MIXTURES[::5]:
        told = generalisation_bound(losses, mixture, q, **common)
        assert chance[mixture @ rates > told].sum() <= delta + 1e-12
    each = np.stack(
        [uniform_generalisation_bound(losses, q, mixture=m, **common) for m in MIXTURES], -1
    )
    assert chance[(MIXTURES @ rates > each).any(-1)].sum() <= delta + 1e-12
    worst = uniform_generalisation_bound(losses, q, **common)
    assert (each.max(-1) <= worst + 1e-12).all()
    assert chance[max(rates) > worst].sum() <= delta + 1e-12


@given(
    f=st.lists(st.floats(0, 2), min_size=1, max_size=5),
    q=st.sampled_from([0.0, 0.5, 1.0, 4.0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_formulas(f, q, seed):
    """(24) and (26) written out; Hoelder's inequality, which they rest on."""
    rng = np.random.default_rng(seed)
    F, m, M, delta, C = np.array(f), len(f), 2.0, 0.1, 0.3
    lam, n = rng.dirichlet(np.ones(m)), rng.integers(1, 30, m)
    norm = lam.max() if q == 0 else (lam ** ((q + 1) / q)).sum() ** (q / (q + 1))
    empirical = (F ** (q + 1)).sum() ** (1 / (q + 1))
    assert lam @ F <= norm * empirical + 1e-12
    common = {"bound": M, "samples": n, "delta": delta}
    first = norm * empirical + C + M * np.sqrt((lam**2 / (2 * n)).sum() * np.log(1 / delta))
    assert generalisation_bound(F, lam, q, complexity=C, **common) == pytest.approx(
        first, rel=1e-12
    )
    printed = empirical + C + M * np.sqrt(np.log(1 / delta) / (2 * n.min()))
    assert uniform_generalisation_bound(
        F, q, complexity=C, variant="printed", **common
    ) == pytest.approx(printed)
    each = rng.random(m)
    allowance = each + M * np.sqrt(np.log(m / delta) / (2 * n))
    repaired = uniform_generalisation_bound(F, q, complexity=each, mixture=lam, **common)
    assert repaired == pytest.approx(norm * empirical + lam @ allowance, rel=1e-12)
    assert uniform_generalisation_bound(F, q, complexity=each, **common) == pytest.approx(
        empirical + allowance.max()
    )


def test_extreme_q_and_leading_axes():
    common = {"bound": 1.0, "samples": 100, "delta": 0.1, "complexity": 0.0}
    f = np.array([[0.5, 0.25], [0.0, 0.0], [1e-200, 1e-210]])
    told = generalisation_bound(f, [0.25, 0.75], 1e4, **common)
    # q -> inf: the largest loss, times sum lambda
    assert told - told[1] == pytest.approx([0.5, 0.0, 0.0], abs=1e-4)
    assert generalisation_bound(f[0], [0.25, 0.75], 1e4, **common) == pytest.approx(
        told[0], rel=1e-14
    )
    many = uniform_generalisation_bound(
        f[:, None], 1.0, mixture=[[0.25, 0.75], [1.0, 0.0]], **common
    )
    assert many.shape == (3, 2)
