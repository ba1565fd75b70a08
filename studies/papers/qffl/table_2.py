"""q-FFL, table 2: against AFL, on Adult and on three classes of Fashion-MNIST."""

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
from fairfl.studies.frames import floats, groups
from fairfl.studies.measures import KEYS, statistics
from fairfl.studies.notes import notes
from fairfl.studies.papers.qffl import three_classes
from fairfl.studies.published_numbers import QFFL_TABLES

TITLE = "q-FFL, table 2: q-FFL and AFL on Adult (PhD, non-PhD) and three classes of Fashion-MNIST"
SEEDS = {"quick": 1, "paper": 1}
AFL_LAST = "AFL, last iterate"
PRINTED = ("q = 0", "q_1", "q_2", "AFL")
PUBLISHED = pd.concat(
    [
        published(table, {name: [ours] for name, ours in zip(PRINTED, named, strict=True)})
        for table, named in (
            (
                QFFL_TABLES["2, Adult"],
                ("q = 0, by size", "q = 0.01, equal", "q = 2, equal", AFL_LAST),
            ),
            (
                QFFL_TABLES["2, Fashion-MNIST"],
                ("q = 0, equal", "q = 5, equal", "q = 15, equal", AFL_LAST),
            ),
        )
    ],
    ignore_index=True,
)
PICTURES = (
    Picture("qffl-table-2", "convergence", "q-FFL, table 2: test accuracy by round, q-FFL and AFL"),
)
ROUNDS = {"Adult": (40, 600), "classes": (60, 6000)}
"""Quick, and what the published code suggests."""
CATEGORICAL = (
    "workclass education marital-status occupation relationship race sex native-country".split()
)
CLIENTS = ("PhD", "non-PhD")
QUICK_ROWS = 1500  # of the three classes


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


EXPERIMENTS = (
    Experiment("qffl-table-2", TITLE, SEEDS, units, values, differences, PUBLISHED, PICTURES),
)
