"""What commands print: on a terminal lines are wrapped and tables fit; elsewhere not."""

import sys
from collections.abc import Sequence
from shutil import get_terminal_size
from textwrap import wrap

import typer

LEAST = 40
"""Columns; in a terminal that is narrower still lines run over its edge."""
WHOLE = {"break_long_words": False, "break_on_hyphens": False}


def width() -> int | None:
    """Of the terminal; None where standard output is none."""
    return max(LEAST, get_terminal_size().columns) if sys.stdout.isatty() else None


def tell(text: str, indent: str = "") -> None:
    """Print lines, each wrapped; what goes on below a line is indented."""
    columns = width()
    for line in text.split("\n"):
        parts = wrap(line, columns, subsequent_indent=indent, **WHOLE) if columns else []
        typer.echo("\n".join(parts or [line]))


def tell_table(rows: Sequence[Sequence[str]], keys: int = 1) -> None:
    """Print rows, the first of which is the header, columns of one width. Where they do not fit,
    those after the ``keys`` first stand in blocks below each other, each beside the keys.
    """
    sizes = [max(map(len, column)) for column in zip(*rows, strict=True)]
    columns, key_columns = width(), list(range(keys))
    blocks = [key_columns]
    for k in range(keys, len(sizes)):
        room = sum(sizes[j] + 2 for j in [*blocks[-1], k]) - 2
        full = columns is not None and room > columns and len(blocks[-1]) > keys
        blocks = [*blocks, [*key_columns, k]] if full else [*blocks[:-1], [*blocks[-1], k]]
    for number, block in enumerate(blocks):
        if number:
            typer.echo()
        for row in rows:
            typer.echo("  ".join(row[k].ljust(sizes[k]) for k in block).rstrip())


def tell_list(rows: Sequence[tuple[str, str]]) -> None:
    """Print names and what they mean, which is wrapped beside its name."""
    size = max(len(name) for name, _ in rows)
    for name, meaning in rows:
        tell(f"{name:<{size}}  {meaning}", " " * (size + 2))
