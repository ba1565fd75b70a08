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
from fairfl.reports.comparison_words import difference, shower, span
from fairfl.reports.curves import POINTS, SCHEMES, Best, best_rules, frontiers
from fairfl.reports.parts import Number, estimate
from fairfl.reports.people import Read, federation_of
from fairfl.reports.question import Question, base
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
    and the constraints'; None where the scheme does not get so fair, or nothing can be lost.
    """

    scheme: str
    disparity: float | None
    value: Number | None = None
    lost: Number | None = None
    by_score: Number | None = None
    by_constraints: Number | None = None


@dataclass(frozen=True)
class Scored:
    """A score: its area under the ROC curve, how much that is below the first score's (None of the
    first), the area at each client (None without people of both labels), and what its rules lose.
    """

    score: str
    auc: Number
    auc_lost: Number | None
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
    area = auc(next(iter(read.scores.values())), rows.label)
    out: list[Scored] = []
    for name, score in read.scores.items():
        if out:
            columns = rows.label, rows.group, rows.client
            people = count_people(score, *columns, people.calibrate, read.levels)
            federation, _ = federation_of(people)
            curves = frontiers(federation, POINTS, found.question, progress, schemes)
        asked = found.question, seed, progress
        best = best_rules(rows, score, people, federation, curves, at, *asked)
        own = auc(score, rows.label)
        lost = estimate(rows.client, area[0] - own[0], area[1] - own[1]) if out else None
        costs = [
            _cost(rows.client, scheme, d, best, pooled)
            for d in at
            for scheme in (schemes if d < np.inf else schemes[:1])
        ]
        by_client = {
            client: _auc_there(score, rows.label, rows.client == k)
            for k, client in enumerate(rows.client_names)
        }
        out.append(Scored(name, estimate(rows.client, *own), lost, by_client, tuple(costs)))
        pooled = pooled or best
    return out


def _cost(
    client: Array,
    scheme: str,
    d: float,
    own: dict[tuple[str, float], Best],
    pooled: dict[tuple[str, float], Best],
) -> Cost:
    """``pooled``: the first score's rules; none: they are its ``own``."""
    at = d if d < np.inf else None
    rule, central = own.get((scheme, d)), own.get(("cfl", d))
    if rule is None or central is None:
        return Cost(scheme, at)
    best = (pooled or own)["cfl", d]

    def told(one: Best) -> Number:
        return estimate(client, one.held, one.influence, one.fitted, one.rest)

    return Cost(
        scheme,
        at,
        told(rule),
        told(best.minus(rule)) if pooled or scheme != "cfl" else None,
        told(best.minus(central)) if pooled else None,
        told(central.minus(rule)) if scheme != "cfl" else None,
    )


def _auc_there(score: Array, label: Array, there: Array) -> Number | None:
    """The area of some of the people."""
    if len(np.unique(label[there])) < 2:
        return None
    return estimate(np.zeros(there.sum(), int), *auc(score[there], label[there]))


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
    """The scores beside each other, a few a table; the first is in the first."""
    return [_table(scores[k : k + BESIDE], question) for k in range(0, len(scores), BESIDE)]


def _table(scores: Sequence[Scored], question: Question) -> Table:
    out = Table(title="What pooling is worth, held out, one budget for all", title_justify="left")
    out.add_column("")
    for one in scores:
        out.add_column(one.score, justify="right")
    less = partial(difference, question)

    def row(name: str, numbers: Sequence[Number | None], show: Show, end: bool = False) -> None:
        cells = ["-" if n is None else f"{show(n.value)}\n{span(n.ends, show)}" for n in numbers]
        out.add_row(name, *cells, end_section=end)

    row("AUC", [one.auc for one in scores], "{:.3f}".format)
    row("  lost", [one.auc_lost for one in scores], "{:.3f}".format)
    clients = list(scores[0].auc_by_client)
    for client in clients if len(clients) > 1 else ():
        row(f"  at {client}", [one.auc_by_client[client] for one in scores], "{:.3f}".format)
    out.add_section()
    for costs in zip(*(one.costs for one in scores), strict=True):
        d, scheme = costs[0].disparity, costs[0].scheme
        at = "no constraint" if d is None else f"{NAMES[base(scheme)]} at {d:g}"
        row(at, [cost.value for cost in costs], shower(question))
        if scheme != "cfl":
            row("  lost", [cost.lost for cost in costs], less)
            row("  by constraints", [cost.by_constraints for cost in costs], less, True)
        else:
            row("  lost by the score", [cost.by_score for cost in costs], less, True)
    return out


def sentences(scores: Sequence[Scored], question: Question) -> list[str]:
    """What is lost without pooling, in plain words."""
    less, out = partial(difference, question), []
    for one in scores[1:]:
        for cost in one.costs:
            parts = cost.lost, cost.by_score, cost.by_constraints
            told = [f"{less(n.value)} ({span(n.ends, less)})" for n in parts if n is not None]
            if len(told) < len(parts) or cost.lost is None:
                continue
            alike = ", not distinguishable from pooling" * (cost.lost.low <= 0 <= cost.lost.high)
            out.append(
                f"At a disparity of {cost.disparity:g}, {NAMES[cost.scheme]} and the score "
                f"{one.score} lose {told[0]} against pooling both{alike}: {told[1]} by the score, "
                f"{told[2]} by the constraints."
            )
    return out
