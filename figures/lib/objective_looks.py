"""The colour and line of each objective in all figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fairfl.theory.aggregation import AFL, QFFL, TERM, FedAvg, Objective, PropFair, RankWeighted


@dataclass(frozen=True)
class Look:
    """An instance of a family of objectives and its line; what others may cover is wider and
    larger.
    """

    objective: Objective
    colour: str
    line: Any
    marker: str
    width: float = 1.3
    size: float = 3.4


SHORT, LONG = (0, (1.2, 1.2)), (0, (5, 1.6))
LOOKS = {
    "FedAvg": Look(FedAvg(), "#000000", "-", "o"),
    "PropFair, M = 1.25": Look(PropFair(1.25), "#009E73", LONG, "s"),
    "q-FFL, q = 2": Look(QFFL(2.0), "#0072B2", "-", "^"),
    "TERM, α = 3": Look(TERM(3.0), "#D55E00", (0, (4, 1.4, 1, 1.4)), "D"),
    "p-FFL, Gini": Look(RankWeighted.gini(), "#CC79A7", LONG, "v"),
    "CVaR, worst 30 %": Look(RankWeighted.cvar(0.7), "#E69F00", SHORT, "P", 2.4, 5.5),
    "AFL": Look(AFL(), "#56B4E9", (0, (6, 1.2, 1, 1.2, 1, 1.2)), "X"),
}
"""One objective of each family, Okabe and Ito's colours; losses in [0, 1], so that M = 1.25 is
within reach of them.
"""
