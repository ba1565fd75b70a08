"""The generic mean: special cases, plain functions, and the convexity criterion."""

import math
import pickle
from unittest.mock import Mock

import numpy as np
import pytest
import sympy as sp

from fairfl.theory.aggregation import QFFL, TERM, FedAvg, KolmogorovMean, NotAttained, PropFair

t = sp.Symbol("t", real=True)
INF = math.inf
CASES = [
    (3 * t + 1, {}, FedAvg()),
    (sp.exp(2 * t), {}, TERM(2.0)),
    (5 - 2 * sp.exp(-t) + 2 * (sp.exp(-t) + sp.exp(t / 2)), {}, TERM(0.5)),
    (t**3, {"lower": 0.0}, QFFL(2.0)),
    (t ** sp.Rational(3, 2) * 4 - 7, {"lower": 0.0}, QFFL(0.5)),
    (-sp.log(2 - t), {"upper": 2.0}, PropFair(2.0)),
]


@pytest.mark.parametrize(("s", "ends", "named"), CASES, ids=str)
def test_special_cases_are_recognised_and_agree(s, ends, named):
    """s enters A_s only up to an affine map, so affine disguises are recognised too."""
    mean = KolmogorovMean(s, **ends)
    assert mean.special_case == named and mean.traits == named.traits
    f = np.random.default_rng(50).uniform(0.01, 0.99, (200, 4))
    value, weights = mean.value_and_dual_weights(f)
    assert value == pytest.approx(named.value(f), rel=1e-12)
    assert weights == pytest.approx(named.dual_weights(f), rel=1e-11)
    w = np.random.default_rng(51).dirichlet(np.full(4, 5.0), 50)
    p = (0.1, 0.2, 0.3, 0.4)
    for domain in ("native", "nonnegative"):
        assert (mean.conjugate(w, domain) == named.conjugate(w, domain)).all()
        assert (
            mean.weighted(p).conjugate(w, domain) == named.weighted(p).conjugate(w, domain)
        ).all()


def test_the_domain_belongs_to_the_special_case():
    """exp on f >= 0 alone is another function of w than TERM on R^n."""
    assert KolmogorovMean(sp.exp(t), lower=0.0).special_case is None
    assert KolmogorovMean(-sp.log(2 - t), upper=1.5).special_case is None
    assert KolmogorovMean(sp.log(t), lower=0.0).special_case is None
    assert KolmogorovMean(t, lower=0.0).special_case == QFFL(0.0)


def test_plain_functions():
    f = np.random.default_rng(52).uniform(0.1, 1.9, (100, 5))
    plain = KolmogorovMean(np.sinh, inverse=np.arcsinh, derivative=np.cosh)
    bisected = KolmogorovMean(np.sinh, derivative=np.cosh)
    symbolic = KolmogorovMean(sp.sinh(t))
    for mean in (plain, bisected, symbolic):
        assert mean.value(f) == pytest.approx(np.arcsinh(np.sinh(f).mean(-1)), rel=1e-14)
        expected = np.cosh(f) / np.cosh(np.arcsinh(np.sinh(f).mean(-1)))[:, None] / 5
        assert mean.dual_weights(f) == pytest.approx(expected, rel=1e-13)
    assert plain.traits.convex is None and KolmogorovMean(np.exp, convex=True).traits.convex is True
    with pytest.raises(ValueError, match="derivative must be given"):
        KolmogorovMean(np.sinh).dual_weights(f)


def test_an_inverse_that_sympy_cannot_express_is_bisected():
    mean = KolmogorovMean(t + sp.exp(t))  # its inverse needs Lambert's W
    assert mean.generator.inverse is None
    f = np.random.default_rng(53).uniform(-2, 2, (50, 3))
    value = mean.value(f)
    assert value + np.exp(value) == pytest.approx((f + np.exp(f)).mean(-1), rel=1e-14)
    assert mean.value([1e-300, 3e-300]) == pytest.approx(2e-300, rel=1e-10, abs=1e-16)


def test_overflow_and_missing_slopes_are_errors():
    with np.errstate(over="ignore"), pytest.raises(ValueError, match="overflows.*TERM"):
        KolmogorovMean(sp.exp(t)).value([1.0, 1e4])
    for s in (sp.sqrt(t), sp.log(t)):
        with pytest.raises(NotAttained, match="s' finite"):
            KolmogorovMean(s, lower=0.0).dual_weights([0.0, 1.0])
    assert KolmogorovMean(sp.sqrt(t), lower=0.0).dual_weights([0.0, 0.0]).tolist() == [0.5, 0.5]


def test_pickling_survives_the_compiled_functions():
    mean = KolmogorovMean(sp.sinh(t))
    assert pickle.loads(pickle.dumps(mean)).value([0.0, 1.0]) == mean.value([0.0, 1.0])


CRITERION = [
    (t, -INF, INF, True, True),
    (sp.exp(t), -INF, INF, True, True),
    (t**2.5, 0.0, INF, True, True),
    (-sp.log(2 - t), -INF, 2.0, True, True),
    (1 / (2 - t), -INF, 2.0, True, True),  # the harmonic mean of utilities
    (-sp.sqrt(2 - t), -INF, 2.0, True, True),
    (sp.log(t), 0.0, INF, False, False),  # the geometric mean of losses
    (sp.sqrt(t), 0.0, INF, False, False),
    (t + sp.exp(t), -INF, INF, False, True),  # -s'/s'' = -1 - exp(-t) is concave
    (t + t**3, 0.0, INF, False, True),
    (sp.exp(t**2), 0.0, INF, False, True),
    (sp.sinh(t), -INF, INF, False, False),
    (sp.sinh(t), 0.0, INF, False, True),
]


@pytest.mark.parametrize(("s", "lower", "upper", "convex", "schur"), CRITERION, ids=str)
def test_convexity_criterion(s, lower, upper, convex, schur):
    mean = KolmogorovMean(s, lower=lower, upper=upper)
    assert (mean.traits.convex, mean.traits.schur_convex) == (convex, schur)
    # the Hessian of A_s for n = 3 by exact derivatives: positive semidefinite iff convex
    f = np.random.default_rng(54).uniform(max(lower, -2.0) + 0.02, min(upper, 1.9), (400, 3))
    A = mean.value(f)
    first, second = (sp.lambdify(t, sp.diff(s, t, k) + 0 * t, "numpy") for k in (1, 2))
    ds, d2s, dA, d2A = (np.broadcast_to(d(x), x.shape) for x in (f, A) for d in (first, second))
    g = ds / dA[:, None] / 3
    # differentiate s(A(f)) = mean s(f_i) twice
    hessian = np.eye(3) * (d2s / dA[:, None] / 3)[:, None]
    hessian = hessian - (d2A / dA)[:, None, None] * g[:, :, None] * g[:, None]
    lowest = np.linalg.eigvalsh(hessian)[:, 0] / (1 + np.abs(hessian).max(axis=(1, 2)))
    assert (lowest.min() >= -1e-9) == convex


def test_undecided_is_none_unless_told(monkeypatch):
    # sympy raises this where it cannot decide
    monkeypatch.setattr(sp, "solveset", Mock(side_effect=NotImplementedError))
    assert KolmogorovMean(1 / (7 - t), upper=7.0).traits.convex is None
    assert KolmogorovMean(1 / (7 - t), upper=7.0, convex=True).traits.convex
