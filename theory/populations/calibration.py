"""A finite federation from a table of people: counts, and η by isotonic regression."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.checks import (
    Array,
    as_labels,
    cells,
    coded,
    one_of,
    pos_code,
    shown,
    sized,
    whole,
)
from fairfl.theory.numerics.isotonic import isotonic
from fairfl.theory.populations.notions import NOTIONS
from fairfl.theory.populations.score_levels import Merged, merge_scores

CALIBRATIONS = ("shared", "client", "client_group")
FEW = 5
"""A level with fewer people, for each client and group on average, is warned of."""


class ScoreWarning(UserWarning):
    """A score that says nothing of the label, or the opposite, or identifies people; a group
    without people of one label.

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


def count_people(
    score: ArrayLike,
    label: ArrayLike,
    group: ArrayLike,
    client: ArrayLike,
    calibrate: str = "shared",
    levels: int | None = None,
    pos_label: Hashable = None,
) -> Counted:
    """Check four columns, merge scores and count people. See :meth:`Federation.from_samples`."""
    if levels is not None:
        whole("levels", levels, 0)
    x = sized("score", score)
    if x.ndim != 1 or x.size == 0:
        raise ValueError(f"score must be a non-empty 1-d array, got shape {x.shape}")
    y = binary("label", *coded("label", label, x.size), pos_label)
    groups, a = _intersections("group", group, x.size)
    clients, i = coded("client", client, x.size)
    if len(groups) < 2:
        raise ValueError(f"group must hold at least two groups, got only {shown(*groups)}")
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


def binary(name: str, values: Sequence[Hashable], codes: Array, pos_label: Hashable) -> Array:
    """y of ``codes`` into the sorted ``values`` of a label, see ``pos_code``; a label with the
    single value 0 or 1 is that y.
    """
    if pos_label is None and len(values) == 1 and values[0] in (0, 1):
        return np.full_like(codes, values[0])
    if len(values) == 2 or (len(values) == 1 and pos_label is not None):
        ordered = not any(isinstance(value, (str, bytes)) for value in values)
        return (codes == pos_code(name, values, pos_label, ordered=ordered)).astype(codes.dtype)
    examples = ", ".join(map(shown, values[:5])) + ", ..." * (len(values) > 5)
    raise ValueError(
        f"{name} must be 0/1 or have exactly two values, got {len(values)}: {examples}"
    )


def checked_counts(
    counts: ArrayLike, score: ArrayLike, calibrate: str, cuts: ArrayLike | None
) -> Counted:
    """Ordered by score. See :meth:`Federation.from_counts`."""
    points, people = sized("score", score), sized("counts", counts)
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
    between = None if cuts is None else sized("cuts", cuts)
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


def doubts(counts: Array, accepts: Array, groups: Sequence[Hashable]) -> str | None:
    """Warnings about a score, as one text, or None: ``counts`` (I, A, 2, n) of the named
    ``groups``, and ``accepts`` (A, n), the most accurate rule.

    y = 1 is likelier at smaller scores if a decreasing η has a smaller Brier loss than an
    increasing one. Levels identify people if they hold fewer than ``FEW`` for each client and
    group.
    """
    positives, people = counts[:, :, 1].sum(axis=(0, 1)), counts.sum(axis=(0, 1, 2))
    # both fits keep the mean: the larger Σ η², the smaller the loss
    risen = people @ isotonic(positives, people) ** 2
    fallen = people[::-1] @ isotonic(positives[::-1], people[::-1]) ** 2
    warnings = []
    share, cells = people.sum() / (people > 0).sum(), counts.shape[0] * counts.shape[1]
    if share < FEW * cells:
        warnings.append(
            f"a level of the score holds {share:.1f} people on average, fewer than {FEW} for each "
            f"of {cells} clients and groups, so that rules can tell clients apart by it and "
            "accuracies are too high: take fewer levels, or more people"
        )
    if fallen > risen + 1e-9 * people.sum():
        warnings.append("y = 1 is likelier at smaller scores: is the score reversed?")
    has_people = np.broadcast_to(counts.sum(axis=(0, 2)) > 0, accepts.shape)
    for decision, accepted in ((True, "everybody"), (False, "nobody")):
        if (accepts[has_people] == decision).all():
            warnings.append(f"the most accurate rule accepts {accepted}, whatever the score")
    by_label = counts.sum(axis=(0, 3)).T[::-1]
    warnings += [
        f"{nobody}: rates of such people follow from the fitted P(y = 1 | x) alone"
        for nobody in NOTIONS["equalized_odds"].undefined(by_label, groups)
    ]
    return "; ".join(warnings) or None


def _intersections(name: str, values: ArrayLike, size: int) -> tuple[tuple[Any, ...], Array]:
    """Labels and codes as by ``coded``; of a table (n, k) the distinct rows, as tuples of k."""
    table = as_labels(name, values)
    if table.ndim != 2 or not table.size:
        return coded(name, table, size)
    columns = [coded(name, column, size) for column in table.T]
    rows, codes = np.unique(
        np.stack([code for _, code in columns], axis=1), axis=0, return_inverse=True
    )
    labels = [tuple(c[0][k] for c, k in zip(columns, row, strict=True)) for row in rows]
    return tuple(labels), codes.reshape(-1)
