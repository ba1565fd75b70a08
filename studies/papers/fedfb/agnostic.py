"""AgnosticFair's runs in FedFB's tables and figures, which do not use the engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pandas as pd
import torch

from fairfl.sims.engine import MLP, Logistic, Model, Parts
from fairfl.sims.group_fairness import AgnosticFair, FairMeasures
from fairfl.sims.group_fairness.agnostic import AgnosticFit
from fairfl.sims.group_fairness.measures import accepts
from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.frames import among, floats, groups
from fairfl.studies.papers.fedfb.data import SYNTHETIC, fedfb_data
from fairfl.studies.papers.fedfb.runs import HIDDEN, beside, row_of

AGNOSTIC, EARLY, PLAIN = "AgnosticFair", "AgnosticFair, stopped early", "AgnosticFair, no adversary"
END = AgnosticFair(momentum=0.9, decay=0.75, dual_rate=0.2)
RULES = {AGNOSTIC: END, EARLY: AgnosticFair(), PLAIN: replace(END, kernels=1, width=1e6, cap=1.0)}
"""PLAIN has one flat kernel: everybody weighs 1; the constraint is their own covariance."""
STEPS = {
    (AGNOSTIC, True): ({"quick": 200, "paper": 4000}, 0.1),
    (AGNOSTIC, False): ({"quick": 40, "paper": 300}, 0.5),
    (EARLY, True): ({"quick": 200, "paper": 1000}, 0.1),
    (EARLY, False): ({"quick": 40, "paper": 200}, 0.5),
}
STEPS |= {(PLAIN, True): STEPS[AGNOSTIC, True], (PLAIN, False): ({"quick": 40, "paper": 600}, 0.5)}
"""Rounds and rate of full-batch steps, by method and whether the data are synthetic; the others are
ten times as many people or more.
"""
TAU = 0.01
TAUS = {"Synthetic": (0.01, 0.1, 0.15, 0.2, 0.3), "Adult": (0.01, 0.05, 0.1)}
"""Bounds of figure 6 on the covariance of group and score."""
LEFT = {"slope": "slope in w", "regret": "regret of the adversary", "excess": "excess over τ"}
"""What is left to an equilibrium."""


def agnostic_units(
    scale: Scale, dataset: str, kind: str, taus: Sequence[float] = (TAU,)
) -> list[Unit]:
    """To its end with and without the adversary, and stopped early. ``kind``: mlp, logistic."""
    model = "" if kind == "mlp" else f"-{kind}"
    return [
        Unit(
            f"fedfb-{dataset.lower()}{model}-agnostic-{slug}-{scale.profile}-{scale.seeds}",
            dataset,
            0,
            (method,),
            partial(agnostic, scale, dataset, kind, method, tuple(taus)),
        )
        for method, slug in ((AGNOSTIC, "end"), (PLAIN, "plain"), (EARLY, "early"))
    ]


def agnostic(
    scale: Scale, dataset: str, kind: str, method: str, taus: Sequence[float]
) -> pd.DataFrame:
    """AgnosticFair's measures, a row a seed, τ and part; alpha holds τ, of LEFT what is left."""
    parts, rows = Parts.of(fedfb_data(dataset)), []
    width = parts.train.x.shape[1]
    model: Model = MLP((width, HIDDEN, 2)) if kind == "mlp" else Logistic(width)
    rounds, lr = STEPS[method, dataset in SYNTHETIC]
    for tau in taus:
        rule = replace(RULES[method], tau=tau)
        fits = rule.fit(model, parts, rounds[scale.profile], lr, range(scale.seeds))
        params = torch.stack([found.params for found in fits])
        down, up = (
            rounds[scale.profile] * count
            for count in rule.bytes_per_round(model, parts.train.clients)
        )
        for part in ("validation", "test"):
            data = parts.parts[part].to("cpu", torch.float64)
            y, group = data.y.numpy(), data.group
            assert group is not None
            shared: dict[str, object] = {"bytes_down": down, "bytes_up": up, "alpha": tau}
            for seed, accept in enumerate(accepts(model, params, model.prepare(data))):
                found = FairMeasures.of(accept, y, group)
                row = row_of(part, method, seed, found, len(y)) | shared | left(fits[seed], tau)
                known = part == "test" and dataset in SYNTHETIC
                rows.append(row | (beside(accept, found, data) if known else {}))
    return pd.DataFrame(rows).assign(round=rounds[scale.profile])


def left(fit: AgnosticFit, tau: float) -> dict[str, float]:
    """How far a run is from an equilibrium, each 0 at one."""
    return {"slope": fit.slope, "regret": fit.regret, "excess": max(abs(fit.gap) - tau, 0.0)}


def notes(rows: pd.DataFrame) -> tuple[str, ...]:
    """How AgnosticFair was run, and the largest of what was left, a line a data set and method."""
    lines = []
    test = among(among(rows, "part", ["test"]), "objective", list(RULES))
    for (dataset, method), mine in groups(test, ["dataset", "objective"]):
        rule, (_, lr) = RULES[method], STEPS[method, dataset in SYNTHETIC]
        rounds = int(mine["round"].iloc[0])
        worst = ", ".join(
            f"{name} {floats(mine, column).max():.1g}" for column, name in LEFT.items()
        )
        steps = (
            f"{rounds} full-batch steps of {lr:g}, momentum {rule.momentum:g}, kernels "
            f"{rule.kernels}"
        )
        lines.append(f"{dataset}, {method}: {steps}; left at most: {worst}.")
    return tuple(lines)
