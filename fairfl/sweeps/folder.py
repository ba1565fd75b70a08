"""The folder of a sweep: what is swept, one file per unit, and the table of all."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairfl._support.extras import extras_named
from fairfl._support.json_file import read_json, sealed, unsealed
from fairfl._support.manifest import tell
from fairfl._support.whole_file import write_whole
from fairfl.sweeps.grid import columns, contents, digest, plain

if TYPE_CHECKING:
    import pyarrow as pa

SWEEP = "sweep.json"
"""File of the folder that describes the sweep."""
TABLE = "table.parquet"
"""File of the folder with the table of all units."""


Result = Mapping[str, Any]
"""Of a unit: ``rows`` of the table, or the message of its ``error``."""


@dataclass(frozen=True)
class Folder:
    """Results of units, by the SHA-256 of their parameters and of the files that these name.

    What was altered since it was written counts as missing, and is told. Each file is read once, so
    that a result is kept by the content that its sweep began with.
    """

    path: Path
    digests: dict[str, dict[str, str]] = field(default_factory=dict, compare=False, repr=False)

    def open(self, description: Mapping[str, object]) -> None:
        """Make the folder, or go on in it; ValueError where it holds another sweep."""
        file = self.path / SWEEP
        if file.is_file():
            differing = {k: v for k, v in self.description().items() if description.get(k) != v}
            if differing:
                raise ValueError(
                    f"{self.path} holds another sweep: its {', '.join(differing)} differ; give "
                    "another folder, or remove this one"
                )
            return
        self.path.mkdir(parents=True, exist_ok=True)
        if any(self.path.iterdir()):
            raise ValueError(f"{self.path} must be an empty folder, or that of this sweep")
        write_whole(file, sealed(description))

    def description(self) -> dict[str, object]:
        """What is swept."""
        file = self.path / SWEEP
        if not file.is_file():
            raise ValueError(f"{self.path} must be the folder of a sweep, got none there")
        try:
            return unsealed(read_json(file))
        except ValueError as error:
            raise ValueError(f"{file} was altered: {error}") from None

    def file(self, unit: Mapping[str, object]) -> Path:
        """Where the result of a unit is."""
        files = contents(unit, self.digests)
        name = digest([unit, files] if files else unit)
        return self.path / "units" / name[:2] / f"{name[2:40]}.json"

    def result(self, unit: Mapping[str, object]) -> Result | None:
        """The result of a unit, None where there is none."""
        file = self.file(unit)
        try:
            record = unsealed(read_json(file))
            if "rows" in record or "error" in record:
                return record
        except FileNotFoundError:
            return None
        except ValueError:
            pass
        tell([file])
        return None

    def keep(self, unit: Mapping[str, object], result: Result) -> None:
        """Write the result of a unit."""
        write_whole(self.file(unit), sealed(result))


def results(
    folders: Sequence[Folder], units: Iterable[Mapping[str, object]]
) -> Iterator[Result | None]:
    """The results of units in their order, from the first folder that has one."""
    for unit in units:
        yield next((record for f in folders if (record := f.result(unit)) is not None), None)


def counted(folders: Sequence[Folder], units: Sequence[Mapping[str, object]]) -> dict[str, Any]:
    """Numbers of units, of those done, failed and missing; failures' messages by frequency."""
    counts, errors = Counter[str](), Counter[str]()
    for record in results(folders, units):
        if record is None:
            counts["missing"] += 1
        elif "error" in record:
            counts["failed"] += 1
            errors[record["error"]] += 1
        else:
            counts["done"] += 1
    kinds = {kind: counts[kind] for kind in ("done", "failed", "missing")}
    return {"units": len(units), **kinds, "errors": dict(errors.most_common())}


def table(
    folders: Sequence[Folder],
    units: Sequence[Mapping[str, object]],
    file: Path,
    which: Sequence[int] | None = None,
) -> int:
    """Write the results of all units, or of those of the numbers ``which``, as one tidy Parquet
    file, and return how many are missing.

    Columns are ``unit`` (its number), the parameters, what was found, and ``error``. A unit has as
    many rows as its result, a failed one has one. The bytes depend on the results alone.
    """
    with extras_named():
        import pyarrow as pa
        import pyarrow.parquet as pq

    rows, missing = list[dict[str, object]](), 0
    numbers = range(len(units)) if which is None else which
    records = results(folders, (units[number] for number in numbers))
    for number, record in zip(numbers, records, strict=True):
        if record is None:
            missing += 1
            continue
        parameters = {name: _cell(value) for name, value in columns(units, number).items()}
        for row in record.get("rows", [{}]):
            values = {name: _cell(value) for name, value in row.items()}
            error = {"error": record.get("error")}
            rows.append({"unit": number} | parameters | values | error)
    names = list(dict.fromkeys(name for row in rows for name in row if name != "error"))
    arrays = {name: _column([row.get(name) for row in rows]) for name in names}
    arrays["error"] = pa.array([row["error"] for row in rows], pa.string())
    write_whole(file, partial(pq.write_table, pa.table(arrays)))
    return missing


def _column(values: list[object]) -> "pa.Array":
    """Values as a column; numbers of two kinds are floats, and other mixtures text."""
    import pyarrow as pa

    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        values = [float(value) if isinstance(value, (int, float)) else None for value in values]
    elif len(kinds) > 1:
        values = [None if v is None else v if isinstance(v, str) else _text(v) for v in values]
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if value is None else _text(value) for value in values])


def _cell(value: object) -> object:
    """Scalars and lists of numbers as they are, other data as JSON."""
    if (
        isinstance(value, dict)
        or isinstance(value, list)
        and not all(isinstance(element, (int, float)) for element in value)
    ):
        return _text(value)
    return value


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=plain)


Progress = Callable[[int, int], None]
"""Called with the number of units that are done, and of all units."""
