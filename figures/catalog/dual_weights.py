"""Dual weights against losses: the weight of a client's loss in each objective, for two clients and
for ten.

PropFair, section 4.1: every objective is a maximum of sum_i w_i f_i - A*(w), and the best w is its
gradient. The figure shows n w_i, which is 1 for FedAvg: (a) of client 1 against its loss, (b) of
ten clients with losses 0.05, ..., 0.95.
"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairfl.figures.lib import style
from fairfl.figures.lib.style import ObjectiveLook
from fairfl.studies.frames import floats, names, pick
from fairfl.theory.aggregation import AFL, QFFL, TERM, FedAvg, PropFair, RankWeighted

NAME = "dual_weights"
TITLE = (
    "Dual weights n·w against losses for the objectives of PropFair's section 4 and p-FFL, "
    "two clients and ten"
)

OTHER = 0.5
TEN = np.arange(10) / 10 + 0.05
POINTS = 200
TOP = 4.2
"""Top of panel (b). AFL's worst client, with weight 10, is annotated instead."""


SHORT, LONG = (0, (1.2, 1.2)), (0, (5, 1.6))
LOOKS = {
    "FedAvg": ObjectiveLook(FedAvg(), "#000000", "-", "o"),
    "PropFair, M = 1.25": ObjectiveLook(PropFair(1.25), "#009E73", LONG, "s"),
    "q-FFL, q = 2": ObjectiveLook(QFFL(2.0), "#0072B2", "-", "^"),
    "TERM, α = 3": ObjectiveLook(TERM(3.0), "#D55E00", (0, (4, 1.4, 1, 1.4)), "D"),
    "p-FFL, Gini": ObjectiveLook(RankWeighted.gini(), "#CC79A7", LONG, "v"),
    "CVaR, worst 30 %": ObjectiveLook(RankWeighted.cvar(0.7), "#E69F00", SHORT, "P", 2.4, 5.5),
    "AFL": ObjectiveLook(AFL(), "#56B4E9", (0, (6, 1.2, 1, 1.2, 1, 1.2)), "X"),
}
"""One objective of each family, in Okabe and Ito's colours; M = 1.25 is close to losses of 1."""


def data(points: int = POINTS) -> pd.DataFrame:
    """One row per objective, panel and client. Columns: panel ("two": client 1 of two, the other's
    loss being 1/2; "ten"), objective, loss, weight (n w_i). In "two" the losses include 1/2 ± 1e-9,
    where the rank-weighted objectives jump.
    """
    moving = np.unique(
        np.concatenate([np.linspace(0, 1, points + 1), [OTHER - 1e-9, OTHER, OTHER + 1e-9]])
    )
    two = np.stack([moving, np.full_like(moving, OTHER)], axis=-1)
    rows = []
    for name, look in LOOKS.items():
        paired, ten = (look.objective.dual_weights(losses) for losses in (two, TEN))
        for panel, loss, weight in (("two", moving, 2 * paired[:, 0]), ("ten", TEN, 10 * ten)):
            columns = {"panel": panel, "objective": name, "loss": loss, "weight": weight}
            rows.append(pd.DataFrame(columns))
    return pd.concat(rows, ignore_index=True)


def draw(data: pd.DataFrame) -> Figure:
    """(a) above (b), one legend below both."""
    figure = Figure(figsize=(style.COLUMN, 4.9))
    top, bottom = figure.subplots(2, 1)
    _two(top, pick(data, panel="two"))
    _ten(bottom, pick(data, panel="ten"))
    handles, labels = bottom.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, columnspacing=1.2)
    return figure


def _two(axes: Axes, data: pd.DataFrame) -> None:
    for name in names(data, "objective"):
        look, rows = LOOKS[name], pick(data, objective=name)
        loss, weight = floats(rows, "loss"), floats(rows, "weight")
        beside = loss != OTHER  # the middle of a jump is drawn as a dot
        axes.plot(loss[beside], weight[beside], color=look.colour, ls=look.line, lw=look.width)
    axes.plot([OTHER], [1.0], color="#000000", marker="o", markersize=3)
    axes.set(xlim=(0, 1), ylim=(-0.06, 2.15))
    axes.set(xlabel="loss of client 1 (client 2 has ½)", ylabel="2 · weight of client 1")
    style.letter(axes, 0, "two clients")


def _ten(axes: Axes, data: pd.DataFrame) -> None:
    for name in names(data, "objective"):
        look, rows = LOOKS[name], pick(data, objective=name)
        loss, weight = floats(rows, "loss"), floats(rows, "weight")
        line = {"color": look.colour, "ls": look.line, "lw": 0.75 * look.width}
        axes.plot(loss, weight, **line, marker=look.marker, markersize=look.size, label=name)
    axes.set(xlim=(0, 1), ylim=(-0.12, TOP))
    axes.set(xlabel="losses of the clients", ylabel="10 · weight of each client")
    style.letter(axes, 1, "ten clients")
    beyond = data[floats(data, "weight") > TOP]
    for name, loss, weight in zip(
        *(beyond[c] for c in ("objective", "loss", "weight")), strict=True
    ):
        axes.text(loss - 0.075, TOP - 0.1, f"{name}: {weight:.0f} ↑", ha="right", va="top")
