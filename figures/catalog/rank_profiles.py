"""p-FFL's rank weights: the weight of each client by family, from the largest loss to the smallest.

(a) n w_k by rank for ten clients; (b) the weight w_1 + ... + w_k on the worst share k/n of a
hundred, whose concavity makes the objective convex.
"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairfl.figures.lib import style
from fairfl.figures.lib.style import ObjectiveLook
from fairfl.studies.frames import floats, names, pick
from fairfl.theory.aggregation import RankWeighted

NAME = "rank_profiles"
TITLE = (
    "Rank weights of p-FFL, eqs. (4) and (7)-(9), and of CVaR: by rank for n = 10, cumulated "
    "for n = 100"
)

FEW, MANY = 10, 100
TOP = 5.3


PROFILES = {
    "FedAvg (z = 1)": ObjectiveLook(RankWeighted.geometric(1.0), "#000000", "-", "o"),
    "harmonic": ObjectiveLook(RankWeighted.harmonic(), "#009E73", (0, (5, 1.6)), "s"),
    "Gini": ObjectiveLook(RankWeighted.gini(), "#CC79A7", "-", "v"),
    "linear": ObjectiveLook(RankWeighted.linear(), "#0072B2", (0, (1.2, 1.2)), "^"),
    "CVaR, worst 30 %": ObjectiveLook(RankWeighted.cvar(0.7), "#E69F00", (0, (3, 1)), "P"),
    "geometric, z = 0.85": ObjectiveLook(
        RankWeighted.geometric(0.85), "#56B4E9", (0, (4, 1.4, 1, 1.4)), "D"
    ),
    "geometric, z = 0.5": ObjectiveLook(
        RankWeighted.geometric(0.5), "#D55E00", (0, (6, 1.2, 1, 1.2, 1, 1.2)), "X"
    ),
}
"""Profiles, in the order of increasing weight on the worst-off; z = 0.85 and 0.5 are p-FFL's."""


def data() -> pd.DataFrame:
    """A row a profile, clients (n) and rank (k, 1 the largest loss): w_k and w_1 + ... + w_k."""
    rows = []
    for name, profile in PROFILES.items():
        objective = profile.objective
        assert isinstance(objective, RankWeighted)
        for n in (FEW, MANY):
            w = objective.rank_weights(n)
            columns = {"profile": name, "clients": n, "rank": np.arange(1, n + 1)}
            rows.append(pd.DataFrame({**columns, "weight": w, "cumulated": np.cumsum(w)}))
    return pd.concat(rows, ignore_index=True)


def draw(data: pd.DataFrame) -> Figure:
    """(a) above (b), one legend below both."""
    figure = Figure(figsize=(style.COLUMN, 4.9))
    top, bottom = figure.subplots(2, 1)
    for name in names(data, "profile"):
        look, rows = PROFILES[name], pick(data, profile=name)
        few, many = pick(rows, clients=FEW), pick(rows, clients=MANY)
        common = {"color": look.colour, "ls": look.line}
        ranks, weights = floats(few, "rank"), FEW * floats(few, "weight")
        top.plot(ranks, weights, marker=look.marker, markersize=3.2, lw=1.0, label=name, **common)
        share, total = floats(many, "rank") / MANY, floats(many, "cumulated")
        bottom.plot(np.append(0.0, share), np.append(0.0, total), **common)
    _labels(top, bottom)
    handles, labels = top.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, columnspacing=1.2)
    return figure


def _labels(top: Axes, bottom: Axes) -> None:
    top.set(xlim=(0.7, FEW + 0.3), ylim=(-0.15, TOP), xticks=range(1, FEW + 1))
    top.set(xlabel="rank of the client (1: the largest loss)", ylabel=f"{FEW} · weight")
    bottom.set(xlim=(0, 1), ylim=(0, 1.03))
    bottom.set(xlabel="share of the clients, worst-off first", ylabel="share of the weight")
    style.letter(top, 0, f"by rank, n = {FEW}")
    style.letter(bottom, 1, f"cumulated, n = {MANY}")
