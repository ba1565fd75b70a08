"""What `fairfl frontier` prints and writes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from fairfl.cli.out_folder import out_folder
from fairfl.reports.federation_file import read_federation
from fairfl.reports.people import People
from fairfl.reports.price import ENDS, LABELS, Comparison, compare, number, percent, span, tried

SEARCHED = "{}: accuracies between the ends are the best that a search found; each is attained, and CFL's bound them."
MINIMUM = "LFT+FedAvg's smallest disparity is the smallest that a search found."
WIDE = 120


def read_toml(path: Path) -> People:
    """A TOML federation, named as people are."""
    federation, clients = read_federation(path)
    return People(federation, ("a = 0", "a = 1"), clients, ())


def report(
    source: People,
    *,
    title: str,
    at: Sequence[float] | None,
    count: int,
    out: Path | None,
    as_json: bool,
    bootstraps: int | None = None,
    seed: int = 0,
) -> Comparison:
    """Compare the schemes, print what was found, and write it into the folder ``out`` where one is given."""
    if out is not None:
        out_folder(out)
    console = Console(stderr=True)
    with console.status("") if console.is_terminal else nullcontext() as status:
        told = None if status is None else status.update
        found = compare(
            source.federation, at=at, count=count, groups=source.groups, clients=source.clients, progress=told
        )
        if source.sample is not None:
            found = tried(found, source.sample, count=count, bootstraps=bootstraps, seed=seed, progress=told)
    files = [] if out is None else write(found, title, out)
    if as_json:
        extra = {"notes": list(source.notes), "files": [str(file) for file in files]}
        typer.echo(json.dumps(found.to_dict() | extra, indent=1, allow_nan=False))
        return found
    show(found, source.notes)
    for file in files:
        typer.echo(f"written: {file}")
    return found


def show(found: Comparison, notes: Sequence[str]) -> None:
    """Print notes, the table and the words."""
    share = ", ".join(f"{n} ({100 * w:.0f} %)" for n, w in list(zip(found.clients, found.weight, strict=True))[:8])
    more = f", ... {len(found.clients)} in all" if len(found.clients) > 8 else ""
    plural = "clients" if len(found.clients) > 1 else "client"
    for line in [f"{plural}: {share}{more}", f"groups: {found.groups[0]} and {found.groups[1]}", *notes]:
        typer.echo(line)
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDE)  # a pipe has no width of its own
    console.print(table(found))
    for line in [*found.sentences(), *searched(found)]:
        typer.echo(line)
    if found.held is not None:
        console.print(held_table(found))


def searched(found: Comparison) -> list[str]:
    """What is not exact."""
    names = [LABELS[scheme] for scheme, reach in found.reaches.items() if not reach.frontier.exact]
    minimum = [MINIMUM] if LABELS["lft_fedavg"] in names else []
    return [SEARCHED.format(" and ".join(names)), *minimum] if names else []


def table(found: Comparison) -> Table:
    """One column a scheme, so that it fits a terminal of 80 characters; intervals stand below their numbers."""
    out = _headed(found, "")

    def row(name: str, column: int, show: Callable[[float], str], end: bool = False) -> None:
        cells, several = [], False
        for scheme, reach in found.reaches.items():
            value, ends = reach.numbers[column], found.between(scheme, column)
            cells.append("-" if np.isnan(value) else show(value))
            if ends is not None and not np.isnan(value):
                cells[-1] += f"\n{span(ends, show)}"
                several = True
        out.add_row(f"{name}\n" if several else name, *cells, end_section=end)

    row("smallest disparity", 0, number)
    row("accuracy there", 1, percent, True)
    for k, d in enumerate(found.disparities):
        row(f"accuracy at disparity {d:g}", len(ENDS) + k, percent, k == len(found.disparities) - 1)
    row("best accuracy", 2, percent)
    row("disparity there", 3, number)
    return out


def held_table(found: Comparison) -> Table:
    """Rules fitted to half of the people: accuracy and disparity on that half, and on the other."""
    assert found.held is not None
    out = _headed(found, "half fitted to → other half")
    halves = found.held.inside, found.held.outside
    names = ["smallest disparity", *(f"disparity {d:g}" for d in found.disparities), "best accuracy"]
    for k, name in enumerate(names):
        cells = []
        for (right, apart), (held_right, held_apart) in zip(*(half[:, k] for half in halves), strict=True):
            shown = f"{100 * right:.2f} → {percent(held_right)}\n{apart:.3f} → {held_apart:.3f}"
            cells.append("-" if np.isnan(right) else shown)
        out.add_row(f"{name}\n", *cells)
    return out


def _headed(found: Comparison, first: str) -> Table:
    out = Table()
    out.add_column(first)
    for scheme in found.reaches:
        out.add_column(LABELS[scheme], justify="right")
    return out


def write(found: Comparison, title: str, out: Path) -> list[Path]:
    """Write frontier.csv, frontier.svg and frontier.png; the pictures are drawn from the table alone."""
    from fairfl.figures.lib import frontier_panels, style
    from fairfl.figures.lib.saved import save

    data = found.to_frame(title)
    with style.sheet():
        figure = frontier_panels.draw(data.assign(panel=style.plain(title)), columns=1, height=5.6, losses=True)
        return save("frontier", title, data, figure, out)
