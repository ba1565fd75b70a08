"""Weights at the end of q-FFL, TERM, PropFair, AFL, p-FFL against the optimum's dual weights."""

from functools import cache, partial
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from fairfl._support.checks import Array
from fairfl.sims.algorithms.afl import AFL
from fairfl.sims.algorithms.pfedavg import PFedAvg
from fairfl.sims.algorithms.propfair import PropFair
from fairfl.sims.algorithms.qfedavg import QFedAvg
from fairfl.sims.algorithms.term import TERM
from fairfl.sims.engine import Computing, Cosine, Replicate, Training, simulate
from fairfl.solvers.minimax.solve_minimax import solve_minimax
from fairfl.studies.crosscheck.population.quadratic_clients import QuadraticClients
from fairfl.studies.crosscheck.prediction import (
    DISTANCE,
    LONGER,
    ONE_STEP,
    SAMPLED,
    THEORY,
    TRAINED,
    banded,
    causes,
    near_verdict,
    units_of,
)
from fairfl.studies.crosscheck.study import Drawing, Verdict
from fairfl.studies.crosscheck.table_rows import series, summary
from fairfl.studies.frames import among, floats
from fairfl.theory import aggregation

NAME = "dual-weights"
TITLE = "The clients' weights at the end of training are the dual weights of the optimum"
SEEDS = {"quick": 4, "paper": 40}
SPREAD = np.array([0.6, 0.9, 1.2, 1.5])
"""Distances of the clients' optima from 0."""
TOP, RANKS = 8.0, aggregation.RankWeighted.gini()
PAIRS = {
    "q-FFL": (aggregation.QFFL(2.0), QFedAvg(2.0)),
    "TERM": (aggregation.TERM(1.0), TERM(1.0)),
    "PropFair": (aggregation.PropFair(TOP), PropFair(TOP, rescale=True)),
    "AFL": (aggregation.AFL(), AFL(0.2)),
    "p-FFL": (RANKS, PFedAvg(RANKS)),
}
"""Objective and algorithm."""
LOCAL = MappingProxyType({"rounds": 20, "lr": 0.1, "steps": 5})
CASES: dict[str, dict[str, Any]] = {
    TRAINED: {**LOCAL, "batch_size": 10},
    SAMPLED: {**LOCAL, "batch_size": None},
    LONGER: {**LOCAL, "batch_size": None, "rounds": 40},
    ONE_STEP: {
        **LOCAL, "batch_size": None, "rounds": 80, "lr": 0.5, "steps": 1, "schedule": Cosine(),
    },
}  # fmt: skip
"""Settings of training. A rate that falls lets p-FFL end at a kink."""
LIMIT = 0.01
"""Share of the weight that may be on the wrong clients."""


def rows(case: str, seeds: int) -> pd.DataFrame:
    """A row an algorithm, seed and client: the weights under which the gradients cancel at the
    trained model, the dual weights of the certified minimum, and half of what they differ by.
    """
    lines = []
    for seed in range(seeds):
        clients = clients_of(seed)
        trained = simulate(
            clients.model,
            clients.parts,
            [Replicate(algorithm, seed) for _, algorithm in PAIRS.values()],
            Training(**CASES[case]),
            Computing(device="cpu", dtype="float64"),
        )
        for name, w in zip(PAIRS, trained.params, strict=True):
            weights, dual = cancelling(clients.gradients(w)), dual_weights(seed, name)
            distance = float(np.abs(weights - dual).sum() / 2)
            for k, (x, y) in enumerate(zip(dual, weights, strict=True)):
                line = {"algorithm": name, "seed": seed, "client": k, "dual": x, "weight": y}
                lines.append(line | {"distance": distance})
    return pd.DataFrame(lines)


def cancelling(gradients: Array) -> Array:
    """The weights (K,) of the gradients (K, d), their sizes of sum one, whose weighted sum is the
    shortest.
    """
    vector = np.linalg.svd(gradients)[0][:, -1]
    return vector * np.sign(vector.sum()) / np.abs(vector).sum()


@cache
def dual_weights(seed: int, name: str) -> Array:
    """λ of the certified minimum, scaled to sum one."""
    clients, objective = clients_of(seed), PAIRS[name][0]
    start = np.zeros(clients.x.shape[2])
    least = solve_minimax(clients.losses, objective, start, jac=clients.gradients)
    return least.dual_weights / least.dual_weights.sum()


def clients_of(seed: int) -> QuadraticClients:
    """As many dimensions as clients: then few weights let the gradients cancel."""
    return QuadraticClients.drawn(seed, SPREAD, features=len(SPREAD))


def tables(measures: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Distances by case, and by algorithm without sampling and with one local step."""
    by_algorithm = summary(
        measures, ["case", "algorithm"], lambda part: {DISTANCE: floats(part, DISTANCE).mean()}
    )
    return {"cases": causes(measures), "algorithms": by_algorithm}


def verdicts(measures: pd.DataFrame) -> tuple[Verdict, ...]:
    """One local step reaches them, several do not."""
    statement = (
        "At the end of q-FFL, TERM, PropFair, AFL and p-FFL the weights under which the clients' "
        "gradients cancel are the dual weights of the certified minimum, with {}."
    )
    return (
        near_verdict(
            "one-step-dual-weights",
            statement.format("one full local step"),
            measures,
            LIMIT,
            ONE_STEP,
        ),
        near_verdict(
            "local-steps-dual-weights",
            statement.format("five local steps on batches"),
            measures,
            LIMIT,
        ),
    )


def points(measures: pd.DataFrame) -> pd.DataFrame:
    """Weights by dual weights, of practice and of one local step."""
    parts = [series(PANEL, THEORY, "line", [0, 0.6], [0, 0.6])]
    for case in (TRAINED, ONE_STEP):
        shown = among(measures, "case", [case])
        points = shown.groupby(["algorithm", "client"])
        mean = points["dual"].transform("mean")  # seeds differ in it, and the weights as much
        keyed = shown.assign(point=points.ngroup(), weight=mean + shown["weight"] - shown["dual"])
        parts.append(banded(PANEL, keyed, "dual", "weight", "point", "points"))
    return pd.concat(parts, ignore_index=True)


PANEL = "weights, five algorithms"
PICTURES = (
    Drawing(
        "crosscheck-dual-weights", TITLE, "dual weight of a client", "weight at the end", points
    ),
)
units = partial(units_of, NAME, CASES, rows)
