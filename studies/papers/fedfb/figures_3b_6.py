"""FedFB, figures 3(b) and 6, a row of ``EXPERIMENTS`` each: every setting is a point."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

from fairfl.studies.beside_published import published
from fairfl.studies.experiment import SEEDS, Experiment, Scale, Unit
from fairfl.studies.frames import among, floats
from fairfl.studies.measures import long
from fairfl.studies.papers.fedfb.agnostic import AGNOSTIC, NOTE, TAUS, agnostic_unit
from fairfl.studies.papers.fedfb.fedfb_runs import (
    CFL,
    FAIRFED,
    FEDAVG,
    FEDFB,
    FEDFB_BITS,
    FEDFB_PLAIN,
    MEASURES,
    differences,
    family,
)
from fairfl.studies.papers.fedfb.limits import limit
from fairfl.studies.papers.fedfb.points import in_expectation, picture, trade_off
from fairfl.studies.published_numbers import FEDFB_TABLES, Printed

SYMBOLS = {FAIRFED: "β", AGNOSTIC: "τ"}
"""Of a method's setting, where it is not α."""
STEPS = (FEDAVG, FEDFB, FEDFB_PLAIN, FEDFB_BITS, CFL)
"""FedFB with both steps and in 10 bits, FedAvg and CFL."""


def rivals(scale: Scale) -> list[Unit]:
    """FedFB, on Adult table 4's runs, FairFed and AgnosticFair. Quick: the synthetic data alone."""
    datasets = ("Synthetic", "Adult") if scale.paper else ("Synthetic",)
    return [
        *family(scale, datasets, "logistic", (FEDAVG, FEDFB, FEDFB_PLAIN)),
        *family(scale, datasets, "logistic", (FAIRFED,)),
        *(agnostic_unit(scale, name, "logistic", TAUS[name]) for name in datasets),
    ]


def values(rows: pd.DataFrame) -> pd.DataFrame:
    """Every setting is a line: nothing is chosen."""
    test = among(rows, "part", ["test"])
    # constants come with every schedule
    test = test.loc[~test.duplicated(["dataset", "objective", "seed", "alpha"])]
    names = [
        name if np.isnan(setting) else f"{name}, {SYMBOLS.get(name, 'α')} = {setting:g}"
        for name, setting in zip(test["objective"], floats(test, "alpha"), strict=True)
    ]
    return long(test.assign(objective=names), MEASURES)


def figure(
    number: str,
    title: str,
    units: Callable[[Scale], list[Unit]],
    beside: Printed,
    *notes: str,
    seeds: dict[str, int] = SEEDS,
) -> Experiment:
    """A figure's experiment. It prints no numbers; the picture has those of a table ``beside``."""
    return Experiment(
        f"fedfb-figure-{number}",
        title,
        seeds,
        units,
        values,
        lambda rows: (*differences(rows, chosen=False), *notes),
        pictures=picture(f"figure-{number}", title),
        points=lambda rows: trade_off(
            in_expectation(among(rows, "part", ["test"])), published(beside), limit
        ),
    )


EXPERIMENTS = (
    figure(
        "3b",
        "FedFB, figure 3(b), synthetic data: accuracy and disparity over α, beside the exact "
        "frontier",
        partial(family, datasets=("Synthetic",), only=STEPS),
        FEDFB_TABLES["1"],
    ),
    figure(
        "6",
        "FedFB, figure 6: FedFB, FairFed and AgnosticFair, logistic regression",
        rivals,
        FEDFB_TABLES["4"],
        NOTE,
        seeds={"quick": 1, "paper": 5},
    ),
)
