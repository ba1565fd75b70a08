"""``fairfl crosscheck``: learned classifiers held against the exact theory."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairfl.cli.lib.errors import FAILED
from fairfl.cli.lib.options import Imports, completed, of_file
from fairfl.cli.lib.unit_runs import RunOptions, as_rows, measured, show_list, with_runs

if TYPE_CHECKING:
    import pandas as pd

    from fairfl.studies.crosscheck.study import Study, Verdict

HELD = {True: "holds", False: "DOES NOT HOLD", None: "undecided"}


@with_runs("out/crosscheck")
def crosscheck(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[STUDY|CONFIG.toml]...",
            help="See --list; by default all.",
            autocompletion=completed("studies", "studies"),
        ),
    ] = None,
    *,
    run: RunOptions,
    imports: Imports = None,
) -> None:
    """Train on samples of federations whose laws are known, and hold what was learned against the
    exact theory.

    Exit code 1 where a hard verdict fails, which is a fault of this program: a theorem stands
    behind it.
    """
    if run.show:
        show_list("studies", lambda: _studies(names or []), run.as_json)
        return
    reports = [run_study(study, run) for study in _studies(names or [])]
    if run.as_json:
        typer.echo(json.dumps(reports, ensure_ascii=False, indent=1))
    if any(map(failed, reports)):
        raise typer.Exit(FAILED)


def _studies(names: Sequence[str]) -> list[Study]:
    """The studies of these names and TOML files; of none all."""
    from fairfl.studies.crosscheck.studies.all_studies import find

    files = [name for name in names if name.lower().endswith(".toml")]
    ids = [name for name in names if name not in files]
    studies = find(ids) if ids or not files else []
    if files:
        from fairfl.studies.crosscheck.study_file import study_from_file

        for file in files:
            with of_file(file):
                studies = [*studies, study_from_file(file)]
    return studies


def failed(report: dict[str, Any]) -> bool:
    """Whether a hard verdict of a study does not hold."""
    return any(verdict["hard"] and verdict["holds"] is False for verdict in report["verdicts"])


def run_study(study: Study, run: RunOptions) -> dict[str, Any]:
    """Run a study, write its files, and print it unless JSON is; all of it as data."""
    import pandas as pd

    from fairfl._support.checks import instance
    from fairfl.figures.lib.saved import names
    from fairfl.reports.terminal import tell, tell_table
    from fairfl.studies.crosscheck.study import Verdict
    from fairfl.studies.experiment import Unit

    scale = run.scale(study)
    files = ("verdicts.json", "measures.csv", *names(*(drawing.name for drawing in study.pictures)))
    units = [instance("units", unit, Unit) for unit in study.units(scale)]
    measures = measured(units, run, study.name, files)
    verdicts = [instance("verdicts", verdict, Verdict) for verdict in study.verdicts(measures)]
    tables = {}
    for name, frame in instance("tables", study.tables(measures), dict).items():
        table = instance(f"tables[{name!r}]", frame, pd.DataFrame)
        # rows that have names, as groupby leaves them, keep them as columns
        tables[name] = table if table.index.names == [None] else table.reset_index()
    verdict_rows = [dict(vars(verdict)) for verdict in verdicts]
    written = _write(study, measures, tables, verdict_rows, run.out / study.name)
    report: dict[str, Any] = {
        "name": study.name,
        "title": study.title,
        "profile": scale.profile,
        "seeds": scale.seeds,
        "tables": {name: as_rows(table) for name, table in tables.items()},
        "verdicts": verdict_rows,
        "lines": list(map(sentence, verdicts)),
    }
    if not run.as_json:
        tell(f"{study.title}\n{scale}\n")
        for name, table in tables.items():
            tell(name)
            cells = [
                [f"{v:.3g}" if isinstance(v, float) else str(v) for v in row]
                for row in table.itertuples(index=False, name=None)
            ]
            tell_table([list(map(str, table.columns)), *cells])
            tell("")
        tell("\n".join(f"- {line}" for line in report["lines"]), "  ")
        tell(f"\nwritten: {', '.join(map(str, written))}\n", "  ")
    return report | {"files": list(map(str, written))}


def sentence(verdict: Verdict) -> str:
    """A verdict in a line."""
    name = f"{verdict.name} (hard)" if verdict.hard else verdict.name
    return f"{name}: {HELD[verdict.holds]}. {verdict.statement} Found: {verdict.found}."


def _write(
    study: Study,
    measures: pd.DataFrame,
    tables: dict[str, pd.DataFrame],
    verdict_rows: Sequence[dict[str, object]],
    folder: Path,
) -> list[Path]:
    """measures.csv, NAME.csv of each table, verdicts.json and the pictures; the files."""
    from fairfl._support.manifest import SUFFIX, write_piece
    from fairfl.figures.lib.crosscheck import draw
    from fairfl.figures.lib.saved import csv_text

    texts = {
        f"{name}.csv": csv_text(table, "%.10g")
        for name, table in {"measures": measures, **tables}.items()
    }
    texts["verdicts.json"] = json.dumps(verdict_rows, ensure_ascii=False, indent=1) + "\n"
    files = write_piece(folder / f"verdicts{SUFFIX}", texts)
    for drawing in study.pictures:
        files += draw(drawing, measures, folder)
    return files
