"""q-FFL, figure 9: q-FedAvg against q-FedSGD as data differ more and more between the devices."""

from __future__ import annotations

import pandas as pd

from fairfl.studies.experiment import Picture, Scale, Unit
from fairfl.studies.papers.qffl import efficiency as qffl_efficiency
from fairfl.studies.published import COLUMNS

NAME = "qffl-figure-9"
TITLE = "q-FFL, figure 9: q-FedAvg and q-FedSGD on Synthetic IID, hybrid and non-IID, the training objective by round"
SEEDS = {"quick": 1, "paper": 3}
PUBLISHED = pd.DataFrame(columns=COLUMNS)
DATA = {
    "Synthetic-IID": ("Synthetic", "iid", 1.0),
    "Synthetic-Hybrid": ("Synthetic", "hybrid", 1.0),
    "Synthetic-Non-IID": ("Synthetic", "non-iid", 1.0),
}
ROUNDS: dict[str, tuple[int, int]] = dict.fromkeys(DATA, (40, 500))
"""Quick, and enough to see who is ahead."""
PICTURES = (Picture("qffl-figure-9", "convergence", "q-FFL, figure 9: test accuracy by round"),)


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
        "IID: x ~ N(0, diag(j^-1.2)) on every device, as appendix F.2's \"same global distribution\" asks.",
    )
