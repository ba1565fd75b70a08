"""A cross-check of one's own, from a TOML file: algorithms trained on samples of a federation,
beside its exact frontiers. docs/toml_files.md lists the keys.

Each algorithm learns one classifier for each seed, a step function of x. Its accuracy and disparity
follow from the laws without a test sample.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fairfl._support.toml_file import read_toml
from fairfl.sims.engine import Algorithm, Computing, Logistic, Replicate, Result, Training
from fairfl.sims.engine.task import as_floats
from fairfl.sims.group_fairness import AgnosticFair
from fairfl.solvers.schemes import LABELS, SOLVED
from fairfl.studies.beside_published import half_interval
from fairfl.studies.crosscheck.population.features import Basis
from fairfl.studies.crosscheck.population.frontier_distance import below
from fairfl.studies.crosscheck.population.learned_rules import Found, learned
from fairfl.studies.crosscheck.population.worlds import World
from fairfl.studies.crosscheck.runs import LR, MOMENTUM, featured
from fairfl.studies.crosscheck.study import Study, Verdict
from fairfl.studies.crosscheck.table_rows import (
    bound_verdict,
    exact_curve,
    series,
    summary,
    trade_off,
)
from fairfl.studies.experiment import Scale, Setting, Unit
from fairfl.studies.frames import floats, groups
from fairfl.studies.own import config_parts
from fairfl.studies.own.config_reader import Section
from fairfl.studies.own.federation_file import federation_of
from fairfl.studies.own.group_runs import personal_name
from fairfl.theory.populations.classifiers import Classifier, ClientClassifiers

TRAINING: dict[str, Any] = {
    "rounds": 100,
    "steps": 10,
    "batch_size": 0,
    "lr": LR,
    "momentum": MOMENTUM,
}
"""Defaults of the table [training]; a batch of 0 takes all people of a client."""


def own_study(path: str | Path) -> Study:
    """The study that a TOML file describes; everything in it is checked.

    Raises
    ------
    ValueError : what does not fit, by its place in the file.  OSError : the file cannot be read.
    """
    file = Path(path)
    table = read_toml(file)
    top = Section(table, "")
    title = top.text("title", default=file.stem)
    people, degree = top.whole("people", low=1), top.whole("degree", 1, 1)
    named = _algorithms(top.raw("algorithm"))
    training = _training(top.section("training", {}))
    run = top.section("run", {})
    seeds = run.done(run.wholes("seeds", [0, 1, 2]))
    world = top.done(World.of(file.stem, federation_of(top)))
    name = f"crosscheck-{file.stem}"
    asked = Asked(world, people, degree, tuple(named), training)

    def units(scale: Scale) -> list[Unit]:
        chosen = seeds if scale.seeds == len(seeds) else list(range(scale.seeds))
        labels = tuple(one.label for one in named)
        return [
            Unit(
                f"{name}-{seed}",
                world.name,
                seed,
                labels,
                partial(setting, asked, seed),
                partial(measured, asked, seed),
            )
            for seed in chosen
        ]

    picture = trade_off(name, title, partial(points, world))
    count = {"quick": len(seeds), "paper": len(seeds)}
    found = partial(_verdicts, world)
    return Study(name, title, count, units, partial(_tables, world), found, (picture,))


@dataclass(frozen=True)
class Asked:
    """What a file asks for, but for the seeds."""

    world: World
    people: int
    degree: int
    algorithms: tuple[config_parts.NamedAlgorithm, ...]
    training: Training


def setting(asked: Asked, seed: int) -> Setting:
    """One sample, a replicate for each algorithm."""
    basis, training = Basis.of(asked.world, asked.degree), asked.training
    return Setting(
        Logistic(basis.size, bias=False),
        featured(asked.world, asked.people, seed, [basis]),
        tuple(
            Replicate(one.made, seed, **one.rates)  # type: ignore[arg-type]
            for one in asked.algorithms
        ),
        training,
        training.rounds,
        Computing(device="cpu", dtype="float64"),
    )


def measured(asked: Asked, seed: int, result: Result) -> pd.DataFrame:
    """A row per classifier of an algorithm: the global model or the ensemble, and the personal
    models, each for its own client; its accuracy and disparities on the laws. ``bound`` is the
    scheme whose frontier bounds it.
    """
    basis, simulation, lines = Basis.of(asked.world, asked.degree), result.simulation, []
    for one, params, state in zip(asked.algorithms, result.params, simulation.states, strict=True):
        assert isinstance(one.made, Algorithm)  # the file names no other
        personal = one.made.personal(state)
        members = [] if personal is None else [learned(basis, row) for row in as_floats(personal)]
        is_ensemble, p = one.made.is_ensemble, simulation.source.p
        rule = Classifier.average(members, p) if is_ensemble else learned(basis, params)
        rules: list[tuple[str, str, Any, str]] = [(one.label, "cfl", rule, rule.to_json())]
        if members:
            text = json.dumps([member.to_json() for member in members])
            rule = ClientClassifiers(members)
            rules.append((personal_name(one.label), "client_aware", rule, text))
        for label, bound, rule, text in rules:
            worth = Found.of(rule, asked.world.federation)
            line = {"world": asked.world.name, "algorithm": label, "bound": bound, "seed": seed}
            line |= {"rows": asked.people, "accuracy": worth.accuracy, "disparity": worth.disparity}
            lines.append(line | {"local": max(map(abs, worth.local)), "rule": text})
    return pd.DataFrame(lines)


def points(world: World, measures: pd.DataFrame) -> pd.DataFrame:
    """The exact frontiers, and each algorithm's mean over seeds, with an interval of its
    accuracy.
    """
    schemes: dict[Any, None] = dict.fromkeys([*LABELS, *measures["bound"]])
    parts = [exact_curve(world, scheme) for scheme in schemes]
    for (name,), part in groups(measures, ["algorithm"]):
        x, y = floats(part, "disparity"), floats(part, "accuracy")
        bars = {"low": [y.mean() - _half(y)], "high": [y.mean() + _half(y)]}
        parts.append(series("", name, "points", [x.mean()], [y.mean()], **bars))
    return pd.concat(parts, ignore_index=True).assign(panel=world.name)


def _tables(world: World, measures: pd.DataFrame) -> dict[str, pd.DataFrame]:
    def of(part: pd.DataFrame) -> dict[str, Any]:
        x, y = floats(part, "disparity"), floats(part, "accuracy")
        told = {"seeds": len(part), "accuracy": y.mean(), "± accuracy": _half(y), "|MD|": x.mean()}
        (bound,) = set(part["bound"])
        margin = float(below(world, x, y, bound).mean())
        return told | {"± |MD|": _half(x), f"below {SOLVED[bound].label}": margin}

    return {"algorithms": summary(measures, ["algorithm"], of)}


def _verdicts(world: World, measures: pd.DataFrame) -> tuple[Verdict, ...]:
    verdicts = list[Verdict]()
    for (bound,), part in groups(measures, ["bound"]):
        margins = below(world, floats(part, "disparity"), floats(part, "accuracy"), bound)
        name, best = f"below-{bound}-frontier".replace("_", "-"), f"{SOLVED[bound].label} optimum"
        statement = f"No learned classifier is more accurate than the exact {best} at its own |MD|."
        verdicts.append(bound_verdict(name, statement, part, margins))
    return tuple(verdicts)


def _half(values: np.ndarray) -> float:
    """Half of the interval of a mean; NaN for one value."""
    return float(half_interval(values.std(ddof=1) if len(values) > 1 else np.nan, len(values)))


def _algorithms(listed: Any) -> list[config_parts.NamedAlgorithm]:
    named = config_parts.algorithms_of(listed)
    if any(isinstance(one.made, AgnosticFair) for one in named):
        raise ValueError(f"algorithm must be of the engine, got {config_parts.AGNOSTIC}")
    return named


def _training(own: Section) -> Training:
    kept = {k: v for k, v in TRAINING.items() if k != "steps" or "epochs" not in own.table}
    return config_parts.training(Section(kept | own.table, "training"))
