"""Summaries of a site: people counted by group, label and level of the score, as JSON; no row.

It needs numpy and the standard library alone, so that a site can run it where little is installed.
Counts from 1 to ``min_cell`` - 1 can be withheld: then of the totals the number of people alone is
given, and more counts are withheld where it would give one away (complementary suppression). Or
every count gets two-sided geometric noise (Ghosh, Roughgarden and Sundararajan, 2012), which keeps
``epsilon``-differential privacy: one person more or less changes one count by one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from fairfl._support.checks import Array, existing_file, shown, some, whole
from fairfl.sims.data.table_file import PLAIN, Form, Table, ordered, read_table, whole_number

FORMAT, VERSION = "fairfl-summary", 2
NAMES = ("site", "score", "label", "labels", "group", "groups", "edges")
LIMITS = ("min_cell", "complemented", "epsilon")
"""Names of fields in the file, before and after the counts."""


@dataclass(frozen=True)
class Summary:
    """One site's counts.

    Attributes
    ----------
    site : its name.  score, label, group : names of columns.
    labels : the two values, of which the second is y = 1.  groups : names.
    edges : (n + 1,) increasing: level k holds scores from edges[k] to below edges[k + 1], the last
        level its upper edge too; () of a score that is a name.
    counts : (A, 2, n) people by group, label and level; -1 where withheld.
    people : how many in all.
    min_cell : counts from 1 to below this are withheld; 0: none are.
    complemented : whether a count of ``min_cell`` or more is withheld with them.
    epsilon : of the noise in ``counts`` and in their sum ``people``; None: there is none.
    names : (n,) of a score that is a name, the levels; () of numbers.
    left_out : which rows of the table are not counted, in words; not in the file.
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
    epsilon: float | None = None
    names: tuple[str, ...] = ()
    left_out: str = ""

    def __post_init__(self) -> None:
        if not self.names:
            _edges(self.edges)
        elif self.edges or len({str(name) for name in self.names}) < len(self.names):
            raise ValueError(
                f"names must be different, and without edges, got {shown(list(self.names))}"
            )
        shape = len(self.groups), len(self.labels), len(self.names or self.edges[1:])
        if self.counts.shape != shape or len(self.labels) != 2:
            raise ValueError(f"counts must have shape {shape}, got {self.counts.shape}")
        least, most = self.ranges.sum(axis=(1, 2, 3))
        if not 0 < least <= self.people <= most:
            raise ValueError(f"people must be the sum of counts, got {self.people}")

    @property
    def withheld(self) -> Any:
        """(A, 2, n) bool."""
        return self.counts < 0

    @property
    def scores(self) -> Array:
        """(n,) the middle of each level of numbers."""
        edges = np.array(self.edges)
        return (edges[:-1] + edges[1:]) / 2

    @property
    def ranges(self) -> Array:
        """(2, A, 2, n) the smallest and the largest that each count can be."""
        m, known = int(self.withheld.sum()), self.counts[~self.withheld].sum()
        most = self.people - known - m + 1 if self.complemented else self.min_cell - 1
        return np.stack([np.where(self.withheld, end, self.counts) for end in (1, most)])

    def noised(self, epsilon: float) -> Summary:
        """With two-sided geometric noise on every count, from the operating system's randomness.

        Negative counts are then mended by :func:`nonnegative`, which needs nothing but them.

        Raises
        ------
        ValueError : epsilon is below 0.001, counts were withheld or have noise, or with the noise
            no people are left.
        """
        if not 0.001 <= epsilon < np.inf:
            raise ValueError(f"epsilon must be a number of at least 0.001, got {epsilon:g}")
        if self.min_cell or self.epsilon is not None:
            raise ValueError("counts have been withheld, or have noise, already")
        noisy = self.counts + noise(epsilon, self.counts.shape, np.random.default_rng())
        if noisy.sum() < 1:
            raise ValueError(
                f"site {self.site!r} has too few people for epsilon {epsilon:g}: with the noise "
                "none are left"
            )
        people = int(noisy.sum())
        return replace(self, counts=nonnegative(noisy), people=people, epsilon=float(epsilon))

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
        if self.min_cell or self.epsilon is not None:
            raise ValueError("counts have been withheld, or have noise, already")
        small = (self.counts > 0) & (self.counts < min_cell)
        total, m = int(self.counts[small].sum()), int(small.sum())
        more = m > 0 and (m == 1 or total in (m, m * (min_cell - 1)))
        if more:
            large = np.where(self.counts >= min_cell, self.counts, np.inf)
            if not np.isfinite(large).any():
                raise ValueError(
                    f"site {self.site!r} has too few people to withhold counts below {min_cell}: "
                    "its number of people would give a count away; use fewer levels"
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
            **({"names": self.names} if self.names else {}),
            "counts": rows.tolist(),
            "totals": totals,
            **{name: getattr(self, name) for name in LIMITS},
        }
        data["sha256"] = _digest(data)
        return json.dumps(data, indent=1) + "\n"


def noise(epsilon: float, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Whole numbers k with probabilities in proportion to exp(-``epsilon`` |k|)."""
    one, other = rng.geometric(-np.expm1(-epsilon), (2, *shape))
    return one - other


def nonnegative(counts: Array) -> Array:
    """The nearest whole counts of 0 or more with the same sum, which is at least 0: as much as the
    negative ones lack is taken from the others, the same from each that has it.
    """
    total, low, high = counts.sum(), 0, int(counts.max())
    while low < high:  # the least that is enough
        middle = (low + high) // 2
        enough = np.maximum(counts - middle, 0).sum() <= total
        low, high = (low, middle) if enough else (middle + 1, high)
    out = np.maximum(counts - low, 0)
    back = np.flatnonzero(counts >= low)[: total - out.sum()] if low else []
    out.flat[back] += 1
    return out


def _digest(data: dict[str, Any]) -> str:
    """SHA-256 of all other fields. It finds accidents, not forgery."""
    rest = {name: value for name, value in data.items() if name != "sha256"}
    return sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def summarize(
    path: str | Path,
    *,
    score: str,
    label: str,
    group: str,
    site: str,
    edges: Sequence[float],
    form: Form = PLAIN,
) -> Summary:
    """Count the people of a file.

    Parameters
    ----------
    score : column of numbers from the first to the last edge, or of names, each a level.  label :
        column of two values.  group : column of groups.
    site : the site's name.
    edges : of the levels, see :class:`Summary`; none: the score is a name.
    form : how a text file is written, which value of the label is y = 1, and what becomes of rows
        with a missing cell.

    Raises
    ------
    ValueError : what does not fit.  OSError : the file cannot be read.
    """
    cuts = _edges(edges) if edges else ()
    if not site.strip():
        raise ValueError(f"site must not be empty, got {site!r}")
    roles = {"score": (score,), "label": (label,), "group": (group,)}
    table = read_table(path, form, roles)
    level, names = _levels(table, score, cuts) if cuts else table.categories(score)
    (y, labels), (a, groups) = table.labels(label), table.categories(group)
    counts = np.zeros((len(groups), 2, len(names or cuts[1:])), dtype=np.int64)
    np.add.at(counts, (a, y, level), 1)
    roles = site, score, label, labels, group, groups
    return Summary(*roles, cuts, counts, len(table), names=names, left_out=table.dropped)


def _levels(table: Table, score: str, cuts: tuple[float, ...]) -> tuple[Array, tuple[str, ...]]:
    """The level of each row between the cuts."""
    values = table.numbers(score)
    out = np.flatnonzero((values < cuts[0]) | (values > cuts[-1]))
    if out.size:
        raise ValueError(
            f"score column {score!r} must be from {cuts[0]:g} to {cuts[-1]:g}, the outermost "
            f"edges, got {values[out[0]]:g} in row {table.rows[out[0]]} (--edges sets others)"
        )
    return np.minimum(np.searchsorted(cuts, values, side="right") - 1, len(cuts) - 2), ()


def _edges(edges: Sequence[float]) -> tuple[float, ...]:
    cuts = tuple(map(float, edges))
    if len(cuts) < 3 or not np.isfinite(cuts).all() or not (np.diff(cuts) > 0).all():
        raise ValueError(
            f"edges must be three or more increasing finite numbers, got {shown(list(cuts))}"
        )
    return cuts


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

    content = path.read_bytes()
    try:
        data = json.loads(content)
    except ValueError as error:
        what = "it is compressed" if content[:2] == b"\x1f\x8b" else f"it is not JSON ({error})"
        raise wrong(what) from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise wrong(f"format must be {FORMAT!r}")
    if data.get("version") != VERSION:
        raise wrong(f"version must be {VERSION}, got {shown(data.get('version'))}")
    try:
        one = _read(data)
        again = json.loads(one.as_text())
    except KeyError as error:
        raise wrong(f"it has no {error}") from None
    except (TypeError, ValueError) as error:
        raise wrong(f"{error}") from None
    for name, value in again.items():
        if name != "sha256" and data[name] != value:
            raise wrong(f"{name} must be {shown(value)}, got {shown(data[name])}")
    if data != again:
        raise wrong("it was altered after it was written: its sha256 differs")
    return one


def _read(data: dict[str, Any]) -> Summary:
    """A summary from its file's content; null is -1."""
    found = {name: data[name] for name in (*NAMES, *LIMITS)}
    found |= {name: tuple(data[name]) for name in ("labels", "groups", "edges")}
    rows = np.array(data["counts"], dtype=float)  # null is NaN
    odd = ~(np.isnan(rows) | ((rows >= 0) & (rows < 2**53) & (np.floor(rows) == rows)))
    if odd.any():
        at = tuple(np.argwhere(odd)[0].tolist())
        raise ValueError(
            f"counts must be whole numbers of 0 or more, or null, got {rows[at]:g} in "
            f"counts{list(at)}"
        )
    counts = np.where(np.isnan(rows), -1, rows).astype(np.int64)
    people = whole("people", data["totals"]["people"], 1)
    return Summary(**found, counts=counts, people=people, names=tuple(data.get("names", ())))


def joined(found: Sequence[Summary]) -> tuple[Array, Array, tuple[str, ...], tuple[str, ...]]:
    """Counts (3, I, A, 2, n) of several sites, scores (n,), names of the groups and of the scores,
    if they have any, without levels that nobody has: what is withheld spread evenly over its cells,
    the least and the most that it can be. Scores that are names are in the order of their shares of
    y = 1.

    Raises
    ------
    ValueError : two sites have one name, not the same edges or labels, or no group in common.
    """
    first = found[0]
    for k, one in enumerate(found):
        if one.site in [other.site for other in found[:k]]:
            raise ValueError(f"sites must have different names, got {one.site!r} twice")
        for name in ("edges", "labels"):
            own, agreed = ([*map(whole_number, getattr(v, name))] or ["no"] for v in (one, first))
            if own != agreed:
                raise ValueError(
                    f"sites must have the same {name}: {first.site!r} has {some(agreed)}, "
                    f"{one.site!r} has {some(own)}"
                )
        if not {*one.groups} & {*first.groups} and min(len(one.groups), len(first.groups)) > 1:
            raise ValueError(
                f"sites must name groups alike: {first.site!r} has {some(first.groups)}, "
                f"{one.site!r} has {some(one.groups)}"
            )
    groups = ordered({name for one in found for name in one.groups})
    if len(groups) < 2:
        raise ValueError(f"summaries must hold two groups or more, got {some(groups)} alone")
    names = ordered({name for one in found for name in one.names})
    n = len(names or first.scores)
    counts = np.zeros((3, len(found), len(groups), 2, n))
    for i, one in enumerate(found):
        own = [groups.index(name) for name in one.groups]
        at = [names.index(name) for name in one.names] or range(n)
        cells = np.ix_(range(3), [i], own, range(2), at)
        counts[cells] = np.stack([_spread(one), *one.ranges])[:, None]
    size = counts[0].sum(axis=(0, 1, 2))
    if not names:
        return counts[..., size > 0], first.scores[size > 0], groups, ()
    share = counts[0][:, :, 1].sum(axis=(0, 1)) / np.maximum(size, 1)
    order = [int(k) for k in np.argsort(share, kind="stable") if size[k] > 0]
    return counts[..., order], np.arange(len(order)), groups, tuple(names[k] for k in order)


def _spread(one: Summary) -> Array:
    """The counts, what is withheld given to its cells evenly, in whole people."""
    counts, hidden = one.counts.copy(), np.flatnonzero(one.withheld)
    if hidden.size:
        left = one.people - int(counts[counts >= 0].sum())
        each, more = divmod(left, hidden.size)
        counts.flat[hidden] = each + (np.arange(hidden.size) < more)
    return counts
