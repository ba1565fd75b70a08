"""``fairfl simulate``: an experiment of a paper, or a run of one's own, from data to a table."""

from __future__ import annotations

import json
import math
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairfl.cli.lib.options import FORM, Imports, completed, of_file, option, optional, with_form
from fairfl.cli.lib.unit_runs import RUNS, RunOptions, as_rows, measured, show_list, with_runs

if TYPE_CHECKING:
    import pandas as pd

    from fairfl.studies.experiment import Experiment, Unit

PEOPLE = {
    "label": optional(str, "People: column of two values, y."),
    "group": optional(str, "People: column of the protected groups, a."),
    "client": optional(str, "People: column of the clients; without it all are one."),
    "features": optional(
        list[str], "People: column to learn from; repeat. Default: all others.", "--feature"
    ),
    "budgets": optional(
        list[float],
        "People: disparity that fair methods keep to; repeat. Default: 0, .05, .1, .2.",
        "--budget",
    ),
    "notion": optional(str, "People: dp (parity, the default), eo (opportunity) or eodds (odds)."),
    "hidden": optional(
        int, "People: hidden units of a network; 0: logistic regression.", min=0, max=10_000
    ),
    "blind": optional(bool, "People: do not learn from the group itself.", "--blind"),
    **FORM,
}
"""Options of a table of people."""
TABLES = (".csv", ".parquet", ".pq")
TEXTS = ("table.csv", "differences.txt", "paired.csv", "curves.csv")
GROWN, LOST = 1e3, 1e10
"""A run has diverged whose mean training loss ends above so many times what was measured first, or
above so much.
"""
QUICK = (
    "The quick profile stops after a small part of the paper's rounds: numbers have not "
    "converged, and their order may be another. The published numbers beside are of the whole "
    "run, which is `--profile paper`."
)


@with_runs("out/simulate")
@partial(with_form, table=PEOPLE)
def simulate(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME|CONFIG.toml|PEOPLE.csv",
            help="See --list; a run; a table (.csv, .parquet).",
            autocompletion=completed("studies", "experiments"),
        ),
    ] = None,
    *,
    run: RunOptions,
    only: Annotated[
        list[str] | None, option("Units by name, * for any text; repeat. Default: all.")
    ] = None,
    imports: Imports = None,
    form: dict[str, Any],
) -> None:
    """Run an experiment, or the run that a TOML file describes, and set its table beside the
    published numbers.

    On a table of people: FedAvg, FedFB, FairFed, local fair training and fair training of the
    pooled people, side by side. A stopped run goes on with --resume. Cells of the table: ours ± sd
    over the seeds [published ± sd].
    """
    if run.show:
        _show_list(bool(imports), run.as_json)
        return
    if name is None:
        raise ValueError(
            "NAME or CONFIG.toml must be given; fairfl simulate --list names the experiments"
        )
    columns = {name: tuple(v) if isinstance(v, list) else v for name, v in form.items()}
    _run(_experiment(name, columns), tuple(only or ()), run)


def _show_list(imports: bool, as_json: bool) -> None:
    """The experiments, and what a TOML file may name; as JSON the experiments, without imports."""
    from fairfl.reports.terminal import tell

    if not (as_json and imports):
        can_run = show_list("experiments", _all_experiments, as_json)
        if as_json or not can_run:
            return
    from fairfl.studies.user_runs.run_file_parts import names

    if as_json:
        typer.echo(json.dumps(names(), indent=1))
        return
    tell("\nIn a TOML file:")
    for section, words in names().items():
        tell(f"{section}: {', '.join(words)}", "  ")


def _all_experiments() -> list[Experiment]:
    from fairfl.studies.papers.all_experiments import experiments

    return list(experiments().values())


def _experiment(name: str, columns: dict[str, Any]) -> Experiment:
    """The experiment of a table of people, of a TOML file, or of this name."""
    if name.lower().endswith(TABLES):
        from fairfl.sims.data.frame import require
        from fairfl.sims.data.table_file import form_of
        from fairfl.studies.user_runs.people_experiment import people_experiment
        from fairfl.studies.user_runs.people_runs import Request

        require(columns, Path(name), "label", "group")
        form = form_of(columns)
        return people_experiment(Request(name, form=form, **columns))
    if columns:
        names = ", ".join(columns)
        raise ValueError(f"{names} goes with a table of people (.csv, .parquet), got {name}")
    if name.lower().endswith(".toml"):
        from fairfl.studies.user_runs.run_file import read_config

        with of_file(name):
            return read_config(name)
    from fairfl.studies.papers.all_experiments import find

    return find(name)


def _run(experiment: Experiment, only: tuple[str, ...], run: RunOptions) -> None:
    from fairfl._support.whole_file import write_whole
    from fairfl.figures.lib.saved import names
    from fairfl.reports.terminal import tell, tell_table
    from fairfl.studies.beside_published import cells, compare, paired
    from fairfl.studies.experiment import MODELS
    from fairfl.studies.papers.all_experiments import experiments

    name, scale, folder = experiment.name, run.scale(experiment), run.out / experiment.name
    units = _chosen(experiment.units(scale), only)
    planned = (*TEXTS, *names(*(picture.name for picture in experiment.pictures)))
    clients = measured(units, run, name, planned)
    values = experiment.values(clients)
    is_unpublished = not len(experiment.published)
    quick = (QUICK,) if not scale.paper and not is_unpublished else ()
    table = compare(values, experiment.published)
    if quick:  # a model that has not converged is not held against the paper's
        table["apart"] = math.nan
    paired_table = (
        compare(paired(values), experiment.published)
        if is_unpublished and scale.seeds > 1
        else values.head(0)
    )
    differences = (*quick, *experiment.differences(clients))
    written = _write(experiment, clients, table, paired_table, differences, folder)
    models, runs = folder / MODELS, [run.out / RUNS / unit.name / MODELS for unit in units]
    kept = sorted(file for trained in runs for file in trained.glob("*.json"))
    copies = [write_whole(models / file.name, file.read_bytes()) for file in kept]
    # a paper's experiment may search learning rates of which some diverge, and reports it
    lost = diverged(clients) if name not in experiments() else []
    if run.as_json:
        report = {"name": name, "title": experiment.title, "profile": scale.profile}
        report |= {"seeds": scale.seeds, "table": as_rows(table), "paired": as_rows(paired_table)}
        files = [*map(str, written + copies)]
        report |= {"differences": differences, "files": files, "diverged": lost}
        typer.echo(json.dumps(report, ensure_ascii=False, indent=1))
        _require_convergence(lost)
        return
    state = ", not converged" if quick else ""
    legend = (
        "mean ± half of its 95 % interval"
        if is_unpublished
        else f"ours ± sd{state} [published ± sd]"
    )
    tell(f"{experiment.title}\n{scale}; {legend}\n")
    tell_table(cells(table, "half" if is_unpublished else "sd"), keys=2)
    if len(paired_table):
        tell(f"\nLess {values['objective'].iloc[0]}, seed by seed:")
        tell_table(cells(paired_table, "half"), keys=2)
    if differences:
        tell("\nNotes:" if is_unpublished else "\nWhat differs from the paper:")
        tell("\n".join(f"- {line}" for line in differences), "  ")
    tell(f"\nwritten: {', '.join(map(str, written + [models] * bool(copies)))}", "  ")
    _require_convergence(lost)


def _chosen(units: list[Unit], only: tuple[str, ...]) -> list[Unit]:
    """The units whose names match one of the patterns, all where there is none."""
    for pattern in only:
        if not any(fnmatchcase(unit.name, pattern) for unit in units):
            names = ", ".join(unit.name for unit in units[:20])
            raise ValueError(f"--only must name units of {names}; got {pattern}")
    return [u for u in units if not only or any(fnmatchcase(u.name, pattern) for pattern in only)]


def diverged(clients: pd.DataFrame) -> list[str]:
    """The runs, "data, objective, seed", whose mean training loss went off."""
    if not {"loss", "round", "model", "part", "samples"} <= set(clients.columns):
        return []
    from fairfl.studies.frames import among, floats, groups, rows
    from fairfl.studies.measures import KEYS

    shared = among(among(clients, "model", ["global", "personal"]), "part", ["train"])
    names = []
    for key, run in groups(rows(shared, floats(shared, "samples") > 0), KEYS):
        rounds, loss = floats(run, "round"), floats(run, "loss")
        first, last = (float(loss[rounds == t].mean()) for t in (rounds.min(), rounds.max()))
        if not last <= min(LOST, GROWN * first):
            names.append(", ".join(map(str, key)))
    return names


def _require_convergence(lost: list[str]) -> None:
    """RuntimeError that names what diverged."""
    if lost:
        remaining = f" and {len(lost) - 3} more" if len(lost) > 3 else ""
        raise RuntimeError(
            f"training diverged ({'; '.join(lost[:3])}{remaining}): the mean training loss is "
            f"above {LOST:g}, or {GROWN:g} "
            "times what it was; what was computed is kept. Try a smaller lr"
        )


def _write(
    experiment: Experiment,
    clients: pd.DataFrame,
    table: pd.DataFrame,
    paired_table: pd.DataFrame,
    differences: tuple[str, ...],
    folder: Path,
) -> list[Path]:
    """Write table.csv, differences.txt, paired.csv, curves.csv and the pictures; the files."""
    from fairfl._support.manifest import SUFFIX, write_piece
    from fairfl.figures.lib.experiments import draw
    from fairfl.figures.lib.saved import csv_text
    from fairfl.studies.execute import BY_CLIENT, last_round
    from fairfl.studies.frames import among, rows

    texts = {
        "table.csv": csv_text(table, "%.10g"),
        "differences.txt": "".join(f"{line}\n" for line in differences),
    }
    if len(paired_table):
        texts["paired.csv"] = csv_text(paired_table.dropna(axis=1, how="all"), "%.10g")
    if experiment.curves is not None:
        curves = experiment.curves(clients)
        texts["curves.csv"] = curves.to_csv(float_format="%.3g", lineterminator="\n")
    files = write_piece(folder / f"table{SUFFIX}", texts)
    seen = experiment.shown(clients)
    for picture in experiment.pictures:
        if picture.kind == "tradeoff":
            points = experiment.points
            shown = clients.head(0) if points is None else points(clients)
            if QUICK in differences and len(shown):
                shown = rows(shown, shown["kind"] != "published")
        else:
            last = picture.kind == "distribution"
            shown = among(among(seen, "model", BY_CLIENT), "part", [picture.part])
            shown = last_round(seen, picture.part, *BY_CLIENT) if last else shown
            shown = among(shown, "objective", picture.objectives) if picture.objectives else shown
            shown = rows(shown, shown["accuracy"].notna())
        files += draw(picture, shown, folder) if len(shown) else []
    return files
