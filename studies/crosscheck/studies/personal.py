"""Client-aware rules: personal models with local constraints reach the client-aware optimum."""

from functools import partial

import numpy as np
import pandas as pd

from fairfl.studies.crosscheck import prediction
from fairfl.studies.crosscheck.population.worlds import by_name
from fairfl.studies.crosscheck.practice import ENSEMBLE, aims_of, spelt
from fairfl.studies.crosscheck.prediction import SAMPLED, TRAINED, Reached, causes, limit_verdict
from fairfl.studies.crosscheck.study import Verdict
from fairfl.studies.frames import floats

NAME, TITLE = "personal", "Personal models reach the client-aware optimum, above common rules"
SEEDS = {"quick": 8, "paper": 40}
LOCAL = ((0.05,), (0.2,))
"""Budgets of every client's own disparity."""
REACHED = Reached("client_aware", prediction.cases_of(ENSEMBLE), LOCAL, "client_aware")


def behind(measures: pd.DataFrame) -> pd.DataFrame:
    """The measures with how much more accurate the best common rule is under the same budgets."""
    common = aims_of(by_name(REACHED.world), "lft_fedavg", LOCAL).items()
    best = {spelt(eps): accuracy for eps, (_, accuracy) in common}
    ahead = np.array([best[budget] for budget in measures["budget"]])
    return measures.assign(behind=ahead - floats(measures, "accuracy"))


def tables(measures: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Distances from the exact points, and how far behind the best common rule."""
    return {"cases": causes(measures), "common": causes(behind(measures), "behind")}


def verdicts(measures: pd.DataFrame) -> tuple[Verdict, ...]:
    """The hard inequality, what is reached, and what a rule of one's own gains."""
    statement = (
        "Personal models are more accurate than the best common rule under the same local budgets, "
        "LFT+FedAvg's optimum (a negative number)."
    )
    return (
        REACHED.bounded(measures),
        REACHED.verdict("personal-on-samples", measures),
        REACHED.verdict("personal-without-sampling", measures, SAMPLED),
        limit_verdict("above-common-rules", statement, behind(measures), 0.0, column="behind"),
    )


PICTURES = REACHED.pictures(NAME, TITLE, TRAINED, SAMPLED)
units = partial(prediction.units_of, NAME, REACHED.cases, REACHED.rows)
