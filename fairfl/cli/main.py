"""The command line. Every import that takes time stands inside the command that needs it.

Exit codes: 0 done; 1 a check failed, or what was asked for could not be done; 2 wrong usage or bad input; 130 stopped.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from fairfl._support.version import __version__
from fairfl.cli import claims as claims_command
from fairfl.cli import crosscheck as crosscheck_command
from fairfl.cli import simulate as simulate_command
from fairfl.cli.out_folder import out_folder

FAILED, USAGE, STOPPED = 1, 2, 130

app = typer.Typer(
    name="fairfl",
    help="What a federation loses in accuracy and fairness by the way it trains: exact trade-offs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(claims_command.app, name="claims")
app.command()(simulate_command.simulate)
app.command()(crosscheck_command.crosscheck)


class Calibrate(StrEnum):
    """How η is fitted to a table of people."""

    shared = "shared"
    client = "client"
    client_group = "client_group"


Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the files.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=0, help="Processes; 0: one a core, four at most.")]
Force = Annotated[bool, typer.Option("--force", help="Draw again what is there already.")]


def _option(help: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, **more)


def main() -> None:
    """Entry point of the console script."""
    if not sys.warnoptions:  # a user asks with -W; else what matters is in the output
        warnings.simplefilter("ignore")
        os.environ.setdefault("PYTHONWARNINGS", "ignore")  # the processes of --jobs
    app()


@contextmanager
def one_line() -> Iterator[None]:
    """Errors as one line on stderr and an exit code, never a traceback."""
    try:
        yield
    except (BrokenPipeError, typer.Exit):  # the reader has left, as `head` does; an exit code, which is a RuntimeError
        raise
    except (NotImplementedError, RecursionError):  # a RuntimeError that is a fault of ours
        raise
    except (ValueError, FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise _exit(str(error), USAGE) from None
    except (OSError, RuntimeError) as error:  # unreadable, unavailable, not certified, no score to be fitted
        raise _exit(str(error), FAILED) from None
    except KeyboardInterrupt:
        raise _exit("stopped", STOPPED) from None


def _exit(message: str, code: int) -> typer.Exit:
    prefix = "" if code == STOPPED else "error: "
    typer.echo(f"fairfl: {prefix}{' '.join(message.split())}", err=True)
    return typer.Exit(code)


@app.callback(invoke_without_command=True)
def _top(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        typer.echo(f"fairfl {__version__}")
        raise typer.Exit


@app.command()
def figures(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Figures; by default all.")] = None,
    out: Out = Path("out"),
    jobs: Jobs = 1,
    force: Force = False,
    show: Annotated[bool, typer.Option("--list", help="List the figures, and draw none.")] = False,
) -> None:
    """Draw figures: PNG, SVG and CSV each. A run that was stopped goes on where it was."""
    with one_line():
        from fairfl.cli.drawing import draw
        from fairfl.figures.lib.registry import find

        entries = find(names)
        if show:
            width = max(len(entry.name) for entry in entries)
            for entry in entries:
                typer.echo(f"{entry.name:<{width}}  {entry.title}")
            return
        outcomes = draw([entry.name for entry in entries], out_folder(out), jobs, force)
        if names and any(outcome.status == "skipped" for outcome in outcomes):
            raise typer.Exit(FAILED)


@app.command()
def reproduce(
    out: Out = Path("out"),
    jobs: Jobs = 0,
    force: Force = False,
) -> None:
    """Draw everything and report the claims, in one folder with an index page. A stopped run goes on where it was."""
    with one_line():
        from fairfl.claims.runner import recorded
        from fairfl.cli.drawing import draw
        from fairfl.reports.claims_report import write_report
        from fairfl.reports.report import write_index

        outcomes = draw(None, out_folder(out), jobs, force)
        write_report(out, recorded())
        typer.echo(f"page: {write_index(out, outcomes)}")


@app.command()
def frontier(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="FEDERATION.toml, or people as .csv or .parquet.")],
    score: Annotated[str | None, _option("Column: larger where y = 1 is likelier.")] = None,
    label: Annotated[str | None, _option("Column of two values, y.")] = None,
    group: Annotated[str | None, _option("Column of the protected groups, a.")] = None,
    client: Annotated[str | None, _option("Column of the clients; without it all are one client.")] = None,
    feature: Annotated[list[str] | None, _option("Column to make a score from, in place of --score; repeat.")] = None,
    group_pair: Annotated[str | None, _option("Two groups to keep, where there are more.", metavar="A,B")] = None,
    blind: Annotated[bool, _option("Do not make the score from the group itself.", "--blind")] = False,
    levels: Annotated[int | None, _option("Levels to merge scores into, at most; 0: none merged.", min=0)] = None,
    calibrate: Annotated[Calibrate, _option("One P(y=1|x) for all, or one each.")] = Calibrate.shared,
    at: Annotated[list[float] | None, _option("Disparity to compare accuracies at; repeat.")] = None,
    points: Annotated[int, _option("Points a frontier.", min=2)] = 60,
    bootstraps: Annotated[
        int | None, _option("Draws of people for the intervals, 0: none. Default: 200, fewer after a minute.", min=0)
    ] = None,
    seed: Annotated[int | None, _option("Of the draws; default 0.", min=0)] = None,
    out: Annotated[Path | None, _option("Also write frontier.png, .svg and .csv.", "--out", metavar="DIR")] = None,
    as_json: Annotated[bool, _option("Print JSON.", "--json")] = False,
) -> None:
    """Say what CFL, LFT+FedAvg and LFT+Ensemble can reach, and what it costs not to pool the data."""
    with one_line():
        from fairfl.reports.frontier_report import read_toml, report

        if file.suffix.lower() == ".toml":
            given = {
                "--score": score, "--label": label, "--group": group, "--client": client, "--feature": feature,
                "--group-pair": group_pair, "--levels": levels, "--bootstraps": bootstraps, "--seed": seed,
                "--blind": blind or None,
            }  # fmt: skip
            extra = [name for name, value in given.items() if value is not None]
            if extra:
                raise ValueError(f"{', '.join(extra)} goes with a table of people, got the federation {file.name}")
            source = read_toml(file)
        else:
            missing = [f"--{name}" for name, value in (("label", label), ("group", group)) if value is None]
            if label is None or group is None:
                raise ValueError(f"a table of people needs {' and '.join(missing)} (the name of a column)")
            from fairfl.reports.people import read_people

            source = read_people(
                file, score=score, label=label, group=group, client=client, features=feature or None,
                group_pair=group_pair, levels=levels, calibrate=calibrate.value, blind=blind,
            )  # fmt: skip
        report(
            source, title=file.stem, at=at or None, count=points, out=out, as_json=as_json, bootstraps=bootstraps,
            seed=seed or 0,
        )  # fmt: skip


@app.command()
def bench(
    out: Annotated[Path | None, _option("Markdown file, else standard output.", "--out", metavar="FILE")] = None,
    quick: Annotated[bool, _option("Small sizes, one round: to see that it runs.", "--quick")] = False,
) -> None:
    """Time the solvers against what else could be used, interleaved in one run."""
    with one_line():
        from importlib import import_module
        from importlib.util import find_spec

        from fairfl import _support
        from fairfl._support.whole_file import write_whole

        checkout = str(Path(_support.__path__[0]).parent)
        if find_spec("benchmarks") is None and (Path(checkout) / "benchmarks").is_dir():
            sys.path.append(checkout)
        if find_spec("benchmarks") is None:
            raise ValueError("bench needs a checkout of the repository, whose benchmarks/ are not part of the package")
        timings = import_module("benchmarks.bench")

        if out is not None:
            out_folder(out.parent)
        text = timings.run(timings.QUICK if quick else timings.FULL, lambda line: typer.echo(line, err=True))
        if out is None:
            typer.echo(text)
        else:
            write_whole(out, text)
            typer.echo(f"written: {out}")


if __name__ == "__main__":
    main()
