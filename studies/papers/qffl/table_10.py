"""q-FFL, table 10: several q in parallel, each device keeps its best on validation."""

from __future__ import annotations

import pandas as pd

from fairfl.sims.engine import best_of
from fairfl.studies.beside_published import published
from fairfl.studies.execute import last_round
from fairfl.studies.experiment import Scale, Unit
from fairfl.studies.frames import among, groups
from fairfl.studies.measures import statistics
from fairfl.studies.papers.qffl import runs as qffl_runs
from fairfl.studies.papers.qffl.published_numbers import STATISTICS, TABLE_10

NAME = "qffl-table-10"
TITLE = "q-FFL, table 10: several q in parallel, each device keeps its best model"
PUBLISHED = published(TABLE_10)
MULTIPLE = tuple(map(qffl_runs.name_of, qffl_runs.QS[:-1]))  # appendix F.2: without 15


def units(scale: Scale) -> list[Unit]:
    """All q on the data at hand (the paper: Vehicle and Shakespeare)."""
    return qffl_runs.family(scale)


def own_best(clients: pd.DataFrame) -> pd.DataFrame:
    """The test rows of each device under the q whose model is best on its validation data, the
    first where several.

    A device without validation rows keeps q = 0.
    """
    found = []
    for _, run in groups(among(clients, "objective", MULTIPLE), ["unit"]):
        best = best_of(run)
        found.append(last_round(run, "test").merge(best, on=["client", "replicate"]))
    return pd.concat(found, ignore_index=True).assign(objective="multiple q")


def values(clients: pd.DataFrame) -> pd.DataFrame:
    """Measures of the test accuracies: q = 0, the paper's q, and each device's own."""
    there = set(clients["dataset"])
    chosen = (q for dataset, q in qffl_runs.CHOSEN.items() if dataset in there)
    wanted = [qffl_runs.name_of(q) for q in (0.0, *chosen)]
    kept = among(last_round(clients, "test"), "objective", wanted)
    return statistics(pd.concat([kept, own_best(clients)], ignore_index=True), STATISTICS)


def differences(clients: pd.DataFrame) -> tuple[str, ...]:
    """What differs from the paper."""
    return (
        *qffl_runs.differences(clients["dataset"]),
        "The paper has Vehicle and Shakespeare. Of q that are equally good on validation data the "
        "smallest is kept; the validation parts of 1,860 rows of Vehicle have one to 53, and so "
        "ties are the rule there.",
    )
