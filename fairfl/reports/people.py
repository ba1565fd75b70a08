"""A federation from a table of people: read, groups chosen, scores merged into levels that many
people share.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fairfl._support.checks import Array, some, whole
from fairfl.reports.comparison_words import percent
from fairfl.reports.comparison_words import points as points_of
from fairfl.sims.data.tables.people import read_people
from fairfl.sims.data.tables.table import Dataset
from fairfl.theory.populations.calibration import (
    Counted,
    ScoreWarning,
    count_people,
    isotonic,
    merge_levels,
    threshold_accuracy,
)
from fairfl.theory.populations.federation import Federation

LEVELS = 100
"""The most levels of a score, unless a number is asked for."""
PEOPLE = 10
"""People a level has at least, for each client and group on average, unless a number of levels is
asked for.
"""


def read(
    path: str | Path,
    *,
    label: str,
    group: str | Sequence[str],
    client: str | None = None,
    score: str | None = None,
    features: Sequence[str] | None = None,
    group_pair: str | None = None,
    levels: int | None = None,
    calibrate: str = "shared",
    blind: bool = False,
    unseen: bool = False,
) -> tuple[Federation, list[str], Counted]:
    """Read a CSV or Parquet file as a federation; what was done to the table, in
    words; its people.

    Parameters
    ----------
    path, score, label, group, client, features, blind : see
        :func:`fairfl.sims.data.tables.people.read_people`; without a score one is made from the
        features, by ``cross_fitted_score``.
    group_pair : "A,B", the two groups to keep where there are more.
    unseen : rules will not see the group; a note is made if the score does.
    levels : merge scores, where there are more, into so many levels at most, each of a like share
        of the people or more; 0: keep every score. By default each of a hundredth of the people or
        more, and of 10 for each client and group on average. What is lost is the least, and said:
        see :func:`fairfl.theory.populations.calibration.merge_levels`, and at the top of its file
        why levels are merged.
    calibrate : see :meth:`Federation.from_samples`; what it warns of is among the notes.

    Raises
    ------
    ValueError : what does not fit.  OSError : the file cannot be read.  RuntimeError : no score
        could be fitted.
    """
    if levels is not None:
        whole("levels", levels, 0)
    data = read_people(
        path, score=score, label=label, group=group, client=client, features=features, blind=blind
    )
    x, source = _score(data, Path(path).name)
    kept, notes = _chosen(data, group_pair)
    groups, clients = (len(np.unique(codes[kept])) for codes in (data.group, data.client))
    x, told = _merged(x[kept], data.label[kept], groups * clients, levels)
    people = count_people(x, data.label[kept], data.group[kept], data.client[kept], calibrate)
    with warnings.catch_warnings(record=True) as odd:
        warnings.simplefilter("always", ScoreWarning)
        federation = Federation.from_counts(people.counts, people.points, calibrate=calibrate)
    federation.groups = tuple(data.group_names[code] for code in people.groups)
    federation.client_names = tuple(data.client_names[code] for code in people.clients)
    lines = [
        f"{people.people:,} people; score: {source}; {told}.",
        *notes,
        f"y = 1 stands for {label} = {data.label_names[1]}; accuracies count the fitted P(y = 1 "
        "| x).",
        *_warned(data, federation, unseen),
        *(f"Warning: {warning.message}." for warning in odd),
    ]
    return federation, lines, people


def _warned(data: Dataset, federation: Federation, unseen: bool) -> list[str]:
    """Clients that no local constraint binds, and a score that tells the group to rules that are
    not to see it.
    """
    lines = []
    lonely = [
        name for name, ok in zip(federation.client_names, federation.defined, strict=True) if not ok
    ]
    if lonely and federation.n_groups == 2:
        lines.append(
            "Without people of both groups, and so bound by no local constraint: "
            f"{', '.join(lonely)}."
        )
    elif lonely:
        lines.append(f"Clients without people of some of the groups: {some(lonely)}.")
    made_of = set(data.columns["group"]) & set(data.columns["features"])
    if unseen and made_of:
        lines.append(
            f"The score is made of {', '.join(sorted(made_of))} too, and so tells rules that do "
            "not see the group something of it: --blind."
        )
    return lines


def _score(data: Dataset, file: str) -> tuple[Array, str]:
    """The score of all people, and where it is from: a column, or a model of the features, with a
    fixed seed.
    """
    if "score" in data.columns:
        return data.features[:, 0], f"column {data.columns['score'][0]!r}"
    # not needed where the table has a score
    from fairfl.sims.data.tables.score import cross_fitted_score

    try:
        score = cross_fitted_score(data.features, data.label, group=data.group, client=data.client)
    except ValueError as error:
        raise ValueError(
            f"no score can be made from the {len(data)} rows of {file}: {error}"
        ) from error
    return (
        score,
        f"logistic regression on {', '.join(data.columns['features'])}, 5-fold cross-fitted "
        "(seed 0)",
    )


def _chosen(data: Dataset, pair: str | None) -> tuple[np.ndarray, list[str]]:
    """Which rows to keep, and what to say about the others."""
    names = data.group_names
    if pair is None:
        return np.ones(len(data), bool), []
    cuts = [k for k, sign in enumerate(pair) if sign == ","]
    splits = [(pair[:k].strip(), pair[k + 1 :].strip()) for k in cuts]  # a name may hold commas
    fits = [
        split
        for split in splits
        if split[0] in names and split[1] in names and split[0] != split[1]
    ]
    if not fits:
        raise ValueError(
            f"--group-pair must be two of {some(names)} with a comma between, got {pair!r}"
        )
    kept = np.isin(data.group, [names.index(name) for name in fits[0]])
    out = len(data) - int(kept.sum())
    return kept, [f"{out:,} people of other groups are left out."] if out else []


def _merged(score: Array, label: np.ndarray, cells: int, asked: int | None) -> tuple[Array, str]:
    """Scores with those of one level replaced by their mean, and what to say of it; ``cells``:
    clients times groups.
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
    if size.size == points.size:
        return score, f"{points.size} distinct scores, none merged"
    mean = np.bincount(code, points * counts) / size
    if (np.diff(mean) <= 0).any():  # scores so close that their means round together
        mean = np.arange(size.size, dtype=np.float64)
    before, after = threshold_accuracy(positives, counts), threshold_accuracy(labels, size)
    told = (
        f"{points.size:,} distinct scores merged into {size.size} levels of {int(size.min())} "
        f"people or more (--levels 0 keeps all). Merging cost {points_of(abs(before - after))} "
        f"of accuracy: the best threshold of the score is right for {percent(before)} of these "
        f"people, of the levels for {percent(after)}"
    )
    return mean[code][where], told
