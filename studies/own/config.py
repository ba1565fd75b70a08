"""A run from a TOML file.

    title = "q-FFL on label shards"         # optional

    [data]
    name = "mnist"                          # synthetic, or a source: cifar-10, mnist, vehicle, ...
    rows = 4000                             # optional: so many rows at random
    validation = 0.1                        # shares of each client's rows; default 0.1 each
    test = 0.1                              # data with test rows of their own keep them
    # synthetic takes alpha, beta (1.0), clients (100), kind ("non-iid", "iid", "hybrid");
    # with groups of people: adult, bank, compas (groups), fedfb-synthetic (clients, kind), and
    # name = "people" with file, label, group, client, blind; pooled = true: all are one client
    # (FedFB on one client is FairBatch); any data a seed

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
    name = "qfedavg"                        # fairfl.sims.algorithms and .group_fairness have
    q = 1.0
    lr = 0.05                               # optional, of this algorithm alone; also momentum,
                                            # weight_decay, server_lr
    label = "q = 1"                         # optional: what the table calls it
    [[algorithm]]
    name = "pfedavg"
    ranks = {kind = "geometric", z = 0.85}  # gini, linear, geometric (z), harmonic, cvar (level)
    [[algorithm]]
    name = "dual_weighted"
    objective = {name = "QFFL", q = 1.0}    # FedAvg, QFFL (q), AFL, TERM (alpha), PropFair (M)
    # others: rule = {name = "normalized_fedavg"} of dynamic_qfedavg, rule = {notion = "dp", budget
    # = 0.1} of fedfb and lft; agnosticfair takes a full step a round

    [training]
    rounds = 50
    lr = 0.1                                # also momentum, weight_decay, server_lr, dropout,
                                            # stragglers
    batch_size = 10                         # 0: all of a client's samples
    epochs = 1                              # or steps
    participation = {kind = "by_weight", count = 10, replace = false}
                                            # or everyone, uniform (count),
                                            # joining (joins, leaves, groups, share)
    schedule = {kind = "cosine"}            # constant | steps (milestones, factor)
                                            # | exponential (factor) | cosine (last)
                                            # | polynomial (power, scale)
    server_schedule = {kind = "constant"}   # the same of server_lr
    [computing]                             # optional: device, dtype, non_finite ("raise", "drop"),
                                            # memory_limit (bytes, "auto"), masked_updates

    [run]                                   # optional
    seeds = [0, 1]                          # of data, split, start and batches
    evaluate_every = 10                     # rounds

What is not marked optional, or with a default, must be given. A file names what fairfl has, and
what Python files that the caller imports (``imported.py``) add to it: algorithms by subclass, data
by ``fairfl.sims.data.federated.registry.register``, models by ``fairfl.sims.models.registry``,
schedules in ``fairfl.sims.engine.schedule.SCHEDULES``, participations by subclass.
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
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.engine import Computing, Participation, Parts, Replicate, Simulation, Training
from fairfl.sims.engine.draws.participation import PARTICIPATIONS
from fairfl.sims.engine.schedule import SCHEDULES, Schedule
from fairfl.studies.beside_published import COLUMNS
from fairfl.studies.execute import last_round
from fairfl.studies.experiment import Experiment, Picture, Scale, Setting, Unit
from fairfl.studies.frames import among, floats, groups, has, rows
from fairfl.studies.measures import KEYS, statistics
from fairfl.studies.own import config_parts
from fairfl.studies.own.config_reader import Section
from fairfl.studies.own.fields import built
from fairfl.studies.own.group_runs import DISPARITIES, PEOPLE, Agnostic, measured, run_agnostic
from fairfl.studies.own.imported import import_files

STATISTICS = ("average", "devices", "worst 10%", "best 10%", "variance")
SHOWN = {
    "accuracy": "Acc.",
    **{name: name.replace("spd", "disparity").replace("_", " ") for name in DISPARITIES},
}
"""What the table calls the measures of all people: shares of one, not per cent."""
Labels = tuple[str, ...]


def read_config(path: str | Path, imports: tuple[str, ...] = ()) -> Experiment:
    """The experiment that a TOML file describes (see above); its data are loaded, and so all of it
    is checked. ``imports`` are Python files that are run first, so that it can name what they add.

    Raises
    ------
    ValueError : what does not fit, by its place in the file.  OSError : the file or the data cannot
        be read.
    """
    file = Path(path)
    table = read_toml(file)
    import_files(imports)
    seeds, dataset, objectives, agnostic = _outline(table)
    try:
        first = make(table, imports, seeds[0])
        # says what is wrong
        replicates = first.replicates or (Replicate(FedAvg()),)
        Simulation(first.model, first.parts, replicates, first.training, first.computing)
    except MemoryError as error:
        raise ValueError(
            f"{file.name} must ask for no more than fits into memory: {error}"
        ) from None

    def units(scale: Scale) -> list[Unit]:
        chosen = seeds if scale.seeds == len(seeds) else list(range(scale.seeds))
        found = []
        for seed in chosen:
            name, setting = f"{file.stem}-{seed}", partial(make, table, imports, seed)
            if objectives:
                own = partial(measured, objectives, seed)
                found.append(Unit(name, dataset, seed, objectives, setting, own))
            if agnostic:
                rules, labels = tuple(rule for _, rule in agnostic), tuple(k for k, _ in agnostic)
                run = partial(run_agnostic, setting, rules, labels, seed)
                found.append(Unit(f"{name}-agnosticfair", dataset, seed, labels, run))
        return found

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
        table = statistics(final, STATISTICS)
        if not has(clients, "model", PEOPLE):
            return table
        people = among(among(clients, "model", [PEOPLE]), "part", [part])
        people = people.rename(columns=SHOWN)
        wanted = people.melt(list(KEYS), list(SHOWN.values()), "measure", "value")
        return pd.concat([table, rows(wanted, wanted["value"].notna())], ignore_index=True)
    found = []
    for key, run in groups(rows(final, floats(final, "samples") > 0), KEYS):
        loss = floats(run, "loss")
        for measure, value in (("mean loss", loss.mean()), ("worst loss", loss.max())):
            found.append({**dict(zip(KEYS, key, strict=True)), "measure": measure, "value": value})
    return pd.DataFrame(found)


def _outline(table: dict[str, Any]) -> tuple[list[int], str, Labels, list[tuple[str, Agnostic]]]:
    """Seeds, the data's name, the labels of the algorithms of the engine, and those beside it;
    ValueError for unknown tables or labels that are not new.
    """
    top = Section(table, "")
    for key in ("title", "data", "partition", "model", "training", "computing", "run"):
        top.raw(key, None)
    listed = top.raw("algorithm")
    top.done(None)
    top.text("title", default="")
    if not isinstance(listed, list) or not listed:
        raise ValueError(f"algorithm must be one or more [[algorithm]] tables, got {shown(listed)}")
    named = _named(listed)
    labels = [one.label for one in named]
    if len(set(labels)) < len(labels):
        raise ValueError(
            f"algorithm must be told apart by name, parameters or label, got {', '.join(labels)}"
        )
    inside = tuple(one.label for one in named if not isinstance(one.made, Agnostic))
    beside = [(one.label, one.made) for one in named if isinstance(one.made, Agnostic)]
    run = top.section("run", {})
    seeds = run.wholes("seeds", [0])
    run.whole("evaluate_every", None, 1)
    run.done(None)
    return seeds, top.section("data").text("name"), inside, beside


def _named(listed: list[Any]) -> list[config_parts.Named]:
    return [config_parts.algorithm(Section(row, f"algorithm[{k}]")) for k, row in enumerate(listed)]


def make(table: dict[str, Any], imports: tuple[str, ...], seed: int) -> Setting:
    """The setting of one seed, its replicates those that run in the engine."""
    import_files(imports)
    top = Section(table, "")
    training = _training(top.section("training"))
    partition = top.section("partition") if "partition" in table else None
    found = config_parts.data(top.section("data"), partition, seed)
    model = config_parts.model(top.section("model"), found)
    every = top.section("run", {}).whole("evaluate_every", max(1, training.rounds // 10), 1)
    if found.x.ndim > 2 and not isinstance(model, config_parts.Module):
        found = dataclasses.replace(found, x=np.asarray(found.x).reshape(len(found), -1))
    replicates = tuple(
        Replicate(one.made, seed, **one.rates)
        for one in _named(table["algorithm"])
        if not isinstance(one.made, Agnostic)
    )
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
    for key in ("schedule", "server_schedule"):
        if key in section.table:
            given[key] = _schedule(section.section(key))
    section.asked += ["participation", "schedule", "server_schedule"]
    return section.done(Training(**given))


def _participation(section: Section) -> Participation:
    kind = PARTICIPATIONS[section.text("kind", tuple(PARTICIPATIONS))]
    return built(section, kind, config_parts.special)


def _schedule(section: Section) -> Schedule:
    kind = SCHEDULES[section.text("kind", tuple(SCHEDULES))]
    return built(section, kind, config_parts.special)


def _computing(section: Section) -> Computing:
    device = section.text("device", default="auto")
    dtype = section.text("dtype", ("float32", "float64"), "float32")
    given: dict[str, Any] = {
        "non_finite": section.text("non_finite", ("raise", "drop"), "raise"),
        "masked_updates": section.flag("masked_updates", False),
    }
    if section.table.get("memory_limit") == "auto":
        given["memory_limit"] = section.text("memory_limit")
    else:
        given["memory_limit"] = section.whole("memory_limit", Computing.memory_limit, 1)
    return section.done(Computing(device=device, dtype=dtype, **given))
