"""What `fairfl sweep` runs: the package's own questions as functions of plain data."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from fairfl._support.checks import whole
from fairfl.solvers import api
from fairfl.solvers.schemes import SchemeName
from fairfl.studies.user_runs.federation_file import federation_of, read_federation
from fairfl.studies.user_runs.toml_section import Section
from fairfl.theory.populations.federation import Federation

if TYPE_CHECKING:
    from fairfl.studies.crosscheck.study import Study
    from fairfl.studies.experiment import Experiment, Unit

Source = str | Mapping[str, object]
"""The path of a TOML file, or its content."""


def solve(
    federation: Source, scheme: SchemeName, eps: ArrayLike, **question: Any
) -> dict[str, object]:
    """:func:`fairfl.solve`; ``federation`` as :data:`Source`."""
    solution = api.solve(_federation(federation), scheme, eps, **question)
    return {
        "accuracy": solution.accuracy,
        "utility": solution.utility,
        "disparity": solution.disparity,
        "duality_gap": solution.duality_gap,
    }


def min_disparity(federation: Source, scheme: SchemeName, **question: Any) -> dict[str, object]:
    """:func:`fairfl.min_disparity`."""
    solution = api.min_disparity(_federation(federation), scheme, **question)
    return {"disparity": solution.disparity}


def frontier(
    federation: Source, scheme: SchemeName, points: int = 60, **question: Any
) -> list[dict[str, object]]:
    """:func:`fairfl.frontier`, a row per point."""
    curve = api.frontier(_federation(federation), scheme, points, **question)
    names = ("disparity", "accuracy", "utility", "eps")
    columns = [getattr(curve, name).tolist() for name in names]
    return [
        {"point": k, **dict(zip(names, row, strict=True))}
        for k, row in enumerate(zip(*columns, strict=True))
    ]


def simulate(experiment: str, seed: int, profile: str = "quick") -> list[dict[Hashable, object]]:
    """One seed of an experiment, by name or as the path of a TOML file."""
    from fairfl.studies.execute import run_units
    from fairfl.studies.papers.all_experiments import find
    from fairfl.studies.user_runs.run_file import read_config

    source = read_config(experiment) if experiment.endswith(".toml") else find(experiment)
    values = source.values(run_units(_units_of_seed(source, seed, profile)))
    return [
        {key: row[key] for key in ("dataset", "objective", "measure", "value")}
        for row in values.to_dict("records")
    ]


def crosscheck(study: str, seed: int, profile: str = "quick") -> list[dict[Hashable, object]]:
    """What one seed of a study of practice against theory measures; by name or TOML file."""
    from fairfl.studies.crosscheck.studies.all_studies import find
    from fairfl.studies.crosscheck.study_file import study_from_file
    from fairfl.studies.execute import run_units

    source = study_from_file(study) if study.endswith(".toml") else find([study])[0]
    rows = run_units(_units_of_seed(source, seed, profile))
    return [
        {
            name: None if value is None or value != value else value
            for name, value in row.items()
            if name not in ("seed", "unit")
        }
        for row in rows.to_dict("records")
        if row.get("seed", seed) == seed
    ]


def claim(claim: str, effort: str = "quick", folder: str | None = None) -> dict[str, object]:
    """Examine a claim. ``folder``, which all machines share, keeps outcomes: from there ``fairfl
    claims check --out FOLDER --record`` takes them.
    """
    from fairfl.claims.record import NAME, Record
    from fairfl.claims.registry import registered
    from fairfl.claims.runner import examine_id, on_record, put_on_record

    entry = registered()[claim]
    store = Record(Path(folder) / NAME) if folder else None
    outcome = (store and on_record(store, entry, effort)) or examine_id(claim, effort)
    if store is not None:
        put_on_record(store, entry, outcome)
    return {
        "finding": outcome.finding,
        "level": outcome.level,
        "passed": outcome.passed,
        "fault": outcome.fault,
        "survivors": [mutant.name for mutant in outcome.survivors],
    }


TASKS = {
    task.__name__: task for task in (solve, min_disparity, frontier, simulate, crosscheck, claim)
}
"""Tasks by the names that a configuration gives them."""


def _units_of_seed(source: Experiment | Study, seed: int, profile: str) -> list[Unit]:
    """The units of one seed, which a file need not list."""
    from fairfl.studies.experiment import Scale

    count = whole("seed", seed, 0) + 1
    # for as many seeds as a file lists it takes its own, which may be others
    scale = Scale(profile, count + (source.seeds[profile] == count))
    return [unit for unit in source.units(scale) if unit.seed == seed]


def _federation(source: Source) -> Federation:
    if isinstance(source, str):
        return read_federation(source)
    table = Section(source, "federation")
    return table.done(federation_of(table))
