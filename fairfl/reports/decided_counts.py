"""People of sites' summaries, decided by a rule: each count is of people whom it treats alike."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from fairfl.reports.parts import Decided
from fairfl.sims.data import joined_summaries
from fairfl.sims.data.decisions import read_rule
from fairfl.sims.data.summary import Summary
from fairfl.theory.populations.calibration import Counted
from fairfl.theory.populations.classifiers import Classifier, places

HIDDEN = "Withheld counts are taken to be equal, and noise to be none: intervals count neither."


def of_summaries(paths: Sequence[Path], rule: Classifier | str | Path) -> tuple[Decided, str]:
    """The people, one row each, and what their intervals leave out, in words.

    ValueError : a group, a name or levels that are not those of the rule.
    """
    summaries = joined_summaries.read_summaries(paths)
    people, rule = joined_summaries.people_of(summaries, "shared"), read_rule(rule)
    number = places("group", "groups of the rule", people.groups, rule.groups)
    if bool(rule.names) != bool(people.names) or rule.cells != people.cells:
        raise ValueError("rule must be of the same score, or scores, as the summaries")
    if rule.names:
        points = places("score", "names of the rule", people.names, rule.names)
        people = replace(people, points=points)
    elif rule.cells is None:
        _check_levels(summaries[0], people, rule, number)
    decided = Decided.by_rule(people, rule, number)
    persons, weight, square = decided.people
    # as many as have the variance of all, so that intervals are those of people
    size = np.maximum(np.rint(weight**2 / square), 1.0).astype(int)
    rows = np.repeat(np.arange(size.size), size)
    share = (decided.people / size)[:, rows]
    names = "client", "group", "y", "p", *(["score"] if decided.score.size else [])
    columns = {name: getattr(decided, name)[rows] for name in names}
    is_altered = people.is_noisy or people.ranges is not None
    return decided._replace(people=share, **columns), HIDDEN * is_altered


def _check_levels(first: Summary, people: Counted, rule: Classifier, number: np.ndarray) -> None:
    """ValueError where a rule treats people of one level differently."""
    low, high = np.array(first.edges[:-1]), np.array(first.edges[1:])
    ends = [rule.on(x)[number] for x in (low, np.nextafter(high, -np.inf))]
    ends[1][:, -1] = rule.on(high[-1:])[number, 0]
    split = (ends[0] != ends[1]).any(axis=0) & np.isin(first.scores, people.points)
    if split.any():
        k = int(np.argmax(split))
        raise ValueError(
            "edges of the summaries must be such that the rule treats people of a level alike, "
            f"which it does not from {low[k]:g} to {high[k]:g}"
        )
