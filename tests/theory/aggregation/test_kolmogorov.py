"""The generic mean: its definition, bisection, and where its formulas end."""

import numpy as np
import pytest

from fairfl.theory.aggregation import QFFL, TERM, FedAvg, KolmogorovMean, NotAttained, PropFair

CASES = [
    (KolmogorovMean(lambda t: 3 * t + 1, lambda y: (y - 1) / 3, lambda t: 3 + 0 * t), FedAvg()),
    (
        KolmogorovMean(
            lambda t: np.exp(2 * t), lambda y: np.log(y) / 2, lambda t: 2 * np.exp(2 * t)
        ),
        TERM(2.0),
    ),
    (KolmogorovMean(lambda t: t**3, np.cbrt, lambda t: 3 * t**2, lower=0.0), QFFL(2.0)),
    (
        KolmogorovMean(
            lambda t: -np.log(2 - t), lambda y: 2 - np.exp(-y), lambda t: 1 / (2 - t), upper=2.0
        ),
        PropFair(2.0),
    ),
]


@pytest.mark.parametrize(("mean", "named"), CASES, ids=lambda case: type(case).__name__)
def test_the_named_objectives_are_cases(mean, named):
    f, p = np.random.default_rng(50).uniform(0.01, 0.99, (200, 4)), (0.1, 0.2, 0.3, 0.4)
    for ours, theirs in ((mean, named), (mean.weighted(p), named.weighted(p))):
        assert ours.value(f) == pytest.approx(theirs.value(f), rel=1e-12)
        assert ours.dual_weights(f) == pytest.approx(theirs.dual_weights(f), rel=1e-11)


def test_bisection_and_slopes():
    f = np.random.default_rng(52).uniform(0.1, 1.9, (100, 5))
    given = KolmogorovMean(np.sinh, inverse=np.arcsinh, derivative=np.cosh)
    for mean in (given, KolmogorovMean(np.sinh, derivative=np.cosh)):
        assert mean.value(f) == pytest.approx(np.arcsinh(np.sinh(f).mean(-1)), rel=1e-14)
        expected = np.cosh(f) / np.cosh(np.arcsinh(np.sinh(f).mean(-1)))[:, None] / 5
        assert mean.dual_weights(f) == pytest.approx(expected, rel=1e-13)
    assert given.traits.convex is None and KolmogorovMean(np.exp, convex=True).traits.convex is True
    with pytest.raises(ValueError, match="derivative must be given"):
        KolmogorovMean(np.sinh).dual_weights(f)
    lambert = KolmogorovMean(lambda t: t + np.exp(t))
    assert lambert.value([1e-300, 3e-300]) == pytest.approx(2e-300, rel=1e-10, abs=1e-16)


def test_overflow_and_missing_slopes_are_errors():
    with np.errstate(over="ignore"), pytest.raises(ValueError, match="overflows.*TERM"):
        KolmogorovMean(np.exp, np.log).value([1.0, 1e4])
    root = KolmogorovMean(np.sqrt, np.square, lambda t: 0.5 / np.sqrt(t), lower=0.0)
    with pytest.raises(NotAttained, match="s' finite"):
        root.dual_weights([0.0, 1.0])
    assert root.dual_weights([0.0, 0.0]).tolist() == [0.5, 0.5]


def test_a_computed_conjugate_is_that_of_the_named_objective():
    w = np.random.default_rng(51).dirichlet(np.full(4, 5.0), 5)
    computed = KolmogorovMean(np.exp, np.log, np.exp, convex=True).conjugate(w)
    assert computed == pytest.approx(TERM(1.0).conjugate(w), abs=1e-7)
