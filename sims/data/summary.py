"""Summaries of a site: people counted by group, label and level of the score, as JSON; no row.

It needs numpy and the standard library alone. Counts from 1 to ``min_cell`` - 1 can be withheld:
then the number of people is the only total in the file, and more counts are withheld where it would
give one away (complementary suppression). Or every count gets two-sided geometric noise (Ghosh,
Roughgarden and Sundararajan, 2012), which is ``epsilon``-differentially private. Or every count is
the nearest multiple of ``rounded_to``, as statistical offices publish.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from fairfl._support import checks
from fairfl._support.checks import Array, in_range, instance, listed, shown, single, whole
from fairfl._support.json_file import list_of, read_json, sealed, unsealed
from fairfl.sims.data import altered_counts
from fairfl.sims.data.table_file import PLAIN, Form, Table, read_table

FORMAT, VERSION, WITH_WEIGHTS = "fairfl-summary", 3, 4
NAMES = ("site", "score", "label", "labels", "group", "groups", "edges")
LIMITS = ("min_cell", "epsilon")
"""Names of fields in the file, before and after the counts."""
MARK = "fairfl_summary"
"""First column of a summary that SQL counted: the names, edges and rounding, as JSON."""
MOST_LIMIT = 2**31
"""Largest ``min_cell``, ``epsilon`` and ``rounded_to``."""


@dataclass(frozen=True)
class Summary:
    """One site's counts.

    Attributes
    ----------
    site : its name.  score, label, group : names of columns; of several scores all their names.
    labels : the two values, of which the second is y = 1.  groups : names.
    edges : (n + 1,) increasing: level k holds scores from edges[k] to below edges[k + 1], the last
        level its upper edge too; () of a score that is a name. Of several scores edges for each:
        their levels are crossed, those of the last score next to each other.
    counts : (A, 2, n) people by group, label and level; -1 where withheld.
    people : their number.
    min_cell : counts from 1 to below this are withheld, and others with them; 0: none are.
    epsilon : of the noise in ``counts`` and in their sum ``people``; None: there is none.
    names : (n,) of a score that is a name, the levels; () of numbers.
    rounded_to : every count is a multiple of it, and ``people`` their sum; 1: nothing was rounded.
    weights : (2, A, 2, n) sums of the people's weights and of their squares; None: they have none.
    left_out : which rows of the table are not counted, in words; not in the file.
    """

    site: str
    score: str | tuple[str, ...]
    label: str
    labels: tuple[str, str]
    group: str
    groups: tuple[str, ...]
    edges: tuple[float, ...] | tuple[tuple[float, ...], ...]
    counts: Array
    people: int
    min_cell: int = 0
    epsilon: float | None = None
    names: tuple[str, ...] = ()
    left_out: str = ""
    weights: Array | None = None
    rounded_to: int = 1

    def __post_init__(self) -> None:
        if not self.names:
            grid_of(self.score, self.edges)
        elif self.edges or len({str(name) for name in self.names}) < len(self.names):
            raise ValueError(
                f"names must be different, and without edges, got {shown(list(self.names))}"
            )
        shape = len(self.groups), len(self.labels), len(self.names) or prod(self.levels)
        if self.counts.shape != shape or len(self.labels) != 2:
            raise ValueError(f"counts must have shape {shape}, got {self.counts.shape}")
        fewest, largest = self.ranges.sum(axis=(1, 2, 3))
        if not 0 < fewest <= self.people <= largest:
            raise ValueError(f"people must be the sum of counts, got {self.people}")
        if (
            self.counts[~self.withheld] % whole("rounded_to", self.rounded_to, 1, MOST_LIMIT)
        ).any():
            raise ValueError(f"counts must be multiples of rounded_to, {self.rounded_to}")

    @property
    def withheld(self) -> Any:
        """(A, 2, n) bool."""
        return self.counts < 0

    @property
    def grid(self) -> tuple[tuple[float, ...], ...]:
        """The edges of each score."""
        return grid_of(self.score, self.edges)

    @property
    def levels(self) -> tuple[int, ...]:
        """How many levels each score has."""
        return tuple(len(edges) - 1 for edges in self.grid)

    @property
    def scores(self) -> Array:
        """(n,) the middle of each level of one score, and 0, 1, ... of several."""
        if len(self.grid) > 1:
            return np.arange(float(prod(self.levels)))
        edges = np.array([*self.grid][0])
        return (edges[:-1] + edges[1:]) / 2

    @property
    def ranges(self) -> Array:
        """(2, A, 2, n) the smallest and the largest that each count can be."""
        m, total = int(self.withheld.sum()), self.people - int(self.counts[~self.withheld].sum())
        small = total <= (m - 1) * (self.min_cell - 1) + 1  # else larger counts may be withheld too
        largest = self.min_cell - 1 if small else total - m + 1
        return np.stack([np.where(self.withheld, end, self.counts) for end in (1, largest)])

    @property
    def noise_words(self) -> str:
        """What was done to every count; "" if nothing."""
        rounding = f"are rounded to multiples of {self.rounded_to}" * (self.rounded_to > 1)
        return rounding or (
            "" if self.epsilon is None else f"have noise (epsilon = {self.epsilon:g})"
        )

    def _check_plain(self) -> None:
        if self.min_cell or self.epsilon is not None or self.rounded_to > 1:
            raise ValueError("counts have been withheld, or have noise, already")
        if self.weights is not None:
            raise ValueError("no count can be withheld or have noise beside the sums of weights")

    def noised(self, epsilon: float) -> Summary:
        """With two-sided geometric noise on every count; negative ones are then corrected.

        ValueError: epsilon is not from 0.001 to 2^31, counts were altered, or nobody is left.
        """
        in_range("epsilon", single("epsilon", epsilon), 0.001, MOST_LIMIT)
        draws = [altered_counts.exact_noise(Fraction(epsilon)) for _ in self.counts.flat]
        noisy = self.counts + np.reshape(draws, self.counts.shape)
        return self._altered(noisy, epsilon=float(epsilon))

    def rounded(self, base: int) -> Summary:
        """With every count at the nearest multiple of ``base``; ValueError as of ``noised``."""
        whole("rounded_to", base, 2, MOST_LIMIT)
        return self._altered(altered_counts.rounded(self.counts, base), rounded_to=base)

    def _altered(self, counts: Array, **limit: Any) -> Summary:
        self._check_plain()
        people = int(counts.sum())
        if people < 1:
            ((name, value),) = limit.items()
            few = f"site {self.site!r} has too few people for {name} = {value:g}"
            raise ValueError(f"{few}: none are left")
        return replace(self, counts=altered_counts.nonnegative(counts), people=people, **limit)

    def suppressed(self, min_cell: int) -> Summary:
        """Without counts from 1 to ``min_cell`` - 1, and without those that would reveal one.

        Let m counts with the sum R be withheld, which follows from the number of people, and k =
        ``min_cell``. Where k + m - 1 <= R <= (m - 1)(k - 1) + 1, the small ones are enough: if one
        is v, others from 1 to k - 1 have the sum R - v, for every v from 1 to k - 1. Else larger
        counts are drawn, each with a chance in proportion to 1/count, until R >= 2k + m - 3 and R
        >= (m - 1)(k - 1) + 2. Then one count can be v, one R - v - (m - 2) >= k, and the rest 1:
        without the large one their sum is below both bounds, so that it, too, may have been drawn.
        ValueError: counts have been withheld already, or there are too few larger counts.
        """
        k = whole("min_cell", min_cell, 2, MOST_LIMIT)
        self._check_plain()
        hidden = (self.counts > 0) & (self.counts < k)
        m, total = int(hidden.sum()), int(self.counts[hidden].sum())
        enough = m == 0 or k + m - 1 <= total <= (m - 1) * (k - 1) + 1
        while not enough and total < max(2 * k + m - 3, (m - 1) * (k - 1) + 2):
            large = np.flatnonzero((self.counts >= k) & ~hidden)
            if not large.size:
                raise ValueError(
                    f"site {self.site!r} has too few people to withhold counts below {k}: "
                    "its number of people would give a count away; use fewer levels"
                )
            (cell,) = altered_counts.RANDOM.choices(large, (1 / self.counts.flat[large]).tolist())
            hidden.flat[cell] = True
            m, total = m + 1, total + int(self.counts.flat[cell])
        return replace(self, counts=np.where(hidden, -1, self.counts), min_cell=k)

    def as_text(self) -> str:
        """The file's content."""
        rows, totals = self.counts.astype(object), dict[str, Any](people=self.people)
        if not self.withheld.any():  # else the totals would reveal counts
            groups, labels = (self.counts.sum(axis=axes).tolist() for axes in ((1, 2), (0, 2)))
            totals["groups"] = dict(zip(self.groups, groups, strict=True))
            totals["labels"] = dict(zip(self.labels, labels, strict=True))
        rows[self.withheld] = None
        sums = [] if self.weights is None else self.weights.tolist()
        data: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION if self.weights is None else WITH_WEIGHTS,
            **{name: getattr(self, name) for name in NAMES},
            **({"names": self.names} if self.names else {}),
            "counts": rows.tolist(),
            **dict(zip(("sums", "squares"), sums, strict=False)),
            "totals": totals,
            **{name: getattr(self, name) for name in LIMITS},
            **({"rounded_to": self.rounded_to} if self.rounded_to > 1 else {}),
        }
        return sealed(data)


def summarize(
    path: str | Path,
    *,
    score: str | Sequence[str],
    label: str,
    group: str,
    site: str,
    edges: Sequence[float] | Sequence[Sequence[float]],
    weight: str | None = None,
    people: str | None = None,
    form: Form = PLAIN,
) -> Summary:
    """Count the people of a file.

    Parameters
    ----------
    score : column of numbers from the first to the last edge, or of names, each a level; or several
        columns of numbers.  label : column of two values.  group : column of groups.
    site : the site's name.
    edges : of the levels, see :class:`Summary`; none: the score is a name.
    weight : column of the people's weights, positive numbers.  people : of how many a row is, if
        not of one.
    form : how a text file is written, which value of the label is y = 1, and whether rows with a
        missing cell are dropped.

    Raises
    ------
    ValueError : what does not fit.  OSError : the file cannot be read.
    """
    scores = score if isinstance(score, str) else tuple(score)
    grid = grid_of(scores, edges) if edges else ()
    if not site.strip():
        raise ValueError(f"site must not be empty, got {site!r}")
    columns = (scores,) if isinstance(scores, str) else scores
    roles = {"score": columns, "label": (label,), "group": (group,)}
    more = {"weight": weight, "people": people}
    roles |= {role: (column,) for role, column in more.items() if column is not None}
    table = read_table(path, form, roles)
    level, names = (_levels(table, columns, grid), ()) if grid else table.categories(columns[0])
    (y, labels), (a, groups) = table.labels(label), table.categories(group)
    n = len(names) or prod(len(cuts) - 1 for cuts in grid)
    counts = np.zeros((len(groups), 2, n), dtype=np.int64)
    persons = np.ones(len(table)) if people is None else table.numbers(people)
    if (persons < 1).any() or (persons % 1).any():
        raise ValueError(f"column {people!r} must hold whole numbers of 1 or more")
    np.add.at(counts, (a, y, level), persons.astype(np.int64))
    weights = None
    if weight is not None:
        weights = np.zeros((2, *counts.shape))
        w = checks.person_weights(f"column {weight!r}", table.numbers(weight))
        for sums, values in zip(weights, (w, w**2), strict=True):
            np.add.at(sums, (a, y, level), values)
    cuts, more = grid[0] if len(grid) == 1 else grid, {"names": names, "weights": weights}
    fields = scores, label, labels, group, groups, cuts, counts, int(counts.sum())
    return Summary(site, *fields, left_out=table.dropped, **more)


def _levels(table: Table, columns: Sequence[str], grid: Sequence[tuple[float, ...]]) -> Array:
    """The level of each row between the cuts of each score."""
    levels = []
    for column, cuts in zip(columns, grid, strict=True):
        values = table.numbers(column)
        outside = np.flatnonzero((values < cuts[0]) | (values > cuts[-1]))
        if outside.size:
            raise ValueError(
                f"score column {column!r} must be from {cuts[0]:g} to {cuts[-1]:g}, the outermost "
                f"edges, got {values[outside[0]]:g} in row {table.rows[outside[0]]} "
                "(--edges sets others)"
            )
        levels.append(np.minimum(np.searchsorted(cuts, values, side="right") - 1, len(cuts) - 2))
    shape = [len(cuts) - 1 for cuts in grid]
    return np.asarray(np.ravel_multi_index(tuple(levels), shape))


def grid_of(score: str | Sequence[str], edges: Sequence[Any]) -> tuple[tuple[float, ...], ...]:
    """The edges of each score, checked."""
    several = not isinstance(score, str)
    if several and (len(edges) != len(score) or np.ndim(edges[0]) != 1):
        raise ValueError(f"edges must be given for each of {listed(score)}, got {shown(edges)}")
    grid = tuple(tuple(map(float, cuts)) for cuts in (edges if several else (edges,)))
    for cuts in grid:
        if len(cuts) < 3 or not np.isfinite(cuts).all() or not (np.diff(cuts) > 0).all():
            raise ValueError(
                f"edges must be three or more increasing finite numbers, got {shown(list(cuts))}"
            )
    return grid


def is_counts(path: Path) -> bool:
    """Whether a file begins as such a table."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return MARK.encode() in stream.read(40)


def read_summary(path: str | Path) -> Summary:
    """A summary's file, or table of SQL; ValueError: no summary, or an altered one."""
    if is_counts(Path(path)):
        from fairfl.sims.data.summary_sql import read_counts

        return read_counts(Path(path))
    title = "summary as fairfl summarize writes it"
    data = read_json(path, title)
    try:
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise ValueError(f"format must be {FORMAT!r}")
        if (version := data.get("version")) not in (VERSION, WITH_WEIGHTS):
            raise ValueError(f"version must be {VERSION} or {WITH_WEIGHTS}, got {shown(version)}")
        content = unsealed(data)
        summary = _read(content)
        rewritten = unsealed(json.loads(summary.as_text()))
        for name in (*rewritten, *content):
            if content.get(name) != rewritten.get(name):
                must = shown(rewritten[name]) if name in rewritten else "left out"
                raise ValueError(f"{name} must be {must}, got {shown(content.get(name))}")
    except (KeyError, TypeError, ValueError) as error:
        reason = f"it has no {error}" if isinstance(error, KeyError) else error
        raise ValueError(f"{Path(path).name} is no {title}: {reason}") from None
    return summary


def _read(data: dict[str, Any]) -> Summary:
    """A summary from its file's content; null is -1."""
    fields = {name: data[name] for name in (*NAMES, *LIMITS)}
    several = isinstance(fields["score"], list)
    for name in ("site", "label", "group", *(() if several else ("score",))):
        instance(name, fields[name], str)
    lists = {"names": [], **data}
    for name in ("labels", "groups", "names"):
        fields[name] = tuple(list_of(name, lists[name], (str,), "texts"))
    if several:
        fields["score"] = tuple(list_of("score", fields["score"], (str,), "texts"))
    rows = list_of("edges", fields["edges"], (list,), "lists") if several else [fields["edges"]]
    grid = tuple(tuple(list_of("edges", row, (int, float), "numbers")) for row in rows)
    fields["edges"] = grid if several else grid[0]
    whole("min_cell", fields["min_cell"], 0, MOST_LIMIT)
    if fields["epsilon"] is not None:
        in_range("epsilon", single("epsilon", fields["epsilon"]), 0, MOST_LIMIT)
    rows = np.array(data["counts"], dtype=float)  # null is NaN
    odd = ~(np.isnan(rows) | ((rows >= 0) & (rows < 2**53) & (np.floor(rows) == rows)))
    if odd.any():
        cell = tuple(np.argwhere(odd)[0].tolist())
        raise ValueError(
            f"counts must be whole numbers of 0 or more, or null, got {rows[cell]:g} in "
            f"counts{list(cell)}"
        )
    counts = np.where(np.isnan(rows), -1, rows).astype(np.int64)
    people = whole("people", instance("totals", data["totals"], dict)["people"], 1)
    has_weights = "sums" in data
    weights = checks.weight_sums(counts, data["sums"], data["squares"]) if has_weights else None
    fields |= {"weights": weights, "rounded_to": data.get("rounded_to", 1)}
    return Summary(**fields, counts=counts, people=people)


def check_alone(summary: Summary, folder: Path) -> None:
    """Raise a ValueError where the folder has another summary of the site and of as many people, up
    to rounding, and either withholds counts: what both publish can give these away. Other counts do
    not show that the people are others, since a table may have been corrected.
    """
    for file in filter(Path.is_file, folder.glob("*.json")):
        try:
            earlier = read_summary(file)
        except (ValueError, OSError):  # it is no summary
            continue
        pair = earlier, summary
        rounding = sum(s.counts.size * (s.rounded_to // 2) for s in pair)
        is_same_size = abs(earlier.people - summary.people) <= rounding
        withheld = any(s.withheld.any() for s in pair)
        is_another = earlier.site == summary.site and earlier.as_text() != summary.as_text()
        if withheld and is_same_size and is_another:
            raise ValueError(
                f"{file} is a summary of {earlier.people:,} people of {summary.site!r}, too: of "
                "the same people both can give withheld counts away; remove it if it has not left "
                "the site, and write a summary of others into another folder"
            )
