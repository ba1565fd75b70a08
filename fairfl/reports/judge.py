"""How far predictions are from the frontiers of a score: what the scheme costs, what training left,
and what of it is sampling.

The predictions have a disparity D and an accuracy. At D the best rule of the score that pools all
data has an accuracy, and the best rule of local training with one budget for all clients another:
the first difference is the scheme's, the second is what training left. Standard errors are those of
the person by person differences of influences (``fairfl.solvers.sensitivity``), D's own among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from fairfl._support.checks import Array
from fairfl.reports.comparison_words import number, percent, points, span
from fairfl.reports.curves import frontiers
from fairfl.reports.question import Question
from fairfl.reports.sampling import NORMAL, Progress, Spot, crossed, folds, influences
from fairfl.sims.data.table_file import PLAIN, Form, read_table
from fairfl.sims.data.tables.people import read_people
from fairfl.sims.data.tables.table import Dataset
from fairfl.solvers.schemes import NAMES
from fairfl.theory.populations.calibration import count_people
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import NOTIONS, RATES

POINTS = 20
"""Of the frontiers; what is between them is solved where it is asked for."""
SCHEMES = ("cfl", "lft_fedavg_common", "lft_ensemble_common")


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
class Distance:
    """Of one scheme: its smallest disparity; where the predictions' own is at least that, the
    accuracy of its best rule, and how much that is above the predictions', both at their disparity.
    """

    scheme: str
    smallest: float
    accuracy: float | None = None
    above: Number | None = None


@dataclass(frozen=True)
class Part:
    """Of the people of a client, a group or both (None: of all): how many, the shares that are
    decided rightly, accepted, and accepted of y = 1 and of y = 0 (None of nobody), with Wilson's
    intervals, and the disparity, None of one group.
    """

    client: str | None
    group: str | None
    people: int
    right: Number
    accepted: Number
    true_positive: Number | None
    false_positive: Number | None
    disparity: float | None


@dataclass(frozen=True)
class Judgement:
    """Of predictions: accuracy and disparity, ``parts`` by client and group, and the schemes'
    distance from them.

    ``below_cfl`` is, for each scheme but CFL, how much less its best rule is right than CFL's;
    ``left_out`` says which rows of the table were.
    """

    people: int
    accuracy: Number
    disparity: Number
    parts: tuple[Part, ...]
    distances: tuple[Distance, ...]
    below_cfl: dict[str, Number]
    left_out: str = ""


def judge(
    path: str | Path,
    *,
    prediction: str,
    label: str,
    group: str | Sequence[str],
    client: str | None = None,
    score: str | None = None,
    question: Question,
    seed: int = 0,
    form: Form = PLAIN,
    progress: Progress | None = None,
) -> Judgement:
    """Judge the predictions of a table of people.

    Parameters
    ----------
    path, label, group, client, form : see :func:`fairfl.sims.data.tables.people.read_people`.
    prediction : column of 0 and 1, or of chances of 1.
    score : column of the score whose frontiers are compared; None: none are.
    question : the notion and the difference.
    seed : deals people into parts, on which the frontiers' rules are judged.

    Raises
    ------
    ValueError : what does not fit.  OSError : the file cannot be read.
    """
    features = [prediction] if score is None else [prediction, score]
    roles = {"label": label, "group": group, "client": client}
    data = read_people(path, features=features, blind=True, form=form, **roles)
    if data.feature_names != tuple(features):  # texts, which only models take
        table = read_table(path, form, {}, features)
        raise AssertionError([table.numbers(name) for name in features])
    p = data.features[:, 0]
    if (wrong := (p < 0) | (p > 1)).any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"prediction {prediction!r} must be from 0 to 1, got {p[row]:g} in row {row + 1}"
        )
    own = _Predictions(data, p, question)
    distances, below = (), {}
    if score is not None:
        distances, below = own.compared(data.features[:, 1], seed, progress)
    return Judgement(
        len(data),
        own.number(own.right.mean(), own.right - own.right.mean()),
        own.number(*own.disparity),
        tuple(own.parts()),
        distances,
        below,
        data.note,
    )


class _Predictions:
    """Chances ``p`` (n,) of people, and what they give; influences (n,) are for each person."""

    def __init__(self, data: Dataset, p: Array, question: Question) -> None:
        self.data, self.p, self.question = data, p, question
        self.right = np.where(data.label == 1, p, 1.0 - p)
        self.disparity = self._disparity(np.ones(len(p), bool))

    def parts(self) -> Iterator[Part]:
        """Of all, by client, by group, and by both, where somebody is."""
        data = self.data
        clients = [(None, np.ones(len(data), bool))]
        clients += [(name, data.client == k) for k, name in enumerate(data.client_names)]
        groups = [(name, data.group == a) for a, name in enumerate(data.group_names)]
        for client, its in clients:
            yield self._part(client, None, its)
        for client, its in clients:
            for group, own in groups:
                if (its & own).any():
                    yield self._part(client, group, its & own)

    def _part(self, client: str | None, group: str | None, there: Array) -> Part:
        def share(of: Array, among: Any) -> Number | None:
            people = there & among
            return wilson(float(of[people].mean()), int(people.sum())) if people.any() else None

        right, accepted = share(self.right, True), share(self.p, True)
        assert right is not None and accepted is not None
        positive = self.data.label == 1
        apart = None if group is not None else self._disparity(there)[0]
        rates = share(self.p, positive), share(self.p, ~positive)
        return Part(client, group, int(there.sum()), right, accepted, *rates, apart)

    def _disparity(self, there: Array) -> tuple[float, Array]:
        """The largest difference of the groups' rates, and its influences; 0 where no two groups
        can be compared.
        """
        best = 0.0, np.zeros(len(self.p))
        for name in NOTIONS[self.question.notion]:
            rate, y = RATES[name], self.data.label
            mass = (rate.mass[0] + rate.mass[1] * y) * there
            served = [k + w * self.p for k, w in zip(rate.constant, rate.linear, strict=True)]
            total = (served[0] + served[1] * y) * there
            of = [self.data.group == a for a in range(len(self.data.group_names))]
            known = [one for one in of if (mass * one).sum() > 0]
            rates = [_ratio(total * one, mass * one) for one in known]
            pairs = list(combinations(rates, 2))
            if self.question.difference == "overall" and len(rates) > 1:
                pairs = [(one, _ratio(total, mass)) for one in rates]
            for (one, its), (two, others) in pairs:
                if abs(one - two) > best[0]:
                    best = abs(one - two), np.sign(one - two) * (its - others)
        return best

    def number(self, value: float, influence: Array, other: float | None = None) -> Number:
        """With its interval, which reaches over ``other``, another estimate, too."""
        client, size = self.data.client, np.bincount(self.data.client)
        mean = np.bincount(client, influence) / size
        half = NORMAL * np.sqrt(((influence - mean[client]) ** 2).sum()) / len(client)
        both = [value] if other is None else [value, other]
        return Number(float(value), float(min(both) - half), float(max(both) + half))

    def compared(
        self, score: Array, seed: int, progress: Progress | None
    ) -> tuple[tuple[Distance, ...], dict[str, Number]]:
        """The schemes' distances, and how much local training is below pooling."""
        data, names = self.data, (self.data.group_names, self.data.client_names)
        columns = (score, data.label, data.group, data.client)
        sample = count_people(*columns)
        assert sample.cuts is not None
        fed = Federation.from_samples(*columns)
        fed.groups, fed.client_names = names
        cell = (data.client, data.group, data.label, np.searchsorted(sample.cuts, score))
        curves = frontiers(fed, POINTS, self.question, progress, SCHEMES)
        disparity, moved = self.disparity
        reached = [s for s in SCHEMES if curves[s].disparity[0] <= disparity]
        tops = [curves[s].disparity[-1] for s in reached]
        at = [min(disparity, top) for top in tops]
        points = [curves[s].points_at(np.array([d])) for s, d in zip(reached, at, strict=True)]
        spots = [
            Spot(s, point.eps[0], "" if disparity < top else "best")
            for s, point, top in zip(reached, points, tops, strict=True)
        ]
        held = fitted = np.array([point.worth[0] for point in points])
        by_spot, slopes = influences(fed, sample, spots, self.question)
        parts = folds(sample.counts, np.random.default_rng(seed))
        judged = crossed(sample, parts, spots, self.question, progress)
        if judged is not None:  # at the same disparity, along the frontier
            held = judged[0][:, 0] + slopes * (np.array(at) - judged[0][:, 1])
        own = [by_spot[k, 0][cell] + slopes[k] * moved for k in range(len(spots))]
        mine, its = self.right.mean(), self.right - self.right.mean()
        above, below = {}, {}
        for k, scheme in enumerate(reached):
            above[scheme] = self.number(held[k] - mine, own[k] - its, fitted[k] - mine)
            below[scheme] = self.number(held[0] - held[k], own[0] - own[k], fitted[0] - fitted[k])
        right = dict(zip(reached, held.tolist(), strict=True))
        distances = tuple(
            Distance(s, float(curves[s].disparity[0]), right.get(s), above.get(s)) for s in SCHEMES
        )
        return distances, {s: less for s, less in below.items() if s != reached[0]}


def wilson(share: float, people: int) -> Number:
    """A share of people with its interval (Wilson, 1927), which no share of 0 or 1 makes empty; for
    chances in place of 0 and 1 it is too wide.
    """
    square = NORMAL**2 / people
    middle = (share + square / 2.0) / (1.0 + square)
    half = NORMAL * np.sqrt(share * (1.0 - share) / people + square / people / 4.0) / (1.0 + square)
    return Number(share, max(float(middle - half), 0.0), min(float(middle + half), 1.0))


def _ratio(total: Array, mass: Array) -> tuple[float, Array]:
    """Σ total / Σ mass, and its influences."""
    rate = total.sum() / mass.sum()
    return float(rate), (total - rate * mass) / mass.mean()


def table(found: Judgement, client: str, group: str) -> list[tuple[str, ...]]:
    """The parts as rows of text, the first a header; ``client`` and ``group`` are what they are
    called.
    """
    rows: list[tuple[str, ...]] = [
        ("of", "people", "right", "accepted", "of y = 1", "of y = 0", "disparity")
    ]
    for part in found.parts:
        both = ((client, part.client), (group, part.group))
        name = ", ".join(f"{what} {one}" for what, one in both if one is not None) or "all"
        shares = (part.right, part.accepted, part.true_positive, part.false_positive)
        cells = (
            "-" if n is None else f"{percent(n.value)} ({span(n.ends, percent)})" for n in shares
        )
        apart = "" if part.disparity is None else number(part.disparity)
        rows.append((name, f"{part.people:,}", *cells, apart))
    return rows


def sentences(found: Judgement) -> list[str]:
    """The judgement in plain words."""
    accuracy, disparity = found.accuracy, found.disparity
    out = [
        *filter(None, [found.left_out]),
        f"The predictions are right for {percent(accuracy.value)} ({span(accuracy.ends, percent)}) "
        f"of these {found.people:,} people, at a disparity of {number(disparity.value)} "
        f"({span((max(disparity.low, 0.0), disparity.high), number)}).",
    ]
    for one in found.distances:
        name = NAMES[one.scheme]
        if one.above is None or one.accuracy is None:
            out.append(
                f"{name} does not get so fair: its smallest disparity is {number(one.smallest)}."
            )
            continue
        low, high = one.above.ends
        told = f"{name}'s best rule of the score is right for {percent(one.accuracy)} there"
        apart = f"{points(abs(one.above.value))} ({span((low, high), points)})"
        if low <= 0 <= high:
            out.append(f"{told}: not distinguishable from the predictions, {apart}.")
        elif low > 0:
            out.append(f"{told}: {apart} more than the predictions.")
        else:
            out.append(
                f"{told}: {apart} fewer than the predictions, which know more than the score."
            )
        less = found.below_cfl.get(one.scheme)
        if less is not None and less.low > 0:
            out.append(
                f"Of the distance from pooling the scheme takes {points(less.value)} "
                f"({span(less.ends, points)}); training left the rest."
            )
    return out
