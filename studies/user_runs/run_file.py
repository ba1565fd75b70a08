"""A run from a TOML file (docs/toml_files.md). Of tables with a ``grid``, algorithms are trained
together; each combination of the others is a run of its own, named after its values.
"""

import dataclasses
import re
from collections.abc import Sequence
from functools import partial
from itertools import product
from math import gcd
from pathlib import Path

import numpy as np
import pandas as pd

from fairfl._support.toml_file import read_toml
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.data.federated.data import FederatedData
from fairfl.sims.engine import Computing, Joining, Module, Parts, Replicate, Simulation
from fairfl.sims.group_fairness import AgnosticFair
from fairfl.studies.execute import BY_CLIENT, last_round
from fairfl.studies.experiment import Experiment, Picture, Scale, Setting, Unit
from fairfl.studies.frames import among, floats, groups, rows
from fairfl.studies.grid import point_label, points
from fairfl.studies.group_benefit import curves, groups_of
from fairfl.studies.group_benefit import values as benefit_values
from fairfl.studies.measures import KEYS, long, rows_of, statistics
from fairfl.studies.papers.fedfb.points import COLUMNS, trade_off
from fairfl.studies.user_runs import run_file_parts
from fairfl.studies.user_runs.group_measures import DISPARITIES, PEOPLE, measured, run_agnostic
from fairfl.studies.user_runs.toml_section import Section, built

JOINING = ("GB (9)", "GB (20)", "least gap", "fair rounds", "LS")
"""Measures of groups that join one after the other: see ``fairfl.studies.group_benefit``."""
DISPARITY = "disparity: largest difference of P(ŷ=1 | a) between groups"
STATISTICS = ("average", "devices", "worst 10%", "best 10%", "variance")
SHOWN = {
    "accuracy": "Acc.",
    **{name: name.replace("spd", "disparity").replace("_", " ") for name in DISPARITIES},
}
"""Names in the table of the measures of all people, which are shares between 0 and 1."""
Named = Sequence[run_file_parts.NamedAlgorithm]
ALONE = ("title", "algorithm", "run", "grid")
"""Tables of the file that are the same for all settings."""
Combination = tuple[dict[str, object], str, str]
"""The file's tables without grids, the words of a combination, and the end of its units' names."""
MOST = 120
"""Largest length of the part of a unit's name that distinguishes it from others."""


def read_config(path: str | Path) -> Experiment:
    """The experiment of a TOML file; its data are loaded, and so all of it is checked. ValueError:
    what does not fit, by its place in the file. OSError: the file or the data cannot be read.
    """
    file = Path(path)
    table = read_toml(file)
    seeds, inside, agnostic = _outline(table)
    objectives, settings = _labels(inside), _combinations(table)
    try:
        tested, has_joining = _check([table for table, *_ in settings], seeds[0])
    except MemoryError as error:
        raise ValueError(
            f"{file.name} must ask for no more than fits into memory: {error}"
        ) from None

    title, part = str(table.get("title", file.stem)), "test"
    if not tested:
        title, part = f"{title} (on the training rows: there are no test rows)", "train"
    pictures = (
        Picture(f"{file.stem}-accuracies", "distribution", title, part),
        Picture(f"{file.stem}-rounds", "convergence", title, part),
        Picture(f"{file.stem}-disparity", "tradeoff", title, part, x=DISPARITY),
    )
    return Experiment(
        file.stem,
        title,
        {"quick": len(seeds), "paper": len(seeds)},
        partial(units, file.stem, seeds, objectives, agnostic, settings),
        values,
        lambda clients: (),
        pictures=pictures,
        points=partial(points_of, part),
        curves=joined_curves if tested and has_joining else None,
    )


def units(
    stem: str,
    seeds: list[int],
    objectives: tuple[str, ...],
    agnostic: Named,
    settings: list[Combination],
    scale: Scale,
) -> list[Unit]:
    """For each seed of the file, or as many as the scale has, and setting the engine's algorithms
    together, and those that do not run in the engine.
    """
    planned = []
    methods = [(entry.algorithm, entry.rates) for entry in agnostic]
    rules = [(rule, rates) for rule, rates in methods if isinstance(rule, AgnosticFair)]
    for seed, (table, words, end) in product(scale.of(seeds), settings):
        name, setting = f"{stem}-{seed}{end}", partial(make, table, seed)
        dataset = str(Section(table, "").section("data").raw("name"))
        dataset += f"; {words}" if words else ""
        if objectives:
            measure = partial(measured, objectives, seed)
            planned.append(Unit(name, dataset, seed, objectives, setting, measure))
        if agnostic:
            labels = _labels(agnostic)
            run = partial(run_agnostic, setting, rules, labels, seed)
            planned.append(Unit(f"{name}-agnosticfair", dataset, seed, labels, run))
    return planned


def points_of(part: str, clients: pd.DataFrame) -> pd.DataFrame:
    """Accuracy and disparity of all people, a point per algorithm; none without groups."""
    people = among(among(clients, "model", [PEOPLE]), "part", [part])
    return trade_off(people, disparity="spd") if len(people) else pd.DataFrame(columns=COLUMNS)


def joined_curves(clients: pd.DataFrame) -> pd.DataFrame:
    """Group benefit and related measures by round, for groups that join."""
    joined = groups_of(clients, "test")
    return curves(joined) if len(joined) else pd.DataFrame()


def _combinations(table: dict[str, object]) -> list[Combination]:
    """The settings of a file; the ends of units' names are numbered where they agree."""
    alone = {key: table[key] for key in ALONE if key in table}
    varied = points({key: value for key, value in table.items() if key not in ALONE}, "")
    labels = [point_label(chosen) for _, chosen in varied]
    ends = [re.sub(r"[^\w.=+]+", "_", words.replace(" ", ""))[:MOST] for words in labels]
    if len({end.lower() for end in ends}) < len(ends):
        ends = [f"{end}-{k}" for k, end in enumerate(ends)]
    return [
        (alone | config, words, f"-{end}" if words else "")
        for (config, _), words, end in zip(varied, labels, ends, strict=True)
    ]


def _check(tables: list[dict[str, object]], seed: int) -> tuple[bool, bool]:
    """Whether all settings have test rows, and whether groups join in some; ValueError."""
    tested, has_joining, last, data = True, False, None, None
    for table in tables:
        named = repr((table["data"], table.get("partition")))
        if data is None or named != last:
            last, data = named, _data(table, seed)
        setting = _setting(table, seed, data)
        replicates = setting.replicates or (Replicate(FedAvg()),)
        setting = dataclasses.replace(setting, replicates=replicates)
        top = Section(table, "")
        training, computing = top.section("training"), top.section("computing", {})
        with training.section("participation", {}).placing():
            setting.training.participation.check(
                setting.parts.train.clients, setting.training.rounds
            )
        with training.placing(), computing.placing():
            Simulation(*setting.arguments)
        tested = tested and setting.parts.test is not None
        has_joining |= isinstance(setting.training.participation, Joining)
    return tested, has_joining


def values(clients: pd.DataFrame) -> pd.DataFrame:
    """Measures of the test part, else of training: accuracies or losses; and ``JOINING``."""
    part = "test" if "test" in set(clients["part"]) else "train"
    measures = _values(clients, part)
    if "join" in clients and len(joined := groups_of(clients, part)):
        measures = pd.concat([measures, among(benefit_values(joined, part), "measure", JOINING)])
    return measures.reset_index(drop=True)


def _values(clients: pd.DataFrame, part: str) -> pd.DataFrame:
    final = last_round(clients, part, *BY_CLIENT)
    if not np.isnan(floats(final, "accuracy")).all():
        table = statistics(final, STATISTICS)
        if PEOPLE not in set(clients["model"]):
            return table
        people = among(among(clients, "model", [PEOPLE]), "part", [part])
        return pd.concat([table, long(people, SHOWN)], ignore_index=True)
    lines = []
    for key, run in groups(rows(final, floats(final, "samples") > 0), KEYS):
        loss = floats(run, "loss")
        lines += rows_of(key, {"mean loss": loss.mean(), "worst loss": loss.max()})
    return pd.DataFrame(lines)


def _outline(table: dict[str, object]) -> tuple[list[int], Named, Named]:
    """Seeds, the engine's algorithms, and AgnosticFair's; ValueError if wrong."""
    top = Section(table, "")
    for key in ("title", "data", "partition", "model", "training", "computing", "run"):
        top.raw(key, None)
    listed = top.raw("algorithm")
    top.done(None)
    top.text("title", default="")
    named = run_file_parts.algorithms_of(listed)
    run = top.section("run", {})
    seeds = run.wholes("seeds", [0])
    run.whole("evaluate_every", None, 1)
    run.done(None)
    for key in ("data", "model", "training"):
        top.section(key)
    inside, agnostic = _parted(named)
    for key in () if inside else top.section("training").table:
        if key not in ("rounds", "lr"):
            raise ValueError(f"training.{key} must not be given: agnosticfair takes rounds and lr")
    return seeds, inside, agnostic


def _parted(named: Named) -> tuple[Named, Named]:
    """The engine's algorithms, and AgnosticFair, which is none."""
    agnostic = [entry for entry in named if isinstance(entry.algorithm, AgnosticFair)]
    return [entry for entry in named if entry not in agnostic], agnostic


def _labels(named: Named) -> tuple[str, ...]:
    return tuple(entry.label for entry in named)


def make(table: dict[str, object], seed: int) -> Setting:
    """One seed's setting, replicates in the engine; only algorithms may have grids here."""
    return _setting(table, seed, _data(table, seed))


def _data(table: dict[str, object], seed: int) -> FederatedData:
    top = Section(table, "")
    partition = top.section("partition") if "partition" in table else None
    return run_file_parts.data(top.section("data"), partition, seed)


def _setting(table: dict[str, object], seed: int, data: FederatedData) -> Setting:
    top = Section(table, "")
    training = run_file_parts.training(top.section("training"))
    model = run_file_parts.model(top.section("model"), data)
    interval, joins = max(1, training.rounds // 10), ()
    if isinstance(training.participation, Joining):
        joins = training.participation.joins
    interval = top.section("run", {}).whole("evaluate_every", gcd(interval, *joins), 1)
    if any(t % interval for t in joins):
        raise ValueError(
            "run.evaluate_every must divide the rounds in which groups join, "
            f"{', '.join(map(str, joins))}, got {interval}"
        )
    if data.x.ndim > 2 and not isinstance(model, Module):
        data = dataclasses.replace(data, x=np.asarray(data.x).reshape(len(data), -1))
    replicates = tuple(
        Replicate(entry.algorithm, seed, **entry.rates)  # type: ignore[arg-type]
        for entry in _parted(run_file_parts.algorithms_of(table["algorithm"]))[0]
    )
    computing = built(top.section("computing", {}), Computing, run_file_parts.special)
    return Setting(model, Parts.of(data), replicates, training, interval, computing)
