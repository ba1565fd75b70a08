"""FedFB, figure 3(b): FedFB's trade-off over α, with and without 10 bits; the frontier."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from fairfl.studies.beside_published import COLUMNS, published
from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.frames import among, floats
from fairfl.studies.frames import rows as kept_rows
from fairfl.studies.papers.fedfb import runs as fedfb_runs
from fairfl.studies.papers.fedfb.points import of_all, picture
from fairfl.studies.papers.fedfb.published_numbers import TABLE_1
from fairfl.studies.papers.fedfb.runs import CFL, FEDAVG, FEDFB, FEDFB_BITS, FEDFB_PLAIN

NAME = "fedfb-figure-3b"
TITLE = (
    "FedFB, figure 3(b), synthetic data: accuracy and disparity over α, beside the exact frontier"
)
PUBLISHED = pd.DataFrame(columns=COLUMNS)
"""The figure's points are not printed as numbers. The picture has those of table 1."""
PICTURES = picture("figure-3b", TITLE)
points = of_all(published(TABLE_1))


def units(scale: Scale) -> list[Unit]:
    """FedFB with both steps and in 10 bits, FedAvg and CFL."""
    return fedfb_runs.family(
        scale, ("Synthetic",), only=(FEDAVG, FEDFB, FEDFB_PLAIN, FEDFB_BITS, CFL)
    )


def values(rows: pd.DataFrame) -> pd.DataFrame:
    """Every α is a line: nothing is chosen."""
    test = among(rows, "part", ["test"])
    # not the constants
    return fedfb_runs.every_setting(kept_rows(test, np.isfinite(floats(test, "best"))))


differences = partial(fedfb_runs.differences, chosen=False)
