"""What the study's pictures show, as tables."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fairfl.sims.crosscheck.frame import Frame, loose
from fairfl.sims.crosscheck.studies.local_constraints_runs import LABELS

SCHEMES = {"cfl": "CFL, exact", "lft_fedavg": "LFT+FedAvg, exact", "lft_ensemble": "LFT+Ensemble, exact"}
PANELS = (("figure-5a", 0.0), ("figure-5a", 0.1), ("figure-5c", 0.0), ("figure-9b", 0.0))
SHOWN = ("pooled-any", "steps-20", "steps-20-fading", "converged", "locally-fair")
COMPARED = ("pooled-any", "pooled-1", "steps-1", *SHOWN[1:])
STOPS = 12
"""Rounds shown of a way, evenly spread in log t; its end is the last."""
COLUMNS = ["panel", "series", "kind", "x", "y"]


def paths(measures: Frame) -> Frame:
    """The rule's way in the plane, from the Bayes rule on, over the three exact frontiers."""
    parts = []
    for world, eps in PANELS:
        here = measures[(measures["world"] == world) & (measures["rows"] == 0)]
        runs = here[(here["budget"] == eps) & here["regime"].isin(SHOWN)]
        if not len(runs):
            continue
        panel = f"{world}, ε = {eps:g}"
        for scheme, label in SCHEMES.items():
            exact = here[(here["regime"] == "frontier") & (here["scheme"] == scheme)]
            parts.append(_rows(exact, panel, label, "line", "disparity", "accuracy"))
        for regime in SHOWN:
            run = _stops(loose(pd).DataFrame(runs[runs["regime"] == regime].sort_values("round")))
            parts.append(_rows(run, panel, LABELS[regime], "path", "disparity", "accuracy"))
        best = runs.head(1)
        best = best.assign(disparity=best["best_difference"].abs(), accuracy=best["best"])
        parts.append(_rows(best, panel, "LFT+FedAvg(ε)", "points", "disparity", "accuracy"))
    return loose(pd).concat(parts, ignore_index=True) if parts else loose(pd).DataFrame(columns=COLUMNS)


def ends(measures: Frame) -> Frame:
    """Every end on the population: by how much the worst client is over its budget, and the accuracy's difference."""
    last = measures[(measures["rows"] == 0) & (measures["rule"] != "")]
    last = last.assign(over=last["excess"].clip(lower=0.0), more=-last["shortfall"])
    parts = []
    for many, panel in ((False, "at most one constraint binds"), (True, "two or more bind")):
        for regime in COMPARED:
            some = last[(last["regime"] == regime) & ((last["binding"] >= 2) == many)]
            parts.append(_rows(some, panel, LABELS[regime], "points", "over", "more"))
    return loose(pd).concat(parts, ignore_index=True)


def _stops(run: Frame) -> Frame:
    """Some rounds of a run."""
    rounds = run["round"].to_numpy()
    wanted = np.geomspace(1, rounds[-1] + 1, STOPS) - 1
    return run.iloc[np.unique(np.searchsorted(rounds, wanted - 1e-9).clip(0, len(rounds) - 1))]


def _rows(table: Frame, panel: str, series: str, kind: str, x: str, y: str) -> Frame:
    return loose(pd).DataFrame(
        {"panel": panel, "series": series, "kind": kind, "x": table[x].to_numpy(), "y": table[y].to_numpy()}
    )
