"""A federation from a table of people: read, two groups chosen, scores merged into levels that many people share."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fairfl._support.checks import Array, whole
from fairfl.reports.price import percent
from fairfl.reports.price import points as points_of
from fairfl.reports.sampling import Sample
from fairfl.sims.data.tables.csv import Samples, read_samples
from fairfl.theory.populations.calibration import ScoreWarning, count_people, isotonic, merge_levels, threshold_accuracy
from fairfl.theory.populations.federation import Federation

LEVELS = 100
"""The most levels of a score, unless a number is asked for."""
PEOPLE = 10
"""People a level has at least, for each client and group on average, unless a number of levels is asked for."""


@dataclass(frozen=True)
class People:
    """A federation of people, and what to call its parts.

    Attributes
    ----------
    federation : see :meth:`Federation.from_samples`.
    groups, clients : names, in the federation's order.
    notes : what was done to the table, in words.
    sample : the people that the federation was made of; None for laws.
    """

    federation: Federation
    groups: tuple[str, str]
    clients: tuple[str, ...]
    notes: tuple[str, ...]
    sample: Sample | None = None


def read_people(
    path: str | Path,
    *,
    score: str | None,
    label: str,
    group: str,
    client: str | None,
    features: Sequence[str] | None = None,
    group_pair: str | None = None,
    levels: int | None = None,
    calibrate: str = "shared",
    blind: bool = False,
) -> People:
    """Read a CSV or Parquet file as a federation of two groups.

    Parameters
    ----------
    path, score, label, group, client, features : see :func:`fairfl.sims.data.tables.csv.read_samples`.
    group_pair : "A,B", the two groups to keep where the column has more.
    levels : merge scores, where there are more, into so many levels at most, each of a like share of the people or
        more; 0: keep every score. By default each of a hundredth of the people or more, and of 10 for each client and
        group on average. What is lost is the least, and said: see
        :func:`fairfl.theory.populations.calibration.merge_levels`, and at the top of its file why levels are merged.
    calibrate : see :meth:`Federation.from_samples`; what it warns of is among the notes.
    blind : do not make the score from the group.

    Raises
    ------
    ValueError : what does not fit.  OSError : the file cannot be read.  RuntimeError : no score could be fitted.
    """
    if levels is not None:
        whole("levels", levels, 0)
    samples = read_samples(path, score, label=label, group=group, client=client, features=features, blind=blind)
    kept, notes = _two_groups(samples, group, group_pair)
    x, told = _merged(samples.score[kept], samples.label[kept], 2 * len(np.unique(samples.client[kept])), levels)
    table = count_people(x, samples.label[kept], samples.group[kept], samples.client[kept])
    sample = Sample(table.counts, table.points, calibrate)
    with warnings.catch_warnings(record=True) as odd:
        warnings.simplefilter("always", ScoreWarning)
        federation = Federation.from_counts(table.counts, table.points, calibrate=calibrate)
    first, second = (samples.group_names[code] for code in table.groups)
    clients = tuple(samples.client_names[code] for code in table.clients)
    lines = [f"{sample.people:,} people; score: {samples.score_source}; {told}.", *notes]
    lines.append(f"y = 1 stands for {label} = {samples.label_names[1]}; accuracies count the fitted P(y = 1 | x).")
    lonely = [name for name, ok in zip(clients, federation.defined, strict=True) if not ok]
    if lonely:
        lines.append(f"Without people of both groups, and so bound by no local constraint: {', '.join(lonely)}.")
    lines += [f"Warning: {warning.message}." for warning in odd]
    return People(federation, (first, second), clients, tuple(lines), sample)


def _two_groups(samples: Samples, column: str, pair: str | None) -> tuple[np.ndarray, list[str]]:
    """Which rows to keep, and what to say about the others."""
    names = samples.group_names
    if pair is None:
        if len(names) > 2:
            raise ValueError(
                f"two groups are needed, column {column!r} has {len(names)}: {_some(names)}; "
                "choose two with --group-pair A,B"
            )
        return np.ones(len(samples), bool), []
    cuts = [k for k, sign in enumerate(pair) if sign == ","]
    splits = [(pair[:k].strip(), pair[k + 1 :].strip()) for k in cuts]  # a name may hold commas
    fits = [split for split in splits if split[0] in names and split[1] in names and split[0] != split[1]]
    if not fits:
        raise ValueError(f"--group-pair must be two of {_some(names)} with a comma between, got {pair!r}")
    codes = [names.index(name) for name in fits[0]]
    kept = np.isin(samples.group, codes)
    out = len(samples) - int(kept.sum())
    return kept, [f"{out:,} people of other groups are left out."] if out else []


def _merged(score: Array, label: np.ndarray, cells: int, asked: int | None) -> tuple[Array, str]:
    """Scores with those of one level replaced by their mean, and what to say of it; ``cells``: clients times groups."""
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
    if size.size == points.size:
        return score, f"{points.size} distinct scores, none merged"
    mean = np.bincount(code, points * counts) / size
    if (np.diff(mean) <= 0).any():  # scores so close that their means round together
        mean = np.arange(size.size, dtype=np.float64)
    before, after = threshold_accuracy(positives, counts), threshold_accuracy(labels, size)
    told = (
        f"{points.size:,} distinct scores merged into {size.size} levels of {int(size.min())} people or more "
        f"(--levels 0 keeps all). Merging cost {points_of(abs(before - after))} of accuracy: the best threshold of the "
        f"score is right for {percent(before)} of these people, of the levels for {percent(after)}"
    )
    return mean[code][where], told


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:12]) + (f", ... ({len(names)} in all)" if len(names) > 12 else "")
