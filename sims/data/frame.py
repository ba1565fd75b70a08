"""Frames of pandas, Polars and Arrow as rows of texts, by their own methods: none is imported."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import signature
from os import PathLike
from pathlib import Path
from typing import Any

from fairfl._support.checks import existing_file, shown

NO_VALUE = ("None", "nan", "NaT", "<NA>")


def table_path(table: Any) -> Path:
    """The path of a file, which must exist; of a frame what messages call it."""
    if isinstance(table, (str, PathLike)):
        return existing_file(Path(table))
    if not (hasattr(table, "columns") and hasattr(table, "__getitem__")):
        raise ValueError(
            f"people must be a path, or a frame of pandas, Polars or Arrow, got {shown(table)}"
        )
    return Path("the frame")


def sources(people: Any) -> tuple[list[Any], list[Path], set[str]]:
    """One table, or summaries in a list, their paths, and the ends of these; ValueError: others."""
    from fairfl.sims.data.summary import is_counts  # it reads tables, which may be frames

    tables = [*people] if isinstance(people, (list, tuple)) else [people]
    paths = [table_path(table) for table in tables]
    kinds = {".json" if is_counts(path) else path.suffix.lower() for path in paths}
    if len(tables) != 1 and kinds != {".json"}:
        names = ", ".join(path.name for path in paths)
        raise ValueError(f"several files must be summaries of sites (.json), got {names}")
    return tables, paths, kinds


def check_options(function: str, options: Mapping[str, Any], *takers: Callable[..., Any]) -> None:
    """TypeError for an option of ``function`` that none of the takers has."""
    names = {name for taker in takers for name in signature(taker).parameters}
    if unknown := options.keys() - names:
        raise TypeError(f"{function}() got an unexpected keyword argument {min(unknown)!r}")


def require(columns: Mapping[str, Any], path: Path, *needed: str) -> None:
    """ValueError where columns that are needed were not named."""
    if missing := [name for name in needed if name not in columns]:
        raise ValueError(f"{', '.join(missing)} must name columns of {path.name}, got none")


def no_table(options: Mapping[str, Any], source: str) -> None:
    """ValueError where options of a table of people are given without one."""
    if options:
        raise ValueError(f"{', '.join(options)} goes with a table of people, got {source}")


def frame_rows(frame: Any) -> Iterator[Sequence[str]]:
    """The header and the rows of a frame, one after the other, as texts; "" where no value is."""
    names = getattr(frame, "column_names", None) or list(frame.columns)
    # two columns of pandas may have one name
    columns = frame.items() if hasattr(frame, "items") else ((n, frame[n]) for n in names)
    yield [str(name) for name in names]
    yield from zip(*(_texts(column) for _, column in columns), strict=True)


def _texts(column: Any) -> list[str]:
    values = column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()
    # what has no value is no text, and is printed as one of these
    return [
        "" if str(value) in NO_VALUE and not isinstance(value, str) else str(value)
        for value in values
    ]
