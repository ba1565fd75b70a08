"""What pooling is worth, in two parts: the score's, since a model of one site's people knows less,
and the constraints', since a budget at each site limits other rates than the pooled one.

Of a score that was made without pooling, the best rule of local training with one budget for all
clients is compared with the best rule of the pooled score without local constraints (CFL), at one
disparity. The difference is that of CFL's rules of the two scores, and that of the two schemes'
rules of the score at hand. All are judged on people they were not fitted to, and intervals are
those of the person by person differences of influences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from rich.table import Table

from fairfl._support.checks import Array
from fairfl.reports.comparison import Comparison
from fairfl.reports.comparison_words import difference, number, shower, span
from fairfl.reports.curves import POINTS, SCHEMES, Best, best_rules, frontiers
from fairfl.reports.parts import Number, estimate
from fairfl.reports.people import Read, federation_of
from fairfl.reports.question import Question
from fairfl.reports.sampling import Progress
from fairfl.solvers.schemes import NAMES
from fairfl.theory.populations.calibration import count_people

Show = Callable[[float], str]
BESIDE = 3
"""Scores beside each other in a table."""


@dataclass(frozen=True)
class Cost:
    """Of the best rule of a score and a scheme, at a disparity (None: without a constraint): its
    value, how much that is below CFL's rule of the first score, and what of this is the score's
    and the constraints'; None where the scheme does not get so fair.
    """

    scheme: str
    disparity: float | None
    value: Number | None = None
    total: Number | None = None
    by_score: Number | None = None
    by_constraints: Number | None = None


@dataclass(frozen=True)
class Scored:
    """A score: its area under the ROC curve, how much that is below the first score's, the area at
    each client (None without people of both labels), and what its best rules lose.
    """

    score: str
    auc: Number
    auc_below: Number
    auc_by_client: dict[str, Number | None]
    costs: tuple[Cost, ...]


def compare_scores(
    read: Read, found: Comparison, seed: int = 0, progress: Progress | None = None
) -> list[Scored]:
    """Compare the scores of a table of people, the first of which is that of ``found``, at the
    disparities that it puts in words and without a constraint; ``seed`` deals people into parts.
    """
    rows = read.rows
    assert rows is not None and read.people is not None
    schemes = [scheme for scheme in SCHEMES if scheme in found.reaches]
    at = [*(found.disparities[k] for k in found.talked), np.inf]
    federation, people = read.federation, read.people
    curves = {scheme: found.reaches[scheme].frontier for scheme in schemes}
    pooled: dict[tuple[str, float], Best] = {}
    out: list[Scored] = []
    first = auc(next(iter(read.scores.values())), rows.label)
    for name, score in read.scores.items():
        if out:
            columns = rows.label, rows.group, rows.client
            people = count_people(score, *columns, people.calibrate, read.levels)
            federation, _ = federation_of(people)
            curves = frontiers(federation, POINTS, found.question, progress, schemes)
        asked = found.question, seed, progress
        best = best_rules(rows, score, people, federation, curves, at, *asked)
        pooled = pooled or best
        value, influence = own = auc(score, rows.label)
        below = first[0] - value, first[1] - influence
        by_client = {}
        for k, client in enumerate(rows.client_names):
            there = rows.client == k
            if both := len(np.unique(rows.label[there])) == 2:
                its = auc(score[there], rows.label[there])
            by_client[client] = estimate(np.zeros(there.sum(), int), *its) if both else None
        costs = [
            _cost(rows.client, scheme, d, best, pooled)
            for d in at
            for scheme in (schemes if d < np.inf else schemes[:1])
        ]
        areas = (estimate(rows.client, *one) for one in (own, below))
        out.append(Scored(name, *areas, by_client, tuple(costs)))
    return out


def _cost(
    client: Array,
    scheme: str,
    d: float,
    own: dict[tuple[str, float], Best],
    pooled: dict[tuple[str, float], Best],
) -> Cost:
    at = d if d < np.inf else None
    rule, central, best = own.get((scheme, d)), own.get(("cfl", d)), pooled.get(("cfl", d))
    if rule is None or central is None or best is None:
        return Cost(scheme, at)
    told = rule, best.minus(rule), best.minus(central), central.minus(rule)
    numbers = (estimate(client, one.held, one.influence, one.fitted) for one in told)
    return Cost(scheme, at, *numbers)


def auc(score: Array, label: Array) -> tuple[float, Array]:
    """The area under the ROC curve, P(score of y = 1 above score of y = 0), ties half, and each
    person's influence on it (n,), as DeLong, DeLong and Clarke-Pearson (1988) have them.
    """
    zeros, ones = (np.sort(score[label == y]) for y in (0, 1))

    def below(of: Array) -> Array:
        sides = [np.searchsorted(of, score, side) for side in ("left", "right")]
        return (sides[0] + sides[1]) / (2.0 * len(of))

    won = np.where(label == 1, below(zeros), 1.0 - below(ones))
    area = float(won[label == 1].mean())
    return area, (won - area) * len(label) / np.where(label == 1, len(ones), len(zeros))


def tables(scores: Sequence[Scored], question: Question) -> list[Table]:
    """The scores beside each other, a few a table; the first score is in the first."""
    return [_table(scores[k : k + BESIDE], question) for k in range(0, len(scores), BESIDE)]


def _table(scores: Sequence[Scored], question: Question) -> Table:
    out = Table(title="What pooling is worth, held out", title_justify="left")
    for name in ("", *(one.score for one in scores)):
        out.add_column(name, justify="right" if name else "left")

    def row(name: str, numbers: Sequence[Number | None], show: Show, end: bool = False) -> None:
        cells = ["-" if n is None else f"{show(n.value)}\n{span(n.ends, show)}" for n in numbers]
        out.add_row(name, *cells, end_section=end)

    less = partial(difference, question)
    row("area under the ROC curve", [one.auc for one in scores], number)
    row("  below the first score's", [one.auc_below for one in scores], number)
    clients = list(scores[0].auc_by_client)
    for client in clients if 1 < len(clients) <= 8 else ():
        row(f"  at {client}", [one.auc_by_client[client] for one in scores], number)
    out.add_section()
    for costs in zip(*(one.costs for one in scores), strict=True):
        d, scheme = costs[0].disparity, costs[0].scheme
        where = "no constraint" if d is None else f"{NAMES[scheme]} at {d:g}"
        row(where, [cost.value for cost in costs], shower(question))
        if scheme == "cfl":
            row("  lost by the score", [cost.by_score for cost in costs], less, True)
        else:
            row("  lost by constraints", [cost.by_constraints for cost in costs], less)
            row("  lost in all", [cost.total for cost in costs], less, True)
    return out


def sentences(scores: Sequence[Scored], question: Question) -> list[str]:
    """What is lost without pooling, in plain words."""
    less = partial(difference, question)

    def told(one: Number | None) -> str:
        assert one is not None
        return f"{less(one.value)} ({span(one.ends, less)})"

    return [
        f"Without pooling, score {one.score} and {NAMES[cost.scheme]} lose {told(cost.total)} at a "
        f"disparity of {cost.disparity:g}: {told(cost.by_score)} by the score, "
        f"{told(cost.by_constraints)} by the constraints."
        for one in scores[1:]
        for cost in one.costs
        if cost.scheme != "cfl" and cost.value is not None
    ]
