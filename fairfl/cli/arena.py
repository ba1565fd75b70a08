"""``fairfl arena``: how far algorithms stay from known optima; tables and a picture."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairfl.cli.lib.errors import FAILED
from fairfl.cli.lib.options import Imports, Jobs, Listed, option, out_folder, place

if TYPE_CHECKING:
    import pandas as pd

SHOWN = ["entrant", "rank", "score", "± score", "below_cfl", "below_scheme", "violation"]
SHOWN += ["reached", "rounds", "kB", "federations", "settings"]
TABLES = "standings", "differences", "rows"


class Extent(StrEnum):
    """How much is run."""

    quick = "quick"
    full = "full"


def arena(
    profile: Annotated[Extent, option("quick: a minute; full: an hour.")] = Extent.quick,
    algorithm: Annotated[list[str] | None, option("Label of --list; repeat.")] = None,
    federation: Annotated[list[str] | None, option("Name in docs/arena.md; repeat.")] = None,
    predictions: Annotated[
        list[Path] | None, option("Predictions of another system at the points; repeat.")
    ] = None,
    seeds: Annotated[int, option("Scored samples of each federation.", min=2)] = 10,
    out: Annotated[Path, option("Folder of tables and runs.", "--out", **place("DIR"))] = Path(
        "out/arena"
    ),
    jobs: Jobs = 0,
    engine: Annotated[str, option("local (processes) or ray.")] = "local",
    show: Listed = False,
    publish: Annotated[bool, option("Write points.csv and samples.csv, and run none.")] = False,
    imports: Imports = None,
) -> None:
    """Train algorithms on samples of federations whose optimum is known, and score them on the
    laws. A run that was stopped goes on where it was. Exit code 1 where a unit failed.
    """
    from fairfl.cli.lib.progress import stages
    from fairfl.figures.lib.crosscheck import draw
    from fairfl.reports.terminal import tell, tell_list, tell_table
    from fairfl.studies.arena.entrants import chosen
    from fairfl.studies.arena.standings import PICTURE
    from fairfl.sweeps.arena import TUNING
    from fairfl.sweeps.arena import arena as run

    if show:
        tell_list([(e.label, f"{e.question}: {' or '.join(e.settings)}") for e in chosen(())])
        return
    if publish:
        if algorithm or federation or predictions:
            raise ValueError(
                "--publish writes all federations and trains nothing: it must be without "
                "--algorithm, --federation and --predictions"
            )
        from fairfl.studies.arena.predictions import published_points, published_samples

        out_folder(out, "points.csv", "samples.csv")
        samples = published_samples([TUNING, TUNING + 1, *range(seeds)])
        _write(out, "samples", {"points": published_points(), "samples": samples})
        return
    out_folder(out, *(f"{name}.csv" for name in TABLES))
    with stages() as progress:
        board = run(
            out,
            profile=profile.value,
            algorithms=algorithm or (),
            federations=federation or (),
            predictions=predictions or (),
            seeds=seeds,
            engine=engine,
            jobs=jobs,
            progress=progress,
        )
    for question, part in board.standings.groupby("question", sort=False):
        tell(f"{question}")
        shown = part[SHOWN].map(lambda v: f"{v:.3g}" if isinstance(v, float) else str(v))
        tell_table([SHOWN, *shown.replace("nan", "").to_numpy().tolist()])
        tell("")
    for message, count in board.errors.items():
        tell(f"{count} units failed: {message}")
    _write(out, "tables", {name: getattr(board, name) for name in TABLES})
    typer.echo(f"drawn: {', '.join(map(str, draw(PICTURE, board.rows, out)))}")
    if board.errors:
        raise typer.Exit(FAILED)


def _write(out: Path, name: str, tables: dict[str, pd.DataFrame]) -> None:
    """Each table as a CSV."""
    from fairfl._support.manifest import SUFFIX, write_piece
    from fairfl.figures.lib.saved import csv_text

    texts = {f"{key}.csv": csv_text(table) for key, table in tables.items()}
    typer.echo(f"written: {', '.join(map(str, write_piece(out / f'{name}{SUFFIX}', texts)))}")
