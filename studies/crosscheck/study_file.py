"""A cross-check of one's own, from a TOML file (docs/toml_files.md)."""

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import cast

import pandas as pd

from fairfl._support.toml_file import read_toml
from fairfl.sims.engine import Algorithm, Computing, Logistic, Parts, Replicate, Result, Training
from fairfl.sims.engine.task import as_floats
from fairfl.sims.group_fairness import AgnosticFair
from fairfl.solvers.schemes import LABELS, SOLVED, SchemeName
from fairfl.studies.crosscheck.population.frontier_distance import below
from fairfl.studies.crosscheck.population.learned_rules import Basis, Performance, learned
from fairfl.studies.crosscheck.population.worlds import World
from fairfl.studies.crosscheck.practice import LR, MOMENTUM, featured, people_of
from fairfl.studies.crosscheck.prediction import Interval, banded, hard_verdict
from fairfl.studies.crosscheck.study import Study, Verdict, exact_curve, summary, trade_off
from fairfl.studies.experiment import Scale, Setting, Unit
from fairfl.studies.frames import floats, groups
from fairfl.studies.user_runs import run_file_parts
from fairfl.studies.user_runs.federation_file import federation_of
from fairfl.studies.user_runs.group_measures import personal_name
from fairfl.studies.user_runs.toml_section import Section
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.client_classifiers import ClientClassifiers

TRAINING = {"rounds": 100, "steps": 10, "batch_size": 0, "lr": LR, "momentum": MOMENTUM}
"""Defaults of the table [training]; a batch of 0 takes all people of a client."""


def study_from_file(path: str | Path) -> Study:
    """The study of a TOML file, checked whole: ValueError by its place in the file, or OSError."""
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
    request = StudySettings(world, people, degree, tuple(named), training)

    picture = trade_off(name, title, partial(points, world))
    count = {"quick": len(seeds), "paper": len(seeds)}
    verdicts = partial(_verdicts, world)
    units = partial(request.units, name, seeds)
    return Study(name, title, count, units, partial(_tables, world), verdicts, (picture,))


@dataclass(frozen=True)
class StudySettings:
    """The settings of a file, without its seeds."""

    world: World
    people: int
    degree: int
    algorithms: tuple[run_file_parts.NamedAlgorithm, ...]
    training: Training

    def units(self, name: str, seeds: list[int], scale: Scale) -> list[Unit]:
        """A unit a seed, with all algorithms."""
        labels = tuple(entry.label for entry in self.algorithms)
        planned = []
        for seed in scale.of(seeds):
            make, measure = partial(setting, self, seed), partial(measured, self, seed)
            planned.append(Unit(f"{name}-{seed}", self.world.name, seed, labels, make, measure))
        return planned


def setting(request: StudySettings, seed: int) -> Setting:
    """One sample, a replicate for each algorithm."""
    basis, training = Basis.of(request.world, request.degree), request.training
    sample = featured(people_of(request.world, request.people, seed)[0], [basis])
    model, parts = Logistic(basis.size, bias=False), Parts.of(sample)
    replicates = tuple(
        Replicate(entry.algorithm, seed, **entry.rates)  # type: ignore[arg-type]
        for entry in request.algorithms
    )
    computing = Computing(device="cpu", dtype="float64")
    return Setting(model, parts, replicates, training, training.rounds, computing)


def measured(request: StudySettings, seed: int, result: Result) -> pd.DataFrame:
    """A row per classifier: a global model or ensemble, or the personal models together; ``bound``
    is the scheme whose frontier bounds it.
    """
    basis, simulation, lines = Basis.of(request.world, request.degree), result.simulation, []
    for entry, params, state in zip(
        request.algorithms, result.params, simulation.states, strict=True
    ):
        assert isinstance(entry.algorithm, Algorithm)  # the file names no other
        personal = entry.algorithm.personal(state)
        members = [] if personal is None else [learned(basis, row) for row in as_floats(personal)]
        is_ensemble, p = entry.algorithm.is_ensemble, simulation.source.p
        rule = Classifier.average(members, p) if is_ensemble else learned(basis, params)
        rules: list[tuple[str, SchemeName, Classifier | ClientClassifiers, str]] = [
            (entry.label, "cfl", rule, rule.to_json())
        ]
        if members:
            text = json.dumps([member.to_json() for member in members])
            rule = ClientClassifiers(members)
            rules.append((personal_name(entry.label), "client_aware", rule, text))
        for label, bound, rule, text in rules:
            line = {"world": request.world.name, "algorithm": label, "bound": bound, "seed": seed}
            line |= {"rows": request.people} | Performance.of(
                rule, request.world.federation
            ).columns
            lines.append(line | {"rule": text})
    return pd.DataFrame(lines)


def points(world: World, measures: pd.DataFrame) -> pd.DataFrame:
    """The exact frontiers; each algorithm's mean over seeds, with an interval of its accuracy."""
    schemes = dict.fromkeys(cast(list[SchemeName], [*LABELS, *measures["bound"]]))
    curves = [exact_curve(world, scheme) for scheme in schemes]
    named = measures.assign(case=measures["algorithm"])
    bars = banded("", named, "disparity", "accuracy", "algorithm", "points")
    return pd.concat([*curves, bars], ignore_index=True).assign(panel=world.name)


def _tables(world: World, measures: pd.DataFrame) -> dict[str, pd.DataFrame]:
    return {"algorithms": summary(measures, ["algorithm"], partial(_row, world))}


def _row(world: World, part: pd.DataFrame) -> dict[str, float]:
    """Means over seeds of an algorithm, their intervals, and how far it is below its bound."""
    x, y = floats(part, "disparity"), floats(part, "accuracy")
    (bound,) = set(part["bound"])
    row = {"seeds": len(part), "accuracy": y.mean(), "± accuracy": Interval.of(y).half}
    row |= {"|MD|": x.mean(), "± |MD|": Interval.of(x).half}
    return row | {f"below {SOLVED[bound].label}": float(below(world, x, y, bound).mean())}


def _verdicts(world: World, measures: pd.DataFrame) -> tuple[Verdict, ...]:
    verdicts = list[Verdict]()
    for (bound,), part in groups(measures, ["bound"]):
        margins = below(world, floats(part, "disparity"), floats(part, "accuracy"), bound)
        name, best = f"below-{bound}-frontier".replace("_", "-"), f"{SOLVED[bound].label} optimum"
        statement = f"No learned classifier is more accurate than the exact {best} at its own |MD|."
        verdicts.append(hard_verdict(name, statement, margins))
    return tuple(verdicts)


def _algorithms(listed: object) -> list[run_file_parts.NamedAlgorithm]:
    named = run_file_parts.algorithms_of(listed)
    if any(isinstance(entry.algorithm, AgnosticFair) for entry in named):
        raise ValueError(f"algorithm must be of the engine, got {run_file_parts.AGNOSTIC}")
    return named


def _training(section: Section) -> Training:
    defaults = {k: v for k, v in TRAINING.items() if k != "steps" or "epochs" not in section.table}
    return run_file_parts.training(Section(defaults | section.table, "training"))
