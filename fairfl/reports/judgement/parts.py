"""Shares of the people by client and by group, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from fairfl._support.checks import Array
from fairfl.reports.comparison import ZERO
from fairfl.reports.comparison_words import number, percent, span
from fairfl.reports.question import Question
from fairfl.reports.sampling import NORMAL, jackknife, noise_errors, withheld
from fairfl.theory.populations.calibration import Counted
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.notions import NOTIONS, Rate


@dataclass(frozen=True)
class Number:
    """An estimate and its approximate 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends."""
        return self.low, self.high


@dataclass(frozen=True)
class Part:
    """Of the people of a client, a group or both (None: of all): how many, the shares that have y =
    1, are decided rightly, accepted, and accepted of y = 1 and of y = 0 (None of nobody, and
    without a label), and the disparity and the ratio of its two rates, None of one group and where
    no two groups can be compared, all with Wilson's intervals or, of two rates, those that follow
    (MOVER); ``undefined``: the rates that are left out, in words. ``ends``: whose the two rates
    are, and their values, the higher first. ``by``: the part of the people, if it is one.
    Of people with a score ``auc`` is the area under its ROC curve, and where it is a chance
    ``calibration`` the share with y = 1 less the mean score; where all have one label its interval
    is that of Wilson's for the share.
    """

    client: str | None
    group: str | None
    people: int
    positive: Number | None
    right: Number | None
    accepted: Number
    true_positive: Number | None
    false_positive: Number | None
    disparity: Number | None
    undefined: tuple[str, ...] = ()
    ratio: Number | None = None
    ends: tuple[tuple[str, float], ...] = ()
    by: str | None = None
    auc: Number | None = None
    calibration: Number | None = None


class Share(NamedTuple):
    """A share of people: whose, the value, each person's influence on it, and of how many it is."""

    of: str
    value: float
    influence: Array
    people: float

    def number(self, client: Array) -> Number:
        """With its interval, Wilson's where all people are decided alike."""
        ends = estimate(client, self.value, self.influence)
        return wilson(self.value, self.people) if ends.high - ends.low < ZERO else ends


class Gap(NamedTuple):
    """The largest difference of a notion's rates: the rate, the higher and the lower one."""

    rate: Rate
    high: Share
    low: Share

    @property
    def value(self) -> float:
        """The disparity."""
        return self.high.value - self.low.value

    @property
    def influence(self) -> Array:
        """Each person's on it."""
        return self.high.influence - self.low.influence

    def number(self, client: Array) -> Number:
        """With its interval. Where all people of one rate are decided alike, no variance can be
        estimated: it is of both rates' own intervals then, see ``difference``.
        """
        if all(np.ptp(estimate(client, *share[1:3]).ends) >= ZERO for share in self[1:]):
            return estimate(client, self.value, self.influence)
        return difference(*(share.number(client) for share in self[1:]))


class Decided(NamedTuple):
    """People by their codes of client and group, their y (NaN: not known), the chance ``p`` that
    each is accepted, all (n,), and (3, n) how many they are, the sums of their weights, and of the
    weights' squares; names of the clients and groups; codes and names of parts of the people;
    scores, where there are any; and of counted people where each is, (4, n) places in the counts.
    """

    client: Array
    group: Array
    y: Array
    p: Array
    people: Array
    clients: Sequence[str]
    groups: Sequence[str]
    by: Array = np.zeros(0)
    by_names: Sequence[str] = ()
    score: Array = np.zeros(0)
    sample: Counted | None = None
    cell: Array = np.zeros(0)

    @classmethod
    def by_rule(cls, sample: Counted, rule: Classifier, number: Any = None) -> Decided:
        """Counted people, decided by a rule of their score, for which the groups are ``number``
        (A,), by default 0, 1, ...
        """
        client, group, y, level = cell = np.nonzero(sample.counts)
        p = rule.of_number(sample.points[level], group if number is None else number[group])
        clients, groups = (tuple(map(str, names)) for names in (sample.clients, sample.groups))
        people = np.stack([sample.persons[cell], sample.counts[cell], sample.squares[cell]])
        score = sample.points[level] if sample.ordered else np.zeros(0)
        decided = cls(client, group, y, p, people, clients, groups, score=score)
        return decided._replace(sample=sample, cell=np.stack(cell))

    @property
    def right(self) -> Array:
        """(n,) the chance to be decided rightly."""
        return np.where(self.y == 1, self.p, 1.0 - self.p)

    @property
    def accuracy(self) -> Share:
        """The share that is decided rightly."""
        return self._ratio("all", self.right * self.people[1], self.people[1])

    def effective_size(self, rows: Any = slice(None)) -> float:
        """As ``Counted.effective_sizes``."""
        _, weight, square = self.people[:, rows].sum(axis=1)
        return float(weight**2 / square)

    def _ratio(self, of: str, total: Array, mass: Array) -> Share:
        """Σ total / Σ mass, of masses that are weights or 0."""
        rate = total.sum() / mass.sum()
        size = mass.sum() ** 2 / (mass * (self.people[2] / self.people[1])).sum()
        return Share(of, float(rate), (total - rate * mass) / mass.mean(), size)

    def parts(self, question: Question) -> list[Part]:
        """Of all, by client if there are several, by group and by both; and of parts ``by``."""
        everybody = [(None, np.ones(len(self.p), bool))]
        clients = [(name, self.client == k) for k, name in enumerate(self.clients)]
        clients = everybody + (clients if len(clients) > 1 else [])
        groups = [(name, self.group == a) for a, name in enumerate(self.groups)]
        pairs = [*product(clients, everybody), *product(clients, groups)]
        parts = [
            self._part(question, in_client & in_group, client, group, None)
            for (client, in_client), (group, in_group) in pairs
            if (in_client & in_group).any()
        ]
        by = [(self.by == k, None, None, name) for k, name in enumerate(self.by_names)]
        return parts + [self._part(question, *part) for part in by]

    def _part(self, question: Question, selected: Array, *names: str | None) -> Part:
        client, group, by = names

        def share(of: Array, among: Any) -> Any:
            mass = self.people[1] * (selected & among)
            return self._wilson(self._ratio("", of * mass, mass)) if mass.any() else None

        positive, labelled = self.y == 1, ~np.isnan(self.y)
        shares = share(positive, labelled), share(self.right, labelled), share(self.p, True)
        rates = share(self.p, positive), share(self.p, labelled & ~positive)
        size = round(float(self.people[0, selected].sum()))
        of_score = self._of_score(selected & labelled)
        part = Part(client, group, size, *shares, *rates, None, (), None, (), by, *of_score)
        gap, missing = self.gap(question, selected) if group is None else (None, ())
        if gap is None:
            return replace(part, undefined=missing)
        high, low = map(self._wilson, gap[1:])
        ends = tuple((end.of, end.value) for end in gap[1:])
        return replace(
            part,
            disparity=difference(high, low),
            undefined=missing,
            ratio=ratio(high, low),
            ends=ends,
        )

    def number(self, of: Share | Gap) -> Number:
        """A share or a difference of two, with its interval."""
        return self._widened(of.number(self.client), of.influence)

    def _wilson(self, share: Share) -> Number:
        number = self._widened(wilson(share.value, share.people), share.influence)
        return replace(number, low=max(number.low, 0.0), high=min(number.high, 1.0))

    def _widened(self, number: Number, influence: Array) -> Number:
        """Its interval, reaching over what withheld counts can be, and counting noise."""
        sample = self.sample
        if sample is None or not (sample.is_noisy or sample.ranges is not None):
            return number
        table = np.zeros(sample.counts.shape)
        table[tuple(self.cell)] = influence * sample.people / (len(self.p) * self.people[1])
        below, above = withheld(table, sample)
        noise = NORMAL * noise_errors(table, sample)
        low, high = (np.hypot(number.value - end, noise) for end in number.ends)
        ends = number.value - low + below, number.value + high + above
        return Number(number.value, *map(float, ends))

    def _of_score(self, rows: Array) -> tuple[Number | None, Number | None]:
        """``Part.auc`` and ``Part.calibration`` of some people."""
        if not (self.score.size and rows.any()):
            return None, None
        score, y, (people, weight, squares) = self.score[rows], self.y[rows], self.people[:, rows]

        def number(value: float, influence: Array) -> Number:
            """Its interval, of what a unit of weight does to it."""
            half = NORMAL * float(np.sqrt(squares @ influence**2))
            everybody = np.zeros(len(self.p))
            everybody[rows] = influence * weight * len(self.p)
            return self._widened(Number(value, value - half, value + half), everybody)

        area, calibration = None, None
        if len(np.unique(y)) == 2:
            value, influence = auc(score, y, weight)
            area = number(value, influence / (weight * len(y)))
            fewest = min(people[y == 0].sum(), people[y == 1].sum())
            area = wilson(value, fewest) if np.ptp(area.ends) < ZERO else area
        if 0.0 <= self.score.min() and self.score.max() <= 1.0:
            rate, mean = (float(np.average(v, weights=weight)) for v in (y, score))
            calibration = number(rate - mean, (y - score - rate + mean) / weight.sum())
            if rate in (0.0, 1.0) or np.ptp(calibration.ends) < ZERO:  # no variance of y is seen
                of_score = number(mean, (score - mean) / weight.sum())
                calibration = difference(wilson(rate, self.effective_size(rows)), of_score)
        return area, calibration

    def gap(self, question: Question, selected: Any = True) -> tuple[Gap | None, tuple[str, ...]]:
        """The largest difference of the groups' rates, of equal ones that of the fewest people,
        None where no two can be compared; and the rates that it leaves out, see ``undefined``.
        """
        y, weight = np.nan_to_num(self.y), self.people[1] * selected
        groups = [self.group == a for a in range(len(self.groups))]
        gaps, masses = [], []
        notion = NOTIONS[question.notion]
        for rate in notion.rates:
            mass = (rate.mass[0] + rate.mass[1] * y) * weight
            served = [k + w * self.p for k, w in zip(rate.constant, rate.linear, strict=True)]
            total = (served[0] + served[1] * y) * weight
            masses.append([(mass * in_group).sum() for in_group in groups])
            shares = [
                self._ratio(f"group {name}", total * in_group, mass * in_group)
                for name, in_group, size in zip(self.groups, groups, masses[-1], strict=True)
                if size > 0
            ]
            pairs = list(combinations(shares, 2))
            if question.difference == "overall" and len(shares) > 1:
                population = self._ratio("the population", total, mass)
                pairs = [(of_group, population) for of_group in shares]
            gaps += [Gap(rate, *sorted(pair, key=lambda end: -end.value)) for pair in pairs]
        sizes = [-min(gap.high.people, gap.low.people) for gap in gaps]
        order = [(round(gap.value, 12), size) for gap, size in zip(gaps, sizes, strict=True)]
        largest = gaps[order.index(max(order))] if gaps else None
        return largest, notion.undefined(np.array(masses), self.groups)


def estimate(
    client: Array,
    value: float,
    influence: Array,
    second: float | None = None,
    residuals: Any = (0.0,),
) -> Number:
    """A number with each person's influence on it, and its interval, which reaches over ``second``,
    another estimate, too; people are drawn within their clients. ``residuals``: see
    ``fairfl.reports.sampling.residuals``.
    """
    size = np.bincount(client)
    mean = np.bincount(client, influence) / np.maximum(size, 1)
    error = np.sqrt(((influence - mean[client]) ** 2).sum()) / len(client)
    half = NORMAL * np.hypot(error, jackknife(np.asarray(residuals)))
    values = [value] if second is None else [value, second]
    return Number(float(value), float(min(values) - half), float(max(values) + half))


def auc(score: Array, label: Array, weight: Array) -> tuple[float, Array]:
    """The area under the ROC curve, P(score of y = 1 above score of y = 0), ties half, of people
    with weights (n,), and each person's influence on it (n,), as DeLong, DeLong and Clarke-Pearson
    (1988) have them.
    """
    order = np.argsort(score, kind="stable")

    def below(y: int) -> tuple[Array, float]:
        """The share of those with label y below each score, and their weight."""
        of = order[label[order] == y]
        total = np.append(0.0, np.cumsum(weight[of]))
        sides = [total[np.searchsorted(score[of], score, side)] for side in ("left", "right")]
        return (sides[0] + sides[1]) / (2.0 * total[-1]), total[-1]

    (zeros, n_zeros), (ones, n_ones) = below(0), below(1)
    won = np.where(label == 1, zeros, 1.0 - ones)
    area = float(np.average(won[label == 1], weights=weight[label == 1]))
    return area, weight * (won - area) * len(label) / np.where(label == 1, n_ones, n_zeros)


def wilson(share: float, people: float) -> Number:
    """A share of people with its interval (Wilson, 1927), which no share of 0 or 1 makes empty; for
    chances in place of 0 and 1 it is too wide.
    """
    square = NORMAL**2 / people
    middle = (share + square / 2.0) / (1.0 + square)
    half = NORMAL * np.sqrt(share * (1.0 - share) / people + square / people / 4.0) / (1.0 + square)
    return Number(share, max(float(middle - half), 0.0), min(float(middle + half), 1.0))


def difference(high: Number, low: Number) -> Number:
    """Of two rates with intervals, by MOVER (Zou and Donner, 2008), which of two intervals of
    Wilson's is Newcombe's (1998).
    """
    value = high.value - low.value
    down = np.hypot(high.value - high.low, low.high - low.value)
    up = np.hypot(high.high - high.value, low.value - low.low)
    up = max(up, down) if value < ZERO else up  # either may be the higher one
    return Number(value, float(value - down), float(value + up))


def ratio(high: Number, low: Number) -> Number | None:
    """The lower of two rates over the higher, None of two zeros, by MOVER (Donner and Zou, 2012):
    the interval ends where that of low - r high does at 0. No ratio is above 1.
    """
    if high.value < ZERO:
        return None
    product, ends = low.value * high.value, []
    for p, q in ((low.low, high.high), (low.high, high.low)):
        squares = q * (2 * high.value - q), -2 * product, p * (2 * low.value - p)
        ends.append(np.roots(squares).real)
    first = min(ends[0][ends[0] >= 0], default=0.0)
    return Number(low.value / high.value, float(first), float(min(max(ends[1]), 1.0)))


def table(parts: Sequence[Part], *roles: str | None) -> list[tuple[str, ...]]:
    """The parts as rows of text; ``roles``: what client, group and ``Part.by`` are called."""
    names = ("people", "y = 1", "right", "accepted", "of y = 1", "of y = 0")
    scored = [name for name in ("auc", "calibration") if any(getattr(p, name) for p in parts)]
    titles = [{"auc": "AUC", "calibration": "y - score"}[name] for name in scored]
    rows: list[tuple[str, ...]] = [("of", *names, *titles, "disparity", "ratio", "between")]
    for part in parts:
        labels = zip(roles, (part.client, part.group, part.by), strict=False)
        name = ", ".join(f"{role} {name}" for role, name in labels if name is not None) or "all"
        shares = (part.positive, part.right, part.accepted, part.true_positive, part.false_positive)
        cells = [cell(share, percent) for share in shares]
        cells += [cell(getattr(part, name), number, low=-1.0) for name in scored]
        rates = ["", ""]
        if part.group is None:
            rates = [cell(rate, number, "undefined") for rate in (part.disparity, part.ratio)]
        between = [" and ".join(of for of, _ in part.ends), *part.undefined]
        rows.append((name, f"{part.people:,}", *cells, *rates, "; ".join(filter(None, between))))
    return rows


def cell(
    value: Number | None, show: Callable[[float], str], none: str = "-", low: float = 0.0
) -> str:
    """A number with its interval, which no disparity or share has below zero."""
    ends = value and span((max(value.low, low), value.high), show)
    return f"{show(value.value)} ({ends})" if value else none
