"""AgnosticFair's runs in FedFB's tables and figures: it takes a step a round and does not run in the engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import torch

from fairfl.sims.engine import MLP, Logistic, Model, Parts
from fairfl.sims.experiments.experiment import Scale
from fairfl.sims.experiments.fedfb_data import SYNTHETIC, fedfb_data
from fairfl.sims.experiments.fedfb_runs import HIDDEN, beside, row_of
from fairfl.sims.group_fairness import AgnosticFair, FairMeasures
from fairfl.sims.group_fairness.measures import accepts

AGNOSTIC = "AgnosticFair"
ROUNDS, LR = {"quick": 200, "paper": 1000}, 0.1
REAL_ROUNDS, REAL_LR = {"quick": 40, "paper": 200}, 0.5
"""Where there are tens of thousands of people."""
RULE = AgnosticFair()
TAUS = (0.01, 0.1, 0.3)
"""Bounds of figure 6 on the covariance of group and score."""


def agnostic(scale: Scale, dataset: str, kind: str, taus: Sequence[float] = (RULE.tau,)) -> pd.DataFrame:
    """AgnosticFair's measures, a row a seed, τ and part; the column alpha holds τ. ``kind`` "mlp" or "logistic"."""
    parts, rows = Parts.of(fedfb_data(dataset)), []
    width = parts.train.x.shape[1]
    model: Model = MLP((width, HIDDEN, 2)) if kind == "mlp" else Logistic(width)
    rounds, lr = (ROUNDS, LR) if dataset in SYNTHETIC else (REAL_ROUNDS, REAL_LR)
    for tau in taus:
        rule = replace(RULE, tau=tau)
        params = rule.train(model, parts, rounds[scale.profile], lr, range(scale.seeds))
        down, up = (rounds[scale.profile] * count for count in rule.bytes_per_round(model, parts.train.clients))
        for part in ("validation", "test"):
            data = parts.parts[part].to("cpu", torch.float64)
            y, group = data.y.numpy(), data.group
            assert group is not None
            shared: dict[str, object] = {"bytes_down": down, "bytes_up": up, "alpha": tau}
            for seed, accept in enumerate(accepts(model, params, model.prepare(data))):
                found = FairMeasures.of(accept, y, group)
                row = row_of(part, AGNOSTIC, seed, found, len(y)) | shared
                known = part == "test" and dataset in SYNTHETIC
                rows.append(row | (beside(accept, found, data) if known else {}))
    return pd.DataFrame(rows).assign(round=rounds[scale.profile])
