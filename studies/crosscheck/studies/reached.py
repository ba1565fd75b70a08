"""Learners of CFL, LFT+Ensemble and LFT+FedAvg, and personal models, reach their exact optima."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from fairfl.solvers.schemes import SOLVED, SchemeName
from fairfl.studies.crosscheck.population.frontier_distance import below, exact
from fairfl.studies.crosscheck.population.worlds import by_name
from fairfl.studies.crosscheck.practice import (
    CFL,
    ENSEMBLE,
    LFT_AVG,
    Budget,
    Practice,
    aims_of,
    spelt,
)
from fairfl.studies.crosscheck.prediction import (
    EVEN_SEEDS,
    IDEAL,
    ONE_STEP,
    SAMPLED,
    THEORY,
    TRAINED,
    banded,
    cases_of,
    causes,
    hard_verdict,
    limit_verdict,
    units_of,
)
from fairfl.studies.crosscheck.study import Study, Verdict, exact_curve, series, trade_off
from fairfl.studies.frames import among, floats

WORLD = "figure-5d"
SHORT = "ten short steps"
OUTSIDE, INSIDE = (0.05,), (0.2,)
"""Budgets. Of LFT+FedAvg the optimal multipliers are outside of FedFB's box, and inside."""
FAIREST = (1.0, 0.0)
"""Budgets of LFT+Ensemble's smallest disparity δ."""
Tables = Callable[[pd.DataFrame], dict[str, pd.DataFrame]]
Verdicts = Callable[[pd.DataFrame], tuple[Verdict, ...]]


@dataclass(frozen=True)
class Reached:
    """The prediction that the learner of a ``scheme`` ends at its exact optimum at the ``budgets``.
    Rules of all ``cases`` are below the frontier of ``bound``.
    """

    scheme: SchemeName
    cases: Mapping[str, Practice]
    budgets: tuple[Budget, ...]
    bound: SchemeName = "cfl"

    def rows(self, case: str, seeds: int) -> pd.DataFrame:
        """The learned rules of a case; ``below`` is how far each is below the frontier."""
        world, practice = by_name(WORLD), self.cases[case]
        aims = aims_of(world, self.scheme, self.budgets)
        count = seeds if practice.is_sampled else EVEN_SEEDS
        table = practice.measures(world, aims, count, self.scheme == "client_aware")
        short = below(world, floats(table, "disparity"), floats(table, "accuracy"), self.bound)
        return table.assign(below=short)

    def bounded(self, measures: pd.DataFrame) -> Verdict:
        """Hard: no rule is above the frontier of the scheme that bounds it."""
        label = SOLVED[self.bound].label
        statement = f"No learned rule is more accurate than the exact {label} optimum at its |MD|."
        return hard_verdict("below-the-frontier", statement, floats(measures, "below"))

    def verdict(self, name: str, measures: pd.DataFrame, case: str = TRAINED) -> Verdict:
        """Whether a case ends at the exact point: of samples to 2/√n, two standard errors of an
        MD, else to ``IDEAL``.
        """
        practice, learner = self.cases[case], f"{SOLVED[self.scheme].label}'s learner"
        limit = float(2 / np.sqrt(practice.people)) if practice.is_sampled else IDEAL
        on = f"on samples of {practice.people:,} people" if practice.is_sampled else f"with {case}"
        statement = f"{learner} {on} ends at its exact optimum, in MD and accuracy."
        return limit_verdict(name, statement, measures, limit, case)

    def verdicts(self, word: str, measures: pd.DataFrame) -> tuple[Verdict, ...]:
        """The hard inequality, and what is reached on samples and without sampling."""
        on_samples = self.verdict(f"{word}-on-samples", measures)
        even = self.verdict(f"{word}-without-sampling", measures, SAMPLED)
        return self.bounded(measures), on_samples, even

    def study(
        self,
        name: str,
        title: str,
        tables: Tables,
        verdicts: Verdicts,
        shown: Sequence[str] = (TRAINED, SAMPLED),
        quick: int = 8,
    ) -> Study:
        """The study, with a picture of some cases."""
        picture = trade_off(f"crosscheck-{name}", title, partial(self.points, shown))
        units = partial(units_of, name, self.cases, self.rows)
        return Study(
            name, title, {"quick": quick, "paper": 40}, units, tables, verdicts, (picture,)
        )

    def points(self, cases: Sequence[str], measures: pd.DataFrame) -> pd.DataFrame:
        """The exact frontiers and points, and the means and intervals of some cases by budget."""
        label, shown = SOLVED[self.scheme].label, among(measures, "case", cases)
        aims = shown.drop_duplicates("budget")
        points = floats(aims, "aim_disparity"), floats(aims, "aim_accuracy")
        curves = [exact_curve(by_name(WORLD), s) for s in dict.fromkeys(("cfl", self.scheme))]
        bands = banded(label, shown, "disparity", "accuracy", "budget")
        parts = [*curves, series(label, THEORY, "points", *points), bands]
        return pd.concat(parts, ignore_index=True).assign(panel=label)


CFL_OPTIMUM = Reached("cfl", cases_of(CFL), (OUTSIDE, INSIDE))
ENSEMBLE_OPTIMUM = Reached("lft_ensemble", cases_of(ENSEMBLE), (FAIREST, (1.0, 0.25)))
CLIENT_AWARE_OPTIMUM = Reached(
    "client_aware", cases_of(ENSEMBLE), (OUTSIDE, INSIDE), "client_aware"
)
EVEN = replace(cases_of(LFT_AVG)[SAMPLED], rounds=120, momentum=0.0)
FEDAVG_OPTIMUM = Reached(
    "lft_fedavg",
    cases_of(LFT_AVG, 2_000)
    | {ONE_STEP: replace(EVEN, steps=1, lr=1.5), SHORT: replace(EVEN, steps=10, lr=0.15)},
    (OUTSIDE, INSIDE),
)
"""The last two cases are without momentum, and as far in a round."""


def below_delta(measures: pd.DataFrame) -> pd.DataFrame:
    """The ensembles at the budgets of δ, with how far below δ their |MD| is."""
    part = at_budget(measures, FAIREST)
    delta = exact(by_name(WORLD), "lft_ensemble").disparity[0]
    return part.assign(fairer=delta - floats(part, "disparity"))


def behind_common(measures: pd.DataFrame) -> pd.DataFrame:
    """The personal models with how much more accurate the best common rule is under the same
    budgets.
    """
    common = aims_of(by_name(WORLD), "lft_fedavg", (OUTSIDE, INSIDE)).items()
    best = {spelt(eps): accuracy for eps, (_, accuracy) in common}
    ahead = np.array([best[budget] for budget in measures["budget"]])
    return measures.assign(behind=ahead - floats(measures, "accuracy"))


def at_budget(measures: pd.DataFrame, budget: Budget) -> pd.DataFrame:
    """The rows of a budget."""
    return among(measures, "budget", [spelt(budget)])


def ensemble_verdicts(measures: pd.DataFrame) -> tuple[Verdict, ...]:
    """The hard inequality, what is reached, and δ."""
    fairer, limit = below_delta(measures), 2 / ENSEMBLE_OPTIMUM.cases[TRAINED].people ** 0.5
    say, name = "In the mean no learned ensemble is fairer than δ", "delta-without-sampling"
    return (
        *ENSEMBLE_OPTIMUM.verdicts("ensemble", measures),
        limit_verdict("delta-on-samples", f"{say}.", fairer, limit, column="fairer"),
        limit_verdict(name, f"{say}, without sampling.", fairer, IDEAL, SAMPLED, "fairer"),
    )


def fedavg_verdicts(measures: pd.DataFrame) -> tuple[Verdict, ...]:
    """The hard inequality, what ten steps with momentum reach, and what one does, or ten short ones
    without it.
    """
    near = [
        limit_verdict(
            f"{name}-{place}-the-box",
            f"With {case} in a round, without momentum and sampling, it does where the optimum's "
            f"multipliers are {place} the box of (6) that FairBatch keeps λ in (ε = {spelt(eps)}).",
            at_budget(measures, eps),
            IDEAL,
            case,
        )
        for name, case, place, eps in (
            ("one-step", ONE_STEP, "inside", INSIDE),
            ("one-step", ONE_STEP, "outside", OUTSIDE),
            ("short-steps", SHORT, "inside", INSIDE),
        )
    ]
    _, *ten = FEDAVG_OPTIMUM.verdicts("ten-steps", at_budget(measures, OUTSIDE))
    return (FEDAVG_OPTIMUM.bounded(measures), *ten, *near)


def personal_verdicts(measures: pd.DataFrame) -> tuple[Verdict, ...]:
    """The hard inequality, what is reached, and what a rule of one's own gains."""
    statement = (
        "Personal models are more accurate than the best common rule under the same local budgets, "
        "LFT+FedAvg's optimum (a negative number)."
    )
    behind = behind_common(measures)
    return (
        *CLIENT_AWARE_OPTIMUM.verdicts("personal", measures),
        limit_verdict("above-common-rules", statement, behind, 0.0, column="behind"),
    )


STUDIES = (
    CFL_OPTIMUM.study(
        "frontier",
        "CFL's learner reaches CFL's exact frontier",
        lambda measures: {"cases": causes(measures)},
        partial(CFL_OPTIMUM.verdicts, "cfl"),
    ),
    ENSEMBLE_OPTIMUM.study(
        "ensemble",
        "LFT+Ensemble's learners reach its exact frontier and its δ",
        lambda measures: {
            "cases": causes(measures),
            "delta": causes(below_delta(measures), "fairer"),
        },
        ensemble_verdicts,
    ),
    FEDAVG_OPTIMUM.study(
        "lft-fedavg",
        "LFT+FedAvg's learner reaches its exact optimum where clients move little in a round",
        lambda measures: {
            f"cases at {spelt(eps)}": causes(at_budget(measures, eps)) for eps in (OUTSIDE, INSIDE)
        },
        fedavg_verdicts,
        (TRAINED, SAMPLED, ONE_STEP),
        quick=6,
    ),
    CLIENT_AWARE_OPTIMUM.study(
        "personal",
        "Personal models reach the client-aware optimum, above common rules",
        lambda measures: {
            "cases": causes(measures),
            "common": causes(behind_common(measures), "behind"),
        },
        personal_verdicts,
    ),
)
