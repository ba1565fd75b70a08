"""The frontiers of the three schemes on Adult, COMPAS and Bank, split among clients as in FedFB.

Training rows, two groups each; x is the cross-fitted logistic score, η its isotonic calibration,
shared by all. Scores are rounded to 0.01: unrounded, x would identify the person, and so the
client, whom LFT+FedAvg does not see.
"""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from fairfl.figures.lib import frontier_panels
from fairfl.theory.populations.federation import Federation

NAME = "real_data"
TITLE = (
    "Accuracy-fairness trade-offs on Adult, COMPAS and Bank, clients as in FedFB (no figure "
    "of the paper's)"
)

DATASETS = {
    "adult": "Adult, 2 clients: women | men",
    "compas": "COMPAS, 2 clients: African-American | all others",
    "bank": "Bank, 3 clients: age 33 to 51 | younger or older",
}
"""Data sets and the titles of their panels, which name the two groups."""
DECIMALS = 2
POINTS = 40


def federation(name: str) -> Federation:
    """One data set's training rows as a federation; DataUnavailable where they are not at hand."""
    # loaders: not needed to list the figures
    from fairfl.sims.data.tables import FEDFB_SEED, cross_fitted_score, load

    data = load(name, groups="two", seed=FEDFB_SEED)
    data = data.select(~data.is_test)
    score = cross_fitted_score(data.features, data.label, group=data.group, client=data.client)
    levels = np.round(score, DECIMALS)
    return Federation.from_samples(levels, data.label, data.group, data.client, levels=0)


def data(points: int = POINTS) -> pd.DataFrame:
    """See :func:`frontier_panels.table`; raises DataUnavailable as :func:`federation` does."""
    return frontier_panels.table(
        {title: federation(name) for name, title in DATASETS.items()}, points
    )


def draw(data: pd.DataFrame) -> Figure:
    """Three panels, and below each the losses against CFL, which are hardly visible above."""
    # on two lines: too long for a third of a page
    titles = data["panel"].astype(str).str.replace(": ", "\n")
    return frontier_panels.draw(data.assign(panel=titles), columns=3, height=3.9, losses=True)
