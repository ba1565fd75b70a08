"""The prediction that a scheme's learner ends at the scheme's exact optimum."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from fairfl.solvers.schemes import SOLVED, SchemeName
from fairfl.studies.crosscheck.population.frontier_distance import TOLERANCE, below
from fairfl.studies.crosscheck.population.practice import Aims, Practice, aims_of
from fairfl.studies.crosscheck.population.worlds import World, by_name
from fairfl.studies.crosscheck.prediction import (
    LONGER,
    RICHER,
    SAMPLED,
    THEORY,
    TRAINED,
    banded,
    hard_verdict,
    near_verdict,
)
from fairfl.studies.crosscheck.study import Verdict
from fairfl.studies.crosscheck.table_rows import exact_curve, series
from fairfl.studies.frames import among, floats

IDEAL = 0.02
"""2/√n at 10,000 people: two standard errors of an MD on so many, half of them in each group."""
EVEN_SEEDS = 4
"""Seeds of what has no sampling error: they differ by rounding to whole people."""


def cases_of(scheme: str, people: int = 1_000) -> dict[str, Practice]:
    """Practice, and sampling switched off, alone and with the optimisation or the model class."""
    even = Practice(scheme, 1_000, is_sampled=False)
    return {
        TRAINED: Practice(scheme, people),
        SAMPLED: even,
        LONGER: replace(even, rounds=80),
        RICHER: replace(even, degree=3),
    }


@dataclass(frozen=True)
class Reached:
    """A scheme's learner on a world.

    Attributes
    ----------
    scheme : whose exact frontier bounds its rules.
    world : a name.
    cases : how it is trained.
    aims : (world) -> Aims, by default the scheme's exact points at ``budgets``.
    """

    scheme: SchemeName
    world: str
    cases: Mapping[str, Practice]
    budgets: Sequence[tuple[float, ...]] = ()
    aims: Callable[[World], Aims] | None = None

    def rows(self, case: str, seeds: int) -> pd.DataFrame:
        """The learned rules of a case; ``below`` is how far each is below the frontier."""
        return self.measured(self.cases[case], self.world, seeds)

    def measured(self, practice: Practice, name: str, seeds: int) -> pd.DataFrame:
        """The same of any practice and world."""
        world, count = by_name(name), seeds if practice.is_sampled else EVEN_SEEDS
        aims = aims_of(world, self.scheme, self.budgets) if self.aims is None else self.aims(world)
        table = practice.measures(world, aims, count, self.scheme == "client_aware")
        bound = self.scheme if self.scheme == "client_aware" else "cfl"
        short = below(world, floats(table, "disparity"), floats(table, "accuracy"), bound)
        return table.assign(below=short)

    def bounded(self, measures: pd.DataFrame) -> Verdict:
        """Hard: no rule is above the frontier of the scheme that bounds it."""
        bound = SOLVED[self.scheme if self.scheme == "client_aware" else "cfl"].label
        statement = f"No learned rule is more accurate than the exact {bound} optimum at its |MD|."
        name = f"below-{bound.lower()}-frontier"
        return hard_verdict(name, statement, floats(measures, "below"), TOLERANCE)

    def near(self, name: str, measures: pd.DataFrame, case: str = TRAINED) -> Verdict:
        """Whether a case ends at the exact point: of samples to 2/√n, two standard errors of an
        MD, else to ``IDEAL``.
        """
        practice = self.cases[case]
        limit = 2 / np.sqrt(practice.people) if practice.is_sampled else IDEAL
        learner = f"{SOLVED[self.scheme].label}'s learner"
        on = f"on samples of {practice.people:,} people" if practice.is_sampled else f"with {case}"
        statement = f"{learner} {on} ends at its exact optimum, in MD and accuracy."
        return near_verdict(name, statement, measures, float(limit), case)

    def points(self, panel: str, measures: pd.DataFrame, *cases: str) -> pd.DataFrame:
        """The exact frontiers, and the means and intervals of some cases by budget."""
        world, schemes = by_name(self.world), dict.fromkeys(("cfl", self.scheme))
        curves = [exact_curve(world, scheme).assign(panel=panel) for scheme in schemes]
        shown = among(measures, "case", cases)
        aims = shown.drop_duplicates("budget")
        points = floats(aims, "aim_disparity"), floats(aims, "aim_accuracy")
        exact_points = series(panel, THEORY, "points", *points)
        bands = banded(panel, shown, "disparity", "accuracy", "budget")
        return pd.concat([*curves, exact_points, bands], ignore_index=True)
