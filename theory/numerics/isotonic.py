"""Isotonic regression of label frequencies, weighted by people."""

import numpy as np
import scipy

from fairfl._support.checks import Array


def isotonic(positives: Array, counts: Array) -> Array:
    """The non-decreasing η of largest likelihood for label frequencies on increasing scores. Points
    without people (count 0) take the value of the fit on their left, at the start of the first
    point.
    """
    seen = counts > 0
    if not seen.any():
        return np.full(counts.shape, 0.5)
    fit = scipy.optimize.isotonic_regression(positives[seen] / counts[seen], weights=counts[seen]).x
    where = np.maximum(np.cumsum(seen) - 1, 0)
    return np.clip(fit[where], 0.0, 1.0)  # rounding of block means only
