"""LFT+FedAvg: its exact frontier, learned by clients that move far between averages, and little."""

from dataclasses import replace
from functools import partial

import pandas as pd

from fairfl.studies.crosscheck import prediction
from fairfl.studies.crosscheck.practice import LFT_AVG, spelt
from fairfl.studies.crosscheck.prediction import ONE_STEP, SAMPLED, TRAINED, Reached, limit_verdict
from fairfl.studies.crosscheck.study import Verdict
from fairfl.studies.frames import among

NAME = "lft-fedavg"
TITLE = "LFT+FedAvg's learner reaches its exact optimum where clients move little in a round"
SEEDS = {"quick": 6, "paper": 40}
OUTSIDE, INSIDE = (0.05,), (0.2,)
"""Budgets whose optimal multipliers are outside of FedFB's box, and inside."""
SHORT = "ten short steps"
CASES = prediction.cases_of(LFT_AVG, 2_000)
CASES[ONE_STEP] = replace(CASES[SAMPLED], steps=1, rounds=120, lr=1.5, momentum=0.0)
CASES[SHORT] = replace(CASES[ONE_STEP], steps=10, lr=0.15)
"""Both without momentum, and as far in a round: so the number of steps is told from their length.
"""
REACHED = Reached("lft_fedavg", CASES, (OUTSIDE, INSIDE))


def tables(measures: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Distances from the exact points, by budget."""
    return {
        f"cases at {spelt(eps)}": prediction.causes(among(measures, "budget", [spelt(eps)]))
        for eps in REACHED.budgets
    }


def verdicts(measures: pd.DataFrame) -> tuple[Verdict, ...]:
    """The hard inequality, what ten steps with momentum reach, and what one does, or ten short ones
    without it.
    """
    at = {eps: among(measures, "budget", [spelt(eps)]) for eps in REACHED.budgets}
    near = [
        limit_verdict(
            f"{name}-{place}-the-box",
            f"With {case} in a round, without momentum and sampling, it does where the optimum's "
            f"multipliers are {place} the box of (6) that FairBatch keeps λ in (ε = {spelt(eps)}).",
            at[eps],
            prediction.IDEAL,
            case,
        )
        for name, case, place, eps in (
            ("one-step", ONE_STEP, "inside", INSIDE),
            ("one-step", ONE_STEP, "outside", OUTSIDE),
            ("short-steps", SHORT, "inside", INSIDE),
        )
    ]
    ten = REACHED.verdict("ten-steps-on-samples", at[OUTSIDE])
    even = REACHED.verdict("ten-steps-without-sampling", at[OUTSIDE], SAMPLED)
    return (REACHED.bounded(measures), ten, even, *near)


PICTURES = REACHED.pictures(NAME, TITLE, TRAINED, SAMPLED, ONE_STEP)
units = partial(prediction.units_of, NAME, REACHED.cases, REACHED.rows)
