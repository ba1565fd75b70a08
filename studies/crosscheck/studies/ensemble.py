"""LFT+Ensemble: its exact frontier and its smallest disparity δ, learned."""

from functools import partial

import pandas as pd

from fairfl.studies.crosscheck.population.frontier_distance import exact
from fairfl.studies.crosscheck.population.practice import Aims, aims_of
from fairfl.studies.crosscheck.population.worlds import World, by_name
from fairfl.studies.crosscheck.prediction import SAMPLED, TRAINED, causes, near_verdict, units_of
from fairfl.studies.crosscheck.reached import IDEAL, Reached, cases_of
from fairfl.studies.crosscheck.study import Verdict
from fairfl.studies.crosscheck.table_rows import trade_off
from fairfl.studies.crosscheck.training_plan import ENSEMBLE
from fairfl.studies.frames import among, floats

NAME = "ensemble"
TITLE = "LFT+Ensemble's learners reach its exact frontier and its smallest disparity δ"
SEEDS = {"quick": 8, "paper": 40}


def aims(world: World) -> Aims:
    """The smallest disparity of the exact frontier, and a third of the way to the largest."""
    curve = exact(world, "lft_ensemble")
    places = (0, len(curve.disparity) // 3)
    return aims_of(world, "lft_ensemble", [tuple(curve.eps[k].round(5)) for k in places])


REACHED = Reached("lft_ensemble", "figure-5d", cases_of(ENSEMBLE), aims=aims)


def below_least(measures: pd.DataFrame) -> pd.DataFrame:
    """The rules at the budgets of δ, with how far below δ their |MD| is."""
    world = by_name(REACHED.world)
    part = among(measures, "budget", [measures["budget"].iloc[0]])
    least = exact(world, "lft_ensemble").disparity[0]
    return part.assign(fairer=least - floats(part, "disparity"))


def tables(measures: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Distances from the exact points, and from δ."""
    return {"cases": causes(measures), "delta": causes(below_least(measures), "fairer")}


def verdicts(measures: pd.DataFrame) -> tuple[Verdict, ...]:
    """The hard inequality, what is reached, and δ."""
    fairer, statement = below_least(measures), "No learned ensemble's |MD| is below δ, in the mean"
    limit = float(2 / REACHED.cases[TRAINED].people ** 0.5)
    return (
        REACHED.bounded(measures),
        REACHED.near("ensemble-on-samples", measures),
        REACHED.near("ensemble-without-sampling", measures, SAMPLED),
        near_verdict("delta-on-samples", f"{statement}.", fairer, limit, column="fairer"),
        near_verdict(
            "delta-without-sampling", f"{statement}, without sampling.", fairer, IDEAL, SAMPLED,
            "fairer",
        ),
    )  # fmt: skip


def points(measures: pd.DataFrame) -> pd.DataFrame:
    """The exact frontiers, and what is learned with and without sampling."""
    return REACHED.points("LFT+Ensemble", measures, TRAINED, SAMPLED)


PICTURES = (trade_off("crosscheck-ensemble", TITLE, points),)
units = partial(units_of, NAME, REACHED.cases, REACHED.rows)
