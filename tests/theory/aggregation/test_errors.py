"""Losses outside an objective's domain, and what objectives leave alone."""

import numpy as np
import pytest
import sympy as sp

from fairfl.theory.aggregation import QFFL, KolmogorovMean, PropFair, objectives

t = sp.Symbol("t", real=True)
EVERYTHING = [example for cls in objectives().values() for example in list(cls.examples())[:2]]
EVERYTHING += [o.weighted([0.5, 0.5]) for o in EVERYTHING] + [
    o.translate([0.0, 0.1]).scale(2.0) for o in EVERYTHING
]


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


def test_arguments_are_not_changed():
    f = np.random.default_rng(60).uniform(0.1, 0.9, (20, 2))
    f[3] = 0.5
    for objective in EVERYTHING:
        copy = f.copy()
        _, weights = objective.value_and_dual_weights(copy)
        assert (copy == f).all() and weights.flags.writeable and not np.shares_memory(weights, copy)
