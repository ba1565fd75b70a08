"""FedFB figures 5 and 9: the frontiers of the three schemes on two and on three clients, by the
shares q_i = P(a = 1 | i); and the same federations under equal opportunity, not in the paper.

x | a, i ~ N(μ, 1) with logistic η and equal weights. The curves are exact; the paper's come from
samples on a grid of multipliers.
"""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pandas as pd
from numpy.typing import ArrayLike

from fairfl.figures.lib import frontier_panels
from fairfl.figures.lib.figure_entry import FigureEntry
from fairfl.theory.populations import fedfb_figures as fedfb
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import Notion

POINTS = 40
LAWS = ("mean", "sd", "q", "weight", "eta")
"""Parameters of a federation of normal laws."""
TRADE_OFFS = "accuracy-fairness trade-offs of CFL, LFT+FedAvg and LFT+Ensemble"
FIVE = {f"q = ({q[0]:g}, {q[1]:g})": fedfb.figure_5(q) for q in fedfb.SHARES_5}
NINE = {f"q = ({', '.join(f'{v:g}' for v in q)})": fedfb.figure_9(q) for q in fedfb.SHARES_9}
"""The panels' federations by title."""
ENDS = {q: panels[q] for panels in (FIVE, NINE) for q in (max(panels), min(panels))}
"""The equal shares and the most different ones of both figures."""


def figure(
    name: str,
    title: str,
    panels: Mapping[str, Federation],
    printed: Mapping[str, ArrayLike],
    notion: Notion = "demographic_parity",
    axes: frontier_panels.Axes = frontier_panels.PLAIN,
) -> FigureEntry:
    """A figure of four panels, or of one: a user's federation, or normal laws with another
    ``mean``, ``sd``, ``q`` or ``weight`` than ``printed``.
    """
    data = partial(_data, panels, printed, notion)
    draw = partial(frontier_panels.draw_panels, axes=axes)
    return FigureEntry(name, title, data, draw, Path(__file__))


def _data(
    panels: Mapping[str, Federation],
    printed: Mapping[str, ArrayLike],
    notion: Notion,
    points: int = POINTS,
    *,
    federation: Federation | None = None,
    **laws: ArrayLike,
) -> pd.DataFrame:
    """The frontiers of the ``panels``; or of ``federation`` alone, or of normal laws with the mean,
    sd, q, weight or eta in ``laws`` and else those ``printed``. ValueError: both, or another name.
    """
    if federation is not None and laws:
        raise ValueError(f"federation must be given alone, got {', '.join(laws)} too")
    if unknown := [name for name in laws if name not in LAWS]:
        raise ValueError(
            f"parameters must be among points, federation, {', '.join(LAWS)}, got "
            f"{', '.join(unknown)}"
        )
    if laws:
        federation = Federation.normal(**{**printed, **laws})
    chosen = panels if federation is None else {"": federation}
    return frontier_panels.table(chosen, points, notion)


PRINTED = {"mean": fedfb.MEANS_5, "q": fedfb.SHARES_5[0]}
FIGURES = (
    figure("fedfb_figure_5", f"FedFB figure 5: {TRADE_OFFS}, two clients", FIVE, PRINTED),
    figure(
        "fedfb_figure_9",
        f"FedFB figure 9: {TRADE_OFFS}, three clients",
        NINE,
        {"mean": fedfb.MEANS_9, "q": fedfb.SHARES_9[0]},
    ),
    figure(
        "equal_opportunity",
        "Equal opportunity: the three schemes' trade-offs on the clients of FedFB figures 5 and 9",
        ENDS,
        PRINTED,
        "true_positive_rate_parity",
        frontier_panels.Axes(disparity="difference of true-positive rates"),
    ),
)
