"""The client weights that algorithms realise in training, against the dual weights of their
objectives.

The weight of a client in a step is measured: least squares of the step on the clients' gradients
(``realised/effective_weights.py``).
"""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from fairfl.sims.data.federated import load_federated
from fairfl.sims.data.fetch import DataUnavailable
from fairfl.studies.crosscheck.realised.weights import CASES, HALF, at_one_model, by_round, mixtures
from fairfl.studies.crosscheck.studies.realised_weights_pictures import PICTURES as PICTURES
from fairfl.studies.crosscheck.studies.realised_weights_verdicts import verdicts as verdicts
from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.frames import among, floats, groups, rows

NAME = "realised-weights"
TITLE = (
    "Client weights realised by q-FedAvg, TERM, PropFair, p-FedAvg, AFL, and their "
    "objectives' dual weights"
)
SEEDS = {"quick": 1, "paper": 3}
SEEN = 1
ROUNDS, KEPT = (20, 40), (0, 3, 12)
"""Rounds quick and at paper scale; those whose steps are kept for the claims."""
DRAWS = {"quadratic": (200, 4000), "Synthetic": (10, 200), "Vehicle": (10, 200)}
AFL_ROUNDS = (300, 3000)


def units(scale: Scale) -> list[Unit]:
    """Quadratics and Synthetic; at paper scale Vehicle too, where it is at hand."""
    paper, found = scale.paper, []
    for seed in range(scale.seeds):
        for world in ("quadratic", "Synthetic", *(("Vehicle",) if paper and _vehicle() else ())):
            made = partial(by_round, world, seed, ROUNDS[paper], KEPT if world != "Vehicle" else ())
            found.append(
                Unit(f"steps-{world.lower()}-{ROUNDS[paper]}-{seed}", world, seed, (), made)
            )
            draws = DRAWS[world][paper]
            once = partial(at_one_model, world, seed, draws)
            found.append(Unit(f"ways-{world.lower()}-{draws}-{seed}", world, seed, (), once))
        count = AFL_ROUNDS[paper]
        marks = sorted(
            {round(10 ** (k / 4)) for k in range(4, 15) if 10 ** (k / 4) <= count} | {count}
        )
        made = partial(mixtures, seed, count, tuple(marks))
        found.append(Unit(f"mixtures-{count}-{seed}", "quadratic", seed, (), made))
    return found


def _vehicle() -> bool:
    try:
        load_federated("vehicle")
    except DataUnavailable:
        return False
    return True


def tables(measures: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The share of the weight with the wrong clients: of one full step in all rounds, of other
    ways, of AFL.
    """
    steps, ways = among(measures, "kind", ["by round"]), among(measures, "kind", ["at one model"])
    keys = ["algorithm", "objective", "world"]
    worst = pd.DataFrame(
        [
            {
                **dict(zip(keys, key, strict=True)),
                "off": floats(part, "off").max(),
                "outside": floats(part, "outside").max(),
                "rounds": len(part),
            }
            for key, part in groups(steps, keys)
        ]
    )
    wide = ways.pivot_table(index=["world", "algorithm"], columns="case", values="off", sort=False)
    noise = pd.DataFrame(
        [
            {"world": world, "case": case}
            | {name: float(np.median(floats(part, name))) for name in ("noise", "outside", "draws")}
            for (world, case), part in groups(ways, ["world", "case"])
        ]
    )
    afl = among(measures, "kind", ["mixtures"])
    mixed = afl.pivot_table(
        index=["algorithm", "round"], columns="case", values=["off", "gap"], sort=False
    )
    mixed.columns = [f"{which} {name}" for name, which in mixed.columns]
    return {
        "one-full-step": worst,
        "ways": pd.DataFrame(wide[[case.name for case in CASES]]).reset_index(),
        "noise": noise,
        "afl": mixed.drop(columns=["mean gap"], errors="ignore").reset_index(),
    }


def record(measures: pd.DataFrame) -> dict[str, Any]:
    """Steps with their gradients, in coordinates of the gradients' span; weights over all draws;
    AFL's mixtures.
    """
    steps = among(measures, "kind", ["by round"])
    kept = rows(steps, steps["step"].notna())
    small = rows(
        kept, (kept["world"] == "quadratic") | ((kept["seed"] == 0) & (kept["round"] == KEPT[1]))
    )
    ways = among(
        among(among(measures, "kind", ["at one model"]), "world", ["quadratic"]),
        "case",
        [HALF.name],
    )
    means = among(among(measures, "kind", ["mixtures"]), "case", ["mean"])
    means = rows(means, floats(means, "round") == means["round"].max())
    told = ["algorithm", "world", "seed", "round", "beyond"]
    return {
        "steps": [
            {**{k: row[k] for k in told}, **json.loads(row["step"])}
            for row in small.to_dict("records")
        ],
        "draws": [
            {
                "algorithm": row["algorithm"],
                "seed": row["seed"],
                "drawn": round(HALF.share * 6),
                "M": row["M"] if row["M"] == row["M"] else None,  # NaN is no JSON
                "losses": json.loads(row["losses"]),
                "weights": json.loads(row["weights"]),
            }
            for row in ways.to_dict("records")
        ],
        "mixtures": [
            {
                "algorithm": row["algorithm"],
                "seed": row["seed"],
                "round": row["round"],
                "weights": json.loads(row["weights"]),
                "dual": json.loads(row["dual"]),
                **json.loads(row["step"]),
            }
            for row in means.to_dict("records")
        ],
    }
