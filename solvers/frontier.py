"""Accuracy-fairness frontiers: the best accuracy of a scheme at every disparity that it can reach."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fairfl.theory.checks import Array, as_floats

SLACK = 1e-12
"""Disparities may be asked for this much below the smallest reachable one (rounding of a printed number)."""


@dataclass(frozen=True)
class Frontier:
    """Non-dominated points of one scheme, by increasing disparity (accuracy increases with it).

    Attributes
    ----------
    scheme : "cfl", "lft_ensemble" or "lft_fedavg".
    disparity, accuracy : (P,) every point is attained by ``eps``.
    eps : (P, 1) for "cfl", else (P, I): budgets that attain the points.
    exact : whether no budgets do better, up to rounding; False where the points are the best that a search found.
    """

    scheme: str
    disparity: Array
    accuracy: Array
    eps: Array
    evaluate: Callable[[Array], Array] = field(repr=False)
    exact: bool = False

    def accuracy_at(self, disparity: ArrayLike) -> Any:
        """The best accuracy with at most the given disparity, solved for (not interpolated between points).

        Raises
        ------
        ValueError : a disparity below the smallest that the scheme reaches.
        """
        d = as_floats("disparity", disparity)
        if (d < self.disparity[0] - SLACK).any():
            raise ValueError(
                f"disparity must be at least {self.disparity[0]:.6g}, the smallest that {self.scheme} reaches, "
                f"got {d.min():g}"
            )
        flat = np.clip(np.ravel(d), self.disparity[0], self.disparity[-1])
        out = np.where(flat >= self.disparity[-1], self.accuracy[-1], 0.0)
        inner = flat < self.disparity[-1]
        if inner.any():
            out[inner] = self.evaluate(flat[inner])
        return out.reshape(d.shape)[()]

    def to_frame(self) -> pd.DataFrame:
        """Columns scheme, disparity, accuracy, and eps_0, eps_1, ..."""
        table = {"scheme": self.scheme, "disparity": self.disparity, "accuracy": self.accuracy}
        return pd.DataFrame(table | {f"eps_{k}": self.eps[:, k] for k in range(self.eps.shape[1])})


def non_dominated(disparity: Array, accuracy: Array) -> Any:
    """Positions of the non-dominated points, by increasing disparity; of equal points one is kept."""
    order = np.lexsort((-accuracy, disparity))
    best = np.maximum.accumulate(accuracy[order])
    keep = np.append(True, accuracy[order][1:] > best[:-1])
    return order[keep]


def build(
    scheme: str,
    disparity: Array,
    accuracy: Array,
    eps: Array,
    evaluate: Callable[[Array], Array],
    exact: bool = False,
) -> Frontier:
    """A :class:`Frontier` of the non-dominated ones among attained points."""
    k = non_dominated(disparity, accuracy)
    return Frontier(scheme, disparity[k], accuracy[k], eps[k], evaluate, exact)
