"""The pictures of the study `local-constraints`, as tables."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fairfl.solvers import schemes
from fairfl.studies.crosscheck.population.worlds import in_words
from fairfl.studies.crosscheck.studies.local_constraints_runs import LABELS
from fairfl.studies.frames import Frame, loose

SETTINGS = (("figure-5a", 0.0), ("figure-5a", 0.1), ("figure-9b", 0.0))
"""World and ε: a column each."""
WAYS = ("pooled-any", "steps-20", "steps-20-fading", "converged")
"""Regimes whose way is shown: a row each."""
COMPARED = ("pooled-any", "pooled-1", "steps-1", *WAYS[1:], "locally-fair")
STOPS = 12
"""Rounds shown of a way, evenly spread in log t; its end is the last."""
COLUMNS = ["row", "panel", "series", "kind", "x", "y"]


def paths(measures: Frame) -> Frame:
    """The rule's way from its first round on: a panel each, before the three exact frontiers."""
    exact = measures[measures["rows"] == 0]
    parts = []
    for regime in WAYS:
        for world, eps in SETTINGS:
            here = exact[exact["world"] == world]
            runs = loose(pd).DataFrame(here[(here["budget"] == eps) & (here["regime"] == regime)])
            if len(runs):
                panel = f"{in_words(world)}, ε = {eps:g}\n{LABELS[regime]}"
                parts += [one.assign(row=regime) for one in _panel(panel, here, runs, eps)]
    return (
        loose(pd).concat(parts, ignore_index=True)
        if parts
        else loose(pd).DataFrame(columns=COLUMNS)
    )


def _panel(panel: str, here: Frame, runs: Frame, eps: float) -> list[Frame]:
    """Frontiers, way, the optimum, and where clients that are fair to the end are averaged to."""
    parts = []
    for scheme, label in schemes.LABELS.items():
        frontier = here[(here["regime"] == "frontier") & (here["scheme"] == scheme)]
        parts.append(_rows(frontier, panel, f"{label}, exact", "behind", "disparity", "accuracy"))
    best = runs.head(1)
    best = best.assign(disparity=best["best_difference"].abs(), accuracy=best["best"])
    parts.append(_rows(best, panel, "LFT+FedAvg(ε), supposed end", "end", "disparity", "accuracy"))
    own = here[(here["regime"] == "locally-fair") & (here["budget"] == eps)].tail(1)
    parts.append(_rows(own, panel, "fair clients, averaged once", "end", "disparity", "accuracy"))
    way = _stops(runs.sort_values("round"))
    return [
        *parts,
        _rows(way, panel, "rounds: first hollow, last filled", "way", "disparity", "accuracy"),
    ]


def ends(measures: Frame) -> Frame:
    """Ends on the population: the worst client's excess disparity, the accuracy's difference."""
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
        {
            "panel": panel,
            "series": series,
            "kind": kind,
            "x": table[x].to_numpy(),
            "y": table[y].to_numpy(),
        }
    )
