"""What pooling is worth, in two parts: the score's, since a model of one site's people knows less,
and the constraints', since a budget at each site limits other rates than the pooled one.

Of a score that was made without pooling, the best rule of local training with one budget for all
clients is compared with CFL's rule of the first, pooled score at the same disparity. What is lost
is the difference of CFL's rules of the two scores, and that of the two schemes' rules of the score
at hand. All are judged on people they were not fitted to, and intervals are those of the person by
person differences of influences.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from rich.table import Table

from fairfl._support.checks import Array
from fairfl.reports.comparison import Comparison
from fairfl.reports.comparison_words import difference, shower, span
from fairfl.reports.curves import COMPARED, POINTS, Best, best_rules, frontiers
from fairfl.reports.judgement.parts import Number, auc, estimate
from fairfl.reports.people import Read, counted, federation_of
from fairfl.reports.question import Question
from fairfl.reports.sampling import Progress
from fairfl.solvers.schemes import CFL, SCHEMES
from fairfl.theory.populations.calibration import AUTO

BESIDE = 3
"""Scores beside each other in a table."""


@dataclass(frozen=True)
class Cost:
    """Of the best rule of a score and a scheme, at a disparity (None: without a constraint): its
    value, and what is lost by the score and by the constraints, both together in ``lost``. All are
    None where the scheme does not get so fair.
    """

    scheme: str
    disparity: float | None
    value: Number | None = None
    lost: Number | None = None
    by_score: Number | None = None
    by_constraints: Number | None = None


@dataclass(frozen=True)
class Scored:
    """A score: its area under the ROC curve, how much that is below the first score's, the area at
    each client (None without people of both labels), and what its rules lose.
    """

    score: str
    auc: Number
    auc_lost: Number
    auc_by_client: dict[str, Number | None]
    costs: tuple[Cost, ...]


def compare_scores(
    read: Read, comparison: Comparison, seed: int = 0, progress: Progress | None = None
) -> list[Scored]:
    """Compare the scores of a table of people, the first of which is that of ``comparison``, at the
    disparities that it puts in words and without a constraint; ``seed`` deals people into parts.
    """
    rows, federation, people = read.rows, read.federation, read.people
    assert rows is not None and people is not None
    curves = {s: comparison.reaches[s].frontier for s in COMPARED if s in comparison.reaches}
    at = [*(comparison.disparities[k] for k in comparison.worded), np.inf]
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    areas = [auc(score, rows.label, weight) for score in rows.features.T]
    places = [rows.client == k for k in range(len(rows.client_names))]
    pooled: dict[tuple[str, float], Best] = {}
    out = []
    for name, score, area in zip(rows.feature_names, rows.features.T, areas, strict=True):
        if pooled:
            calibrate = AUTO if people.calibration else people.calibrate
            people = counted(rows, score, comparison.question, calibrate, read.levels)
            federation, _ = federation_of(people)
            curves = frontiers(federation, POINTS, comparison.question, progress, list(curves))
        settings = comparison.question, seed, progress
        best = best_rules(rows, score, people, federation, curves, at, *settings)
        pooled = pooled or best
        lost = areas[0][0] - area[0], areas[0][1] - area[1]
        overall = [estimate(rows.client, *pair) for pair in (area, lost)]
        by_client = {
            client: _area(score[at_client], rows.label[at_client], weight[at_client])
            for client, at_client in zip(rows.client_names, places, strict=True)
        }
        questions = [("cfl", np.inf), *((s, d) for d in at[:-1] for s in curves)]
        costs = tuple(_cost(rows.client, *question, best, pooled) for question in questions)
        out.append(Scored(name, *overall, by_client, costs))
    return out


def _cost(
    client: Array,
    scheme: str,
    d: float,
    rules: dict[tuple[str, float], Best],
    pooled: dict[tuple[str, float], Best],
) -> Cost:
    at = d if d < np.inf else None
    if (scheme, d) not in rules:
        return Cost(scheme, at)
    rule, central, best = rules[scheme, d], rules["cfl", d], pooled["cfl", d]
    differences = rule, best.minus(rule), best.minus(central), central.minus(rule)
    numbers = (
        estimate(client, d.held_out, d.influence, d.fitted, d.residuals) for d in differences
    )
    return Cost(scheme, at, *numbers)


def _area(score: Array, label: Array, weight: Array) -> Number | None:
    if len(np.unique(label)) < 2:
        return None
    return estimate(np.zeros(len(label), int), *auc(score, label, weight))


def tables(scores: Sequence[Scored], question: Question) -> list[Table]:
    """The scores beside each other, a few a table; the first is in the first."""
    return [_table(scores[k : k + BESIDE], question) for k in range(0, len(scores), BESIDE)]


def _table(scores: Sequence[Scored], question: Question) -> Table:
    out = Table(title="What pooling is worth, held out, one budget for all", title_justify="left")
    out.add_column("")
    for scored in scores:
        out.add_column(scored.score, justify="right", overflow="fold")
    show_difference, area = partial(difference, question), "{:.3f}".format

    def row(name: str, numbers: Sequence[Number | None], show: Callable[[float], str]) -> None:
        cells = ["-" if n is None else f"{show(n.value)}\n{span(n.ends, show)}" for n in numbers]
        out.add_row(name, *cells)

    row("AUC", [scored.auc for scored in scores], area)
    row("  lost", [scored.auc_lost for scored in scores], area)
    for client in scores[0].auc_by_client:
        row(f"  at {client}", [scored.auc_by_client[client] for scored in scores], area)
    for costs in zip(*(scored.costs for scored in scores), strict=True):
        out.add_section()
        scheme, d = costs[0].scheme, costs[0].disparity
        name = "no constraint" if d is None else f"{SCHEMES[scheme].heading} at {d:g}"
        row(name, [cost.value for cost in costs], shower(question))
        row("  lost", [cost.lost for cost in costs], show_difference)
        if scheme != CFL.name:
            row("  by the score", [cost.by_score for cost in costs], show_difference)
            row("  by constraints", [cost.by_constraints for cost in costs], show_difference)
    return out
