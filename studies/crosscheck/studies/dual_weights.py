"""Weights at the end of q-FFL, TERM, PropFair, AFL, p-FFL against the optimum's dual weights."""

from dataclasses import replace
from functools import cache, partial

import numpy as np
import pandas as pd

from fairfl._support.checks import Array
from fairfl.sims.algorithms import afl, pfedavg, propfair, qfedavg, term
from fairfl.sims.engine import Cosine, Training
from fairfl.solvers.minimax.solve_minimax import solve_minimax
from fairfl.studies.crosscheck import prediction
from fairfl.studies.crosscheck.practice import Run
from fairfl.studies.crosscheck.prediction import ONE_STEP, TRAINED, limit_verdict
from fairfl.studies.crosscheck.quadratic_clients import QuadraticClients
from fairfl.studies.crosscheck.study import Drawing, Verdict, series
from fairfl.studies.frames import among
from fairfl.theory import aggregation

NAME = "dual-weights"
TITLE = "The clients' weights at the end of training are the dual weights of the optimum"
SEEDS = {"quick": 3, "paper": 40}
SPREAD = np.array([0.6, 0.9, 1.2, 1.5])
"""Distances of the clients' optima from 0."""
TOP, RANKS = 8.0, aggregation.RankWeighted.gini()
PAIRS = {
    "q-FFL": (aggregation.QFFL(2.0), qfedavg.QFedAvg(2.0)),
    "TERM": (aggregation.TERM(1.0), term.TERM(1.0)),
    "PropFair": (aggregation.PropFair(TOP), propfair.PropFair(TOP, rescale=True)),
    "AFL": (aggregation.AFL(), afl.AFL(0.2)),
    "p-FFL": (RANKS, pfedavg.PFedAvg(RANKS)),
}
"""Objective and algorithm."""
FALLING = "five steps, falling rate"
FULL = Training(40, 0.1, steps=5, batch_size=None)
CASES = {
    TRAINED: (20, replace(FULL, batch_size=10)),
    prediction.SAMPLED: (20, FULL),
    prediction.LONGER: (40, FULL),
    FALLING: (80, replace(FULL, rounds=80, schedule=Cosine())),
    ONE_STEP: (40, replace(FULL, lr=0.5, steps=1, schedule=Cosine())),
}
"""Rounds, and settings of training. A rate that falls lets p-FFL end at a kink."""
LIMIT = 0.01
"""Share of the weight that may be on the wrong clients."""


def rows(case: str, seeds: int) -> pd.DataFrame:
    """A row an algorithm, seed and client: the weights under which the gradients cancel at the
    trained model, the dual weights of the certified minimum, and half of what they differ by.
    """
    lines, (rounds, training) = [], CASES[case]
    for seed in range(seeds):
        clients, run = clients_of(seed), _run(seed, training, tuple(PAIRS))
        for name, w in zip(PAIRS, run.to(rounds).models[rounds], strict=True):
            weights, dual = cancelling(clients.gradients(w)), dual_weights(seed, name)
            line = {"algorithm": name, "seed": seed}
            line[prediction.DISTANCE] = float(np.abs(weights - dual).sum() / 2)
            pairs = zip(dual, weights, strict=True)
            lines += [
                line | {"client": k, "dual": x, "weight": y} for k, (x, y) in enumerate(pairs)
            ]
    return pd.DataFrame(lines)


@cache
def _run(seed: int, training: Training, names: tuple[str, ...]) -> Run:
    """Algorithms on the clients of a seed; longer training goes on where shorter ended."""
    return clients_of(seed).run([PAIRS[name][1] for name in names], seed, training)


def cancelling(gradients: Array) -> Array:
    """The weights (K,) of the gradients (K, d), their sizes of sum one, whose weighted sum is the
    shortest.
    """
    vector = np.linalg.svd(gradients)[0][:, -1]
    return vector * np.sign(vector.sum()) / np.abs(vector).sum()


@cache
def dual_weights(seed: int, name: str) -> Array:
    """λ of the certified minimum, scaled to sum one."""
    clients, start = clients_of(seed), np.zeros(len(SPREAD))
    minimum = solve_minimax(clients.losses, PAIRS[name][0], start, jac=clients.gradients)
    return minimum.dual_weights / minimum.dual_weights.sum()


def clients_of(seed: int) -> QuadraticClients:
    """As many dimensions as clients: then few weights let the gradients cancel."""
    return QuadraticClients.random(seed, SPREAD, features=len(SPREAD))


def tables(measures: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Distances by case, also of each algorithm."""
    of = {name: prediction.causes(among(measures, "algorithm", [name])) for name in PAIRS}
    return {"cases": prediction.causes(measures), **of}


def verdicts(measures: pd.DataFrame) -> tuple[Verdict, ...]:
    """One local step reaches them, and several at a rate that falls; not at a constant one."""
    statement = (
        "At the end of q-FFL, TERM, PropFair, AFL and p-FFL the weights under which the clients' "
        "gradients cancel are the dual weights of the certified minimum, with "
    )
    ends = {
        "one-step": ("one full local step at a rate that falls to zero.", ONE_STEP),
        "falling-rate": ("five full local steps at a rate that falls to zero.", FALLING),
        "local-steps": ("five local steps on batches at a constant rate.", TRAINED),
    }
    return tuple(
        limit_verdict(f"{name}-dual-weights", statement + end, measures, LIMIT, case)
        for name, (end, case) in ends.items()
    )


def points(measures: pd.DataFrame) -> pd.DataFrame:
    """Weights by dual weights, of practice and of one local step."""
    panel, shown = "weights, five algorithms", among(measures, "case", [TRAINED, ONE_STEP])
    keys = shown.groupby(["case", "algorithm", "client"])
    mean = keys["dual"].transform("mean")  # seeds differ in it, and the weights as much
    keyed = shown.assign(point=keys.ngroup(), weight=mean + shown["weight"] - shown["dual"])
    bars = prediction.banded(panel, keyed, "dual", "weight", "point", "points")
    equal = series(panel, prediction.THEORY, "line", [0, 0.6], [0, 0.6])
    return pd.concat([equal, bars], ignore_index=True)


X, Y = "dual weight of a client", "weight at the end"
PICTURES = (Drawing("crosscheck-dual-weights", TITLE, X, Y, points),)
units = partial(prediction.units_of, NAME, CASES, rows)
