"""q-FFL against AFL with full gradients, table 2 and figure 8."""

from functools import partial

import numpy as np
import pandas as pd
import torch

from fairfl.sims.algorithms.afl import AFL
from fairfl.sims.algorithms.qfedavg import QFedSGD
from fairfl.sims.data.fetch import locate
from fairfl.sims.data.tables.adult import TEST, TRAIN, read
from fairfl.sims.engine import Algorithm, ClientData, Parts, Replicate, Softmax, Training
from fairfl.studies.beside_published import published
from fairfl.studies.execute import last_round
from fairfl.studies.experiment import Experiment, Picture, Scale, Setting, Unit
from fairfl.studies.frames import among, floats, groups, rows
from fairfl.studies.measures import KEYS, rows_of, statistics
from fairfl.studies.notes import notes
from fairfl.studies.papers.qffl import qffl_runs, three_classes
from fairfl.studies.published_numbers import QFFL_TABLES

TITLE = "q-FFL, table 2: q-FFL and AFL on Adult (PhD, non-PhD) and three classes of Fashion-MNIST"
SEEDS = {"quick": 1, "paper": 1}
AFL_LAST = "AFL, last iterate"
PRINTED = ("q = 0", "q_1", "q_2", "AFL")
LIKE = {
    "2, Adult": ("q = 0, by size", "q = 0.01, equal", "q = 2, equal", AFL_LAST),
    "2, Fashion-MNIST": ("q = 0, equal", "q = 5, equal", "q = 15, equal", AFL_LAST),
}
"""Our names of the printed rows, by table."""
PUBLISHED = pd.concat(
    [
        published(
            QFFL_TABLES[table], {row: [name] for row, name in zip(PRINTED, names, strict=True)}
        )
        for table, names in LIKE.items()
    ],
    ignore_index=True,
)
WORST = "q-FFL, figure 8: the worst device by round, q-FFL and AFL, on Vehicle and three classes"
COURSE = Picture(
    "qffl-table-2", "convergence", "q-FFL, table 2: test accuracy by round, q-FFL and AFL"
)
WORST_COURSE = Picture(
    "qffl-figure-8", "convergence", "q-FFL, figure 8: test accuracy of the worst device"
)
ROUNDS = {"Adult": (40, 600), "classes": (60, 6000), "Vehicle": (40, 600)}
"""Quick, and what the published code suggests."""
CATEGORICAL = (
    "workclass education marital-status occupation relationship race sex native-country".split()
)
CLIENTS = ("PhD", "non-PhD")
QUICK_ROWS = 1500  # of the three classes
RATES = (0.1, 0.01)
"""On Vehicle: of models and AFL's mixture, which goes in circles with the tables' 0.64 and 0.1."""


def units(scale: Scale) -> list[Unit]:
    """Everyone takes part with a full gradient: the seed decides nothing, and there is one."""
    dataset, names = three_classes.which(), {True: "equal", False: "by size"}
    planned = []
    for equal, label in names.items():
        for data, qs in (("Adult", (0.0, 0.01, 2.0)), (dataset, (0.0, 5.0, 15.0))):
            if data != "Adult" and not equal:  # the classes are of (nearly) equal size
                continue
            rounds = ROUNDS["Adult" if data == "Adult" else "classes"][scale.paper]
            objectives = (*(f"q = {q:g}, {label}" for q in qs), *([AFL_LAST] if equal else ()))
            folder = f"{data.lower().replace(',', '')} {label} {rounds}".replace(" ", "-")
            make_it = partial(make, data, equal, qs, rounds, scale.paper)
            planned.append(Unit(folder, data, 0, objectives, make_it))
    return planned


def make(dataset: str, equal: bool, qs: tuple[float, ...], rounds: int, paper: bool) -> Setting:
    """q-FedSGD with some q, and AFL from equal mixture weights."""
    if dataset == "Adult":
        parts, lr, rate = adult(equal=equal), 0.1, 0.1
        model = Softmax(parts.train.x.shape[1], 2)
    else:
        parts = three_classes.parts(dataset, equal=equal, rows=None if paper else QUICK_ROWS)
        lr, rate, model = 0.001, 0.01, Softmax(784, 3)
    algorithms: list[Algorithm] = [QFedSGD(q) for q in qs]
    if equal:
        algorithms.append(AFL(rate))
    # a step on all data: AFL's full gradient
    training = Training(rounds, lr=lr, batch_size=None, steps=1)
    return Setting(model, parts, tuple(map(Replicate, algorithms)), training, max(1, rounds // 40))


def adult(*, equal: bool) -> Parts:
    """Adult as AFL and q-FFL use it: two clients, people with a doctorate and all others; a column
    for each known value of the categorical features, 99 in all, none of "?", as in q-FFL's
    published code. ``equal``: client weights 1/2 each, else by training rows.
    """
    frames = [read(locate([remote])) for remote in (TRAIN, TEST)]
    frame = pd.concat(frames, ignore_index=True)
    categories = frame[CATEGORICAL].replace("?", np.nan)
    x = pd.get_dummies(categories).to_numpy(np.float32)
    y = (frame["income"] == ">50K").to_numpy(np.int64)
    others = (frame["education"] != "Doctorate").to_numpy(np.int64)
    train = np.arange(len(frame)) < len(frames[0])
    parts = (
        ClientData.from_owner(torch.from_numpy(x[rows]), torch.from_numpy(y[rows]), others[rows])
        for rows in (train, ~train)
    )
    return Parts(*parts, weights=np.array([0.5, 0.5]) if equal else None)


def values(clients: pd.DataFrame) -> pd.DataFrame:
    """Average test accuracy over data points, and each client's."""
    final = last_round(clients, "test")
    parts = [statistics(final, ("average",))]
    for (dataset,), part in groups(final, ["dataset"]):
        names = CLIENTS if dataset == "Adult" else three_classes.CLIENTS[dataset]
        named = part.assign(
            measure=[names[k] for k in part["client"]], value=100 * floats(part, "accuracy")
        )
        parts.append(pd.DataFrame(named, columns=[*KEYS, "measure", "value"]))
    return pd.concat(parts, ignore_index=True)


def differences(clients: pd.DataFrame) -> tuple[str, ...]:
    """Differences from the paper."""
    has_digits = three_classes.DIGITS in set(clients["dataset"])
    return notes("qffl", "table 2", "AFL", *["digits"] * has_digits)


def worst_units(scale: Scale) -> list[Unit]:
    """Vehicle, and the classes of table 2 with equal weights, whose run it shares."""
    classes = [
        unit
        for unit in units(scale)
        if unit.dataset == three_classes.which() and AFL_LAST in unit.objectives
    ]
    names = ("q = 0", f"q = {qffl_runs.CHOSEN['Vehicle']:g}", AFL_LAST)
    rounds = ROUNDS["Vehicle"][scale.paper]
    setting = partial(vehicle, rounds)
    return [Unit(f"vehicle-full-afl-{rounds}", "Vehicle", 0, names, setting), *classes]


def vehicle(rounds: int) -> Setting:
    """Everyone takes part, a full gradient each; split of seed 0."""
    model, parts = qffl_runs.parts_of("Vehicle", 0)
    training = Training(rounds, lr=RATES[0], batch_size=None, steps=1, weight_decay=1 / 64)
    algorithms = QFedSGD(0.0), QFedSGD(qffl_runs.CHOSEN["Vehicle"]), AFL(RATES[1])
    return Setting(model, parts, tuple(map(Replicate, algorithms)), training, max(1, rounds // 40))


def worst_devices(clients: pd.DataFrame, part: str = "test") -> pd.DataFrame:
    """Of each run and round the device that is worst on its rows of a part, first of several."""
    tested = among(clients, "part", [part])
    tested = rows(tested, floats(tested, "samples") > 0)
    worst = tested.groupby([*KEYS, "round"], sort=False)["accuracy"].idxmin()
    return tested.loc[worst]


def worst_values(clients: pd.DataFrame) -> pd.DataFrame:
    """The worst device's accuracy at the end, and after how many rounds it was AFL's end."""
    labels = {"test": "test", "training": "train"}
    return pd.concat(
        [_worst(worst_devices(clients, part), label) for label, part in labels.items()]
    )


def _worst(devices: pd.DataFrame, label: str) -> pd.DataFrame:
    lines, by_run = [], dict(groups(devices, KEYS))
    for (dataset, *others), run in by_run.items():
        rounds, accuracy = floats(run, "round"), floats(run, "accuracy")
        afl = (part for key, part in by_run.items() if key[0] == dataset and "AFL" in key[1])
        as_accurate = rounds[accuracy >= floats(next(afl, run), "accuracy")[-1]]
        measures = {"worst": 100 * accuracy[-1]}
        measures |= {"rounds": as_accurate[0]} if as_accurate.size else {}
        lines += rows_of((f"{dataset}, {label}", *others), measures)
    return pd.DataFrame(lines).astype({"value": np.float64})


def worst_differences(clients: pd.DataFrame) -> tuple[str, ...]:
    """Differences from the paper."""
    rates = " and ".join(f"{rate:g}" for rate in RATES)
    return (
        *(n for n in qffl_runs.differences(("Vehicle",)) if " rows. " in n),
        *differences(clients)[2:],
        *notes("qffl", "figure 8", rates=rates),
    )


EXPERIMENTS = (
    Experiment("qffl-table-2", TITLE, SEEDS, units, values, differences, PUBLISHED, (COURSE,)),
    Experiment(
        "qffl-figure-8",
        WORST,
        SEEDS,
        worst_units,
        worst_values,
        worst_differences,
        pictures=(WORST_COURSE,),
        shown=worst_devices,
    ),
)
