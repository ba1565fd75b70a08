"""CFL's learner reaches CFL's exact frontier, and none is above it."""

from functools import partial

import pandas as pd

from fairfl.studies.crosscheck.practice import CFL
from fairfl.studies.crosscheck.prediction import (
    SAMPLED,
    TRAINED,
    Reached,
    cases_of,
    causes,
    units_of,
)
from fairfl.studies.crosscheck.study import Verdict

NAME, TITLE = "frontier", "CFL's learner reaches CFL's exact frontier"
SEEDS = {"quick": 8, "paper": 40}
REACHED = Reached("cfl", cases_of(CFL), ((0.05,), (0.2,)))


def tables(measures: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Distances from the exact points."""
    return {"cases": causes(measures)}


def verdicts(measures: pd.DataFrame) -> tuple[Verdict, ...]:
    """The hard inequality, and what is reached."""
    return (
        REACHED.bounded(measures),
        REACHED.verdict("cfl-on-samples", measures),
        REACHED.verdict("cfl-without-sampling", measures, SAMPLED),
    )


PICTURES = REACHED.pictures(NAME, TITLE, TRAINED, SAMPLED)
units = partial(units_of, NAME, REACHED.cases, REACHED.rows)
