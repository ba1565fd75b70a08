"""LFT+FedAvg: its exact frontier, learned with several local steps and with one."""

from dataclasses import replace
from functools import partial

import pandas as pd

from fairfl.studies.crosscheck import prediction
from fairfl.studies.crosscheck.practice import LFT_AVG, spelt
from fairfl.studies.crosscheck.prediction import ONE_STEP, SAMPLED, TRAINED, Reached, limit_verdict
from fairfl.studies.crosscheck.study import Verdict
from fairfl.studies.frames import among

NAME = "lft-fedavg"
TITLE = "LFT+FedAvg's learner reaches its exact optimum with one local step, not with ten"
SEEDS = {"quick": 6, "paper": 40}
OUTSIDE, INSIDE = (0.05,), (0.2,)
"""Budgets whose optimal multipliers are outside of FedFB's box, and inside."""
CASES = prediction.cases_of(LFT_AVG, 2_000)
CASES[ONE_STEP] = replace(CASES[SAMPLED], steps=1, rounds=120, lr=1.5, momentum=0.0)
REACHED = Reached("lft_fedavg", CASES, (OUTSIDE, INSIDE))


def tables(measures: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Distances from the exact points, by budget."""
    return {
        f"cases at {spelt(eps)}": prediction.causes(among(measures, "budget", [spelt(eps)]))
        for eps in REACHED.budgets
    }


def verdicts(measures: pd.DataFrame) -> tuple[Verdict, ...]:
    """The hard inequality, what ten local steps reach, and what one does."""
    at = {eps: among(measures, "budget", [spelt(eps)]) for eps in REACHED.budgets}
    single = [
        limit_verdict(
            f"one-step-{place}-the-box",
            "With one local step, without sampling, it does where the optimum's multipliers are "
            f"{place} the box of (6) that FairBatch keeps λ in (ε = {spelt(eps)}).",
            at[eps],
            prediction.IDEAL,
            ONE_STEP,
        )
        for place, eps in (("inside", INSIDE), ("outside", OUTSIDE))
    ]
    ten = REACHED.verdict("ten-steps-on-samples", at[OUTSIDE])
    even = REACHED.verdict("ten-steps-without-sampling", at[OUTSIDE], SAMPLED)
    return (REACHED.bounded(measures), ten, even, *single)


PICTURES = REACHED.pictures(NAME, TITLE, TRAINED, SAMPLED, ONE_STEP)
units = partial(prediction.units_of, NAME, REACHED.cases, REACHED.rows)
