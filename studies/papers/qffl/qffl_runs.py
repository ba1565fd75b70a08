"""q-FFL's Synthetic, Vehicle, and Shakespeare where it is at hand: data, models and settings of
appendix E, which several tables and figures share.

The rounds are those of the published code's README. Vehicle's published loss is the *sum* of a
batch's hinge losses plus ||w||² / 2, so that its learning rate 0.01 is 0.64 on the mean over 64
samples, with a weight decay of 1/64. A part of Vehicle with 1,860 of 43,695 rows has 1/23 of the
steps in a round: 20 x 23 rounds have as many.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from fairfl.sims import engine
from fairfl.sims.algorithms.qfedavg import QFedAvg
from fairfl.sims.data.federated import load_federated, synthetic
from fairfl.sims.data.federated.shakespeare import LETTERS
from fairfl.sims.data.federated.vehicle import FULL_ROWS
from fairfl.sims.engine.algorithm import Algorithm
from fairfl.sims.models import CharLSTM
from fairfl.studies.experiment import Scale, Setting, Unit
from fairfl.studies.notes import notes
from fairfl.studies.published_numbers import QFFL_TABLES
from fairfl.studies.row_subset import some_clients, some_rows
from fairfl.studies.stand_ins import FETCHING, those_at_hand

QS = (0.0, 0.001, 0.01, 0.1, 1.0, 2.0, 5.0, 10.0, 15.0)
"""0 and the candidates of appendix E.2.3."""

CHOSEN = {"Synthetic": 1.0, "Vehicle": 5.0, "Shakespeare": 0.001}
"""The q that the paper reports."""

STEPS: dict[str, dict[str, Any]] = {
    "Synthetic": {"lr": 0.1, "batch_size": 10},
    "Vehicle": {"lr": 0.64, "batch_size": 64, "weight_decay": 1 / 64},
    "Shakespeare": {"lr": 0.8, "batch_size": 10},
}
DEVICES = 10
MEASUREMENTS = 20  # of all clients, in a run

ROUNDS = {"Synthetic": (200, 20_000), "Vehicle": (100, 460), "Shakespeare": (2, 80)}
"""Quick, and the paper's; Vehicle's of a part of 1,860 rows."""
WHOLE = (4, 20)
"""Rounds of the whole Vehicle."""
ROLES, ROLE, LINES = 31, 64, (1000, 0)
"""Of Shakespeare: roles, the least samples of one, and samples, quick and paper (0: all)."""


def name_of(q: float) -> str:
    """The name in tables."""
    return f"q = {q:g}"


def at_hand() -> tuple[str, ...]:
    """The data sets of tables and figures."""
    return ("Synthetic", "Vehicle", *those_at_hand(["Shakespeare"]))


def rounds_of(dataset: str, scale: Scale, rounds: tuple[int, int] | None = None) -> int:
    """``rounds`` of the profile, by default ``ROUNDS``; of the whole Vehicle ``WHOLE``."""
    whole = dataset == "Vehicle" and len(load_federated("vehicle")) == FULL_ROWS
    return (WHOLE if whole else rounds or ROUNDS[dataset])[scale.paper]


def parts_of(
    dataset: str, seed: int, kind: str = "non-iid", paper: bool = True
) -> tuple[engine.Model, engine.Parts]:
    """The model and the data, 80/10/10 by device; ``seed`` draws data and splits."""
    if dataset == "Shakespeare":
        data = some_clients(load_federated("shakespeare"), ROLES, ROLE, seed)
        data = some_rows(data, LINES[paper], seed) if LINES[paper] else data
        model = engine.Module(partial(CharLSTM, len(LETTERS) + 1), name="stacked LSTM")
        return model, engine.Parts.of(data.split(0.1, 0.1, seed))
    if dataset == "Vehicle":
        return engine.LinearSVM(100), engine.Parts.of(
            load_federated("vehicle").split(0.1, 0.1, seed)
        )
    return engine.Softmax(60, 10), engine.Parts.of(
        synthetic(seed=seed, kind=kind).split(0.1, 0.1, seed)
    )


def training_of(dataset: str, rounds: int) -> engine.Training:
    """A local epoch on ten devices a round, drawn by p_k without replacement (published code)."""
    participation = engine.ByWeight(DEVICES, replace=False)
    return engine.Training(rounds, epochs=1, participation=participation, **STEPS[dataset])


def make(
    dataset: str,
    seed: int,
    algorithms: tuple[Algorithm, ...],
    rounds: int,
    equal: bool = False,
    paper: bool = True,
) -> Setting:
    """The runs of some algorithms on one split; ``equal``: equal chances and weights."""
    model, parts = parts_of(dataset, seed, paper=paper)
    training = training_of(dataset, rounds)
    if equal:
        count = parts.train.clients
        parts = replace(parts, weights=np.full(count, 1 / count))
        training = replace(training, participation=engine.Uniform(DEVICES))
    replicates = tuple(engine.Replicate(algorithm, seed) for algorithm in algorithms)
    return Setting(model, parts, replicates, training, max(1, rounds // MEASUREMENTS))


def family(scale: Scale, datasets: Iterable[str] = ()) -> list[Unit]:
    """q-FedAvg with every q, in one program a seed: the same devices and batches for all q."""
    return units("family", scale, datasets or at_hand(), {name_of(q): QFedAvg(q) for q in QS})


def uniform_too(scale: Scale) -> list[Unit]:
    """All q, and FedAvg with equal weights of devices."""
    uniform = units("uniform", scale, at_hand(), {"uniform": QFedAvg(0.0)}, equal=True)
    return [*family(scale), *uniform]


def units(
    label: str,
    scale: Scale,
    datasets: Iterable[str],
    algorithms: Mapping[str, Algorithm],
    equal: bool = False,
    rounds: tuple[int, int] | None = None,
) -> list[Unit]:
    """A unit a data set and seed, named so that experiments share folders of shared runs."""
    planned, rules = [], tuple(algorithms.values())
    for dataset in datasets:
        count = rounds_of(dataset, scale, rounds)
        for seed in range(scale.seeds):
            name = f"{dataset.lower()}-{label}-{count}-{seed}"
            setting = partial(make, dataset, seed, rules, count, equal, scale.paper)
            planned.append(Unit(name, dataset, seed, tuple(algorithms), setting))
    return planned


def differences(datasets: Iterable[str] = ("Synthetic", "Vehicle")) -> tuple[str, ...]:
    """Differences from the paper on these data sets."""
    return (*data_notes(datasets), *notes("qffl", "devices"))


def data_notes(datasets: Iterable[str]) -> tuple[str, ...]:
    """What these data sets differ in from the paper's."""
    shown, whole = set(datasets), QFFL_TABLES["3"]["Vehicle", "all"]
    mean, spread = whole["samples a device"]
    rows = len(load_federated("vehicle")) if "Vehicle" in shown else FULL_ROWS
    has_lines = "Shakespeare" in shown
    subjects = {
        "Synthetic": "Synthetic" in shown,
        "part of Vehicle": rows < FULL_ROWS,
        "Vehicle": "Vehicle" in shown,
        "Shakespeare": has_lines,
        "no Shakespeare": not has_lines,
    }
    vehicle = {"rows": rows, "whole": whole["samples"][0], "mean": mean, "spread": spread}
    lines = {"roles": ROLES, "role": ROLE, "lines": LINES[0], "fetching": FETCHING}
    said = (subject for subject, holds in subjects.items() if holds)
    return notes("qffl", *said, **vehicle, **lines)
