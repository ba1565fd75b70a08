"""From people to a finite federation: unique scores, counts, and η by isotonic regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize

from fairfl.theory.checks import Array, as_floats, finite, one_of


@dataclass(frozen=True)
class CalibratedTable:
    """Distinct scores ``points`` (n,), masses (I, A, n), eta (n,), (I, n) or (I, A, n), people ``counts`` (I,)."""

    points: Array
    masses: Array
    eta: Array
    counts: Array
    groups: tuple[Any, ...]
    clients: tuple[Any, ...]


def isotonic(positives: Array, counts: Array) -> Array:
    """Isotonic regression of label frequencies on increasing scores: the non-decreasing η of largest likelihood.

    Points without people (count 0) take the value of the fit on their left (of the first fitted point at the start).
    """
    seen = counts > 0
    if not seen.any():
        return np.full(counts.shape, 0.5)
    fit = optimize.isotonic_regression(positives[seen] / counts[seen], weights=counts[seen]).x
    where = np.maximum(np.cumsum(seen) - 1, 0)
    return np.clip(fit[where], 0.0, 1.0)  # rounding of block means only


def calibrated_table(
    score: ArrayLike, label: ArrayLike, group: ArrayLike, client: ArrayLike, calibrate: str
) -> CalibratedTable:
    """Check the four columns, merge equal scores and calibrate η. See :meth:`Federation.from_samples`."""
    one_of("calibrate", calibrate, ("shared", "client", "client_group"))
    x = finite("score", score)
    y = as_floats("label", label)
    if x.ndim != 1 or x.size == 0:
        raise ValueError(f"score must be a non-empty 1-d array, got shape {x.shape}")
    if y.shape != x.shape:
        raise ValueError(f"label must have shape {x.shape} as score has, got {y.shape}")
    if not np.isin(y, (0, 1)).all():
        raise ValueError(f"label must be 0 or 1, got {y[~np.isin(y, (0, 1))][0]:g}")
    groups, a = _codes("group", group, x.size)
    found: list[Any] = list(groups)
    clients, i = _codes("client", client, x.size)
    if len(groups) < 2:
        raise ValueError(f"group must hold at least two groups, got only {found[0]!r}")
    points, k = np.unique(x, return_inverse=True)
    shape = (len(clients), len(groups), points.size)
    cell = np.ravel_multi_index((i, a, k), shape)
    counts = np.bincount(cell, minlength=int(np.prod(shape))).reshape(shape).astype(np.float64)
    positives = np.bincount(cell, weights=y, minlength=int(np.prod(shape))).reshape(shape)
    if calibrate == "shared":
        eta = isotonic(positives.sum(axis=(0, 1)), counts.sum(axis=(0, 1)))
    elif calibrate == "client":
        eta = np.stack([isotonic(p.sum(axis=0), c.sum(axis=0)) for p, c in zip(positives, counts, strict=True)])
    else:
        eta = np.stack(
            [
                np.stack([isotonic(p, c) for p, c in zip(pi, ci, strict=True)])
                for pi, ci in zip(positives, counts, strict=True)
            ]
        )
    per_client = counts.sum(axis=(1, 2))
    return CalibratedTable(points, counts / per_client[:, None, None], eta, per_client, groups, clients)


def _codes(name: str, values: ArrayLike, size: int) -> tuple[tuple[Any, ...], Any]:
    """Sorted distinct labels and the (n,) codes; missing labels raise."""
    array = np.asarray(values)
    if array.shape != (size,):
        raise ValueError(f"{name} must have shape ({size},) as score has, got {array.shape}")
    missing = array != array if array.dtype.kind in "fO" else np.zeros(size, bool)  # NaN is not itself
    if array.dtype.kind == "O":
        missing = missing | np.array([v is None for v in array])
    if np.any(missing):
        raise ValueError(
            f"{name} must not be missing, got {array[missing][0]!r} at row {int(np.flatnonzero(missing)[0])}"
        )
    try:
        levels, codes = np.unique(array, return_inverse=True)
    except TypeError:
        raise ValueError(f"{name} must hold labels of one kind, got a mixture that cannot be sorted") from None
    return tuple(levels.tolist()), codes.reshape(-1)
