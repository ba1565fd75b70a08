"""Dual weights are gradients: against finite differences."""

import numpy as np
import pytest

from fairfl.theory.aggregation import objectives

ALL = [example for cls in objectives().values() for example in cls.examples()]
P5 = (0.1, 0.3, 0.2, 0.15, 0.25)
BOTH = [*ALL, *(o.weighted(P5) for o in ALL)]


def losses(rows, seed):
    """Away from ties, zeros and upper bounds, where some objectives have kinks."""
    rng = np.random.default_rng(seed)
    spaced = np.linspace(0.1, 0.85, 5) + rng.uniform(-0.05, 0.05, (rows, 5))
    return rng.permuted(spaced, axis=-1)


@pytest.mark.parametrize("objective", BOTH, ids=repr)
def test_against_finite_differences(objective):
    f, h = losses(20, 30), 1e-4
    steps = [(objective.value(f + h * e), objective.value(f - h * e)) for e in np.eye(5)]
    wide = [(objective.value(f + 2 * h * e), objective.value(f - 2 * h * e)) for e in np.eye(5)]
    pairs = zip(steps, wide, strict=True)
    numeric = np.stack([(8 * (a - b) - (c - d)) / (12 * h) for (a, b), (c, d) in pairs], axis=-1)
    # the stencil misses by h^4/30 of a fifth derivative, below alpha^4/8 = 2e8 for TERM(200), and
    # by rounding / h
    assert objective.dual_weights(f) == pytest.approx(numeric, abs=1e-16 / 30 * 2e8 + 1e-11)
