"""The frontiers of the schemes; where a scheme's budgets cannot be searched, its solutions under
one budget for all clients.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from fairfl._support.checks import Array
from fairfl.reports.question import Question
from fairfl.reports.sampling import Progress
from fairfl.solvers.api import frontier, solve
from fairfl.solvers.frontier import Frontier, NoFrontier, Points, non_dominated
from fairfl.solvers.schemes import NAMES
from fairfl.solvers.solution import CertificationError
from fairfl.theory.populations.federation import Federation


@dataclass(frozen=True)
class EqualBudgets(Frontier):
    """The non-dominated of such solutions; between two of them the value is that of the left."""


def frontiers(
    federation: Federation, count: int, question: Question, progress: Progress | None = None
) -> dict[str, Frontier]:
    """The frontiers of the schemes; solutions under equal budgets where a scheme has none."""
    found = {}
    for scheme in question.schemes:
        if progress is not None:
            progress(f"frontier of {NAMES[scheme]}")
        try:
            found[scheme] = frontier(federation, scheme, count, **question.of(scheme))
        except NoFrontier:
            found[scheme] = equal_budgets(federation, scheme, count, question)
    return found


def equal_budgets(
    federation: Federation, scheme: str, count: int, question: Question
) -> EqualBudgets:
    """The certified among the solutions at ``count`` budgets from 0 to 1 (no constraint), denser
    near 0.
    """
    found, n = [], federation.n_clients
    for eps in np.linspace(0.0, 1.0, count) ** 2:
        with suppress(CertificationError):
            found.append(solve(federation, scheme, np.full(n, eps), **question.of(scheme)))
    if not found:
        raise CertificationError(f"no solution of {scheme!r} under equal budgets is certified")
    disparity, accuracy, utility = (
        np.array([getattr(s, name) for s in found]) for name in ("disparity", "accuracy", "utility")
    )
    rows = non_dominated(disparity, utility)
    eps = np.array([s.eps for s in found])[rows]
    points = Points(disparity[rows], 1.0 + utility[rows], eps)

    def below(wanted: Array) -> Points:
        return points.take(np.searchsorted(points.disparity, wanted, side="right") - 1)

    return EqualBudgets(
        scheme,
        points.disparity,
        accuracy[rows],
        eps,
        below,
        utility=utility[rows],
        accurate=question.task(federation, scheme).accurate,
    )
