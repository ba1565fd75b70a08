"""Reader of users' tables: text with a header, or Parquet.

Text needs numpy and the standard library alone, so that a site can read it where little is
installed. A column is stored as its distinct texts and a code for each row: this takes little
memory, and each text is parsed once. Rows are counted from 1, the header left out.
"""

import codecs
import csv
import gzip
import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from functools import partial
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from fairfl._support.checks import Array, cells, listed, one_of, pos_code, shown
from fairfl.sims.data.frame import frame_rows, table_path

PARQUET = (".parquet", ".pq")
NOT_THERE = ("na", "nan", "n/a", "null", "none")
"""Spellings of a missing number. In a column of texts "NA" may be a continent."""
BLOCK = 1_000
"""Rows that are read at a time."""
MOST_LINE = 2**24
"""Characters of the longest line of a text."""
FIRST = 3
"""Number of rows with a missing cell that are named, for each column."""
Roles = Mapping[str, Sequence[str]]
"""Roles of columns, each with the columns' names."""


@dataclass(frozen=True)
class Form:
    r"""How a text file is written, and what becomes of rows with a missing cell.

    Parameters
    ----------
    sep : one character between cells; ``\t`` is a tab.
    decimal : "." or ",", before the decimals of a number.
    encoding : as Python calls it, such as utf-8, cp1252 or utf-16; a byte order mark may be there.
    missing : "error" or "drop". An empty cell is missing; in a column of numbers NA, NaN, N/A, null
        and None are, too.
    pos_label : the value of the label that is y = 1. It may be left out where the values are two
        numbers, of which the larger is, or False and True.
    """

    sep: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    missing: str = "error"
    pos_label: str | None = None

    def __post_init__(self) -> None:
        one_of("decimal", self.decimal, (".", ","))
        one_of("missing", self.missing, ("error", "drop"))
        sep = "\t" if self.sep == r"\t" else self.sep
        if len(sep) != 1 or sep in f'"\r\n{self.decimal}':
            raise ValueError(
                r"sep must be one character (\t is a tab), neither a quote nor the decimal sign "
                f"{self.decimal!r}, got {sep!r}"
            )
        object.__setattr__(self, "sep", sep)
        try:
            "".encode(self.encoding)
            name = codecs.lookup(self.encoding).name
        except (LookupError, UnicodeError, ValueError):
            raise ValueError(
                "encoding must be one that Python knows, such as utf-8, cp1252 or utf-16, got "
                f"{shown(self.encoding)}"
            ) from None
        object.__setattr__(self, "encoding", "utf-8-sig" if name == "utf-8" else name)

    def numbers(self, texts: Sequence[str]) -> Array:
        """(m,) the texts as numbers; NaN for a text that is no number."""
        if self.decimal == ",":
            texts = [text.replace(".", "_").replace(",", ".") for text in texts]
        try:
            numbers = np.fromiter(map(float, texts), np.float64, len(texts))
        except ValueError:
            numbers = np.array([_number(text) for text in texts])
        if "_" in "".join(texts):  # Python's own 1_000
            numbers[["_" in text for text in texts]] = np.nan
        return numbers


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return np.nan


PLAIN = Form()


def form_of(options: dict[str, Any]) -> Form:
    """The form that ``options`` of a table say, which are taken out of them."""
    names = [part.name for part in fields(Form) if part.name in options]
    return Form(**{name: options.pop(name) for name in names})


@dataclass(frozen=True)
class Table:
    """Some columns of a file.

    Attributes
    ----------
    path, form : of the file; of a frame "the frame".
    columns : by name, different texts, each row's code, and the numbers that the texts say.
    rows : (n,) the rows' numbers in the file; those with a missing cell may be left out.
    dropped : which ones were, in words; "" if none.
    """

    path: Path
    form: Form
    columns: dict[str, tuple[list[str], Array, Array]]
    rows: Array = field(repr=False)
    dropped: str = ""

    def __len__(self) -> int:
        return len(self.rows)

    def is_numeric(self, name: str) -> bool:
        """Whether a column holds numbers only."""
        return not np.isnan(self.columns[name][2]).any()

    def numbers(self, name: str) -> Array:
        """(n,) a column's finite numbers; ValueError for anything else."""
        texts, codes, numbers = self.columns[name]
        values = numbers[codes]
        is_invalid = ~np.isfinite(values)
        if is_invalid.any():
            k = int(np.argmax(is_invalid))
            text = texts[codes[k]]
            sign = f" (the decimal sign is {self.form.decimal!r})" * bool({*text} & {*",."})
            raise ValueError(
                f"column {name!r} of {self.path.name} must hold finite numbers, got {text!r} in "
                f"row {self.rows[k]}{sign}"
            )
        return values

    def categories(
        self, name: str, spelled: Callable[[str], str] = str.strip
    ) -> tuple[Array, tuple[str, ...]]:
        """(n,) codes of a column's values, and these in order: of numbers, if all are."""
        texts, codes, _ = self.columns[name]
        values = ordered({spelled(text) for text in texts}, self.form)
        code_of = {value: k for k, value in enumerate(values)}
        return np.array([code_of[spelled(text)] for text in texts])[codes], values

    def labels(self, name: str) -> tuple[Array, tuple[str, str]]:
        """(n,) y, and the ``spelling`` of y = 0 and of y = 1; see ``Form.pos_label``."""
        codes, values = self.categories(name, partial(spelling, form=self.form))
        if len(values) != 2:
            alone = " alone" if len(values) == 1 else ""
            raise ValueError(
                f"label column {name!r} of {self.path.name} must have two values, got "
                f"{listed([repr(value) for value in values], 5)}{alone}"
            )
        ordered = not np.isnan(self.form.numbers(values)).any()
        ordered |= values == ("False", "True")
        title, pos_label = f"label column {name!r} of {self.path.name}", self.form.pos_label
        pos_label = None if pos_label is None else spelling(pos_label, self.form)
        pos = pos_code(title, values, pos_label, ordered=ordered, option="--positive")
        return (codes == pos).astype(np.int64), (values[1 - pos], values[pos])


def spelling(value: object, form: Form = PLAIN) -> str:
    """1.0 as 1, TRUE and true as True, and any other text as it is written."""
    text = str(value).strip()
    if text.lower() in ("true", "false"):
        return text.capitalize()
    number = form.numbers([text])[0]
    return f"{number:.0f}" if form.decimal in text and number.is_integer() else text


def ordered(values: Iterable[str], form: Form = PLAIN) -> tuple[str, ...]:
    """In the order of numbers where all are numbers, else of texts."""
    texts = sorted(values)
    numbers = form.numbers(texts)
    return tuple(
        texts if np.isnan(numbers).any() else [texts[k] for k in np.argsort(numbers, kind="stable")]
    )


def read_table(
    source: Any,
    form: Form,
    roles: Roles,
    extra: Sequence[str] | None = (),
    rows: Iterator[Sequence[str]] | None = None,
) -> Table:
    """Read the columns of ``roles``, which must be different, and ``extra``; None: all that have
    a name. ``source``: a path, or a frame of pandas, Polars or Arrow. ``rows``: what
    :func:`table_rows` gives of it.

    Parquet by its suffix (.parquet, .pq), else text, compressed if the suffix is .gz. Where columns
    that are read have missing cells, ``form`` says what becomes of the rows; they are counted by
    the roles client and group. ValueError: the content does not fit. OSError: the file cannot be
    read.
    """
    path = table_path(source)
    rows = table_rows(source, form) if rows is None else rows
    names = [name.strip() for name in next(rows, ())]
    if not names:
        raise ValueError(f"{path.name} is empty")
    needed = _columns_to_read(names, path, roles, extra, form.sep)
    positions = list(map({name: k for k, name in enumerate(names)}.__getitem__, needed))
    text_codes, codes = [_Codes() for _ in needed], [array("q") for _ in needed]
    count = 0
    while block := list(islice(rows, BLOCK)):
        if {*map(len, block)} != {len(names)}:
            k, row = next((k, row) for k, row in enumerate(block, 1) if len(row) != len(names))
            raise ValueError(
                f"row {count + k} of {path.name} must have {len(names)} cells, as the header has, "
                f"got {len(row)}"
            )
        columns = list(zip(*block, strict=True))
        for texts, column_codes, position in zip(text_codes, codes, positions, strict=True):
            column_codes.extend(map(texts.__getitem__, columns[position]))
        count += len(block)
        cells(path.name, (count, len(needed)))
    if not count:
        raise ValueError(f"{path.name} has no rows below its header")
    columns = {
        name: (list(texts), np.array(column_codes), form.numbers([*texts]))
        for name, texts, column_codes in zip(needed, text_codes, codes, strict=True)
    }
    table = Table(path, form, columns, np.arange(1, count + 1))
    return _complete(table, [*roles.get("client", ()), *roles.get("group", ())])


def _columns_to_read(
    names: list[str], path: Path, roles: Roles, extra: Sequence[str] | None, sep: str
) -> list[str]:
    """The columns to read, each once; ValueError where one is not there, or has two roles."""
    role_columns = [(role, name) for role, columns in roles.items() for name in columns]
    taken = [name for _, name in role_columns]
    if extra is None:
        extra = [name for name in names if name and name not in taken]
    counts = Counter(names)
    for role, name in [*role_columns, *(("feature", name) for name in extra)]:
        if (count := counts[name]) == 1:
            continue
        problem = f"one column, got {count} of that name," if count else "a column"
        close = get_close_matches(name, names, 1) or [n for n in names if n.lower() == name.lower()]
        hint = f" (did you mean {close[0]!r}?)" if close and not count else ""
        separator = next((mark for mark in ";\t|, " if mark != sep and mark in names[0]), None)
        if len(names) == 1 and separator:
            hint = f" (is the separator {separator!r}? --sep)"
        header = listed([repr(name) for name in names])
        raise ValueError(f"{role} {name!r} must be {problem} of {path.name}; it has {header}{hint}")
    if len(set(taken)) < len(taken):
        *roles_before, last_role = roles
        by_role = {role: ", ".join(columns) for role, columns in roles.items()}
        raise ValueError(
            f"{', '.join(roles_before)} and {last_role} must be different columns, got {by_role}"
        )
    return list(dict.fromkeys([*taken, *extra]))


def table_rows(source: Any, form: Form = PLAIN) -> Iterator[Sequence[str]]:
    """The header and rows of a file or frame, one after the other; see :func:`read_table`."""
    path = table_path(source)
    unread, reader = f"{path.name} is not a readable table", None
    try:
        if not isinstance(source, (str, PathLike)):
            yield from frame_rows(source)
            return
        if path.suffix.lower() in PARQUET:
            yield from _parquet_rows(path)
            return
        opened = gzip.open if path.suffix.lower() == ".gz" else open
        with opened(path, "rt", newline="", encoding=form.encoding) as stream:
            lines = _lines(stream, unread)
            reader = csv.reader(lines, delimiter=form.sep, skipinitialspace=True, strict=True)
            yield from filter(None, reader)  # no empty lines
    except UnicodeDecodeError as error:
        where = _undecoded(error, reader.line_num if reader else 0, form)
        raise ValueError(f"{unread}: {where}") from None
    except csv.Error as error:
        raise ValueError(f"{unread}: {error} in line {reader and reader.line_num}") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{unread}: {error}") from None
    except OSError as error:
        raise OSError(f"cannot read {str(path)!r}: {error.strerror or error}") from error


def _lines(stream: TextIO, unread: str) -> Iterator[str]:
    """The lines of a text; ValueError for one without an end, as a device may have."""
    for number, line in enumerate(iter(lambda: stream.readline(MOST_LINE), ""), 1):
        if len(line) == MOST_LINE:
            raise ValueError(f"{unread}: line {number} has {MOST_LINE:,} characters or more")
        yield line


def _undecoded(error: UnicodeDecodeError, lines: int, form: Form) -> str:
    """Which byte after so many lines is not of the encoding, and where."""
    data = error.object
    if not lines and data[:2] in (b"\x1f\x8b", b"PK"):
        return "it is compressed; unpack it first, or let its name end in .gz if it is gzip's"
    line = lines + data[: error.start].count(b"\n") + 1
    byte = f"the byte 0x{data[error.start]:02x} in line {line}"
    name = form.encoding.removesuffix("-sig")
    return f"it must be text in the encoding {name}, got {byte}; see --encoding"


def _parquet_rows(path: Path) -> Iterator[Sequence[str]]:
    """The rows of a Parquet file, as :func:`table_rows` gives them; null is an empty text."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
        # what pandas keeps a table's row names in is no column
        names = [name for name in file.schema_arrow.names if not name.startswith("__index_level_")]
        yield names
        for batch in file.iter_batches(columns=names):
            columns = (column.to_pylist() for column in batch.columns)
            yield from zip(
                *(["" if v is None else str(v) for v in column] for column in columns), strict=True
            )
    except pa.ArrowException as error:
        raise ValueError(f"{path.name} is not a readable table: {error}") from error


class _Codes(dict[str, int]):
    """Numbers texts 0, 1, ... in the order in which they come."""

    def __missing__(self, text: str) -> int:
        self[text] = code = len(self)
        return code


def _complete(table: Table, by: Sequence[str]) -> Table:
    """The table without rows that miss a cell; ValueError if ``form`` does not drop them."""
    missing_rows = {}
    for name, (texts, codes, values) in table.columns.items():
        no_number = np.isnan(values)
        if not no_number.any():
            continue
        plain = [text.strip().lower() for text in texts]
        missing, odd = np.array([text == "" for text in plain]), np.isin(plain, NOT_THERE)
        if not no_number.all() and not (no_number & ~missing & ~odd).any():
            missing |= odd
        if missing.any():
            missing_rows[name] = missing[codes]
    if not missing_rows:
        return table
    is_incomplete = np.logical_or.reduce(list(missing_rows.values()))
    gaps = _gaps(table, missing_rows, is_incomplete, by)
    if table.form.missing == "error":
        raise ValueError(
            f"{table.path.name} must have no missing cell in the columns that are read, got {gaps} "
            "(--missing drop leaves these rows out)"
        )
    is_complete = ~is_incomplete
    if not is_complete.any():
        raise ValueError(f"{table.path.name} must have a row without a missing cell, got {gaps}")
    columns = {}
    for name, (texts, codes, values) in table.columns.items():
        used, code = np.unique(codes[is_complete], return_inverse=True)
        columns[name] = [texts[k] for k in used], code, values[used]
    dropped = f"Rows with a missing cell are left out: {gaps}."
    return Table(table.path, table.form, columns, table.rows[is_complete], dropped)


def _gaps(
    table: Table, missing_rows: dict[str, Array], is_incomplete: Array, by: Sequence[str]
) -> str:
    """How many rows miss a cell, the first ones of each column, and counts by client and group."""
    parts = []
    for name, missing in missing_rows.items():
        rows = list(map(str, table.rows[missing]))
        parts.append(f"{name!r} in row{'s' * (len(rows) > 1)} {listed(rows, FIRST)}")
    total = f"{int(is_incomplete.sum()):,} of {len(table):,} rows with one ({'; '.join(parts)})"
    if not by:
        return total
    values = [
        [texts[k].strip() or "missing" for k in codes[is_incomplete]]
        for texts, codes, _ in (table.columns[name] for name in by)
    ]
    counts = sorted(Counter(zip(*values, strict=True)).items())
    return f"{total}, by {' and '.join(map(repr, by))}: " + listed(
        [f"{' & '.join(cell)} {count:,}" for cell, count in counts]
    )
