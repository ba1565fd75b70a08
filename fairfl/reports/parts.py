"""Shares of the people by client and by group, with intervals: how many are right, accepted, and
accepted of y = 1 and of y = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from fairfl._support.checks import Array
from fairfl.reports.comparison import ZERO
from fairfl.reports.comparison_words import number, percent, span
from fairfl.reports.question import Question
from fairfl.reports.sampling import NORMAL, jackknife
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
    without a label), with Wilson's intervals, and the disparity, None of one group and where no two
    groups can be compared; whose rates it is of, the higher first, are the ``ends``, and
    ``undefined`` the rates that it leaves out, in words.
    """

    client: str | None
    group: str | None
    people: int
    positive: Number | None
    right: Number | None
    accepted: Number
    true_positive: Number | None
    false_positive: Number | None
    disparity: float | None
    undefined: tuple[str, ...] = ()
    ends: tuple[tuple[str, float], ...] = ()


class Share(NamedTuple):
    """A share of people: whose, the value, each person's influence on it, and of how many it is."""

    of: str
    value: float
    influence: Array
    people: float

    def number(self, client: Array) -> Number:
        """With its interval, Wilson's where all people are decided alike."""
        ends = estimate(client, self.value, self.influence)
        return wilson(self.value, round(self.people)) if ends.high - ends.low < ZERO else ends


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
    def ends(self) -> tuple[tuple[str, float], ...]:
        """Whose the two rates are, and their values, the higher first."""
        return tuple((share.of, share.value) for share in self[1:])

    def number(self, client: Array) -> Number:
        """With its interval. Where all people of one rate are decided alike, no variance can be
        estimated: it is of both rates' own intervals then, by MOVER (Zou and Donner, 2008), which
        of two intervals of Wilson's is Newcombe's (1998).
        """
        if self._vary(client):
            return estimate(client, self.value, self.high.influence - self.low.influence)
        high, low = (share.number(client) for share in self[1:])
        down = np.hypot(high.value - high.low, low.high - low.value)
        up = np.hypot(high.high - high.value, low.value - low.low)
        up = max(up, down) if self.value < ZERO else up  # either may be the higher one
        return Number(self.value, float(self.value - down), float(self.value + up))

    def ratio(self, client: Array) -> Number | None:
        """The lower rate over the higher, None of two rates of zero. Its interval is that of the
        logarithm (Katz and others, 1978) or, as of ``number``, MOVER's (Donner and Zou, 2012). No
        ratio is above 1.
        """
        high, low = self.high, self.low
        if high.value < ZERO:
            return None
        ratio = low.value / high.value
        if self._vary(client):
            relative = low.influence / low.value - high.influence / high.value
            ends = np.exp(estimate(client, float(np.log(ratio)), relative).ends)
        else:
            (bottom, top), (under, over) = (share.number(client).ends for share in (low, high))
            first = _roots(low.value, high.value, max(bottom, 0.0), over)
            second = _roots(low.value, high.value, top, max(under, 0.0))
            ends = min(first[first >= 0], default=0.0), max(second) if under > 0 else 1.0
        return Number(ratio, float(ends[0]), min(float(ends[1]), 1.0))

    def _vary(self, client: Array) -> bool:
        """Whether both rates have a variance."""
        return all(np.ptp(estimate(client, *share[1:3]).ends) >= ZERO for share in self[1:])


class Decided(NamedTuple):
    """People by their codes of client and group, their y (NaN: not known), the chance ``p`` that
    each is accepted, and how many they are, all (n,); names of the clients and groups.
    """

    client: Array
    group: Array
    y: Array
    p: Array
    people: Array
    clients: Sequence[str]
    groups: Sequence[str]

    @classmethod
    def by_rule(cls, sample: Counted, rule: Classifier) -> Decided:
        """Counted people, decided by a rule of their score."""
        client, group, y, level = cell = np.nonzero(sample.counts)
        p = rule.of_number(sample.points[level], group)
        names = (tuple(map(str, codes)) for codes in (sample.clients, sample.groups))
        return cls(client, group, y, p, sample.counts[cell], *names)

    def of(self, selected: Array) -> Decided:
        """Some of the people."""
        return Decided(*(column[selected] for column in self[:5]), self.clients, self.groups)

    @property
    def right(self) -> Array:
        """(n,) the chance to be decided rightly."""
        return np.where(self.y == 1, self.p, 1.0 - self.p)

    @property
    def accuracy(self) -> Share:
        """The share that is decided rightly."""
        return _ratio("all", self.right * self.people, self.people)

    def parts(self, question: Question) -> list[Part]:
        """Of all, by client if there are several, by group, and by both, where somebody is."""
        everybody = [(None, np.ones(len(self.p), bool))]
        clients = [(name, self.client == k) for k, name in enumerate(self.clients)]
        clients = everybody + (clients if len(clients) > 1 else [])
        groups = [(name, self.group == a) for a, name in enumerate(self.groups)]
        pairs = [*product(clients, everybody), *product(clients, groups)]
        return [
            self._part(client, group, in_client & in_group, question)
            for (client, in_client), (group, in_group) in pairs
            if (in_client & in_group).any()
        ]

    def _part(
        self, client: str | None, group: str | None, selected: Array, question: Question
    ) -> Part:
        def share(of: Array, among: Any) -> Any:
            rows = selected & among
            if not rows.any():
                return None
            return wilson(float(np.average(of[rows], weights=self.people[rows])), self._size(rows))

        positive, labelled = self.y == 1, ~np.isnan(self.y)
        shares = share(positive, labelled), share(self.right, labelled), share(self.p, True)
        rates = share(self.p, positive), share(self.p, labelled & ~positive)
        gap, missing = self.gap(question, selected) if group is None else (None, ())
        disparity, ends = (None, ()) if gap is None else (gap.value, gap.ends)
        return Part(client, group, self._size(selected), *shares, *rates, disparity, missing, ends)

    def _size(self, selected: Array) -> int:
        return round(float(self.people[selected].sum()))

    def gap(self, question: Question, selected: Any = True) -> tuple[Gap | None, tuple[str, ...]]:
        """The largest difference of the groups' rates, of equal ones that of the fewest people,
        None where no two can be compared; and the rates that it leaves out, see ``undefined``.
        """
        y, weight = np.nan_to_num(self.y), self.people * selected
        groups = [self.group == a for a in range(len(self.groups))]
        gaps, masses = [], []
        notion = NOTIONS[question.notion]
        for rate in notion.rates:
            mass = (rate.mass[0] + rate.mass[1] * y) * weight
            served = [k + w * self.p for k, w in zip(rate.constant, rate.linear, strict=True)]
            total = (served[0] + served[1] * y) * weight
            masses.append([(mass * in_group).sum() for in_group in groups])
            shares = [
                _ratio(f"group {name}", total * in_group, mass * in_group)
                for name, in_group, size in zip(self.groups, groups, masses[-1], strict=True)
                if size > 0
            ]
            pairs = list(combinations(shares, 2))
            if question.difference == "overall" and len(shares) > 1:
                pairs = [(of_group, _ratio("the population", total, mass)) for of_group in shares]
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


def wilson(share: float, people: int) -> Number:
    """A share of people with its interval (Wilson, 1927), which no share of 0 or 1 makes empty; for
    chances in place of 0 and 1 it is too wide.
    """
    square = NORMAL**2 / people
    middle = (share + square / 2.0) / (1.0 + square)
    half = NORMAL * np.sqrt(share * (1.0 - share) / people + square / people / 4.0) / (1.0 + square)
    return Number(share, max(float(middle - half), 0.0), min(float(middle + half), 1.0))


def _roots(low: float, high: float, of_low: float, of_high: float) -> Array:
    """The roots r of (low - r high)² = (low - of_low)² + r² (high - of_high)²."""
    squared, constant = of_high * (2 * high - of_high), of_low * (2 * low - of_low)
    return np.roots([squared, -2 * low * high, constant]).real


def _ratio(of: str, total: Array, mass: Array) -> Share:
    """Σ total / Σ mass."""
    rate = total.sum() / mass.sum()
    return Share(of, float(rate), (total - rate * mass) / mass.mean(), mass.sum())


def table(parts: Sequence[Part], client: str, group: str) -> list[tuple[str, ...]]:
    """The parts as rows of text, the first a header; ``client`` and ``group`` are what they are
    called.
    """
    names = ("people", "y = 1", "right", "accepted", "of y = 1", "of y = 0", "disparity")
    rows: list[tuple[str, ...]] = [("of", *names)]
    for part in parts:
        labels = ((client, part.client), (group, part.group))
        name = ", ".join(f"{role} {name}" for role, name in labels if name is not None) or "all"
        shares = (part.positive, part.right, part.accepted, part.true_positive, part.false_positive)
        cells = (
            "-" if n is None else f"{percent(n.value)} ({span(n.ends, percent)})" for n in shares
        )
        gap = "undefined" if part.disparity is None else number(part.disparity)
        notes = [*[" over ".join(of for of, _ in part.ends)] * bool(part.ends), *part.undefined]
        gap += f" ({'; '.join(notes)})" * bool(notes)
        gap = "" if part.group is not None else gap
        rows.append((name, f"{part.people:,}", *cells, gap))
    return rows
