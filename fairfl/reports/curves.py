"""Frontiers of the compared schemes, and their best rules at some disparities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from fairfl._support.checks import Array
from fairfl.reports.question import Question
from fairfl.reports.sampling import Progress, Spot, crossed, influences, residuals
from fairfl.sims.data.tables.table import Dataset
from fairfl.solvers.api import frontier
from fairfl.solvers.frontier import Frontier
from fairfl.solvers.schemes import COMMON, SCHEMES
from fairfl.theory.populations.calibration import FOLDS, Counted, folds
from fairfl.theory.populations.federation import Federation

POINTS = 20
"""Points of a frontier that is evaluated at few disparities, which are solved between them."""
COMPARED = "cfl", *(scheme.name for scheme in COMMON)
"""Pooling, and what all clients can agree on."""


@contextmanager
def noted(part: str, failures: dict[str, str] | None) -> Iterator[None]:
    """Keeps in ``failures`` why a part of a report failed; CFL, which all need, may not."""
    try:
        yield
    except RuntimeError as error:
        if failures is None or part == "cfl":
            raise
        failures[part] = str(error)


def frontiers(
    federation: Federation,
    count: int,
    question: Question,
    progress: Progress | None = None,
    schemes: Sequence[str] | None = None,
    failures: dict[str, str] | None = None,
) -> dict[str, Frontier]:
    """The frontier of each scheme, by default of all that the question is about; see ``noted``."""
    curves, schemes = {}, question.schemes if schemes is None else schemes
    for done, scheme in enumerate(schemes):
        if progress is not None:
            progress(f"frontier of {SCHEMES[scheme].label}", done, len(schemes))
        budgets = "common" if SCHEMES[scheme].one_budget else "each"
        task: dict[str, Any] = question.of(scheme) | {"budgets": budgets}
        with noted(scheme, failures):
            curves[scheme] = frontier(federation, SCHEMES[scheme].base, count, **task)
    return curves


class Best(NamedTuple):
    """The value of a scheme's best rule at a disparity, on people it was not ``fitted`` to and on
    those it was; each person's ``influence`` (n,) on it, its ``slope`` in the disparity, and
    the ``residuals`` (FOLDS,) of its values without one part of the people.
    """

    held_out: float
    fitted: float
    influence: Array
    slope: float
    residuals: Array

    def minus(self, subtrahend: Best) -> Best:
        """This value less another."""
        return Best._make(a - b for a, b in zip(self, subtrahend, strict=True))


def best_rules(
    data: Dataset,
    score: Array,
    sample: Counted,
    federation: Federation,
    curves: dict[str, Frontier],
    at: Sequence[float],
    question: Question,
    seed: int = 0,
    progress: Progress | None = None,
) -> dict[tuple[str, float], Best]:
    """By scheme and disparity, of those that a frontier reaches.

    ``data`` are people with a ``score``, counted in ``sample``, of which the ``federation`` and the
    ``curves`` are made; ``seed`` deals them into parts. Beyond a frontier's end is its end.
    """
    keys = [(s, d) for s, curve in curves.items() for d in at if curve.disparity[0] <= d]
    ends = [float(curves[s].disparity[-1]) for s, _ in keys]
    capped = np.array([min(d, end) for (_, d), end in zip(keys, ends, strict=True)])
    points = [curves[s].points_at(np.array([d])) for (s, _), d in zip(keys, capped, strict=True)]
    spots = [
        Spot(s, point.eps[0], "" if d < end else "best")
        for (s, d), point, end in zip(keys, points, ends, strict=True)
    ]
    held_out = fitted = np.array([point.worth[0] for point in points]) - (not question.is_share)
    by_spot, slopes, _ = influences(federation, sample, spots, question)
    parts = sample.weigh(folds(sample.effective, np.random.default_rng(seed)))
    judged = crossed(sample, parts, spots, question, progress)
    unexplained = np.zeros((len(spots), FOLDS))
    if judged is not None:  # at the same disparity, along the frontier
        held_out, inside = (v[:, 0] + (slopes * (capped - v[:, 1].T)).T for v in judged)
        unexplained = np.nan_to_num(residuals(inside, by_spot[:, 0], parts))
        held_out = np.where(np.isnan(held_out), fitted, held_out)
    client, group = (np.unique(v, return_inverse=True)[1] for v in (data.client, data.group))
    cell = client, group, data.label, sample.level(score)
    scale = 1.0 if data.weight is None else data.weight / data.weight.mean()
    influence = [scale * derivative[cell] for derivative in by_spot[:, 0]]
    rows = zip(
        held_out.tolist(), fitted.tolist(), influence, slopes.tolist(), unexplained, strict=True
    )
    return dict(zip(keys, map(Best._make, rows), strict=True))
