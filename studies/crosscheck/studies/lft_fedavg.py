"""LFT+FedAvg: its exact frontier, learned with several local steps and with one."""

from dataclasses import replace
from functools import partial

import pandas as pd

from fairfl.studies.crosscheck.prediction import (
    ONE_STEP,
    SAMPLED,
    TRAINED,
    causes,
    near_verdict,
    units_of,
)
from fairfl.studies.crosscheck.reached import IDEAL, Reached, cases_of
from fairfl.studies.crosscheck.study import Verdict
from fairfl.studies.crosscheck.table_rows import trade_off
from fairfl.studies.crosscheck.training_plan import LFT_AVG
from fairfl.studies.frames import among

NAME = "lft-fedavg"
TITLE = "LFT+FedAvg's learner reaches its exact optimum with one local step, not with ten"
SEEDS = {"quick": 6, "paper": 40}
OUTSIDE, INSIDE = (0.05,), (0.2,)
"""Budgets whose optimal multipliers are outside of FedFB's box, and inside."""
CASES = cases_of(LFT_AVG, 2_000)
EVEN_STEP = replace(CASES[SAMPLED], steps=1, rounds=200, lr=1.5, momentum=0.0)
REACHED = Reached(
    "lft_fedavg", "figure-5d", {**CASES, ONE_STEP: EVEN_STEP}, (OUTSIDE, INSIDE)
)  # fmt: skip


def tables(measures: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Distances from the exact points, by budget."""
    budgets = dict.fromkeys(measures["budget"])
    return {f"cases at {budget}": causes(_at(measures, budget)) for budget in budgets}


def _at(measures: pd.DataFrame, budget: str) -> pd.DataFrame:
    return among(measures, "budget", [budget])


def verdicts(measures: pd.DataFrame) -> tuple[Verdict, ...]:
    """The hard inequality, what ten local steps reach, and what one does."""
    outside, inside = (_at(measures, f"{budget[0]:g}") for budget in (OUTSIDE, INSIDE))
    statement = (
        "With one local step, without sampling, it does where the optimum's multipliers are {} "
        "the box of (6) that FairBatch keeps λ in (ε = {:g})."
    )
    return (
        REACHED.bounded(measures),
        REACHED.near("ten-steps-on-samples", outside),
        REACHED.near("ten-steps-without-sampling", outside, SAMPLED),
        near_verdict(
            "one-step-inside-the-box", statement.format("inside", *INSIDE), inside, IDEAL, ONE_STEP
        ),
        near_verdict(
            "one-step-outside-the-box", statement.format("outside", *OUTSIDE), outside, IDEAL,
            ONE_STEP,
        ),
    )  # fmt: skip


def points(measures: pd.DataFrame) -> pd.DataFrame:
    """The exact frontiers, and what is learned."""
    return REACHED.points("LFT+FedAvg", measures, TRAINED, SAMPLED, ONE_STEP)


PICTURES = (trade_off("crosscheck-lft-fedavg", TITLE, points),)
units = partial(units_of, NAME, REACHED.cases, REACHED.rows)
