"""FedFB's methods on a table of people: all of ``fairfl simulate people.csv``."""

from functools import lru_cache, partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from fairfl._support.checks import Array, listed
from fairfl.sims.data.federated.data import PARTS, FederatedData
from fairfl.sims.data.tables.table import Dataset
from fairfl.solvers.api import frontier
from fairfl.studies.experiment import Experiment, Picture
from fairfl.studies.frames import among
from fairfl.studies.measures import long
from fairfl.studies.notes import notes
from fairfl.studies.papers.fedfb import points as fedfb_points
from fairfl.studies.papers.fedfb.fedfb_runs import SCHEDULES
from fairfl.studies.papers.fedfb.limits import scored
from fairfl.studies.user_runs.people_runs import NOTIONS, Request, label, methods, read, units

SYMBOLS = {"dp": "P(ŷ=1 | a)", "eo": "P(ŷ=1 | a, y=1)", "eodds": "P(ŷ=1 | a, y), y = 0 or 1"}
"""The rates whose largest difference between two groups is the disparity."""
VALIDATION = "validation"
BEHIND = 40
"""Points of the frontier that is drawn behind the methods' points."""


def people_experiment(request: Request) -> Experiment:
    """All methods on the table, at every budget, and for demographic parity a frontier behind them.
    Errors, before anything runs: as ``read_people`` and ``split_people``, and ValueError for a
    group without people of a label that the notion compares.
    """
    (table, data), name = read(request), Path(request.path).stem
    _has_cells(request, table, data)
    if request.notion == "dp":
        behind(request)
    title = f"{name}: fair training by {len(table.client_names)} clients, and of the pooled people"
    axis = f"disparity: largest difference of {SYMBOLS[request.notion]}"
    pictures = (Picture(f"{name}-tradeoff", "tradeoff", title, x=axis),)
    return Experiment(
        name,
        title,
        {"quick": 2, "paper": 5},
        partial(units, request),
        partial(values, request),
        partial(differences, request),
        pictures=pictures,
        points=partial(points, request),
    )


def _has_cells(request: Request, table: Dataset, data: FederatedData) -> None:
    """ValueError where a rate that the notion compares has no people."""
    assert data.group is not None
    labels: dict[str, tuple[int, ...]] = {"dp": (), "eo": (1,), "eodds": (0, 1)}
    for y, part in product(labels[request.notion], PARTS):
        rows = data.rows(part)
        counts = np.bincount(data.group[rows][data.y[rows] == y], minlength=len(table.group_names))
        if counts.min() == 0:
            raise ValueError(
                f"notion {request.notion!r} must have people of y = {y} in every group to train, "
                f"choose and test on, some 10 or more: of {request.group} = "
                f"{table.group_names[counts.argmin()]} there are none for {part}"
            )


def values(request: Request, rows: pd.DataFrame) -> pd.DataFrame:
    """Test measures, and accuracy and disparity on validation: a row for each run and measure."""
    disparity = NOTIONS[request.notion]
    shown = {"accuracy": "Acc.", disparity: "disparity", "accepted": "accepted"}
    chosen_by = {"accuracy": f"{VALIDATION} Acc.", disparity: f"{VALIDATION} disparity"}
    parts = []
    for part, columns in (("test", shown), ("validation", chosen_by)):
        part_rows = among(rows, "part", [part])
        # constants come with every schedule
        parts.append(long(part_rows.loc[~part_rows.duplicated(["objective", "seed"])], columns))
    return pd.concat(parts, ignore_index=True)


def points(request: Request, rows: pd.DataFrame) -> pd.DataFrame:
    """A point a setting; for demographic parity with the frontier of a score behind."""
    settings = [setting for schedule in SCHEDULES for setting in methods(request, schedule, 1)]
    test = fedfb_points.by_setting(among(rows, "part", ["test"]), settings, label)
    table = fedfb_points.trade_off(test, disparity=NOTIONS[request.notion])
    if request.notion != "dp":
        return table
    curve = fedfb_points.frontiers([Path(request.path).stem], lambda name: behind(request))
    return pd.concat([table, curve.assign(objective=fedfb_points.OF_SCORE)], ignore_index=True)


@lru_cache(maxsize=2)
def behind(request: Request) -> tuple[Array, Array]:
    """The frontier of a score on the test people: (disparity, accuracy)."""
    curve = frontier(scored(read(request)[1]), "cfl", BEHIND)
    return curve.disparity, curve.accuracy


def differences(request: Request, rows: pd.DataFrame) -> tuple[str, ...]:
    """Methods and people, the meaning of ε, and the accuracy of the numbers."""
    table, data = read(request)
    tested = len(data.rows("test"))
    groups = ", ".join(f"{n} {_count(table.group == a)}" for a, n in enumerate(table.group_names))
    clients = [f"{n} {_count(table.client == k)}" for k, n in enumerate(table.client_names)]
    people = {"count": len(table), "groups": groups, "clients": listed(clients)}
    people |= {"label": request.label, "positive": table.label_names[1]}
    people |= {"features": listed(table.columns["features"])}
    settings = {"tested": tested, "error": np.sqrt(0.16 / tested), "first": table.group_names[0]}
    return (
        *notes("people", "people", **people),
        *filter(None, [table.note]),
        *notes("people", "splits", rates=SYMBOLS[request.notion], **settings),
        *(notes("people", "frontier") if request.notion == "dp" else ()),
    )


def _count(which: np.ndarray) -> str:
    return f"{int(which.sum()):,}"
