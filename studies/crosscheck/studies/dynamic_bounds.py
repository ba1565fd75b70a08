"""The bounds of the paper on dynamic participants, on least squares clients that are trained."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from fairfl._support.checks import Array
from fairfl.sims.algorithms.dynamic import NormalizedFedAvg
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.engine import Joining, Training
from fairfl.studies.crosscheck import prediction
from fairfl.studies.crosscheck.prediction import ONE_STEP, TRAINED, limit_verdict
from fairfl.studies.crosscheck.quadratic_clients import QuadraticClients
from fairfl.studies.crosscheck.study import Drawing, Verdict, series
from fairfl.studies.frames import among, floats, loose

NAME = "dynamic-bounds"
TITLE = "What a group that joins gains: the bounds of theorems 1 and 2 on trained models"
SEEDS = {"quick": 20, "paper": 200}
ALONE, RATE = 3, 0.15
"""Rounds of the first group alone, and the learning rate."""
SEPARATIONS = (1.0, 2.0, 3.0, 4.0, 6.0)
"""Distances of the newcomer's optimum from 0; that of the first is at 1."""
FULL: dict[str, Any] = {"steps": 5, "batch_size": None}
CASES = {
    TRAINED: FULL | {"batch_size": 10},
    prediction.SAMPLED: FULL,
    ONE_STEP: FULL | {"steps": 1},
}
QUANTITIES = ("the newcomer's lead under FedAvg", "what the normalised step is fairer by")
ROUNDING = 1e-12


def rows(case: str, seeds: int) -> pd.DataFrame:
    """For each seed the lead of the newcomer after its first round under FedAvg, and FedAvg's lead
    less that of the normalised step, with their bounds; ``distance`` is how far a value is outside,
    as a share of η (a² + b²).
    """
    lines = []
    for seed in range(seeds):
        separation = SEPARATIONS[seed % len(SEPARATIONS)]
        clients = QuadraticClients.random(seed, np.array([1.0, separation]))
        rules, schedule = (FedAvg(), NormalizedFedAvg("global")), Joining((0, ALONE))
        training = Training(ALONE + 1, RATE, participation=schedule, **CASES[case])
        models = clients.run(rules, seed, training).to(ALONE + 1).models
        before, gradients = clients.losses(models[-2][0]), clients.gradients(models[-2][0])
        head = float(clients.losses(models[0][0])[0] - before[0])
        gains = [before - clients.losses(w) for w in models[-1]]
        leads = [float(gain[1] - gain[0]) - head for gain in gains]
        firsts, errors = bounds(gradients, RATE, clients.smoothness, head)
        scale, values = RATE * float((gradients**2).sum()), (leads[0], leads[0] - leads[1])
        for name, first, error, value in zip(QUANTITIES, firsts, errors, values, strict=True):
            line = {"seed": seed, "separation": separation, "quantity": name, "value": value}
            line |= {"low": first - error, "high": first + error}
            off = float(abs(value - first) - error) / scale
            lines.append(line | {"outside": off, prediction.DISTANCE: max(off, 0.0)})
    return pd.DataFrame(lines)


def bounds(gradients: Array, rate: float, smoothness: float, head: float) -> tuple[Array, Array]:
    """First order and largest error of the newcomer's lead under FedAvg, and of FedAvg's lead less
    that of the normalised step n, after one step on all data: η (b² - a²)/2 - D and L ‖s‖², s = η
    (g_1 + g_2)/2, D the head start of the first group, a and b the lengths of the gradients; η (b -
    a)(a + b - 1 - cos)/2 and L (‖s‖² + ‖n‖²). Source: claims ``dynamic/theorem-1`` and
    ``dynamic/theorem-2``, repaired.
    """
    a, b = np.linalg.norm(gradients, axis=1)
    plain = rate * gradients.mean(0)
    normalised = rate * (gradients / np.array([[a], [b]])).mean(0)
    cosine = float(gradients[0] @ gradients[1] / (a * b))
    firsts = rate * np.array([b**2 - a**2, (b - a) * (a + b - 1 - cosine)]) / 2
    errors = smoothness * np.array([plain @ plain, plain @ plain + normalised @ normalised])
    return firsts - [head, 0.0], errors


def tables(measures: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """How far outside of the bounds each case is."""
    return {"cases": prediction.causes(measures)}


def verdicts(measures: pd.DataFrame) -> tuple[Verdict, ...]:
    """Hard with one step on all data, for which the bounds are proved."""
    step = among(measures, "case", [ONE_STEP])
    lead, within = among(step, "quantity", QUANTITIES[:1]), f"{' and '.join(QUANTITIES)} are within"
    unfair, proved = (float(np.mean(floats(lead, name) > 0)) for name in ("value", "low"))
    rounds = f"FedAvg is unfair in {unfair:.0%} of rounds, by the bound in {proved:.0%}"
    hard = f"After one step on all data {within} their bounds ({rounds})."
    soft = f"After five local steps on batches {within} the bounds of one step."
    slack = -floats(step, "outside")
    return (
        prediction.hard_verdict("one-step-within-bounds", hard, slack, ROUNDING),
        limit_verdict("local-steps-within-bounds", soft, measures, ROUNDING),
    )


def points(measures: pd.DataFrame) -> pd.DataFrame:
    """The lead by the distance of the newcomer's optimum, and its bounds."""
    panel, shown = "a newcomer's lead", among(measures, "quantity", QUANTITIES[:1])
    ends = loose(among(shown, "case", [ONE_STEP]))[["separation", "low", "high"]]
    means = ends.groupby("separation", as_index=False).mean()
    low, high = floats(means, "low"), floats(means, "high")
    limits = series(
        panel, prediction.THEORY, "band", means["separation"], (low + high) / 2, low=low, high=high
    )
    cases = among(shown, "case", [TRAINED, ONE_STEP])
    bands = prediction.banded(panel, cases, "separation", "value", "separation")
    return pd.concat([limits, bands], ignore_index=True)


X, Y = "distance of its optimum", "lead (loss)"
PICTURES = (Drawing("crosscheck-dynamic-bounds", TITLE, X, Y, points),)
units = partial(prediction.units_of, NAME, CASES, rows)
