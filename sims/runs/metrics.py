"""Measures of a run as tables, written to Parquet in parts that end at checkpoints."""

import io
import re
from collections.abc import Collection
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import ArrayLike

from fairfl._support.manifest import sha256
from fairfl._support.whole_file import write_whole


def _schema(*parts: tuple[str, str]) -> pa.Schema:
    """A schema from pairs of a type and the names of its columns, separated by blanks."""
    pairs = ((name, kind) for kind, names in parts for name in names.split())
    return pa.schema([(name, pa.type_for_alias(kind)) for name, kind in pairs])


ROUNDS = _schema(
    ("int64", "round replicate chosen dropouts stragglers received non_finite bad_losses steps"),
    ("int64", "samples loss_samples bytes_down bytes_up"),
    ("float64", "mean_loss max_loss step_norm"),
)
"""A row a round and replicate: who was chosen, lost, slow and received; updates and losses that
were not finite; SGD steps, samples whose gradient was taken, and samples whose loss alone was;
bytes of models sent to all clients, and of updates, losses and reports that came back; p-weighted
and largest F_k(w^t) where an algorithm asked for losses, else null; length of the server's step.
"""

CLIENTS = _schema(
    ("int64", "round replicate"),
    ("string", "part model"),
    ("int64", "client samples"),
    ("float64", "loss accuracy"),
)
"""A row a client, part, model and replicate, after so many rounds: mean loss, share of samples
classified rightly (null without classes). Without samples both are null. The model is "global", or
"personal" for the client's own; an ensemble has personal models alone.
"""

TABLES = {"rounds": ROUNDS, "clients": CLIENTS}
PART = re.compile(r"(rounds|clients)-(\d{8})-(\d{8})\.parquet")


class Metrics:
    """Rows of the two tables, in memory until they are flushed to a folder.

    ``parts`` are the files of a folder so far, with their SHA-256.
    """

    def __init__(self) -> None:
        self.rounds: list[dict[str, float]] = []
        self.clients: list[dict[str, ArrayLike | None]] = []
        self.parts: dict[str, str] = {}

    def table(self, name: str) -> pa.Table:
        """The rows in memory, ``name`` "rounds" or "clients"."""
        if name == "rounds":
            return pa.Table.from_pylist(self.rounds, schema=ROUNDS)
        if not self.clients:
            return CLIENTS.empty_table()
        arrays = [
            [
                np.broadcast_to(np.asarray(row[name]), np.size(np.asarray(row["client"])))
                for row in self.clients
            ]
            for name in CLIENTS.names
        ]
        columns = [pa.array(np.concatenate(parts), from_pandas=True) for parts in arrays]
        return pa.table(columns, schema=CLIENTS)

    def flush(self, folder: Path, first: int, last: int) -> None:
        """Write the rows of rounds first..last-1, and drop them; same rows, same bytes."""
        for name in TABLES:
            table = self.table(name)
            if table.num_rows:
                path = folder / f"{name}-{first:08d}-{last:08d}.parquet"
                content = io.BytesIO()
                pq.write_table(table, content, compression="zstd")
                write_whole(path, content.getvalue(), sync=True)
                self.parts[path.name] = sha256(content.getvalue())
        self.rounds.clear()
        self.clients.clear()


def parts(folder: Path) -> list[Path]:
    """The files of all tables, in order."""
    return [file for file in sorted(folder.glob("*.parquet")) if PART.fullmatch(file.name)]


def discard_but(folder: Path, names: Collection[str]) -> None:
    """Remove all other parts: they were written, and the checkpoint that covers them was not."""
    for file in parts(folder):
        if file.name not in names:
            file.unlink()


def read(folder: Path, name: str) -> pd.DataFrame:
    """All parts of a table, in order."""
    tables = [
        pq.read_table(file, schema=TABLES[name])
        for file in parts(folder)
        if file.name.startswith(name)
    ]
    return (pa.concat_tables(tables) if tables else TABLES[name].empty_table()).to_pandas()
