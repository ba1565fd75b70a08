"""Outcomes in one file, a line a claim: the committed record, and that of a run to resume."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairfl._support.json_file import read_json
from fairfl._support.manifest import sha256
from fairfl._support.whole_file import write_whole

NAME = "record.json"
COMMITTED = Path(__file__).with_name(NAME)
"""Written by ``fairfl claims check --record``, never by hand."""

Row = dict[str, Any]
"""An outcome as JSON data, see :meth:`fairfl.claims.outcome.Outcome.to_json`."""


class Record:
    """The rows of a file by id; the file need not exist.

    The ``key`` of a row is a digest of the definitions that the claim uses and of the row: where
    either has changed the row does not count. A forger who computes it anew still has to forge the
    certificates, which ``fairfl claims show`` verifies.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self.rows: dict[str, Row] = read_json(file, "record of claims") if file.is_file() else {}

    def current(self, id: str, definitions: str) -> Row | None:
        """The row of a claim, None where there is none of these definitions (their digest)."""
        row = self.rows.get(id)
        return row if row and row.get("key") == _key(id, definitions, row) else None

    def write(self, id: str, definitions: str, row: Mapping[str, object]) -> None:
        """Write a row in one step: readers see the old file or the new one, never a part.

        What other processes wrote meanwhile stays; of two that write at the same moment one row may
        be lost, and its claim is checked again.
        """
        row = {**row, "key": _key(id, definitions, row)}
        if self.rows.get(id) == row:
            return
        rows = Record(self.file).rows | {id: row}
        self.rows = dict(sorted(rows.items()))
        lines = (
            f"{json.dumps(id)}: {json.dumps(row, ensure_ascii=False)}"
            for id, row in self.rows.items()
        )
        write_whole(self.file, "{\n" + ",\n".join(lines) + "\n}\n")


def _key(id: str, definitions: str, row: Mapping[str, object]) -> str:
    content = {name: value for name, value in row.items() if name != "key"}
    text = json.dumps([id, definitions, content], sort_keys=True)
    return sha256(text.encode())[:16]
