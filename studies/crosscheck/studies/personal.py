"""Client-aware rules: personal models with local constraints reach the client-aware optimum."""

from functools import partial

import numpy as np
import pandas as pd

from fairfl.solvers.api import solve
from fairfl.studies.crosscheck.population.practice import Aims, aims_of
from fairfl.studies.crosscheck.population.worlds import World, by_name
from fairfl.studies.crosscheck.prediction import SAMPLED, TRAINED, causes, near_verdict, units_of
from fairfl.studies.crosscheck.reached import Reached, cases_of
from fairfl.studies.crosscheck.study import Verdict
from fairfl.studies.crosscheck.table_rows import trade_off
from fairfl.studies.crosscheck.training_plan import ENSEMBLE, spelt
from fairfl.studies.frames import floats

NAME = "personal"
TITLE = "Personal models reach the client-aware optimum, above every common rule"
SEEDS = {"quick": 8, "paper": 40}
LOCAL = (0.05, 0.2)
"""Budgets of every client's own disparity."""


def aims(world: World) -> Aims:
    """The client-aware optima under local budgets alone."""
    solutions = {
        (eps,) * world.clients: solve(world.federation, "client_aware", np.inf, local_eps=eps)
        for eps in LOCAL
    }
    return {eps: (found.mean_difference, found.accuracy) for eps, found in solutions.items()}


REACHED = Reached("client_aware", "figure-5d", cases_of(ENSEMBLE), aims=aims)


def behind(measures: pd.DataFrame) -> pd.DataFrame:
    """The measures with how much more accurate the best common rule is under the same budgets."""
    world = by_name(REACHED.world)
    budgets = [(eps,) * world.clients for eps in LOCAL]
    common = {spelt(eps): aim[1] for eps, aim in aims_of(world, "lft_fedavg", budgets).items()}
    best = np.array([common[budget] for budget in measures["budget"]])
    return measures.assign(behind=best - floats(measures, "accuracy"))


def tables(measures: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Distances from the exact points, and how far behind the best common rule."""
    return {"cases": causes(measures), "common": causes(behind(measures), "behind")}


def verdicts(measures: pd.DataFrame) -> tuple[Verdict, ...]:
    """The hard inequality, what is reached, and what a rule of one's own gains."""
    return (
        REACHED.bounded(measures),
        REACHED.near("personal-on-samples", measures),
        REACHED.near("personal-without-sampling", measures, SAMPLED),
        near_verdict(
            "above-common-rules",
            "Personal models are more accurate than the best common rule under the same local "
            "budgets, LFT+FedAvg's optimum (a negative number).",
            behind(measures),
            0.0,
            column="behind",
        ),
    )


def points(measures: pd.DataFrame) -> pd.DataFrame:
    """The exact frontiers, and what is learned with and without sampling."""
    return REACHED.points("personal models", measures, TRAINED, SAMPLED)


PICTURES = (trade_off("crosscheck-personal", TITLE, points),)
units = partial(units_of, NAME, REACHED.cases, REACHED.rows)
