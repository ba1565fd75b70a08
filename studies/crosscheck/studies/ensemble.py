"""LFT+Ensemble: its exact frontier and its smallest disparity δ, learned."""

from functools import partial

import pandas as pd

from fairfl.studies.crosscheck import prediction
from fairfl.studies.crosscheck.population.frontier_distance import exact
from fairfl.studies.crosscheck.population.worlds import by_name
from fairfl.studies.crosscheck.practice import ENSEMBLE, spelt
from fairfl.studies.crosscheck.prediction import SAMPLED, TRAINED, Reached, causes, limit_verdict
from fairfl.studies.crosscheck.study import Verdict
from fairfl.studies.frames import among, floats

NAME, TITLE = "ensemble", "LFT+Ensemble's learners reach its exact frontier and its δ"
SEEDS = {"quick": 8, "paper": 40}
FAIREST = (1.0, 0.0)
"""Budgets of the smallest disparity."""
REACHED = Reached("lft_ensemble", prediction.cases_of(ENSEMBLE), (FAIREST, (1.0, 0.25)))


def below_delta(measures: pd.DataFrame) -> pd.DataFrame:
    """The rules at the budgets of δ, with how far below δ their |MD| is."""
    part = among(measures, "budget", [spelt(FAIREST)])
    delta = exact(by_name(REACHED.world), "lft_ensemble").disparity[0]
    return part.assign(fairer=delta - floats(part, "disparity"))


def tables(measures: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Distances from the exact points, and from δ."""
    return {"cases": causes(measures), "delta": causes(below_delta(measures), "fairer")}


def verdicts(measures: pd.DataFrame) -> tuple[Verdict, ...]:
    """The hard inequality, what is reached, and δ."""
    fairer, limit = below_delta(measures), 2 / REACHED.cases[TRAINED].people ** 0.5
    say, name = "In the mean no learned ensemble is fairer than δ", "delta-without-sampling"
    return (
        REACHED.bounded(measures),
        REACHED.verdict("ensemble-on-samples", measures),
        REACHED.verdict("ensemble-without-sampling", measures, SAMPLED),
        limit_verdict("delta-on-samples", f"{say}.", fairer, limit, column="fairer"),
        limit_verdict(
            name, f"{say}, without sampling.", fairer, prediction.IDEAL, SAMPLED, "fairer"
        ),
    )


PICTURES = REACHED.pictures(NAME, TITLE, TRAINED, SAMPLED)
units = partial(prediction.units_of, NAME, REACHED.cases, REACHED.rows)
