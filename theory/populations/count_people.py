"""People counted by client, group, label and level, from columns or from counts."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support import checks
from fairfl._support.checks import Array, as_labels, coded, one_of, pos_code, shown, sized, whole
from fairfl.theory.populations.calibration import AUTO, CALIBRATIONS, Counted
from fairfl.theory.populations.cells import grown
from fairfl.theory.populations.score_levels import LEVELS, PEOPLE, merge_scores


def count_people(
    score: ArrayLike,
    label: ArrayLike,
    group: ArrayLike,
    client: ArrayLike,
    calibrate: str = "shared",
    levels: int | None = None,
    pos_label: Hashable = None,
    weight: ArrayLike | None = None,
) -> Counted:
    """Check columns, merge scores and count people. See :meth:`Federation.from_samples`."""
    one_of("calibrate", calibrate, (AUTO, *CALIBRATIONS))
    if levels is not None:
        whole("levels", levels, 0)
    x = sized("score", score)
    if x.ndim not in (1, 2) or x.size == 0:
        raise ValueError(f"score must be (n,), or (n, d) numbers of a person, got shape {x.shape}")
    n = len(x)
    y = binary("label", *coded("label", label, n), pos_label)
    groups, a = intersections("group", group, n)
    clients, i = coded("client", client, n)
    if len(groups) < 2:
        raise ValueError(f"group must hold at least two groups, got only {shown(*groups)}")
    w = None
    if weight is not None:
        values = checks.person_weights("weight", weight)
        w = checks.broadcast("weight", values, (n,), f"({n},)")
    n_pairs, cells, merged, cuts = len(clients) * len(groups), None, None, None
    if x.ndim == 2 and x.shape[1] > 1:
        if levels is not None:
            whole("levels, of several numbers of a person,", levels, 2)
        limits = {"levels": LEVELS if levels is None else levels, "min_people": PEOPLE * n_pairs}
        names = [*map(str, getattr(score, "columns", ()))] or None
        cells = grown(x, np.stack([y, a], axis=1), names=names, weight=w, **limits)
        k = cells(x)
        points = np.arange(float(len(cells)))
    else:
        x = x.ravel()
        level, merged = merge_scores(x, y, n_pairs, levels, w)
        points, k = np.unique(level, return_inverse=True)
        order = np.argsort(x)
        last = np.flatnonzero(np.diff(k[order]))
        cuts = (x[order][last] + x[order][last + 1]) / 2
    shape = (len(clients), len(groups), 2, points.size)
    checks.cells("clients x groups x labels x distinct scores", shape)
    place = np.ravel_multi_index((i, a, y, k), shape)  # of each person in the table of counts
    counts, *sums = (
        np.bincount(place, column, int(np.prod(shape))).reshape(shape).astype(np.float64)
        for column in ([None] if w is None else [None, w, w**2])
    )
    people = Counted(points, counts, groups, clients, calibrate, merged, cuts, cells=cells)
    return people.with_weights(*sums) if sums else people


def binary(name: str, values: Sequence[Hashable], codes: Array, pos_label: Hashable) -> Array:
    """y of ``codes`` into a label's sorted ``values``, see ``pos_code``; 0 or 1 alone is that y."""
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
    counts: ArrayLike, score: ArrayLike, calibrate: str, cuts: ArrayLike | None, *sums: Any
) -> Counted:
    """Ordered by score. See :meth:`Federation.from_counts`."""
    one_of("calibrate", calibrate, (AUTO, *CALIBRATIONS))
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
    has_weights = any(table is not None for table in sums)
    weighted = checks.weight_sums(people, *sums) if has_weights else None
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
    sample = Counted(points, people, calibrate=calibrate, cuts=between)
    return sample if weighted is None else sample.with_weights(*weighted[..., order])


def intersections(name: str, values: ArrayLike, size: int) -> tuple[tuple[Any, ...], Array]:
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
