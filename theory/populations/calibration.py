"""From a table of people to a finite federation: levels of the score, and η by isotonic regression.

Why levels are merged. A classifier f(x, a) is never told the client. Where every person has a score
of their own, x identifies the person and with that the client, so that LFT+FedAvg can treat clients
differently; and η is fitted to single labels, so that accuracies are those of an over-fitted score.
Levels that many people share avoid both. ``merge_levels`` makes them, and loses as little as it can
of what the score says of y. Of README's law with the raw x (30,000 people, LFT+FedAvg with budget
.02, which reaches .695) the accuracy is .730 with a level for each person, .705 where levels hold 5
people for each client and group, .701 with 10, and .698 with 100 levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from fairfl._support.checks import Array, as_array, cells, finite, one_of, pos_code, shown, whole

CALIBRATIONS = ("shared", "client", "client_group")
LEVELS = 100
"""The most levels of a score, unless a number is asked for."""
PEOPLE = 10
"""People a level has at least, for each client and group on average, unless a number of levels is
asked for.
"""
FEW = 5
"""Fewer people a level, for each client and group on average, are warned of."""
PARTS = 64
"""Of the people of a level: scores of one isotonic block that so few share are kept together."""
FINER = 1e-9
"""What one more level is worth, in the Brier loss of one person in so many: it decides among
equals.
"""


class ScoreWarning(UserWarning):
    """A score that says nothing of the label, or the opposite, or too much of who somebody is.

    Examples
    --------
    >>> import warnings
    >>> import fairfl as ff
    >>> people = {"score": [0.9, 0.1] * 40, "label": [0, 1] * 40, "group": [0, 0, 1, 1] * 20}
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     fed = ff.Federation.from_samples(**people, client=[0] * 80)
    >>> [one.category is ff.ScoreWarning for one in found]
    [True]
    """


@dataclass(frozen=True)
class Merged:
    """What merging did: ``scores`` distinct ones became ``levels`` of ``people`` or more; the best
    threshold was right for a share ``before`` of the people, and is for ``after``.
    """

    scores: int
    levels: int
    people: int
    before: float
    after: float

    def __str__(self) -> str:
        if self.scores == self.levels:
            return f"{self.scores:,} distinct scores, none merged"
        return (
            f"{self.scores:,} distinct scores merged into {self.levels} levels of {self.people} "
            "people or more (levels = 0 keeps all): the best threshold of the score is right for "
            f"{100 * self.before:.2f} % of these people, of the levels for "
            f"{100 * self.after:.2f} %"
        )


@dataclass(frozen=True)
class Counted:
    """People by client, group, label and level: ``points`` (n,) distinct scores, ``counts`` (I, A,
    2, n), and names.

    ``calibrate`` says how η is fitted to them; levels meet at ``cuts`` (n - 1,), None: half-way.
    ``names``: of scores that are names, what the points 0, 1, ... are called.
    Where counts were withheld, and only each client's sum is known, they are within ``ranges`` (2,
    I, A, 2, n). Where they have geometric noise, ``epsilon`` (I,) is its parameter, else inf.
    """

    points: Array
    counts: Array
    groups: tuple[Any, ...] = ()
    clients: tuple[Any, ...] = ()
    calibrate: str = "shared"
    merged: Merged | None = None
    cuts: Array | None = None
    names: tuple[str, ...] = ()
    ranges: Array | None = None
    epsilon: Array | None = None

    @property
    def people(self) -> int:
        """How many."""
        return int(self.counts.sum())


def isotonic(positives: Array, counts: Array) -> Array:
    """Isotonic regression of label frequencies on increasing scores: the non-decreasing η of
    largest likelihood.

    Points without people (count 0) take the value of the fit on their left (of the first fitted
    point at the start).
    """
    seen = counts > 0
    if not seen.any():
        return np.full(counts.shape, 0.5)
    fit = scipy.optimize.isotonic_regression(positives[seen] / counts[seen], weights=counts[seen]).x
    where = np.maximum(np.cumsum(seen) - 1, 0)
    return np.clip(fit[where], 0.0, 1.0)  # rounding of block means only


def merge_levels(eta: Array, counts: Array, least: float) -> Any:
    """The level 0, 1, ... of each distinct score (n,): neighbours merged, ``least`` people a level,
    at the least loss.

    A level's η is the mean of its people's, so that merging raises their Brier loss, the sum of (y
    - η)², by the sum of (η of the score - η of the level)². Of all ways to cut the scores into
    levels of ``least`` people or more the one that raises it least is found exactly, from left to
    right; of equally good ones that of most levels, so that what costs nothing (the scores of one
    isotonic block) is not merged further than it must be. Where that leaves a single level, the
    best two are taken, with as many people as they have.

    Parameters
    ----------
    eta, counts : (n,) P(y = 1 | score), by isotonic regression, and people.
    """
    part = np.floor((np.cumsum(counts) - counts / 2) * PARTS / max(least, 1.0))
    # within a block, where it costs nothing
    joined = np.append(0, np.cumsum((np.diff(eta) > 0) | (np.diff(part) > 0)))
    return _least_loss(np.bincount(joined, counts), np.bincount(joined, counts * eta), least)[
        joined
    ]


def _least_loss(counts: Array, positives: Array, least: float) -> Any:
    """The level of each score (n,), by dynamic programming over where levels end."""
    n = len(counts)
    size, first = (np.append(0.0, np.cumsum(values)) for values in (counts, positives))
    second = np.append(0.0, np.cumsum(positives**2 / counts))

    def loss(i: Any, j: Any) -> Array:
        """Of the scores i to j - 1 as one level."""
        people = size[j] - size[i]
        return np.maximum(second[j] - second[i] - (first[j] - first[i]) ** 2 / people, 0.0)

    enough = np.searchsorted(size, size + least - 1e-9)  # from i on, the first end of a level
    twice = np.append(enough, n + 1)[enough]  # from here on it can be cut in two
    ends = np.arange(n + 1)
    lows = np.searchsorted(twice, ends, side="right")
    highs = np.searchsorted(enough, ends, side="right")
    best, before = np.append(0.0, np.full(n, np.inf)), np.zeros(n + 1, dtype=np.int64)
    for j in range(1, n + 1):
        start = np.arange(lows[j], min(highs[j], j))
        if start.size:
            whole = best[start] + loss(start, j) - FINER * size[-1]
            before[j] = start[whole.argmin()]
            best[j] = whole.min()
    cuts, j = [], n
    while np.isfinite(best[n]) and before[j] > 0:
        j = int(before[j])
        cuts.append(j)
    if not cuts and n > 1:
        inner = np.arange(1, n)
        cuts = [int(inner[(loss(0, inner) + loss(inner, n)).argmin()])]
    return np.searchsorted(np.sort(cuts), np.arange(n), side="right")


def merge_scores(score: Array, label: Array, cells: int, asked: int | None) -> tuple[Array, Merged]:
    """Scores with those of one level replaced by their mean, and what that did.

    Parameters
    ----------
    score, label : (n,).  cells : clients times groups.
    asked : levels, see :meth:`Federation.from_samples`.
    """
    points, where, people = np.unique(score, return_inverse=True, return_counts=True)
    counts, positives = people.astype(np.float64), np.bincount(where, weights=label)
    least = score.size / (asked or LEVELS)
    if asked is None:
        least = max(least, PEOPLE * cells)
    if asked == 0 or points.size <= (asked or 1):
        code = np.arange(points.size)
    else:
        code = merge_levels(isotonic(positives, counts), counts, least)
    size, labels = np.bincount(code, counts), np.bincount(code, positives)
    right = [threshold_accuracy(positives, counts), threshold_accuracy(labels, size)]
    merged = Merged(points.size, size.size, int(size.min()), *right)
    if size.size == points.size:
        return score, merged
    mean = np.bincount(code, points * counts) / size
    if (np.diff(mean) <= 0).any():  # scores so close that their means round together
        mean = points[np.unique(code, return_index=True)[1]]
    return mean[code][where], merged


def threshold_accuracy(positives: Array, counts: Array) -> float:
    """The share of people for whom the best threshold of the score is right: isotonic η above 1/2
    is that threshold.
    """
    eta = isotonic(positives, counts)
    return float(counts @ np.maximum(eta, 1.0 - eta) / counts.sum())


def count_people(
    score: ArrayLike,
    label: ArrayLike,
    group: ArrayLike,
    client: ArrayLike,
    calibrate: str = "shared",
    levels: int | None = None,
    pos_label: Any = None,
) -> Counted:
    """Check four columns, merge scores and count people. See :meth:`Federation.from_samples`."""
    if levels is not None:
        whole("levels", levels, 0)
    x = finite("score", score)
    if x.ndim != 1 or x.size == 0:
        raise ValueError(f"score must be a non-empty 1-d array, got shape {x.shape}")
    y = binary("label", *_codes("label", label, x.size), pos_label)
    groups, a = _intersections("group", group, x.size)
    found: list[Any] = list(groups)
    clients, i = _codes("client", client, x.size)
    if len(groups) < 2:
        raise ValueError(f"group must hold at least two groups, got only {found[0]!r}")
    level, merged = merge_scores(x, y, len(clients) * len(groups), levels)
    points, k = np.unique(level, return_inverse=True)
    order = np.argsort(x)
    last = np.flatnonzero(np.diff(k[order]))
    cuts = (x[order][last] + x[order][last + 1]) / 2
    shape = (len(clients), len(groups), 2, points.size)
    cells("clients x groups x labels x distinct scores", shape)
    cell = np.ravel_multi_index((i, a, y, k), shape)
    counts = np.bincount(cell, minlength=int(np.prod(shape))).reshape(shape).astype(np.float64)
    return Counted(points, counts, groups, clients, calibrate, merged, cuts)


def binary(name: str, values: Sequence[Any], codes: Any, pos_label: Any) -> Any:
    """y of ``codes`` into the sorted ``values`` of a label, see ``pos_code``; 0 or 1 alone is
    itself.
    """
    if pos_label is None and len(values) == 1 and values[0] in (0, 1):
        return np.full_like(codes, values[0])
    if len(values) == 2 or (len(values) == 1 and pos_label is not None):
        ordered = not any(isinstance(value, (str, bytes)) for value in values)
        return (codes == pos_code(name, values, pos_label, ordered=ordered)).astype(codes.dtype)
    told = ", ".join(map(shown, values[:5])) + ", ..." * (len(values) > 5)
    raise ValueError(f"{name} must be 0/1 or have exactly two values, got {len(values)}: {told}")


def checked_counts(
    counts: ArrayLike, score: ArrayLike, calibrate: str, cuts: ArrayLike | None
) -> Counted:
    """Ordered by score. See :meth:`Federation.from_counts`."""
    points, people = finite("score", score), finite("counts", counts)
    if points.ndim != 1 or points.size == 0 or np.unique(points).size < points.size:
        raise ValueError(f"score must hold n distinct numbers, n at least 1, got {shown(points)}")
    if (
        people.ndim != 4
        or people.shape[1] < 2
        or people.shape[2:] != (2, points.size)
        or len(people) == 0
    ):
        raise ValueError(
            f"counts must have shape (I, A, 2, {points.size}), A at least 2, got {people.shape}"
        )
    if (people < 0).any() or (people % 1 > 0).any():
        wrong = people[(people < 0) | (people % 1 > 0)][0]
        raise ValueError(f"counts must be non-negative whole numbers, got {wrong:g}")
    empty = np.flatnonzero(people.sum(axis=(1, 2, 3)) == 0)
    if empty.size:
        raise ValueError(f"counts must hold people of every client, client {empty[0]} has none")
    order = np.argsort(points)
    points, people = points[order], np.ascontiguousarray(people[..., order])
    between = None if cuts is None else finite("cuts", cuts)
    if between is not None and (
        between.shape != (points.size - 1,)
        or (between < points[:-1]).any()
        or (between > points[1:]).any()
    ):
        raise ValueError(
            f"cuts must hold {points.size - 1} numbers, one between each score and the next, got "
            f"{shown(cuts)}"
        )
    return Counted(points, people, calibrate=calibrate, cuts=between)


def calibrated(counts: Array, calibrate: str) -> Array:
    """η of counts (I, A, 2, n) by isotonic regression: (n,) for all, (I, n) by client or (I, A, n)
    by group as well.
    """
    one_of("calibrate", calibrate, CALIBRATIONS)
    positives, people = counts[:, :, 1], counts.sum(axis=2)
    if calibrate == "shared":
        return isotonic(positives.sum(axis=(0, 1)), people.sum(axis=(0, 1)))
    if calibrate == "client":
        return np.stack(
            [isotonic(p.sum(axis=0), c.sum(axis=0)) for p, c in zip(positives, people, strict=True)]
        )
    n = counts.shape[-1]
    pairs = zip(positives.reshape(-1, n), people.reshape(-1, n), strict=True)
    return np.stack([isotonic(p, c) for p, c in pairs]).reshape(people.shape)


def doubts(counts: Array, accepts: Any) -> str | None:
    """What is odd about a score: ``counts`` (I, A, 2, n), ``accepts`` (A, n) the most accurate
    rule; None if nothing.

    y = 1 is likelier at smaller scores if a decreasing η has a smaller Brier loss than an
    increasing one. Levels tell who somebody is if they hold fewer than ``FEW`` people for each
    client and group.
    """
    positives, people = counts[:, :, 1].sum(axis=(0, 1)), counts.sum(axis=(0, 1, 2))
    # both fits keep the mean: the larger Σ η², the smaller the loss
    risen = people @ isotonic(positives, people) ** 2
    fallen = people[::-1] @ isotonic(positives[::-1], people[::-1]) ** 2
    told = []
    share, cells = people.sum() / (people > 0).sum(), counts.shape[0] * counts.shape[1]
    if share < FEW * cells:
        told.append(
            f"a level of the score holds {share:.1f} people on average, fewer than {FEW} for each "
            f"of {cells} clients and groups, so that rules can tell clients apart by it and "
            "accuracies are too high: take fewer levels, or more people"
        )
    if fallen > risen + 1e-9 * people.sum():
        told.append("y = 1 is likelier at smaller scores: is the score reversed?")
    there = np.broadcast_to(counts.sum(axis=(0, 2)) > 0, accepts.shape)
    for everybody, who in ((True, "everybody"), (False, "nobody")):
        if (accepts[there] == everybody).all():
            told.append(f"the most accurate rule accepts {who}, whatever the score")
    return "; ".join(told) or None


def _intersections(name: str, values: ArrayLike, size: int) -> tuple[tuple[Any, ...], Any]:
    """As ``_codes``; of an array or frame (n, k) the distinct rows, each label a tuple of k."""
    if getattr(values, "ndim", 1) != 2 or not np.size(values):
        return _codes(name, values, size)
    columns = [_codes(name, column, size) for column in as_array(name, values).T]
    rows, codes = np.unique(
        np.stack([code for _, code in columns], axis=1), axis=0, return_inverse=True
    )
    labels = [tuple(c[0][k] for c, k in zip(columns, row, strict=True)) for row in rows]
    return tuple(labels), codes.reshape(-1)


def _codes(name: str, values: ArrayLike, size: int) -> tuple[tuple[Any, ...], Any]:
    """Sorted distinct labels and the (n,) codes; missing labels raise."""
    array = as_array(name, values)
    if array.shape != (size,):
        raise ValueError(f"{name} must have shape ({size},) as score has, got {array.shape}")
    # NaN is not itself
    missing = array != array if array.dtype.kind in "fO" else np.zeros(size, bool)
    if array.dtype.kind == "O":
        missing = missing | np.array([v is None for v in array])
    if np.any(missing):
        raise ValueError(
            f"{name} must not be missing, got {shown(array[missing][0])} at row "
            f"{int(np.flatnonzero(missing)[0])}"
        )
    try:
        levels, codes = np.unique(array, return_inverse=True)
    except TypeError:
        raise ValueError(
            f"{name} must hold labels of one kind, got a mixture that cannot be sorted"
        ) from None
    return tuple(levels.tolist()), codes.reshape(-1)
