"""What `fairfl frontier` prints and writes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from fairfl._version import __version__
from fairfl.federation_file import read_federation
from fairfl.people import People
from fairfl.price import LABELS, Comparison, compare, number, percent

SEARCHED = "LFT+FedAvg's values are the best that a search found; each of them is attained."
WIDE = 120


def read_toml(path: Path) -> People:
    """A TOML federation, named as people are."""
    federation, clients = read_federation(path)
    return People(federation, ("a = 0", "a = 1"), clients, ())


def report(
    source: People, *, title: str, at: Sequence[float] | None, count: int, out: Path | None, as_json: bool
) -> Comparison:
    """Compare the schemes, print what was found, and write it into the folder ``out`` where one is given."""
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)  # before the work, not after it
    console = Console(stderr=True)
    with console.status("") if console.is_terminal else nullcontext() as status:
        found = compare(
            source.federation,
            at=at,
            count=count,
            groups=source.groups,
            clients=source.clients,
            progress=None if status is None else lambda scheme: status.update(f"frontier of {LABELS[scheme]}"),
        )
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
    searched = [] if found.reaches["lft_fedavg"].frontier.exact else [SEARCHED]
    for line in [*found.sentences(), *searched]:
        typer.echo(line)


def table(found: Comparison) -> Table:
    """One column a scheme, so that it fits a terminal of 80 characters."""
    out = Table()
    out.add_column("")
    for scheme in found.reaches:
        out.add_column(LABELS[scheme], justify="right")
    reaches = list(found.reaches.values())
    out.add_row("smallest disparity", *(number(r.smallest) for r in reaches))
    out.add_row("accuracy there", *(percent(r.frontier.accuracy[0]) for r in reaches), end_section=True)
    for k, d in enumerate(found.disparities):
        row = ("-" if r.at[k] is None else percent(r.at[k] or 0.0) for r in reaches)
        out.add_row(f"accuracy at disparity {d:g}", *row, end_section=k == len(found.disparities) - 1)
    out.add_row("best accuracy", *(percent(r.frontier.accuracy[-1]) for r in reaches))
    out.add_row("disparity there", *(number(r.frontier.disparity[-1]) for r in reaches))
    return out


def write(found: Comparison, title: str, out: Path) -> list[Path]:
    """Write frontier.csv, frontier.svg and frontier.png; the pictures are drawn from the table alone."""
    from fairfl.figures import frontier_panels, style

    data = found.to_frame(title)
    files = [out / f"frontier.{suffix}" for suffix in ("csv", "svg", "png")]
    data.to_csv(files[0], index=False, float_format="%.12g", lineterminator="\n")
    with style.sheet():
        figure = frontier_panels.draw(data, columns=1, height=5.6, losses=True)
        software = f"fairfl {__version__}"
        figure.savefig(files[1], metadata={"Title": title, "Creator": software, "Date": None})
        figure.savefig(files[2], metadata={"Title": title, "Software": software})
    return files
