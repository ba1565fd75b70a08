"""``fairfl bench``: timings, which stand in the repository's ``benchmarks/``."""

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from fairfl.cli.lib.options import option, out_file, place


def bench(
    out: Annotated[
        Path | None, option("Markdown file, else standard output.", "--out", **place("FILE"))
    ] = None,
    quick: Annotated[
        bool, option("Small sizes, one round: to see that it runs.", "--quick")
    ] = False,
) -> None:
    """Time the solvers against what else could be used, interleaved in one run."""
    from fairfl import _support
    from fairfl._support.whole_file import write_whole

    checkout = str(Path(_support.__path__[0]).parent)
    if find_spec("benchmarks") is None and (Path(checkout) / "benchmarks").is_dir():
        sys.path.append(checkout)
    if find_spec("benchmarks") is None:
        raise ValueError(
            "bench needs a checkout of the repository, whose benchmarks/ are not part of the "
            "package"
        )
    bench, timing = map(import_module, ("benchmarks.bench", "benchmarks.timing"))

    if out is not None:
        out_file(out)
    text = bench.run(
        timing.QUICK if quick else timing.FULL, lambda line: typer.echo(line, err=True)
    )
    if out is None:
        typer.echo(text)
    else:
        write_whole(out, text)
        typer.echo(f"written: {out}")
