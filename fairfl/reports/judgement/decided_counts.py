"""People of sites' summaries, decided by a rule: each count is of people whom it treats alike."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fairfl.reports.judgement.parts import Decided
from fairfl.sims.data import joined_summaries
from fairfl.sims.data.decisions import read_rule
from fairfl.theory.populations.classifiers import places

HIDDEN = "Withheld counts are taken to be equal; intervals reach over all that they can be."


def of_summaries(paths: Sequence[Path], rule: Any) -> tuple[Decided, str]:
    """The people, one row each, and how withheld counts are taken, in words. ValueError: no rule,
    or another one's groups, names or levels.
    """
    if rule is None:
        raise ValueError("rule must be given for summaries of sites, got none")
    summaries, rule = joined_summaries.read_summaries(paths), read_rule(rule)
    people = joined_summaries.people_of(summaries, "shared")
    number = places("group", "groups of the rule", people.groups, rule.groups)
    if bool(rule.names) != bool(people.names) or rule.cells != people.cells:
        raise ValueError("rule must be of the same score, or scores, as the summaries")
    if rule.names:
        people = replace(people, points=places("score", "names", people.names, rule.names))
    elif rule.cells is None:
        edges = np.array(summaries[0].edges)
        low, high = (rule.on(x)[number] for x in (edges[:-1], np.nextafter(edges[1:], -np.inf)))
        split = (low != high).any(axis=0) & np.isin(summaries[0].scores, people.points)
        for k in np.flatnonzero(split):
            raise ValueError(
                "edges of the summaries must be such that the rule treats people of a level alike, "
                f"which it does not from {edges[k]:g} to {edges[k + 1]:g}"
            )
    decided = Decided.by_rule(people, rule, number)
    # as many rows as people of equal weights have the variance
    size = np.maximum(np.rint(decided.people[1] ** 2 / decided.people[2]), 1.0).astype(int)
    rows = np.repeat(np.arange(size.size), size)
    columns = {n: getattr(decided, n)[rows] for n in ("client", "group", "y", "p")}
    columns |= {"people": (decided.people / size)[:, rows], "cell": decided.cell[:, rows]}
    columns |= {"score": decided.score[rows]} if decided.score.size else {}
    return decided._replace(**columns), HIDDEN * (people.ranges is not None)
