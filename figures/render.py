"""A figure's NAME.csv, NAME.svg and NAME.png: whole or not at all, the same bytes every time."""

import hashlib
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path

import matplotlib

from fairfl._support.extras import MissingExtra, extras_named
from fairfl._support.manifest import SUFFIX, finished, sha256
from fairfl._support.own_parts import sources
from fairfl._support.processes import as_done
from fairfl._support.threads import one_thread
from fairfl._support.version import __version__
from fairfl.figures.catalog.all_figures import find, registered
from fairfl.figures.lib import style
from fairfl.figures.lib.figure_entry import FigureEntry
from fairfl.figures.lib.saved import SUFFIXES, save
from fairfl.sims.data.fetch import DataUnavailable, data_read, same_data
from fairfl.theory.populations.federation import Federation

SHARED = ("fairfl.theory", "fairfl.solvers", "fairfl.sims.data", "fairfl.studies", "fairfl.figures")
"""Packages on whose sources a figure depends."""
SOURCE = "source"
"""Name in the manifest of the digest of those sources. The other inputs are the data files."""


@dataclass(frozen=True)
class Outcome:
    """The result for one figure: "drawn", "unchanged" or "skipped", for a ``reason``; its files."""

    name: str
    status: str
    reason: str
    files: tuple[Path, ...]
    seconds: float


Progress = Callable[[Outcome, int, int], None]
"""Called after each figure with its outcome, the number done, and the number in all."""


def render_all(
    names: Iterable[str] | None,
    out_dir: str | Path,
    jobs: int = 1,
    *,
    force: bool = False,
    progress: Progress | None = None,
    federation: Federation | None = None,
    digest: str = "",
) -> list[Outcome]:
    """Draw figures into ``out_dir``, all of them where ``names`` is None or empty, and those that
    are unchanged only by ``force``: an outcome each, in their order. ``federation`` is drawn in
    place of the paper's own where a figure can; its ``digest`` recognises unchanged files.

    Errors: ValueError for an unknown name, or a figure that takes no federation; nothing is drawn
    then.
    """
    entries = find(names)
    if federation is not None:
        for entry in entries:
            entry.check({"federation": federation})
    done: dict[str, Outcome] = {}
    tasks = [(entry.name, Path(out_dir), force, federation, digest) for entry in entries]
    for outcome in as_done(_attempt, tasks, min(jobs, len(entries))):
        done[outcome.name] = outcome
        if progress is not None:
            progress(outcome, len(done), len(entries))
    return [done[entry.name] for entry in entries]


def _attempt(
    name: str, out: Path, force: bool, federation: Federation | None = None, digest: str = ""
) -> Outcome:
    """Draw one figure unless it is unchanged, or its data or an extra is missing."""
    entry = find([name])[0]
    if federation is not None:
        data = partial(entry.data, federation=federation)
        entry = replace(entry, data=data, digest=digest, title=f"{entry.title}; {digest}")
    files = tuple(out / f"{name}{suffix}" for suffix in SUFFIXES)
    begin = time.perf_counter()
    if not force and _unchanged(entry, out):
        return Outcome(name, "unchanged", "", files, time.perf_counter() - begin)
    try:
        with extras_named():
            files = _render(entry, out)
    except (DataUnavailable, MissingExtra) as error:
        return Outcome(name, "skipped", str(error), (), time.perf_counter() - begin)
    return Outcome(name, "drawn", "", files, time.perf_counter() - begin)


def _unchanged(entry: FigureEntry, out: Path) -> bool:
    """Whether the files are unaltered, and drawn from the present source and data."""
    inputs = finished(out / f"{entry.name}{SUFFIX}")
    return inputs is not None and inputs.pop(SOURCE, None) == key(entry) and same_data(inputs)


@one_thread()
def _render(entry: FigureEntry, out: Path) -> tuple[Path, ...]:
    with data_read() as files:
        table = entry.table()
    with style.sheet():
        picture, inputs = entry.picture(table), {SOURCE: key(entry), **files}
        return tuple(save(entry.name, entry.title, table, picture, out, inputs))


def key(entry: FigureEntry) -> str:
    """Digest of a figure's dependencies: version, matplotlib, sources, and files that it reads."""
    parts = [
        __version__,
        matplotlib.__version__,
        shared_digest(),
        *sources(entry.source.stem, entry.source).values(),
        entry.digest,
        *(f"{file}\0{sha256(file)}" for file in entry.reads()),
    ]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


@lru_cache(maxsize=1)
def shared_digest() -> str:
    """Digest of the solvers' and helpers' sources, without the figures' own."""
    figures = {entry.source.name for entry in registered().values()}
    total = hashlib.sha256()
    for package in SHARED:
        for folder in import_module(package).__path__:
            for file in sorted(Path(folder).rglob("*")):
                is_figure = package == "fairfl.figures" and file.name in figures
                if file.suffix in (".py", ".mplstyle", ".csv") and not is_figure:
                    total.update(
                        f"{package}/{file.relative_to(folder).as_posix()}\0".encode()
                        + file.read_bytes()
                    )
    return total.hexdigest()
