"""FedFB, table 6: FairFed and FedFB on Adult and COMPAS, Dirichlet shares of groups."""

import numpy as np
import pandas as pd

from fairfl._support.checks import Array
from fairfl.studies.beside_published import published
from fairfl.studies.experiment import Experiment, Picture, Scale, Unit
from fairfl.studies.notes import notes
from fairfl.studies.papers.fedfb import fedfb_runs
from fairfl.studies.papers.fedfb.data import DIRICHLET, DIRICHLET_CLIENTS
from fairfl.studies.papers.fedfb.fedfb_runs import FAIRFED, FEDAVG, FEDFB, FEDFB_PLAIN
from fairfl.studies.papers.fedfb.limits import limit
from fairfl.studies.papers.fedfb.points import COLUMNS, trade_off
from fairfl.studies.published_numbers import FEDFB_TABLES

TITLE = (
    "FedFB, table 6, Adult and COMPAS: FairFed and FedFB over Dirichlet splits, logistic regression"
)
SEEDS = {"quick": 1, "paper": 5}
PRINTED = published(FEDFB_TABLES["6"], {FEDFB: (FEDFB, FEDFB_PLAIN)})
PICTURES = (Picture("table-6", "tradeoff", TITLE, x="|P(ŷ=1 | 0) - P(ŷ=1 | 1)|"),)


def units(scale: Scale) -> list[Unit]:
    """Five levels of each; quick: the first and the last of COMPAS."""
    datasets = tuple(DIRICHLET) if scale.paper else ("COMPAS, 0.1", "COMPAS, 5000")
    return fedfb_runs.family(scale, datasets, "logistic", (FEDAVG, FEDFB, FEDFB_PLAIN, FAIRFED))


values = fedfb_runs.values


def points(rows: pd.DataFrame) -> pd.DataFrame:
    """A panel a data set, the same people at every level: points joined from 0.1 to 5000."""
    test = fedfb_runs.chosen(rows)
    names = [str(name) for name in test["dataset"]]
    constant = test["objective"].isin(["all 0", "all 1"])
    level = np.where(constant, np.nan, [DIRICHLET[name][1] for name in names])
    test = test.assign(dataset=[DIRICHLET[name][0] for name in names], alpha=level)
    ours = trade_off(test, limit=spd_limit, disparity="spd")
    return pd.concat(
        [part for part in (ours, _printed(list(dict.fromkeys(names)))) if len(part)],
        ignore_index=True,
    )


def _printed(datasets: list[str]) -> pd.DataFrame:
    """The published points of these data."""
    rows = []
    for (name, objective), cells in FEDFB_TABLES["6"].items():
        if name in datasets:
            accuracy, spd = (float(cells[measure][0]) for measure in ("Acc.", "|SPD|"))
            base, level = DIRICHLET[name]
            rows.append([base, "published", objective, level, spd, np.nan, accuracy, np.nan, 0])
    return pd.DataFrame(rows, columns=COLUMNS)


def spd_limit(base: str) -> tuple[Array, Array]:
    """The exact frontier in |SPD| of rules of score and group, on test (``limits.scored``)."""
    return limit(next(name for name in DIRICHLET if DIRICHLET[name][0] == base), "pairwise")


def differences(rows: pd.DataFrame) -> tuple[str, ...]:
    """Differences from the paper."""
    return (*fedfb_runs.differences(rows), *notes("fedfb", "table 6", clients=DIRICHLET_CLIENTS))


EXPERIMENTS = (
    Experiment(
        "fedfb-table-6", TITLE, SEEDS, units, values, differences, PRINTED, PICTURES, points=points
    ),
)
