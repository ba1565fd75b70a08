"""``fairfl sweep``: many units of one kind, over a grid and random draws."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairfl.cli.lib.errors import FAILED, Command, Commands
from fairfl.cli.lib.options import AsJson, Imports, of_file, option, out_file, out_folder, place

if TYPE_CHECKING:
    from fairfl.studies.grid import Grid
    from fairfl.sweeps.folder import Folder


class Sweeps(Commands):
    """``fairfl sweep CONFIG.toml`` is ``fairfl sweep run CONFIG.toml``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """See click."""
        if args and args[0] not in {*self.commands, "--help", "-h"}:
            args = ["run", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(cls=Sweeps, no_args_is_help=True, rich_markup_mode=None)
Folders = Annotated[list[Path], typer.Argument(metavar="DIR...", help="Folders of the sweep.")]
Config = Annotated[Path, typer.Argument(metavar="CONFIG.toml", help="What is swept.")]


@app.callback()
def _sweep() -> None:
    """Run many units, over a grid and random draws: fairfl sweep CONFIG.toml --out DIR. A sweep
    that was stopped goes on where it was.
    """


@app.command(hidden=True, cls=Command)
def run(
    config: Config,
    out: Annotated[Path, option("Folder of the results.", "--out", **place("DIR"))],
    engine: Annotated[str, option("local (processes) or ray.")] = "local",
    jobs: Annotated[int, option("Processes of local; 0: one per core, four at most.", min=0)] = 0,
    shard: Annotated[str, option("The K-th of N parts, K from 1.", metavar="K/N")] = "1/1",
    retry_failed: Annotated[bool, option("Run units that failed again.", "--retry-failed")] = False,
    address: Annotated[str | None, option("Of a Ray cluster; else one of this machine.")] = None,
    cpus: Annotated[float, option("Of a unit, under ray.", min=0.0)] = 1.0,
    gpus: Annotated[float, option("Of a unit, under ray; may be a part.", min=0.0)] = 0.0,
    memory: Annotated[int | None, option("Bytes of a unit, under ray.", min=1)] = None,
    imports: Imports = None,
    as_json: AsJson = False,
) -> None:
    """Run what is missing, and write the table once all is there. A unit that fails is a row of
    the table; exit code 1 where no unit is done.
    """
    from fairfl.cli.lib.progress import counting
    from fairfl.sweeps.config import read_sweep
    from fairfl.sweeps.folder import TABLE, Folder, counted
    from fairfl.sweeps.sweep import shard_numbers, sweep

    k, n = _shard(shard)
    with of_file(config):
        function, grid = read_sweep(config)
    out_folder(out)
    numbers = shard_numbers(len(grid), k, n)
    with counting("units", len(numbers)) as done:
        sweep(
            function,
            grid,
            out,
            engine=engine,
            jobs=jobs,
            shard=(k, n),
            retry_failed=retry_failed,
            address=address,
            cpus=cpus,
            gpus=gpus,
            memory=memory,
            progress=lambda *_: done(""),
        )
    outcome = counted([Folder(out)], [grid[number] for number in numbers])
    _tell(outcome, as_json)
    typer.echo(f"written: {out / TABLE}", err=as_json)
    if outcome["failed"] and not outcome["done"]:
        raise typer.Exit(FAILED)


@app.command(cls=Command)
def status(
    config: Config, folders: Folders, imports: Imports = None, as_json: AsJson = False
) -> None:
    """Say how many units are done, failed and missing."""
    from fairfl.sweeps.folder import counted

    _tell(counted(*_opened(config, folders)), as_json)


@app.command(cls=Command)
def table(
    config: Config,
    folders: Folders,
    out: Annotated[Path, option("File to write.", "--out", **place("FILE.parquet"))],
    imports: Imports = None,
) -> None:
    """Join the folders of the parts of a sweep into one table."""
    from fairfl.sweeps.folder import counted
    from fairfl.sweeps.folder import table as write

    opened, units = _opened(config, folders)
    missing = counted(opened, units)["missing"]
    if missing:
        raise RuntimeError(f"{missing} of {len(units)} units are missing: run them")
    out_file(out)
    write(opened, units, out)
    typer.echo(f"written: {out}")


def _opened(config: Path, folders: list[Path]) -> "tuple[list[Folder], Grid]":
    """The folders, which must be those of the sweep, and its units."""
    from fairfl.sweeps.config import read_sweep
    from fairfl.sweeps.folder import Folder
    from fairfl.sweeps.sweep import described

    with of_file(config):
        function, grid = read_sweep(config)
    opened = [Folder(path) for path in folders]
    for folder in opened:
        if folder.description() != described(function, grid):
            raise ValueError(f"{folder.path} must be a folder of this sweep, got that of another")
    return opened, grid


def _shard(text: str) -> tuple[int, int]:
    """K/N."""
    try:
        k, n = (int(part) for part in text.split("/"))
        if 1 <= k <= n:
            return k, n
    except ValueError:
        pass
    raise ValueError(f"--shard must be K/N such as 1/8, K from 1 to N, got {text!r}")


def _tell(outcome: dict[str, Any], as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(outcome, indent=1))
        return
    typer.echo(
        f"{outcome['units']} units: {outcome['done']} done, {outcome['failed']} failed, "
        f"{outcome['missing']} missing"
    )
    for message, count in list(outcome["errors"].items())[:5]:
        typer.echo(f"  {count} × {message}")
