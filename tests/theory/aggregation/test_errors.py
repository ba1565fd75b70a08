"""Losses and weights that no objective takes, and what objectives leave alone."""

import numpy as np
import pytest
import sympy as sp

from fairfl.theory.aggregation import QFFL, KolmogorovMean, PropFair, objectives

NAN, INF = np.nan, np.inf
t = sp.Symbol("t", real=True)
EVERYTHING = [example for cls in objectives().values() for example in list(cls.examples())[:2]]
EVERYTHING += [o.weighted([0.5, 0.5]) for o in EVERYTHING] + [
    o.translate([0.0, 0.1]).scale(2.0) for o in EVERYTHING
]
METHODS = ["value", "dual_weights", "value_and_dual_weights"]
WRONG_LOSSES = [([0.5, NAN], r"losses must not hold NaN")]
WRONG_LOSSES += [([[0.5, 0.2], [INF, 0.1]], r"got inf at index \(1, 0\)")]
WRONG_LOSSES += [([0.5, -INF], r"got -inf at index \(1,\)")]
WRONG_LOSSES += [([], r"n >= 1 clients on the last axis, got \(0,\)")]
WRONG_LOSSES += [(np.empty((3, 0)), r"got \(3, 0\)"), (0.5, r"shape \(\.\.\., n\).*got \(\)")]
WRONG_LOSSES += [(["a", "b"], "losses must be numbers")]
WRONG_LOSSES += [([[1.0, 2.0], [1.0]], "rows of one length")]
WRONG_LOSSES += [(np.ones(2, dtype=complex), "losses must be numbers")]
WRONG_LOSSES += [(None, "losses must be numbers")]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("objective", EVERYTHING, ids=repr)
def test_wrong_losses_raise(objective, method):
    for losses, message in WRONG_LOSSES:
        with pytest.raises(ValueError, match=message):
            getattr(objective, method)(losses)


@pytest.mark.parametrize(
    ("objective", "inside", "outside"),
    [
        (QFFL(1.0), [0.5, 0.0], [0.5, -1e-9]),
        (QFFL(0.0), [0.0, 1.0], [-1.0, 1.0]),
        (PropFair(2.0), [2.0, -50.0], [0.5, 2.0000001]),
        (PropFair(2.0).translate([0.0, 1.0]), [2.0, 3.0], [0.5, 3.5]),
        (PropFair(2.0).perspective(0.5), [1.0, 0.0], [0.5, 1.5]),
        (QFFL(1.0).translate(1.0), [1.0, 1.5], [0.5, 1.5]),
        (KolmogorovMean(t**2, lower=0.0), [0.0, 1.0], [-1.0, 1.0]),
    ],
    ids=str,
)
def test_the_domain_ends_where_values_do(objective, inside, outside):
    assert np.isfinite(objective.value(inside)) and objective.domain.contains(inside)
    assert not objective.domain.contains(outside)
    for method in ("value", "dual_weights"):
        with pytest.raises(ValueError, match=r"f_i .* got .* at index"):
            getattr(objective, method)(outside)


@pytest.mark.parametrize(
    "objective", [o for o in EVERYTHING if "Kolmogorov" not in repr(o)], ids=repr
)
def test_wrong_conjugate_arguments_raise(objective):
    for weights, message in [
        ([0.5, NAN], "weights must not hold NaN"),
        ([0.5, INF], "weights must be finite, got inf"),
        ([], "n >= 1"),
        (1.0, "n >= 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            objective.conjugate(weights)
    with pytest.raises(ValueError, match="domain must be one of .* got 'real'"):
        objective.conjugate([0.5, 0.5], "real")
    with pytest.raises(ValueError, match=r"tolerance must be in \[0, inf\), got -1"):
        objective.conjugate([0.5, 0.5], tolerance=-1)
    assert not np.isnan(objective.conjugate([0.5, 0.5]))


def test_arguments_are_not_changed():
    f = np.random.default_rng(60).uniform(0.1, 0.9, (20, 2))
    f[3] = 0.5
    for objective in EVERYTHING:
        copy = f.copy()
        _, weights = objective.value_and_dual_weights(copy)
        assert (copy == f).all() and weights.flags.writeable and not np.shares_memory(weights, copy)
