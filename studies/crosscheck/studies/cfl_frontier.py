"""CFL's learner reaches CFL's exact frontier at the rate of sampling, and none is above it."""

from dataclasses import replace

import numpy as np
import pandas as pd

from fairfl.studies.crosscheck.prediction import SAMPLED, TRAINED, causes, units_of
from fairfl.studies.crosscheck.reached import Reached, cases_of
from fairfl.studies.crosscheck.study import Verdict
from fairfl.studies.crosscheck.table_rows import rate_verdict, trade_off
from fairfl.studies.crosscheck.training_plan import CFL
from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.frames import among, floats

NAME = "frontier"
TITLE = "CFL's learner reaches CFL's exact frontier"
SEEDS = {"quick": 8, "paper": 40}
REACHED = Reached("cfl", "figure-5d", cases_of(CFL), ((0.05,), (0.2,)))
RATED = replace(REACHED, budgets=((0.1,),))
BY_SIZE = "by size"
WORLDS = (*(f"figure-{number}{panel}" for number in (5, 9) for panel in "abcd"), "random-0")
SIZES = (250, 1_000, 4_000, 16_000)
"""Worlds and people of the rates."""


def units(scale: Scale) -> list[Unit]:
    """The cases; for the rates, in the paper profile, samples of several sizes."""
    cases = units_of(NAME, REACHED.cases, REACHED.rows, scale)
    return cases + (units_of(f"{NAME}-rates", [BY_SIZE], sized, scale) if scale.paper else [])


def sized(case: str, seeds: int) -> pd.DataFrame:
    """Rules of samples of every size and world, with what |MD| is off its budget."""
    tables = [
        RATED.measured(replace(REACHED.cases[TRAINED], people=size), world, seeds)
        for world in WORLDS
        for size in SIZES
    ]
    table = pd.concat(tables, ignore_index=True)
    return table.assign(missed=np.abs(floats(table, "disparity") - RATED.budgets[0][0]))


def tables(measures: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Distances from the exact points."""
    return {"cases": causes(_cases(measures))}


def _cases(measures: pd.DataFrame) -> pd.DataFrame:
    return among(measures, "case", list(REACHED.cases))


def verdicts(measures: pd.DataFrame) -> tuple[Verdict, ...]:
    """The hard inequality, what is reached, and two rates where there are runs for them."""
    part = among(measures, "case", [BY_SIZE])
    reached = (
        REACHED.bounded(measures),
        REACHED.near("cfl-on-samples", _cases(measures)),
        REACHED.near("cfl-without-sampling", _cases(measures), SAMPLED),
    )
    if part.empty:
        return reached
    regret = "The distance of CFL's learner below the frontier shrinks like 1/n."
    missed = "Its |MD| misses the budget by the order of the root of 1/n."
    return (
        *reached,
        rate_verdict("cfl-regret-rate", regret, 1, part, floats(part, "below")),
        rate_verdict("cfl-budget-rate", missed, 0.5, part, floats(part, "missed")),
    )


def points(measures: pd.DataFrame) -> pd.DataFrame:
    """The exact frontier, and what is learned with and without sampling."""
    return REACHED.points("CFL", measures, TRAINED, SAMPLED)


PICTURES = (trade_off("crosscheck-frontier", TITLE, points),)
