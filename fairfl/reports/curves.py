"""Frontiers of the compared schemes."""

from __future__ import annotations

from collections.abc import Sequence

from fairfl.reports.question import Question, base
from fairfl.reports.sampling import Progress
from fairfl.solvers.api import frontier
from fairfl.solvers.frontier import Frontier
from fairfl.solvers.schemes import COMMON, NAMES
from fairfl.theory.populations.federation import Federation


def frontiers(
    federation: Federation,
    count: int,
    question: Question,
    progress: Progress | None = None,
    schemes: Sequence[str] | None = None,
) -> dict[str, Frontier]:
    """The frontier of each scheme, by default of all that the question is about."""
    found, schemes = {}, question.schemes if schemes is None else schemes
    for done, scheme in enumerate(schemes):
        if progress is not None:
            progress(f"frontier of {NAMES[scheme]}", done, len(schemes))
        budgets = "common" if scheme in COMMON else "each"
        asked = question.of(scheme) | {"budgets": budgets}
        found[scheme] = frontier(federation, base(scheme), count, **asked)
    return found
