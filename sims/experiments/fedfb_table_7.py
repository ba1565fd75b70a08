"""FedFB, table 7 on the synthetic data: FedFB and AgnosticFair."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import torch

from fairfl.sims.engine import MLP, Parts
from fairfl.sims.experiments import fedfb_runs
from fairfl.sims.experiments.experiment import Scale, Unit
from fairfl.sims.experiments.fedfb_data import fedfb_data
from fairfl.sims.experiments.fedfb_numbers import MEASURES
from fairfl.sims.experiments.fedfb_runs import FEDFB, FEDFB_PLAIN, HIDDEN, beside, row_of
from fairfl.sims.experiments.published import published
from fairfl.sims.group_fairness import AgnosticFair, FairMeasures
from fairfl.sims.group_fairness.measures import accepts

NAME = "fedfb-table-7"
TITLE = "FedFB, table 7, synthetic data: FedFB and AgnosticFair"
AGNOSTIC = "AgnosticFair"
ROUNDS, LR = {"quick": 200, "paper": 1000}, 0.1
RULE = AgnosticFair()
PUBLISHED = published(
    f"""
    Synthetic | {FEDFB} | .725 ± .012 | .051 ± .018
    Synthetic | {FEDFB_PLAIN} | .725 ± .012 | .051 ± .018
    Synthetic | {AGNOSTIC} | .655 ± .028 | .028 ± .033
    """,
    MEASURES,
)


def units(scale: Scale) -> list[Unit]:
    """FedFB's runs, and AgnosticFair's, which takes a step a round and does not run in the engine."""
    mine = Unit(
        f"fedfb-synthetic-agnostic-{scale.profile}-{scale.seeds}", "Synthetic", 0, (AGNOSTIC,), partial(agnostic, scale)
    )
    return [*fedfb_runs.family(scale, ("Synthetic",), only=(FEDFB, FEDFB_PLAIN)), mine]


def agnostic(scale: Scale) -> pd.DataFrame:
    """AgnosticFair's measures, a row a seed and part."""
    parts, rows = Parts.of(fedfb_data("Synthetic")), []
    model = MLP((parts.train.x.shape[1], HIDDEN, 2))
    rounds = ROUNDS[scale.profile]
    params = RULE.train(model, parts, rounds, LR, range(scale.seeds))
    down, up = (rounds * count for count in RULE.bytes_per_round(model, parts.train.clients))
    for part in ("validation", "test"):
        data = parts.parts[part].to("cpu", torch.float64)
        y, group = data.y.numpy(), data.group
        assert group is not None
        for seed, accept in enumerate(accepts(model, params, model.prepare(data))):
            found = FairMeasures.of(accept, y, group)
            row: dict[str, object] = row_of(part, AGNOSTIC, seed, found, len(y))
            row |= {"bytes_down": down, "bytes_up": up, "alpha": np.nan}
            rows.append(row | (beside(accept, found, data) if part == "test" else {}))
    return pd.DataFrame(rows).assign(round=rounds)


values = fedfb_runs.values


def differences(rows: pd.DataFrame) -> tuple[str, ...]:
    """What differs from the paper."""
    return (
        *fedfb_runs.differences(rows),
        f"AgnosticFair: {RULE.kernels} kernels, tau {RULE.tau}, {ROUNDS['paper']} full-batch steps (quick: "
        f"{ROUNDS['quick']}); FedFB prints none of its settings.",
    )
