"""The best split of fairness between clients whose trade-offs are not concave: a knapsack by
max-plus convolution.

The clients' fairness adds up, and so does their accuracy: with J curves cut into cells of one
common fairness, the best total accuracy at each total is a chain of max-plus convolutions. The
cells of all clients add up to those of the total, so the chain costs (cells of the total)² however
many clients there are. Its choice is right up to a cell: a start for a local method, in the right
basin.
"""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array

CELLS = 4000
"""Cells of the total fairness, at least..."""
CELLS_PER_CLIENT = 20
"""... and for each client on average."""

STEEPEST = 1e3
"""A larger slope at the end of a curve is that of a jump, not one to go on with."""


def solve_knapsack(
    fairness: list[Array], accuracy: list[Array], weight: Array, goals: Array
) -> Array:
    """The fairness (J, P) that each client gives in a best split of the total, for each range of
    totals.

    Parameters
    ----------
    fairness : J arrays, each increasing: where the clients' curves are given.
    accuracy : J arrays of the same lengths.
    weight : (J,) positive weights of both.
    goals : (P, 2) least and most total fairness Σ_j weight_j·fairness_j, equal for one goal.

    Returns
    -------
    (J, P) unweighted fairness of each client, on its curve; each off by less than a cell, for a
    curve ends within one.
    """
    spans = np.array([f[-1] - f[0] for f in fairness]) * weight
    total = float(spans.sum())
    low = float(sum(w * f[0] for w, f in zip(weight, fairness, strict=True)))
    if total <= 0.0:
        return np.repeat(np.array([f[0] for f in fairness])[:, None], len(goals), axis=1)
    step = total / max(CELLS, CELLS_PER_CLIENT * len(fairness))
    best, choices, counts = np.zeros(1), [], []
    for f, a, w, span in zip(fairness, accuracy, weight, spans, strict=True):
        count = int(np.ceil(span / step - 1e-9))  # the last cell may be cut off by the curve's end
        own = w * _extended(f[0] + np.arange(count + 1) * step / w, f, a)
        best, taken = _convolve(best, own)
        choices.append(taken)
        counts.append(count)
    cells = np.clip(np.rint((goals - low) / step).astype(int), 0, best.size - 1)
    at = np.array([a + int(best[a : b + 1].argmax()) for a, b in cells])
    out = np.empty((len(fairness), len(goals)))
    for j in range(len(fairness) - 1, -1, -1):
        k = choices[j][at]
        out[j] = np.minimum(fairness[j][0] + k * step / weight[j], fairness[j][-1])
        at = at - k
    return out


def _extended(at: Array, f: Array, a: Array) -> Array:
    """The curve at points, straight on beyond its end: the last cell neither gives away fairness
    nor overcharges it.
    """
    inside = np.interp(at, f, a)
    if f[-1] == f[0]:
        return inside
    slope = (a[-1] - a[-2]) / max(f[-1] - f[-2], 1e-300)
    slope = slope if abs(slope) <= STEEPEST else 0.0
    return inside + np.maximum(at - f[-1], 0.0) * slope


def _convolve(first: Array, second: Array) -> tuple[Array, Array]:
    """max_k first[n - k] + second[k] for every n, and the k that gives it."""
    best = np.full(first.size + second.size - 1, -np.inf)
    taken = np.zeros(best.size, dtype=int)
    shorter, longer, mirrored = (
        (second, first, False) if second.size <= first.size else (first, second, True)
    )
    for k, value in enumerate(shorter):
        window = slice(k, k + longer.size)
        better = longer + value > best[window]
        best[window][better] = (longer + value)[better]
        taken[window][better] = k
    return best, np.arange(best.size) - taken if mirrored else taken
