"""FedFB, figure 6: FedFB, FairFed, AgnosticFair on synthetic data and Adult, logistic."""

from __future__ import annotations

import pandas as pd

from fairfl.studies.beside_published import COLUMNS, published
from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.frames import among
from fairfl.studies.papers.fedfb import runs as fedfb_runs
from fairfl.studies.papers.fedfb.agnostic import AGNOSTIC, NOTE, TAUS, agnostic_unit
from fairfl.studies.papers.fedfb.points import of_all, picture
from fairfl.studies.papers.fedfb.published_numbers import TABLE_4
from fairfl.studies.papers.fedfb.runs import FAIRFED, FEDAVG, FEDFB, FEDFB_PLAIN

NAME = "fedfb-figure-6"
TITLE = "FedFB, figure 6: FedFB, FairFed and AgnosticFair, logistic regression"
SEEDS = {"quick": 1, "paper": 5}
PUBLISHED = pd.DataFrame(columns=COLUMNS)
"""The figure prints no numbers. The picture has FedAvg's and FedFB's of table 4."""
PICTURES = picture("figure-6", TITLE)
points = of_all(published(TABLE_4))


def units(scale: Scale) -> list[Unit]:
    """Quick: the synthetic data alone."""
    datasets = ("Synthetic", "Adult") if scale.paper else ("Synthetic",)
    mine = [agnostic_unit(scale, name, "logistic", TAUS[name]) for name in datasets]
    # on Adult table 4's runs
    shared = fedfb_runs.family(scale, datasets, "logistic", (FEDAVG, FEDFB, FEDFB_PLAIN))
    return [*shared, *fedfb_runs.family(scale, datasets, "logistic", (FAIRFED,)), *mine]


def values(rows: pd.DataFrame) -> pd.DataFrame:
    """Every setting is a line: nothing is chosen."""
    test = among(rows, "part", ["test"])
    # constants come with every schedule
    test = test.loc[~test.duplicated(["dataset", "objective", "seed", "alpha"])]
    return fedfb_runs.every_setting(test, {FAIRFED: "β", AGNOSTIC: "τ"})


def differences(rows: pd.DataFrame) -> tuple[str, ...]:
    """What differs from the paper, but for choices, of which there are none."""
    return (*fedfb_runs.differences(rows, chosen=False), NOTE)
