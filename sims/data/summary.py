"""Summaries of a site: people counted by group, label and level of the score, as JSON; no row.

It needs numpy and the standard library alone, so that a site can run it where little is installed.
Counts from 1 to ``min_cell`` - 1 can be withheld: then of the totals the number of people alone is
given, and more counts are withheld where it would give one away (complementary suppression).
"""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from fairfl._support.checks import Array, existing_file, shown, some, whole

FORMAT, VERSION = "fairfl-summary", 1
NAMES = ("site", "score", "label", "labels", "group", "groups", "edges")
LIMITS = ("min_cell", "complemented")
"""Fields that the file has by their names, before and after the counts."""


@dataclass(frozen=True)
class Summary:
    """One site's counts.

    Attributes
    ----------
    site : its name.  score, label, group : names of columns.
    labels : the two values, of which the second is y = 1.  groups : names.
    edges : (n + 1,) increasing: level k holds scores from edges[k] to below edges[k + 1], the last
        level its upper edge too.
    counts : (A, 2, n) people by group, label and level; -1 where withheld.
    people : how many in all.
    min_cell : counts from 1 to below this are withheld; 0: none are.
    complemented : whether a count of ``min_cell`` or more is withheld with them.
    """

    site: str
    score: str
    label: str
    labels: tuple[str, str]
    group: str
    groups: tuple[str, ...]
    edges: tuple[float, ...]
    counts: Array
    people: int
    min_cell: int = 0
    complemented: bool = False

    def __post_init__(self) -> None:
        _edges(self.edges)
        shape = len(self.groups), len(self.labels), len(self.edges) - 1
        if self.counts.shape != shape or len(self.labels) != 2:
            raise ValueError(f"counts must have shape {shape}, got {self.counts.shape}")
        hidden = int(self.withheld.sum())
        left = self.people - int(self.counts[~self.withheld].sum())
        if left < hidden or (left and not hidden) or not self.people:
            raise ValueError(f"people must be the sum of counts, got {self.people}")

    @property
    def withheld(self) -> Any:
        """(A, 2, n) bool."""
        return self.counts < 0

    @property
    def scores(self) -> Array:
        """(n,) the middle of each level."""
        edges = np.array(self.edges)
        return (edges[:-1] + edges[1:]) / 2

    def suppressed(self, min_cell: int) -> Summary:
        """Without counts from 1 to ``min_cell`` - 1, and without what would give one of them away.

        The sum of what is withheld follows from the number of people, and that each of the m counts
        is 1 or more is known, and less than ``min_cell`` where none other is withheld. So the sum
        must be neither m nor m (``min_cell`` - 1), and m at least 2; else the smallest other count
        is withheld, too, and which of them it is is not said.

        Raises
        ------
        ValueError : counts have been withheld already, or there is no other count.
        """
        whole("min_cell", min_cell, 2)
        if self.min_cell:
            raise ValueError(f"counts below {self.min_cell} have been withheld already")
        small = (self.counts > 0) & (self.counts < min_cell)
        total, m = int(self.counts[small].sum()), int(small.sum())
        more = m > 0 and (m == 1 or total in (m, m * (min_cell - 1)))
        if more:
            large = np.where(self.counts >= min_cell, self.counts, np.inf)
            if not np.isfinite(large).any():
                raise ValueError(
                    f"site {self.site!r} has too few people for min_cell {min_cell}: its number of "
                    "people would give a count away; use fewer levels"
                )
            small.flat[int(large.argmin())] = True
        counts = np.where(small, -1, self.counts)
        return replace(self, counts=counts, min_cell=min_cell, complemented=more)

    def as_text(self) -> str:
        """The file's content."""
        rows, totals = self.counts.astype(object), dict[str, Any](people=self.people)
        if not self.withheld.any():  # else they would give counts away
            groups, labels = (self.counts.sum(axis=axes).tolist() for axes in ((1, 2), (0, 2)))
            totals["groups"] = dict(zip(self.groups, groups, strict=True))
            totals["labels"] = dict(zip(self.labels, labels, strict=True))
        rows[self.withheld] = None
        data: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            **{name: getattr(self, name) for name in NAMES},
            "counts": rows.tolist(),
            "totals": totals,
            **{name: getattr(self, name) for name in LIMITS},
        }
        data["sha256"] = _digest(data)
        return json.dumps(data, indent=1) + "\n"


def _digest(data: dict[str, Any]) -> str:
    """Of all but itself. It finds accidents, not forgery."""
    rest = {name: value for name, value in data.items() if name != "sha256"}
    return sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def summarize(
    path: str | Path, *, score: str, label: str, group: str, site: str, edges: Sequence[float]
) -> Summary:
    """Count the people of a comma-separated file with a header.

    Parameters
    ----------
    score : column of numbers from the first to the last edge.  label : column of two values, of
        which the later in sorted order is y = 1.  group : column of groups.
    site : the site's name.
    edges : of the levels, see :class:`Summary`.

    Raises
    ------
    ValueError : what does not fit.  OSError : the file cannot be read.
    """
    cuts = _edges(edges)
    if not site:
        raise ValueError("site must not be empty, got ''")
    rows = read_rows(Path(path), score, label, group)
    x, y, a = ([row[rows[0].index(name)] for row in rows[1:]] for name in (score, label, group))
    labels, groups = _sorted(set(y)), _sorted(set(a))
    if len(labels) != 2:
        raise ValueError(f"label column {label!r} must have two values, got {some(labels)}")
    values = np.array([number(text, score, row) for row, text in enumerate(x, start=1)])
    out = np.flatnonzero((values < cuts[0]) | (values > cuts[-1]))
    if out.size:
        raise ValueError(
            f"score column {score!r} must be from {cuts[0]:g} to {cuts[-1]:g}, the outermost "
            f"edges, got {values[out[0]]:g} in row {out[0] + 1}"
        )
    level = np.minimum(np.searchsorted(cuts, values, side="right") - 1, len(cuts) - 2)
    counts = np.zeros((len(groups), 2, len(cuts) - 1), dtype=np.int64)
    where = np.array([groups.index(v) for v in a]), np.array([labels.index(v) for v in y]), level
    np.add.at(counts, where, 1)
    names = (labels[0], labels[1])
    return Summary(site, score, label, names, group, tuple(groups), cuts, counts, len(values))


def _edges(edges: Sequence[float]) -> tuple[float, ...]:
    cuts = tuple(map(float, edges))
    if len(cuts) < 3 or not np.isfinite(cuts).all() or not (np.diff(cuts) > 0).all():
        raise ValueError(
            f"edges must be three or more increasing finite numbers, got {shown(list(cuts))}"
        )
    return cuts


def read_rows(path: Path, *names: str) -> list[list[str]]:
    """The texts of a comma-separated file, its header first, where the columns ``names`` are
    complete; rows are counted from 1, the header left out.

    Raises
    ------
    ValueError : what does not fit.  OSError : the file cannot be read.
    """
    if len(set(names)) < len(names):
        raise ValueError(f"columns must be different, got {', '.join(names)}")
    existing_file(path)
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            rows = list(csv.reader(stream))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{str(path)!r} is not a readable table: {error}") from None
    if len(rows) < 2:
        raise ValueError(f"{str(path)!r} has no rows below its header")
    header = rows[0]
    for name in names:
        if header.count(name) != 1:
            raise ValueError(f"{name!r} must be one column of {path.name}, got {some(header)}")
    where = [header.index(name) for name in names]
    for number, row in enumerate(rows[1:], start=1):
        if len(row) != len(header):
            raise ValueError(
                f"row {number} of {path.name} must have {len(header)} cells, got {len(row)}"
            )
        for name, k in zip(names, where, strict=True):
            if not row[k]:
                raise ValueError(f"column {name!r} must not be missing, got '' in row {number}")
    return rows


def _sorted(values: set[str]) -> list[str]:
    """As numbers where they are all numbers."""
    try:
        return sorted(values, key=float)
    except ValueError:
        return sorted(values)


def number(text: str, column: str, row: int) -> float:
    """A finite number of a cell."""
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise ValueError(
            f"score column {column!r} must hold finite numbers, got {text!r} in row {row}"
        )
    return value


def read_summary(path: str | Path) -> Summary:
    """Read a summary's file.

    Raises
    ------
    ValueError : it is none, or was altered; what is wrong is said.  OSError : it cannot be read.
    """
    path = Path(path)
    existing_file(path)

    def wrong(what: str) -> ValueError:
        return ValueError(f"{path.name} is no summary as fairfl summarize writes it: {what}")

    try:
        data = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise wrong(f"it is not JSON ({error})") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise wrong(f"format must be {FORMAT!r}")
    if data.get("version") != VERSION:
        raise wrong(f"version must be {VERSION}, got {shown(data.get('version'))}")
    if data.get("sha256") != _digest(data):
        raise wrong("it was altered after it was written: its sha256 differs")
    try:
        rows = np.array(data["counts"], dtype=float)  # null is NaN
        found = {name: data[name] for name in (*NAMES, *LIMITS)}
        found |= {name: tuple(data[name]) for name in ("labels", "groups", "edges")}
        counts = np.where(np.isnan(rows), -1, rows).astype(np.int64)
        one = Summary(**found, counts=counts, people=data["totals"]["people"])
        fits = json.loads(one.as_text()) == data
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise wrong(f"its content does not fit together ({error!r})") from None
    if not fits:
        raise wrong("its content does not fit together")
    return one


def joined(found: Sequence[Summary]) -> tuple[Array, Array, tuple[str, ...]]:
    """Counts (I, A, 2, n) of several sites, scores (n,) and names of the groups, without levels
    that nobody has; what is withheld is spread evenly over its cells.

    Raises
    ------
    ValueError : two sites have one name, or not the same edges or labels.
    """
    first = found[0]
    for k, one in enumerate(found):
        if one.site in [other.site for other in found[:k]]:
            raise ValueError(f"sites must have different names, got {one.site!r} twice")
        for name in ("edges", "labels"):
            own, agreed = (list(map(str, getattr(each, name))) for each in (one, first))
            if own != agreed:
                raise ValueError(
                    f"sites must have the same {name}: {first.site!r} has {some(agreed)}, "
                    f"{one.site!r} has {some(own)}"
                )
    groups = tuple(_sorted({name for one in found for name in one.groups}))
    counts = np.zeros((len(found), len(groups), *first.counts.shape[1:]))
    for i, one in enumerate(found):
        counts[i, [groups.index(name) for name in one.groups]] = _spread(one)
    some_ = counts.sum(axis=(0, 1, 2)) > 0
    return counts[..., some_], first.scores[some_], groups


def _spread(one: Summary) -> Array:
    """The counts, what is withheld given to its cells evenly, in whole people."""
    counts, hidden = one.counts.copy(), np.flatnonzero(one.withheld)
    if hidden.size:
        left = one.people - int(counts[counts >= 0].sum())
        each, more = divmod(left, hidden.size)
        counts.flat[hidden] = each + (np.arange(hidden.size) < more)
    return counts
