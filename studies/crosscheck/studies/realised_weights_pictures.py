"""The pictures of the study `realised-weights`: weights against losses, by round, by local
steps.
"""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from fairfl.studies.crosscheck.realised.aims import BEYOND
from fairfl.studies.crosscheck.realised.weights import CASES, HALF, ONE, Case
from fairfl.studies.crosscheck.study import Drawing
from fairfl.studies.crosscheck.told import series
from fairfl.studies.frames import among, floats, groups

SHOWN = ("FedAvg", "q-FedAvg", "TERM", "PropFair", "p-FedAvg, Gini", "p-FedAvg, z = 0.5")
"""An algorithm an objective."""
SHOWN_CASES: tuple[Case, ...] = (ONE, Case("5 full steps", 5), Case("20 full steps", 20), HALF)


def against_losses(measures: pd.DataFrame) -> pd.DataFrame:
    """Weights over the losses of the quadratic clients, seed 0: a panel an algorithm."""
    parts = []
    ways = among(
        among(among(measures, "kind", ["at one model"]), "world", ["quadratic"]), "seed", [0]
    )
    for name in SHOWN:
        mine = among(ways, "algorithm", [name])
        for k, case in enumerate(SHOWN_CASES):
            row = among(mine, "case", [case.name]).iloc[0]
            losses, dual, found = (
                np.array(json.loads(row[what])) for what in ("losses", "dual", "weights")
            )
            order = np.argsort(losses)
            if not k:
                parts.append(series(name, "dual weights", "line", losses[order], dual[order]))
            parts.append(series(name, case.name, "points", losses[order], found[order]))
    return pd.concat(parts, ignore_index=True)


def over_rounds(measures: pd.DataFrame) -> pd.DataFrame:
    """How far off by round, seed 0: exact but for PropFair beyond its threshold; AFL's mixture over
    many rounds.
    """
    parts = []
    steps = among(among(measures, "kind", ["by round"]), "seed", [0])
    for (world,), mine in groups(steps, ["world"]):
        for name in (*SHOWN, BEYOND):
            part = among(mine, "algorithm", [name])
            parts.append(
                series(
                    f"{world}, one full step",
                    name,
                    "line",
                    part["round"] + 1,
                    part["off"].clip(1e-17),
                )
            )
    afl = among(among(measures, "kind", ["mixtures"]), "seed", [0])
    for (name, which), part in groups(afl, ["algorithm", "case"]):
        label = f"{name}, {which}"
        parts.append(series("AFL and the optimum", label, "line", part["round"], part["off"]))
    return pd.concat(parts, ignore_index=True)


def by_steps(measures: pd.DataFrame) -> pd.DataFrame:
    """How far off by the number of local steps on all data, mean over the seeds: a panel a
    world.
    """
    parts = []
    full = {case.name: case.steps for case in CASES if case.batch is None and case.share == 1}
    ways = among(among(measures, "kind", ["at one model"]), "case", list(full))
    for (world, name), mine in groups(among(ways, "algorithm", SHOWN), ["world", "algorithm"]):
        means = {
            str(case): float(floats(part, "off").mean()) for (case,), part in groups(mine, ["case"])
        }
        parts.append(
            series(
                str(world), str(name), "path", [full[case] for case in means], list(means.values())
            )
        )
    return pd.concat(parts, ignore_index=True)


WRONG = "share of the weight with the wrong clients"
PICTURES = (
    Drawing(
        "realised-weights",
        "Weights realised in a step, and dual weights at the same losses: six quadratic clients",
        "loss of the client",
        "weight, sum one",
        against_losses,
    ),
    Drawing(
        "realised-weights-rounds",
        "How far the weights in the step are from the dual weights",
        "round",
        WRONG,
        over_rounds,
        "xy",
    ),
    Drawing(
        "realised-weights-local-steps",
        "What local steps do to the weights",
        "local steps on all data",
        WRONG,
        by_steps,
        "x",
    ),
)
