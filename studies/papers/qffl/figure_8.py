"""q-FFL, figure 8: the worst device's accuracy by round, q-FFL and AFL, full gradients."""

from functools import partial

import numpy as np
import pandas as pd

from fairfl.sims.algorithms.afl import AFL
from fairfl.sims.algorithms.qfedavg import QFedSGD
from fairfl.sims.engine import Replicate, Training
from fairfl.studies.experiment import Experiment, Picture, Scale, Setting, Unit
from fairfl.studies.frames import among, floats, groups, rows
from fairfl.studies.measures import KEYS, rows_of
from fairfl.studies.notes import notes
from fairfl.studies.papers.qffl import qffl_runs, table_2, three_classes

TITLE = "q-FFL, figure 8: the worst device by round, q-FFL and AFL, on Vehicle and three classes"
SEEDS = {"quick": 1, "paper": 1}
WORST = "q-FFL, figure 8: test accuracy of the worst device"
PICTURES = (Picture("qffl-figure-8", "convergence", WORST),)
ROUNDS = (40, 600)
RATES = (0.1, 0.01)
"""On Vehicle: of the models and AFL's mixture. AFL goes in circles with the tables' 0.64 and 0.1.
"""


def units(scale: Scale) -> list[Unit]:
    """Vehicle, and the classes of table 2 with equal weights, whose run it shares."""
    classes = [
        unit
        for unit in table_2.units(scale)
        if unit.dataset == three_classes.which() and table_2.AFL_LAST in unit.objectives
    ]
    names = ("q = 0", f"q = {qffl_runs.CHOSEN['Vehicle']:g}", table_2.AFL_LAST)
    setting = partial(make, ROUNDS[scale.paper])
    return [Unit(f"vehicle-full-afl-{ROUNDS[scale.paper]}", "Vehicle", 0, names, setting), *classes]


def make(rounds: int) -> Setting:
    """Everyone takes part, a full gradient each; split of seed 0."""
    model, parts = qffl_runs.parts_of("Vehicle", 0)
    training = Training(rounds, lr=RATES[0], batch_size=None, steps=1, weight_decay=1 / 64)
    algorithms = QFedSGD(0.0), QFedSGD(qffl_runs.CHOSEN["Vehicle"]), AFL(RATES[1])
    return Setting(model, parts, tuple(map(Replicate, algorithms)), training, max(1, rounds // 40))


def shown(clients: pd.DataFrame, part: str = "test") -> pd.DataFrame:
    """Of each run and round the device that is worst on its rows of a part, first of several."""
    tested = among(clients, "part", [part])
    tested = rows(tested, floats(tested, "samples") > 0)
    worst = tested.groupby([*KEYS, "round"], sort=False)["accuracy"].idxmin()
    return tested.loc[worst]


def values(clients: pd.DataFrame) -> pd.DataFrame:
    """The worst device's accuracy at the end, and after how many rounds it was AFL's end."""
    labels = {"test": "test", "training": "train"}
    return pd.concat([_values(shown(clients, part), label) for label, part in labels.items()])


def _values(worst_devices: pd.DataFrame, label: str) -> pd.DataFrame:
    lines, by_run = [], dict(groups(worst_devices, KEYS))
    for (dataset, *others), run in by_run.items():
        rounds, accuracy = floats(run, "round"), floats(run, "accuracy")
        afl = (part for key, part in by_run.items() if key[0] == dataset and "AFL" in key[1])
        as_accurate = rounds[accuracy >= floats(next(afl, run), "accuracy")[-1]]
        measures = {"worst": 100 * accuracy[-1]}
        measures |= {"rounds": as_accurate[0]} if as_accurate.size else {}
        lines += rows_of((f"{dataset}, {label}", *others), measures)
    return pd.DataFrame(lines).astype({"value": np.float64})


def differences(clients: pd.DataFrame) -> tuple[str, ...]:
    """Differences from the paper."""
    rates = " and ".join(f"{rate:g}" for rate in RATES)
    return (
        *(n for n in qffl_runs.differences(("Vehicle",)) if " rows. " in n),
        *table_2.differences(clients)[2:],
        *notes("qffl", "figure 8", rates=rates),
    )


EXPERIMENTS = (
    Experiment(
        "qffl-figure-8", TITLE, SEEDS, units, values, differences, pictures=PICTURES, shown=shown
    ),
)
