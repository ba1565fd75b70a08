"""Summaries of several sites, joined into counts of one federation."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from fairfl._support.checks import Array, listed, one_of, shown
from fairfl.sims.data.summary import Summary, read_summary
from fairfl.sims.data.table_file import ordered, spelling
from fairfl.theory.populations.calibration import AUTO, CALIBRATIONS, Counted
from fairfl.theory.populations.cells import Cells


def read_summaries(paths: Sequence[str | Path]) -> list[Summary]:
    """The summaries in files, one or more; see ``read_summary``."""
    if isinstance(paths, (str, Path)) or not len(paths):
        raise ValueError(f"paths must be those of one summary or more, got {shown(paths)}")
    return [read_summary(path) for path in paths]


def people_of(
    summaries: Sequence[Summary], calibrate: str = AUTO, *, counts_labels: bool = False
) -> Counted:
    """The people of several sites; ``counts_labels``: calibrated by group at least."""
    one_of("calibrate", calibrate, (AUTO, *CALIBRATIONS))
    (counts, *tables), points, groups, names = joined(summaries)
    first, cells, cuts = summaries[0], None, None
    if not names and len(first.grid) > 1:
        cells = Cells.grid(first.grid, first.score)
    elif not names:
        shared = np.isin(first.scores, points)
        edges = np.array(first.edges[:-1])[shared]
        cuts = np.nextafter(edges[1:], -np.inf)  # of the upper level
    sites = tuple(summary.site for summary in summaries)
    limits = [(np.inf if s.epsilon is None else s.epsilon, s.rounded_to) for s in summaries]
    noise = np.array(limits)
    people = Counted(
        points, counts, groups, sites, calibrate, None, cuts, names, None, noise, cells=cells
    )
    if first.weights is not None:
        people = people.with_weights(*tables)
    people = people.calibrated(counts_labels=counts_labels)
    if any(summary.withheld.any() for summary in summaries):
        people = replace(people, ranges=np.array(tables))
    return people


def joined(summaries: Sequence[Summary]) -> tuple[Array, Array, tuple[str, ...], tuple[str, ...]]:
    """Counts (3, I, A, 2, n) of several sites, scores (n,), names of the groups and of the scores,
    if they have any, without levels that nobody has. The three counts have the withheld people
    spread evenly over their cells, and each cell at its smallest and at its largest; or they are
    counts, sums of weights and of squares. Named scores are in the order of their shares of y = 1.
    ValueError: two sites have one name, not the same edges or labels, or no group in common.
    """
    first = summaries[0]
    for k, summary in enumerate(summaries):
        if summary.site in [earlier.site for earlier in summaries[:k]]:
            raise ValueError(f"sites must have different names, got {summary.site!r} twice")
        for name in ("edges", "labels"):
            values, agreed = (
                [*map(spelling, getattr(v, name))] or ["no"] for v in (summary, first)
            )
            if values != agreed:
                raise ValueError(
                    f"sites must have the same {name}: {first.site!r} has {listed(agreed)}, "
                    f"{summary.site!r} has {listed(values)}"
                )
        if (summary.weights is None) != (first.weights is None):
            raise ValueError(f"of {first.site!r} and {summary.site!r} one has weights of people")
        n_groups = min(len(summary.groups), len(first.groups))
        if n_groups > 1 and not {*summary.groups} & {*first.groups}:
            raise ValueError(
                f"sites must name groups alike: {first.site!r} has {listed(first.groups)}, "
                f"{summary.site!r} has {listed(summary.groups)}"
            )
    groups = ordered({name for summary in summaries for name in summary.groups})
    if len(groups) < 2:
        raise ValueError(f"summaries must hold two groups or more, got {listed(groups)} alone")
    names = ordered({name for summary in summaries for name in summary.names})
    n = len(names or first.scores)
    counts = np.zeros((3, len(summaries), len(groups), 2, n))
    for i, summary in enumerate(summaries):
        group_rows = [groups.index(name) for name in summary.groups]
        score_rows = [names.index(name) for name in summary.names] or range(n)
        cells = np.ix_(range(3), [i], group_rows, range(2), score_rows)
        tables = summary.ranges if summary.weights is None else summary.weights
        counts[cells] = np.stack([_spread(summary), *tables])[:, None]
    size = counts[0].sum(axis=(0, 1, 2))
    if not names:
        occupied = size > 0 if len(first.grid) == 1 else slice(None)  # of several, cells are a grid
        return counts[..., occupied], first.scores[occupied], groups, ()
    share = counts[0][:, :, 1].sum(axis=(0, 1)) / np.maximum(size, 1)
    order = [int(k) for k in np.argsort(share, kind="stable") if size[k] > 0]
    return counts[..., order], np.arange(len(order)), groups, tuple(names[k] for k in order)


def _spread(summary: Summary) -> Array:
    """The counts, with the withheld people spread evenly over their cells, in whole people."""
    counts, hidden = summary.counts.copy(), np.flatnonzero(summary.withheld)
    if hidden.size:
        hidden_people = summary.people - int(counts[counts >= 0].sum())
        share, extra = divmod(hidden_people, hidden.size)
        counts.flat[hidden] = share + (np.arange(hidden.size) < extra)
    return counts
