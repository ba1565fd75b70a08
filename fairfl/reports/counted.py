"""Rules held against the people that they were fitted to: what is counted by their labels, less
what the federation's P(y = 1 | x) promises.

The two are equal where a rule is constant on the levels that share one value of P(y = 1 | x). A
rule that ends inside such levels, or for several clients whose values differ, promises what is
smoothed over them.
"""

import numpy as np

from fairfl._support.checks import Array, listed
from fairfl.reports.comparison import Comparison
from fairfl.reports.comparison_words import difference, number
from fairfl.reports.sampling import NORMAL, accepted, by_label, judged
from fairfl.solvers.schemes import SCHEMES
from fairfl.solvers.solution import CertificationError, table_of
from fairfl.theory.populations.calibration import Counted
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel
from fairfl.theory.populations.notions import NOTIONS

NEGLIGIBLE = 5e-6
"""Differences below this are called none."""


def excesses(comparison: Comparison, federation: Federation, sample: Counted) -> Array:
    """(S, K + 2, 2) by how much values and disparities counted on the people are above those of the
    table, whose rules they are of: at the smallest disparity, at the disparities of the comparison,
    and of the best rule; NaN where no rule is certified.
    """
    question = comparison.question
    out = np.full((len(comparison.reaches), len(comparison.disparities) + 2, 2), np.nan)
    for place, (scheme, reach) in enumerate(comparison.reaches.items()):
        task = question.task(federation, scheme)
        assert reach.frontier.solved is not None and isinstance(federation.model, FiniteModel)
        for k, row in enumerate(out[place]):
            try:
                classifier = reach.frontier.solved(reach.points.take([k])).classifier
            except CertificationError:
                continue
            rule = table_of(federation.model, classifier)
            counted = judged(*by_label(accepted(rule, sample.counts)), task, question)
            row[:] = np.subtract(counted, comparison.table[place, k])
    return out


def level_share(sample: Counted, notion: str) -> float:
    """The largest share of a group's people (of a label, if these count) in one level."""
    axes = (0,) if NOTIONS[notion].counts_labels else (0, 2)
    people = sample.counts.sum(axis=axes)
    total = people.sum(axis=-1, keepdims=True)
    return float(np.divide(people, total, out=np.zeros_like(people), where=total > 0).max())


def counted_lines(comparison: Comparison) -> list[str]:
    """What the counts say: one line, and one for each scheme whose disparity is more than the
    people of a level above the promised one, or on people held out more than 1.96 standard errors.
    """
    if comparison.counted is None or not np.isfinite(comparison.counted).any():
        return []
    question, excess = comparison.question, np.nan_to_num(comparison.counted)
    value, disparity = np.abs(excess).max(axis=(0, 1))
    line = (
        f"Counted on these people by their labels, each rule has the {question.value} and the "
        "disparity of the table"
    )
    if max(value, disparity) >= NEGLIGIBLE:
        line += (
            f" to within {difference(question, value)} and {number(disparity)}; the table's are "
            "those of the fitted P(y = 1 | x)"
        )
    lines = [f"{line}."]
    by_level = np.full(excess.shape[:2], max(comparison.level_share, NEGLIGIBLE))
    why = "more than the people of one level explain"
    lines += _warned(comparison, excess[..., 1], by_level, "counted on these people", why)
    spread = comparison.spread
    if spread is not None and comparison.judged:
        gap = np.nan_to_num(spread.held_out[..., 1] - comparison.table[:, :-2, 1])
        why = "more than their number and the people of one level explain"
        where = "on people whom they were not fitted to"
        error = NORMAL * spread.disparity_error
        lines += _warned(comparison, gap, np.fmax(by_level, error), where, why)
    return lines


def _warned(
    comparison: Comparison, excess: Array, allowed: Array, where: str, why: str
) -> list[str]:
    """A line for each scheme with disparities whose ``excess`` (S, K + 2) is not ``allowed``."""
    lines, promised = [], comparison.table[:, :-2, 1]
    for k, scheme in enumerate(comparison.reaches):
        beyond = [
            f"{number(d + above)} where {number(d)} is promised"
            for d, above, limit in zip(promised[k], excess[k], allowed[k], strict=True)
            if above > limit
        ]
        if beyond:
            lines.append(
                f"Warning: {where}, rules of {SCHEMES[scheme].label} have a disparity of "
                f"{listed(beyond)}, {why}."
            )
    return lines
