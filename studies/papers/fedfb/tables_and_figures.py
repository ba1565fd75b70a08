"""FedFB, tables 1, 2, 4, 5 and 7 and figures 3(b) and 6, a row of ``EXPERIMENTS`` each."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pandas as pd

from fairfl.studies.beside_published import published
from fairfl.studies.experiment import SEEDS, Experiment, Scale, Unit
from fairfl.studies.frames import among, floats
from fairfl.studies.measures import long
from fairfl.studies.notes import notes
from fairfl.studies.papers.fedfb import fedfb_runs
from fairfl.studies.papers.fedfb.agnostic import AGNOSTIC, RULE, TAU, TAUS, agnostic_unit
from fairfl.studies.papers.fedfb.data import REAL
from fairfl.studies.papers.fedfb.fedfb_runs import (
    CFL,
    ENSEMBLE,
    FAIRFED,
    FEDAVG,
    FEDFB,
    FEDFB_BITS,
    FEDFB_PLAIN,
    LFT_AVG,
)
from fairfl.studies.papers.fedfb.limits import limit
from fairfl.studies.papers.fedfb.points import in_expectation, picture, trade_off
from fairfl.studies.published_numbers import FEDFB_TABLES, Printed

FIVE = (FEDAVG, ENSEMBLE, LFT_AVG, FEDFB, FEDFB_PLAIN, CFL)
"""The paper's methods, FedFB with both steps."""
TWO_GROUPS = ("Synthetic", "Adult")
"""Du et al. have no constraint for more."""
SYMBOLS = {FAIRFED: "β", AGNOSTIC: "τ"}
"""Of a method's setting, where it is not α."""
STEPS = (FEDAVG, FEDFB, FEDFB_PLAIN, FEDFB_BITS, CFL)
"""FedFB with both steps and in 10 bits, FedAvg and CFL."""


def table(
    number: str,
    datasets: Sequence[str],
    title: str,
    subjects: Sequence[str] = (),
    model: str = "mlp",
    only: Sequence[str] | None = None,
    seeds: dict[str, int] = SEEDS,
    units: Callable[[Scale], list[Unit]] | None = None,
) -> Experiment:
    """A table's experiment: the ``fedfb_runs.family`` of its data, beside the printed numbers."""
    rows = FEDFB_TABLES[number.removesuffix("-real")].items()
    shown = {key: cells for key, cells in rows if key[0] in datasets}
    printed = published(shown, fedfb_runs.VARIANTS)
    title = f"FedFB, table {title}"
    return Experiment(
        f"fedfb-table-{number}",
        title,
        seeds,
        units=units or partial(fedfb_runs.family, datasets=tuple(datasets), model=model, only=only),
        values=fedfb_runs.values,
        differences=lambda rows: (*fedfb_runs.differences(rows), *_notes(*subjects, "causes")),
        published=printed,
        pictures=picture(f"table-{number}", title),
        points=lambda rows: trade_off(in_expectation(fedfb_runs.chosen(rows)), printed, limit),
    )


def _notes(*subjects: str) -> tuple[str, ...]:
    return notes("fedfb", *subjects, tau=TAU, momentum=RULE.momentum, kernels=RULE.kernels)


def rivals(scale: Scale) -> list[Unit]:
    """FedFB's runs, on real data table 1's, and AgnosticFair's; quick: synthetic data alone."""
    real = fedfb_runs.family(scale, tuple(REAL), only=FIVE) if scale.paper else []
    return [
        *fedfb_runs.family(scale, ("Synthetic",), only=(FEDFB, FEDFB_PLAIN)),
        *(unit for unit in real if FEDFB in unit.objectives),
        *(agnostic_unit(scale, name, "mlp") for name in TWO_GROUPS[: 1 + scale.paper]),
    ]


def logistic_rivals(scale: Scale) -> list[Unit]:
    """FedFB, on Adult table 4's runs, FairFed and AgnosticFair. Quick: the synthetic data alone."""
    datasets = ("Synthetic", "Adult") if scale.paper else ("Synthetic",)
    return [
        *fedfb_runs.family(scale, datasets, "logistic", (FEDAVG, FEDFB, FEDFB_PLAIN)),
        *fedfb_runs.family(scale, datasets, "logistic", (FAIRFED,)),
        *(agnostic_unit(scale, name, "logistic", TAUS[name]) for name in datasets),
    ]


def every_setting(rows: pd.DataFrame) -> pd.DataFrame:
    """Every setting is a line: nothing is chosen."""
    test = among(rows, "part", ["test"])
    # constants come with every schedule
    test = test.loc[~test.duplicated(["dataset", "objective", "seed", "alpha"])]
    names = [
        name if np.isnan(setting) else f"{name}, {SYMBOLS.get(name, 'α')} = {setting:g}"
        for name, setting in zip(test["objective"], floats(test, "alpha"), strict=True)
    ]
    return long(test.assign(objective=names), fedfb_runs.MEASURES)


def figure(
    number: str,
    title: str,
    units: Callable[[Scale], list[Unit]],
    beside: Printed,
    *subjects: str,
    seeds: dict[str, int] = SEEDS,
) -> Experiment:
    """A figure's experiment. It prints no numbers; the picture has those of a table ``beside``."""
    return Experiment(
        f"fedfb-figure-{number}",
        title,
        seeds,
        units,
        every_setting,
        lambda rows: (*fedfb_runs.differences(rows, chosen=False), *_notes(*subjects)),
        pictures=picture(f"figure-{number}", title),
        points=lambda rows: trade_off(
            in_expectation(among(rows, "part", ["test"])), published(beside), limit
        ),
    )


EXPERIMENTS = (
    table(
        "1",
        ("Synthetic",),
        "1, synthetic data: accuracy and disparity of FedAvg, LFT, FedFB, CFL",
        ("table 1", "grid"),
    ),
    table(
        "1-real",
        tuple(REAL),
        "1, Adult, COMPAS and Bank: a network with four hidden units",
        ("grid", "bank"),
        only=FIVE,
        seeds={"quick": 1, "paper": 5},
    ),
    table(
        "2",
        ("Synthetic, low", "Synthetic", "Synthetic, high"),
        "2: accuracy and disparity over heterogeneity of the synthetic data",
        ("table 2",),
        only=(FEDFB, FEDFB_PLAIN, CFL),
    ),
    table(
        "4",
        ("Synthetic",),
        "4 and figure 6, synthetic data: logistic regression",
        ("table 4",),
        model="logistic",
    ),
    table(
        "4-real",
        tuple(REAL),
        "4, Adult, COMPAS and Bank: logistic regression",
        ("grid", "bank"),
        model="logistic",
        only=FIVE,
        seeds={"quick": 1, "paper": 5},
    ),
    table(
        "5",
        ("Synthetic, 2 clients", "Synthetic", "Synthetic, 4 clients"),
        "5: accuracy and disparity with two, three and four clients",
        ("table 5", "grid"),
        only=FIVE,
    ),
    table(
        "7",
        ("Synthetic", *REAL),
        "7: FedFB and AgnosticFair",
        ("table 7", "agnostic"),
        units=rivals,
    ),
    figure(
        "3b",
        "FedFB, figure 3(b), synthetic data: accuracy and disparity over α, beside the exact "
        "frontier",
        partial(fedfb_runs.family, datasets=("Synthetic",), only=STEPS),
        FEDFB_TABLES["1"],
    ),
    figure(
        "6",
        "FedFB, figure 6: FedFB, FairFed and AgnosticFair, logistic regression",
        logistic_rivals,
        FEDFB_TABLES["4"],
        "agnostic",
        seeds={"quick": 1, "paper": 5},
    ),
)
