"""q-FFL, table 3: devices, samples, and samples a device, of the data sets at hand."""

from functools import partial

import numpy as np
import pandas as pd

from fairfl.studies.beside_published import published
from fairfl.studies.experiment import Experiment, Scale, Unit
from fairfl.studies.frames import groups
from fairfl.studies.notes import notes
from fairfl.studies.papers.qffl import qffl_runs
from fairfl.studies.published_numbers import QFFL_TABLES

TITLE = "q-FFL, table 3: devices, samples, and samples a device; nothing is trained"
SEEDS = {"quick": 1, "paper": 1}


def units(scale: Scale) -> list[Unit]:
    """A unit a data set; all rows in either profile."""
    return [
        Unit(f"{name.lower()}-sizes", name, 0, ("all",), partial(sizes, name))
        for name in qffl_runs.at_hand()
    ]


def sizes(dataset: str) -> pd.DataFrame:
    """A row per device: its samples, of all parts."""
    _, parts = qffl_runs.parts_of(dataset, 0)
    counts = np.sum([part.sizes for part in parts.parts.values()], axis=0)
    columns = {"objective": "all", "seed": 0, "round": 0, "part": "all", "model": "global"}
    return pd.DataFrame({**columns, "client": range(len(counts)), "samples": counts})


def values(clients: pd.DataFrame) -> pd.DataFrame:
    """The spread of "samples a device" is over the devices, as printed: a row for each of them."""
    parts = []
    for (dataset,), part in groups(clients, ["dataset"]):
        counts = part["samples"].tolist()
        measured = {"devices": [len(counts)], "samples": [sum(counts)], "samples a device": counts}
        for measure, numbers in measured.items():
            line = {"dataset": dataset, "objective": "all", "seed": range(len(numbers))}
            parts.append(pd.DataFrame({**line, "measure": measure, "value": numbers}))
    return pd.concat(parts, ignore_index=True)


def differences(clients: pd.DataFrame) -> tuple[str, ...]:
    """Differences from the paper."""
    return (*qffl_runs.data_notes(clients["dataset"]), *notes("qffl", "table 3"))


EXPERIMENTS = (
    Experiment(
        "qffl-table-3", TITLE, SEEDS, units, values, differences, published(QFFL_TABLES["3"])
    ),
)
