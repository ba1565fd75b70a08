"""Levels of a score: neighbouring scores merged until many people share each, at the least loss.

A classifier f(x, a) does not see the client. Where every person has a different score, x identifies
the person and with that the client, and η is fitted to single labels; levels that many people share
avoid both. Of README's law with the raw x (30,000 people, LFT+FedAvg with budget .02, which reaches
.695) the accuracy is .730 with a level for each person, .701 with 10 people for each client and
group in a level, and .698 with 100 levels.
"""

from dataclasses import dataclass

import numpy as np

from fairfl._support.checks import Array
from fairfl.theory.numerics.isotonic import isotonic

LEVELS = 100
"""Largest number of levels of a score, unless a number is asked for."""
PEOPLE = 10
"""Least number of people in a level by default, for each client and group on average."""
PARTS = 64
"""Scores of one isotonic block are first merged into parts of 1/64 of a level's people."""
FINER = 1e-9
"""Value of one more level, in Brier loss per person. It decides between merges of equal loss."""


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
            f"{100 * self.before:.2f} % of these people, of the levels for {100 * self.after:.2f} %"
        )


def merge_levels(eta: Array, counts: Array, min_people: float) -> Array:
    """The level 0, 1, ... of each distinct score (n,) of ``counts`` people with ``eta``, P(y = 1 |
    score) by isotonic regression: neighbours merged, ``min_people`` a level or more.

    A level's η is the mean of its people's, so that merging raises their Brier loss by the sum of
    (η of the score - η of the level)². Of all ways to cut the scores into levels dynamic
    programming gives the one that raises it least; of equally good ones the one with most levels,
    so that scores of one isotonic block are merged no further than needed. Where that leaves a
    single level, the best two are taken, with as many people as they have.
    """
    part = np.floor((np.cumsum(counts) - counts / 2) * PARTS / max(min_people, 1.0))
    # within a block, where it costs nothing
    joined = np.append(0, np.cumsum((np.diff(eta) > 0) | (np.diff(part) > 0)))
    return _least_loss(np.bincount(joined, counts), np.bincount(joined, counts * eta), min_people)[
        joined
    ]


def _least_loss(counts: Array, positives: Array, min_people: float) -> Array:
    """The level of each score (n,), by dynamic programming over where levels end."""
    n = len(counts)
    n_people, n_positive = (np.append(0.0, np.cumsum(values)) for values in (counts, positives))
    square = np.append(0.0, np.cumsum(positives**2 / counts))

    def loss(begin: Array | int, end: Array | int) -> Array:
        """Increase of the loss if the scores from begin to end - 1 are one level."""
        size = n_people[end] - n_people[begin]
        return np.maximum(
            square[end] - square[begin] - (n_positive[end] - n_positive[begin]) ** 2 / size, 0.0
        )

    # for each start the first end of a level, and of two levels
    first_end = np.searchsorted(n_people, n_people + min_people - 1e-9)
    second_end = np.append(first_end, n + 1)[first_end]
    ends = np.arange(n + 1)
    first_start = np.searchsorted(second_end, ends, side="right")
    last_start = np.searchsorted(first_end, ends, side="right")
    best, level_start = np.append(0.0, np.full(n, np.inf)), np.zeros(n + 1, dtype=np.int64)
    for j in range(1, n + 1):
        starts = np.arange(first_start[j], min(last_start[j], j))
        if starts.size:
            losses = best[starts] + loss(starts, j) - FINER * n_people[-1]
            level_start[j] = starts[losses.argmin()]
            best[j] = losses.min()
    cuts, j = [], n
    while np.isfinite(best[n]) and level_start[j] > 0:
        j = int(level_start[j])
        cuts.append(j)
    if not cuts and n > 1:
        cut = np.arange(1, n)
        cuts = [int(cut[(loss(0, cut) + loss(cut, n)).argmin()])]
    return np.searchsorted(np.sort(cuts), np.arange(n), side="right")


def merge_scores(
    score: Array, label: Array, cells: int, levels: int | None, weight: Array | None = None
) -> tuple[Array, Merged]:
    """``score`` (n,) with those of one level replaced by their mean, and what that did; ``cells``
    clients times groups, ``weight`` (n,) of people, who count as many as are effective.
    """
    points, where, people = np.unique(score, return_inverse=True, return_counts=True)
    counts, positives = people.astype(np.float64), np.bincount(where, weights=label)
    if weight is not None:
        scaled = weight * (weight.sum() / (weight @ weight))
        counts, positives = np.bincount(where, scaled), np.bincount(where, scaled * label)
    min_people = counts.sum() / (levels or LEVELS)
    if levels is None:
        min_people = max(min_people, PEOPLE * cells)
    if levels == 0 or points.size <= (levels or 1):
        code = np.arange(points.size)
    else:
        code = merge_levels(isotonic(positives, counts), counts, min_people)
    size, labels = np.bincount(code, counts), np.bincount(code, positives)
    accuracies = [threshold_accuracy(positives, counts), threshold_accuracy(labels, size)]
    fewest = int(np.bincount(code, people).min())
    merged = Merged(points.size, size.size, fewest, *accuracies)
    if size.size == points.size:
        return score, merged
    mean = np.bincount(code, points * counts) / size
    if (np.diff(mean) <= 0).any():  # scores so close that their means round together
        mean = points[np.unique(code, return_index=True)[1]]
    return mean[code][where], merged


def threshold_accuracy(positives: Array, counts: Array) -> float:
    """The share of people for whom the best threshold, isotonic η above 1/2, is right."""
    eta = isotonic(positives, counts)
    return float(counts @ np.maximum(eta, 1.0 - eta) / counts.sum())
