"""``fairfl study``: starts a study between sites on Flower, or joins one as a site."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from fairfl.cli.lib.options import of_file, option, out_folder, place, with_form

LOCAL, LINGER = ("127.0.0.1", "localhost"), 5.0
"""Hosts that need no TLS; seconds that a site stays after the end, for its answer to arrive."""


@partial(with_form, names=("sep", "decimal", "encoding", "missing"))
def study(
    file: Annotated[Path, typer.Argument(metavar="STUDY", help="What was agreed, .toml.")],
    site: Annotated[str | None, option("Join as this site; without it start the study.")] = None,
    table: Annotated[Path | None, option("Of a site: people as .csv or .parquet.")] = None,
    new: Annotated[
        Path | None, option("Of a site: people of known labels to decide on; default: of --table.")
    ] = None,
    yes: Annotated[bool, option("Of a site: send what is shown, and do not ask.", "--yes")] = False,
    flower: Annotated[
        list[str] | None,
        option("For flower-superlink or flower-supernode, such as --ssl-keyfile=FILE; repeat."),
    ] = None,
    *,
    form: dict[str, Any],
    out: Annotated[Path, option("Folder of all that is kept.", "--out", **place("DIR"))] = Path(
        "study"
    ),
) -> None:
    """Count, compare, decide and judge between sites that pool no row, over Flower. A site sees all
    that is to leave it, and can refuse.
    """
    from fairfl._support.checks import existing_file, one_of
    from fairfl._support.json_file import read_json
    from fairfl._support.toml_file import read_toml
    from fairfl._support.whole_file import write_whole
    from fairfl.flower.study_file import Study, first_difference

    with of_file(file):
        agreed = Study(read_toml(file))
    settings: dict[str, Any] = {"study": agreed.tables, "form": form}
    if (site is None) != (table is None) or (site is None and (new or yes or form)):
        raise ValueError("site and table must be given together, new, yes and form with them")
    if site is not None and table is not None:
        people = [str(existing_file(path).resolve()) for path in (table, new or table)]
        if agreed.score["min_cell"] and people[0] == people[1]:
            raise ValueError("new must be other people than table where counts are withheld")
        settings |= dict(zip(("table", "new"), people, strict=True))
        settings["site"] = one_of("site", site, agreed.sites)
    host, words = agreed.address.rpartition(":")[0], flower or ["--insecure"]
    if host not in LOCAL and not flower:
        raise ValueError(f"flower must say how to reach {host}: options for TLS, or --insecure")
    settings_file = out_folder(out.resolve(), "study.json", "study.log") / "study.json"
    if settings_file.exists() and (
        other := first_difference(read_json(settings_file)["study"], agreed.tables)
    ):
        raise ValueError(f"out must be new, or of this study, got {out}: {other}")
    import flwr  # noqa: F401  # an error before anything is written

    (settings_file.parent / "end.txt").unlink(missing_ok=True)
    write_whole(settings_file, json.dumps(settings, indent=1))
    if site is None:
        _start(settings_file.parent, agreed.address, words)
    else:
        _join(settings_file.parent, agreed.address, words, yes)


def _start(out: Path, address: str, words: list[str]) -> None:
    """A SuperLink, and the study as its run."""
    import fairfl.flower
    from fairfl._support.whole_file import write_whole

    host, _, port = address.rpartition(":")
    certificate = [word.partition("=")[2] for word in words if "--ssl-ca-certfile=" in word]
    tls = "insecure = true"
    if certificate:  # Flower takes the path from its own folder
        tls = f"root-certificates = {json.dumps(str(Path(certificate[0]).resolve()))}"
    connection = f"[superlink.study]\naddress = {json.dumps(address)}\n{tls}\n"
    write_whole(out / "flower" / "config.toml", connection)
    app = Path(*fairfl.flower.__path__) / "app.toml"
    write_whole(out / "flower" / "app" / "pyproject.toml", app.read_bytes())
    bound = f"--host={host if host in LOCAL else '0.0.0.0'}", f"--port={port}"
    options = "--disable-runtime-dependency-installation", *bound, *words
    link = _flower(out, "flower-superlink", *options)
    while link.poll() is None and socket.socket().connect_ex((host, int(port))):
        time.sleep(0.2)
    folder = f"--run-config=folder={json.dumps(str(out))}"
    app_folder = str(out / "flower" / "app")
    _follow(out, [link, _flower(out, "flwr", "run", app_folder, "study", folder, "--stream")])


def _join(out: Path, address: str, words: list[str], yes: bool) -> None:
    """A SuperNode, and somebody who approves what leaves."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        options = f"--superlink={address}", f"--port={free.getsockname()[1]}", *words
    folder = f"--node-config=folder={json.dumps(str(out))}"
    node = _flower(out, "flower-supernode", folder, *options)
    _follow(out, [node], partial(_approve, out / "leaving", yes))


def _flower(out: Path, name: str, *words: str) -> subprocess.Popen[bytes]:
    """A program of Flower, which reports to nobody; what it prints goes to flower.log."""
    programs = Path(sys.executable).parent
    env = {"FLWR_TELEMETRY_ENABLED": "0", "FLWR_DISABLE_UPDATE_CHECK": "1"}
    env |= {"FLWR_HOME": str(out / "flower"), "PATH": f"{programs}:{os.environ['PATH']}"}
    with (out / "flower.log").open("ab") as log:
        line = [programs / name, *words]
        return subprocess.Popen(line, stdout=log, stderr=log, env=os.environ | env)


def _follow(
    out: Path, processes: list[subprocess.Popen[bytes]], act: Callable[[], None] = lambda: None
) -> None:
    """Print what is new in study.log until the study ends; act meanwhile."""
    log, end = out / "study.log", out / "end.txt"
    log.touch()
    with log.open(encoding="utf-8") as lines:
        lines.seek(0, os.SEEK_END)
        try:
            while not end.exists():
                act()
                typer.echo(lines.read(), nl=False)
                time.sleep(0.1)
                if any(process.poll() is not None for process in processes) and not end.exists():
                    raise RuntimeError(f"a program of Flower ended, see {out / 'flower.log'}")
            time.sleep(LINGER)
        finally:
            for process in processes:
                process.terminate()
        typer.echo(lines.read(), nl=False)
    if (text := end.read_text("utf-8")).startswith("error: "):
        raise RuntimeError(text.removeprefix("error: "))
    typer.echo(text, nl=False)


def _approve(leaving: Path, yes: bool) -> None:
    """Show each text that is to leave, and let it leave only if somebody says so."""
    from fairfl.flower.study_file import REFUSED, SENT

    for file in leaving.glob("*/*.json"):
        if "." not in file.stem:
            typer.echo(file.read_text("utf-8"))
            typer.echo(f"All that is to leave is above, {file.name}. Send it? [y/N] ", nl=yes)
            is_sent = yes or sys.stdin.readline().strip().lower() in ("y", "yes")
            file.replace(file.with_suffix(SENT if is_sent else REFUSED))
