"""A finite federation from a table of people: counts, and η by isotonic regression."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fairfl._support.checks import Array
from fairfl.theory.numerics.isotonic import isotonic
from fairfl.theory.populations.cells import FOLDS, Cells
from fairfl.theory.populations.classifiers import midpoints
from fairfl.theory.populations.notions import NOTIONS
from fairfl.theory.populations.score_levels import Merged

CALIBRATIONS = {
    "shared": (False, False),
    "group": (False, True),
    "client": (True, False),
    "client_group": (True, True),
}
"""By name, the simplest first: whether each client has its η, and whether each group has."""
AUTO = "auto"
"""The calibration that the people ask for, see ``choose_calibration``."""
FITTED = {
    "shared": "to all people together",
    "group": "by group",
    "client": "by client",
    "client_group": "by client and group",
}
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
class Calibration:
    """How η is fitted to people: ``name``; the log ``losses`` of a person in cross-validation, by
    name, where it was chosen; and whether η had to be by group, since rates count labels.
    """

    name: str
    losses: Mapping[str, float] = field(default_factory=dict)
    counts_labels: bool = False

    def __str__(self) -> str:
        why = ", since the notion counts labels" * self.counts_labels
        text = f"P(y = 1 | x) is fitted {FITTED[self.name]}{why}"
        if not self.losses:
            return text
        first, second = sorted(self.losses, key=self.losses.__getitem__)[:2]
        runner_up = "shared" if self.name != "shared" else first if first != self.name else second
        note = " (better by less than a standard error)" * (runner_up == first)
        return (
            f"{text}: cross-validated log loss {self.losses[self.name]:.4f}; {FITTED[runner_up]} "
            f"{self.losses[runner_up]:.4f}{note}"
        )


@dataclass(frozen=True)
class Counted:
    """People by client, group, label and level: ``points`` (n,) distinct scores, ``counts`` (I, A,
    2, n), and names.

    ``calibrate`` says how η is fitted to them, and ``calibration`` how that was chosen; levels meet
    at ``cuts`` (n - 1,), None: half-way.
    ``names``: of scores that are names, what the points 0, 1, ... are called. ``cells``: of several
    numbers of a person, which of the points they are.
    Of people with weights ``counts`` are the sums of these, and ``weighted`` (2, I, A, 2, n) how
    many people there are and the sums of the weights' squares.
    Where counts were withheld, and only each client's sum is known, they are within ``ranges`` (2,
    I, A, 2, n). Where they were altered, ``noise`` (I, 2) is the epsilon of geometric noise, inf of
    none, and of what they were rounded to multiples, 1 of nothing.
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
    noise: Array | None = None
    calibration: Calibration | None = None
    cells: Cells | None = None
    weighted: Array | None = None

    @property
    def ordered(self) -> bool:
        """Whether η rises with the level; a name or a cell has its frequency."""
        return not self.names and self.cells is None

    def level(self, score: Array) -> Any:
        """(n,) the level of people with scores (n,), or (n, d) where there are cells."""
        if self.cells is not None:
            return self.cells(score)
        cuts = midpoints(self.points) if self.cuts is None else self.cuts
        return np.searchsorted(cuts, score)

    @property
    def people(self) -> int:
        """How many."""
        return int(self.persons.sum())

    @property
    def persons(self) -> Array:
        """(I, A, 2, n) people, each counted once."""
        return self.counts if self.weighted is None else self.weighted[0]

    @property
    def squares(self) -> Array:
        """(I, A, 2, n) sums of the squares of the weights."""
        return self.counts if self.weighted is None else self.weighted[1]

    def effective_sizes(self, axes: tuple[int, ...] | None = None) -> Array:
        """Kish's (1965) effective number (Σ w)² / Σ w² of people, summed over axes, or all."""
        sums, squares = (table.sum(axis=axes) for table in (self.counts, self.squares))
        return np.divide(sums**2, squares, out=np.zeros_like(squares), where=squares > 0)

    @property
    def effective(self) -> Array:
        """(I, A, 2, n) effective sizes in whole people, of whom random parts can be drawn."""
        if self.weighted is None:
            return self.counts
        return np.maximum(np.rint(self.effective_sizes(())), self.persons > 0)

    def weigh(self, drawn: Array) -> Array:
        """(..., I, A, 2, n) weights of drawn ``effective`` people, of all of a cell ``counts``."""
        if self.weighted is None:
            return drawn
        return self.counts * (drawn / np.maximum(self.effective, 1.0))

    def with_weights(self, sums: Array, squares: Array) -> "Counted":
        """These people with weights that have these sums (I, A, 2, n), and sums of squares."""
        return replace(self, counts=sums, weighted=np.stack([self.counts, squares]))

    @property
    def is_noisy(self) -> bool:
        """Whether noise was added to counts, or they were rounded."""
        return bool(self.noise_variance.any())

    @property
    def noise_variance(self) -> Array:
        """(I,) of each count: 2a/(1 - a)², a = exp(-epsilon); and of equally likely rests when
        rounded to multiples of b their mean square, (b² - 1)/12, for even b (b² + 2)/12.
        """
        epsilon, base = np.array([np.inf, 1.0]) if self.noise is None else self.noise.T
        rounding = (base**2 + 2.0 - 3.0 * (base % 2)) / 12.0 * np.ones(len(self.counts))
        return 2.0 * np.exp(-epsilon) / np.expm1(-epsilon) ** 2 + rounding

    def calibrated(self, *, counts_labels: bool = False) -> "Counted":
        """These people with their calibration chosen, by group at least if ``counts_labels``."""
        if self.calibrate != AUTO:
            return self
        choice = choose_calibration(self, counts_labels=counts_labels)
        return replace(self, calibrate=choice.name, calibration=choice)

    @property
    def eta(self) -> Array:
        """η of the people, see ``fitted_eta``."""
        return fitted_eta(self.counts, self.calibrate, ordered=self.ordered)


def fitted_eta(counts: Array, calibrate: str, *, ordered: bool = True) -> Array:
    """η of counts (I, A, 2, n), a table that broadcasts to (I, A, n): by isotonic regression, or
    where levels are not ``ordered``, by frequencies of y = 1, for a group without people those of
    all.
    """
    by_client, by_group = CALIBRATIONS[calibrate]
    axes = (0,) * (not by_client) + (1,) * (not by_group)
    positives, people = (
        table.sum(axis=axes, keepdims=True) for table in (counts[:, :, 1], counts.sum(axis=2))
    )
    if not ordered:
        total = counts.sum(axis=(0, 1))
        size = total.sum(axis=0)
        of_all = np.divide(total[1], size, out=np.full(size.shape, 0.5), where=size > 0)
        eta = np.broadcast_to(of_all, people.shape).copy()
        return np.divide(positives, people, out=eta, where=people > 0)
    n = counts.shape[-1]
    pairs = zip(positives.reshape(-1, n), people.reshape(-1, n), strict=True)
    return np.stack([isotonic(p, c) for p, c in pairs]).reshape(people.shape)


def choose_calibration(sample: Counted, *, counts_labels: bool = False) -> Calibration:
    """The simplest calibration whose log loss in cross-validation is at most one standard error of
    the difference above the smallest (the rule of Breiman et al., 1984); by group at least where
    rates count labels, since a shared η gives all groups the same share of y = 1 at a level.

    η of a block of levels with N people and p of them with y = 1 is judged as (p + 1/2) / (N + 1),
    so that a block of one label has a finite loss. Of people with weights the effective ones count.
    """
    people, ordered = float(sample.effective_sizes()), sample.ordered
    scale = people / sample.counts.sum()
    counts = sample.counts * scale
    several = len(counts) > 1
    names = [name for name, (by_client, _) in CALIBRATIONS.items() if several or not by_client]
    total, second = np.zeros(len(names)), np.zeros((len(names),) * 2)
    cells = sample.effective.reshape(-1, 1, 1, 1, counts.shape[-1])
    # people are dealt by their counts alone: the order of clients and groups changes nothing
    dealt = [folds(cell, np.random.default_rng(cell.ravel().astype(np.int64))) for cell in cells]
    for part in sample.weigh(np.stack(dealt, axis=1).reshape(FOLDS, *counts.shape)) * scale:
        remaining = counts - part
        losses = np.stack([_log_losses(remaining, name, ordered=ordered) for name in names])
        weighted = (losses * part).reshape(len(names), -1)
        total += weighted.sum(axis=1)
        second += weighted @ losses.reshape(len(names), -1).T
    losses = dict(zip(names, (total / people).tolist(), strict=True))
    chosen = _simplest(losses, second / people, people)
    is_forced = counts_labels and not CALIBRATIONS[chosen][1]
    if is_forced:
        by_group = [k for k, name in enumerate(names) if CALIBRATIONS[name][1]]
        of_groups = {names[k]: losses[names[k]] for k in by_group}
        chosen = _simplest(of_groups, second[np.ix_(by_group, by_group)] / people, people)
    return Calibration(chosen, losses, is_forced)


def _simplest(losses: Mapping[str, float], second: Array, people: float) -> str:
    """The first name within a standard error of the smallest loss; ``second`` moments (C, C)."""
    mean = np.array([*losses.values()])
    best = int(mean.argmin())
    square = np.diag(second) - 2.0 * second[best] + second[best, best]
    variance = np.maximum(square - (mean - mean[best]) ** 2, 0.0)
    is_near = mean - mean[best] <= np.sqrt(variance / people)
    return [*losses][int(is_near.argmax())]


def _log_losses(counts: Array, calibrate: str, *, ordered: bool) -> Array:
    """(I, A, 2, n) the log loss of a person of a cell, of η fitted to ``counts``."""
    eta = fitted_eta(counts, calibrate, ordered=ordered)
    shape, n = counts[:, :, 0].shape, counts.shape[-1]
    people = counts.sum(axis=2)
    axes = tuple(k for k in (0, 1) if eta.shape[k] < people.shape[k])
    tables = zip(eta.reshape(-1, n), people.sum(axis=axes).reshape(-1, n), strict=True)
    smoothed = []
    for row, size in tables:
        block = np.unique(row, return_inverse=True)[1]
        block_size = np.bincount(block, size)[block]
        smoothed.append((row * block_size + 0.5) / (block_size + 1.0))
    share = np.broadcast_to(np.reshape(smoothed, eta.shape), shape)
    return -np.log(np.stack([1.0 - share, share], axis=2))


def folds(counts: Array, rng: np.random.Generator, parts: int = FOLDS) -> Array:
    """People (I, A, 2, n) dealt into parts (parts, I, A, 2, n), evenly by place and label."""
    cells = counts.reshape(-1, counts.shape[-1]).astype(np.int64)
    out, left = np.zeros((parts, *cells.shape)), cells.copy()
    order = rng.permuted(np.tile(np.arange(parts), (len(cells), 1)), axis=1)
    sizes = (cells.sum(axis=1)[:, None] + order) // parts
    for fold in range(parts):
        dealt = [
            rng.multivariate_hypergeometric(cell, size)
            for cell, size in zip(left, sizes[:, fold], strict=True)
        ]
        out[fold] = dealt
        left -= np.array(dealt)
    return out.reshape(parts, *counts.shape)


def on_fewer_levels(sample: Counted, other: Array) -> tuple[Counted, Array]:
    """People, and ``other`` counts (..., n) of their levels, on fewer levels of about as many
    people each: of 2 to n levels as many as have the largest likelihood of client, group, label and
    level in cross-validation (Stone, 1974). Names and cells have no neighbours, and stay.
    """
    if not sample.ordered:
        return sample, other
    counts, size = sample.counts, sample.counts.sum(axis=(0, 1, 2))
    middle = (size.cumsum() - size / 2.0) / size.sum()
    parts = folds(counts, np.random.default_rng(0))

    def loss(starts: Array) -> float:
        level = np.searchsorted(starts, np.arange(size.size), side="right") - 1
        total = 0.0
        for part in parts:
            shares = np.add.reduceat(counts - part, starts, axis=-1) + 0.5
            shares /= shares.sum(axis=-1, keepdims=True)
            people = (counts - part).sum(axis=(0, 1, 2)) + 0.5
            within = people / np.add.reduceat(people, starts)[level]
            total -= float((part * np.log(shares[..., level] * within)).sum())
        return total

    numbers = np.unique(np.geomspace(2, max(size.size, 2), 12).round())[:-1]
    bins = (np.minimum(middle * number, number - 1) // 1 for number in numbers)
    tables = [np.flatnonzero(np.diff(number, prepend=-1)) for number in bins]
    starts = min([*tables, np.arange(size.size)], key=loss)
    cuts = midpoints(sample.points) if sample.cuts is None else sample.cuts
    counts, other = (np.add.reduceat(table, starts, axis=-1) for table in (counts, other))
    points, cuts = sample.points[starts], cuts[starts[1:] - 1]
    return replace(sample, points=points, counts=counts, cuts=cuts, merged=None), other


def doubts(sample: Counted, accepts: Array, groups: Sequence[Hashable]) -> str | None:
    """Warnings about a score, as one text, or None: of a ``sample`` of the named ``groups``, and
    ``accepts`` (A, n), the most accurate rule.

    y = 1 is likelier at smaller scores if a decreasing η has a smaller Brier loss than an
    increasing one. Levels identify people if they hold fewer than ``FEW`` for each client and
    group.
    """
    counts = sample.counts
    positives, people = counts[:, :, 1].sum(axis=(0, 1)), counts.sum(axis=(0, 1, 2))
    # both fits keep the mean: the larger Σ η², the smaller the loss
    risen = people @ isotonic(positives, people) ** 2
    fallen = people[::-1] @ isotonic(positives[::-1], people[::-1]) ** 2
    warnings = []
    share, cells = sample.effective_sizes() / (people > 0).sum(), counts.shape[0] * counts.shape[1]
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
