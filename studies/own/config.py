"""A run from a TOML file.

    title = "q-FFL on label shards"         # optional

    [data]
    name = "mnist"                          # synthetic, or a source: cifar-10, mnist, vehicle, ...
    rows = 4000                             # optional: so many rows at random
    validation = 0.1                        # shares of each client's rows; default 0.1 each
    test = 0.1                              # data with test rows of their own keep them
    # synthetic takes alpha, beta (1.0), clients (100), kind ("non-iid", "iid", "hybrid"); any data
    # a seed

    [partition]                             # needed where the data have no users (images)
    kind = "dirichlet"                      # iid | dirichlet (beta, min_size)
                                            # | label_shards (shards_per_client)
    clients = 10                            # | two_groups (alpha, clients_per_group for clients)
    beta = 0.5

    [model]
    kind = "mlp"                            # softmax, logistic, svm, least_squares, mlp (hidden),
                                            # lenet, resnet18gn,
                                            # char_lstm (embedding, width, layers)
    hidden = [64]                           # linear models: bias; all: classes, where data may
                                            # lack some

    [[algorithm]]                           # one or more, trained together; parameters as
    name = "qfedavg"                        # fairfl.sims.algorithms has
    q = 1.0
    label = "q = 1"                         # optional: what the table calls it
    [[algorithm]]
    name = "pfedavg"
    ranks = {kind = "geometric", z = 0.85}  # gini, linear, geometric (z), harmonic, cvar (level)
    [[algorithm]]
    name = "dual_weighted"
    objective = {name = "QFFL", q = 1.0}    # FedAvg, QFFL (q), AFL, TERM (alpha), PropFair (M)

    [training]
    rounds = 50
    lr = 0.1                                # also momentum, weight_decay, server_lr, dropout,
                                            # stragglers
    batch_size = 10                         # 0: all of a client's samples
    epochs = 1                              # or steps
    participation = {kind = "by_weight", count = 10, replace = false}
                                            # or everyone, uniform (count)
    schedule = {kind = "cosine"}            # constant | steps (milestones, factor)
                                            # | exponential (factor) | cosine (last)
                                            # | polynomial (power, scale)
    [computing]                             # optional: device, dtype, non_finite ("raise", "drop")

    [run]                                   # optional
    seeds = [0, 1]                          # of data, split, start and batches
    evaluate_every = 10                     # rounds

What is not marked optional, or with a default, must be given.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fairfl._support.checks import shown
from fairfl._support.toml_file import read_toml
from fairfl.sims.engine import (
    ByWeight,
    Computing,
    Constant,
    Cosine,
    Everyone,
    Exponential,
    Participation,
    Parts,
    Polynomial,
    Replicate,
    Schedule,
    Simulation,
    Steps,
    Training,
    Uniform,
)
from fairfl.studies.beside_published import COLUMNS
from fairfl.studies.execute import last_round
from fairfl.studies.experiment import Experiment, Picture, Scale, Setting, Unit
from fairfl.studies.frames import floats, groups, has, rows
from fairfl.studies.measures import KEYS, statistics
from fairfl.studies.own import config_parts
from fairfl.studies.own.config_reader import Section

STATISTICS = ("average", "devices", "worst 10%", "best 10%", "variance")
SCHEDULES: dict[str, tuple[type[Any], tuple[str, ...]]] = {
    "constant": (Constant, ()),
    "steps": (Steps, ("milestones", "factor")),
    "exponential": (Exponential, ("factor",)),
    "polynomial": (Polynomial, ("power", "scale")),
    "cosine": (Cosine, ("last",)),
}


def read_config(path: str | Path) -> Experiment:
    """The experiment that a TOML file describes (see above); its data are loaded, and so all of it
    is checked.

    Raises
    ------
    ValueError : what does not fit, by its place in the file.  OSError : the file or the data cannot
        be read.
    """
    file = Path(path)
    table = read_toml(file)
    seeds, dataset, objectives = _outline(table)
    try:
        first = make(table, seeds[0])
        # says what is wrong
        Simulation(first.model, first.parts, first.replicates, first.training, first.computing)
    except MemoryError as error:
        raise ValueError(
            f"{file.name} must ask for no more than fits into memory: {error}"
        ) from None

    def units(scale: Scale) -> list[Unit]:
        chosen = seeds if scale.seeds == len(seeds) else list(range(scale.seeds))
        return [
            Unit(f"{file.stem}-{seed}", dataset, seed, objectives, partial(make, table, seed))
            for seed in chosen
        ]

    title, part = str(table.get("title", file.stem)), "test"
    if first.parts.test is None:
        title, part = f"{title} (on the training rows: there are no test rows)", "train"
    pictures = (
        Picture(f"{file.stem}-accuracies", "distribution", title, part),
        Picture(f"{file.stem}-rounds", "convergence", title, part),
    )
    return Experiment(
        file.stem,
        title,
        {"quick": len(seeds), "paper": len(seeds)},
        units,
        values,
        lambda clients: (),
        pd.DataFrame(columns=COLUMNS),
        pictures,
    )


def values(clients: pd.DataFrame) -> pd.DataFrame:
    """Measures of the test part, or of the training part without one: accuracies, or losses where
    there is no class.
    """
    part = "test" if has(clients, "part", "test") else "train"
    final = last_round(clients, part)
    if not np.isnan(floats(final, "accuracy")).all():
        return statistics(final, STATISTICS)
    found = []
    for key, run in groups(rows(final, floats(final, "samples") > 0), KEYS):
        loss = floats(run, "loss")
        for measure, value in (("mean loss", loss.mean()), ("worst loss", loss.max())):
            found.append({**dict(zip(KEYS, key, strict=True)), "measure": measure, "value": value})
    return pd.DataFrame(found)


def _outline(table: dict[str, Any]) -> tuple[list[int], str, tuple[str, ...]]:
    """Seeds, the data's name, and the algorithms' labels; ValueError for unknown tables or labels
    that are not new.
    """
    top = Section(table, "")
    for key in ("title", "data", "partition", "model", "training", "computing", "run"):
        top.raw(key, None)
    listed = top.raw("algorithm")
    top.done(None)
    top.text("title", default="")
    if not isinstance(listed, list) or not listed:
        raise ValueError(f"algorithm must be one or more [[algorithm]] tables, got {shown(listed)}")
    labels = tuple(
        config_parts.algorithm(Section(row, f"algorithm[{k}]"))[0] for k, row in enumerate(listed)
    )
    if len(set(labels)) < len(labels):
        raise ValueError(
            f"algorithm must be told apart by name, parameters or label, got {', '.join(labels)}"
        )
    run = top.section("run", {})
    seeds = run.wholes("seeds", [0])
    run.whole("evaluate_every", None, 1)
    run.done(None)
    return seeds, top.section("data").text("name"), labels


def make(table: dict[str, Any], seed: int) -> Setting:
    """The setting of one seed."""
    top = Section(table, "")
    training = _training(top.section("training"))
    partition = top.section("partition") if "partition" in table else None
    found = config_parts.data(top.section("data"), partition, seed)
    model = config_parts.model(top.section("model"), found)
    named = [
        config_parts.algorithm(Section(row, f"algorithm[{k}]"))[1]
        for k, row in enumerate(table["algorithm"])
    ]
    every = top.section("run", {}).whole("evaluate_every", max(1, training.rounds // 10), 1)
    if found.x.ndim > 2 and not isinstance(model, config_parts.Module):
        found = dataclasses.replace(found, x=np.asarray(found.x).reshape(len(found), -1))
    replicates = tuple(Replicate(algorithm, seed) for algorithm in named)
    return Setting(
        model,
        Parts.of(found),
        replicates,
        training,
        every,
        _computing(top.section("computing", {})),
    )


def _training(section: Section) -> Training:
    given: dict[str, Any] = {"rounds": section.whole("rounds", low=1)}
    for key in ("lr", "momentum", "weight_decay", "server_lr", "dropout", "stragglers"):
        value = section.number(key, None)
        if value is not None:
            given[key] = float(value)
    for key in ("epochs", "steps"):
        value = section.whole(key, None, 1)
        if value is not None:
            given[key] = value
    batch = section.whole("batch_size", 10)
    given["batch_size"] = batch or None
    if "participation" in section.table:
        given["participation"] = _participation(section.section("participation"))
    if "schedule" in section.table:
        given["schedule"] = _schedule(section.section("schedule"))
    section.asked += ["participation", "schedule"]
    return section.done(Training(**given))


def _participation(section: Section) -> Participation:
    kind = section.text("kind", ("everyone", "uniform", "by_weight"))
    if kind == "everyone":
        return section.done(Everyone())
    count = section.whole("count", low=1)
    if kind == "uniform":
        return section.done(Uniform(count))
    return section.done(ByWeight(count, section.flag("replace", True)))


def _schedule(section: Section) -> Schedule:
    kind = section.text("kind", tuple(SCHEDULES))
    build, keys = SCHEDULES[kind]
    given: dict[str, Any] = {}
    for key in keys:
        if key not in section.table:
            section.asked.append(key)
        elif key == "milestones":
            given[key] = tuple(section.wholes(key, low=1))
        else:
            given[key] = float(section.number(key))
    missing = {"steps": "milestones", "exponential": "factor"}.get(kind)
    if missing is not None and missing not in given:
        section.raw(missing)
    return section.done(build(**given))


def _computing(section: Section) -> Computing:
    device = section.text("device", default="auto")
    dtype = section.text("dtype", ("float32", "float64"), "float32")
    policy = section.text("non_finite", ("raise", "drop"), "raise")
    return section.done(Computing(device=device, dtype=dtype, non_finite=policy))
