"""q-FFL, figures 3 and 6: q-FedAvg against q-FedSGD and tuned gradient descent."""

from __future__ import annotations

import pandas as pd

from fairfl.studies.experiment import Picture, Scale, Unit
from fairfl.studies.papers.qffl import efficiency as qffl_efficiency
from fairfl.studies.published import COLUMNS

NAME = "qffl-figure-3"
TITLE = "q-FFL, figures 3 and 6: q-FedAvg, q-FedSGD and tuned FedSGD, the training objective by round"
SEEDS = {"quick": 1, "paper": 3}
PUBLISHED = pd.DataFrame(columns=COLUMNS)
DATA = {"Synthetic": ("Synthetic", "non-iid", 1.0), "Vehicle": ("Vehicle", "non-iid", 5.0)}
ROUNDS = {"Synthetic": (40, 500), "Vehicle": (40, 460)}
"""Quick, and enough to see who is ahead."""
PICTURES = (Picture("qffl-figure-3", "convergence", "q-FFL, figure 3: test accuracy by round"),)


def units(scale: Scale) -> list[Unit]:
    """Local epochs, and full gradients with a grid of rates."""
    return qffl_efficiency.units(scale, DATA, ROUNDS)


def values(clients: pd.DataFrame) -> pd.DataFrame:
    """The training objective of the three curves."""
    return qffl_efficiency.values(clients, DATA)


def shown(clients: pd.DataFrame) -> pd.DataFrame:
    """The rows that the picture shows: of the rates that tuning chose."""
    return qffl_efficiency.curves(clients, DATA)


def differences(clients: pd.DataFrame) -> tuple[str, ...]:
    """What differs from the paper."""
    return (
        "The figures print no numbers. The table has the (q + 1)-mean of the training losses: smaller is better.",
        "The rates of q-FedAvg and q-FedSGD are those of {0.01, ..., 3} that are best for q = 0 at the end; FedSGD's "
        "is the one that is best for q itself, a fixed step on the (q + 1)-mean. The paper does not print its grid.",
    )
