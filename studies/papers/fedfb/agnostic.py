"""AgnosticFair's runs in FedFB's tables and figures, which do not use the engine."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pandas as pd
import torch

from fairfl.sims.engine import MLP, Logistic, Model, Parts
from fairfl.sims.group_fairness import AgnosticFair, FairMeasures
from fairfl.sims.group_fairness.measures import accepts
from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.papers.fedfb.data import SYNTHETIC, fedfb_data
from fairfl.studies.papers.fedfb.fedfb_runs import HIDDEN, beside, row_of

AGNOSTIC = "AgnosticFair"
RULE = AgnosticFair(momentum=0.9, decay=0.75, dual_rate=0.2)
STEPS = {True: ({"quick": 200, "paper": 4000}, 0.1), False: ({"quick": 40, "paper": 300}, 0.5)}
"""Rounds and rate of full-batch steps, by whether the data are synthetic and small."""
TAU = 0.01
TAUS = {"Synthetic": (0.01, 0.1, 0.15, 0.2, 0.3), "Adult": (0.01, 0.05, 0.1)}
"""Bounds of figure 6 on the covariance of group and score."""


def agnostic_unit(scale: Scale, dataset: str, kind: str, taus: Sequence[float] = (TAU,)) -> Unit:
    """All seeds and bounds. ``kind``: mlp, logistic."""
    model = "" if kind == "mlp" else f"-{kind}"
    name = f"fedfb-{dataset.lower()}{model}-agnostic-{scale.profile}-{scale.seeds}"
    measures = partial(agnostic, scale, dataset, kind, tuple(taus))
    return Unit(name, dataset, 0, (AGNOSTIC,), measures)


def agnostic(scale: Scale, dataset: str, kind: str, taus: Sequence[float]) -> pd.DataFrame:
    """AgnosticFair's measures, a row per seed, τ and part; alpha holds τ."""
    parts, rows = Parts.of(fedfb_data(dataset)), []
    width = parts.train.x.shape[1]
    model: Model = MLP((width, HIDDEN, 2)) if kind == "mlp" else Logistic(width)
    rounds, lr = STEPS[dataset in SYNTHETIC][0][scale.profile], STEPS[dataset in SYNTHETIC][1]
    for tau in taus:
        rule = replace(RULE, tau=tau)
        fits = rule.fit(model, parts, rounds, lr, range(scale.seeds))
        params = torch.stack([fit.params for fit in fits])
        for part in ("validation", "test"):
            data = parts.parts[part].to("cpu", torch.float64)
            y, group = data.y.numpy(), data.group
            assert group is not None
            for seed, accept in enumerate(accepts(model, params, model.prepare(data))):
                stats = FairMeasures.of(accept, y, group)
                row = row_of(part, AGNOSTIC, seed, stats, tau)
                has_optimum = part == "test" and dataset in SYNTHETIC
                rows.append(row | (beside(accept, stats, data) if has_optimum else {}))
    return pd.DataFrame(rows).assign(round=rounds)
