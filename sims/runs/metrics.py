"""Measures of a run as tables, which checkpoints hold as Parquet."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import ArrayLike

COUNTS = "round replicate chosen dropouts stragglers received non_finite bad_losses steps samples "
COUNTS += "loss_samples bytes_down bytes_up"
ROUNDS = pa.schema(
    dict.fromkeys(COUNTS.split(), pa.int64())
    | dict.fromkeys(("mean_loss", "max_loss", "step_norm"), pa.float64())
)
"""A row a round and replicate: who was chosen, lost, slow and received; updates and losses that
were not finite; SGD steps, samples whose gradient was taken, and samples whose loss alone was;
bytes of models sent to all clients, and of updates, losses and reports that came back; p-weighted
and largest F_k(w^t) where an algorithm asked for losses, else null; length of the server's step.
"""

CLIENTS = pa.schema(
    dict.fromkeys(("round", "replicate"), pa.int64())
    | dict.fromkeys(("part", "model"), pa.string())
    | dict.fromkeys(("client", "samples"), pa.int64())
    | dict.fromkeys(("loss", "accuracy"), pa.float64())
)
"""A row a client, part, model and replicate, after so many rounds: mean loss, share of samples
classified rightly (null without classes). Without samples both are null. The model is "global", or
"personal" for the client's own; an ensemble has personal models alone.
"""

TABLES = {"rounds": ROUNDS, "clients": CLIENTS}


class Metrics:
    """The two tables: new rows, and ``earlier`` ones."""

    def __init__(self) -> None:
        self.rounds: list[dict[str, float]] = []
        self.clients: list[dict[str, ArrayLike | None]] = []
        self.earlier = {name: schema.empty_table() for name, schema in TABLES.items()}

    def table(self, name: str) -> pa.Table:
        """All rows, ``name`` "rounds" or "clients"."""
        return pa.concat_tables([self.earlier[name], self._new(name)]).combine_chunks()

    def _new(self, name: str) -> pa.Table:
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

    def to_parquet(self) -> dict[str, bytes]:
        """Both tables by name; the same rows give the same bytes."""
        self.earlier = {name: self.table(name) for name in TABLES}
        self.rounds.clear()
        self.clients.clear()
        contents = {name: io.BytesIO() for name in TABLES}
        for name, content in contents.items():
            pq.write_table(self.earlier[name], content, compression="zstd")
        return {name: content.getvalue() for name, content in contents.items()}

    def read(self, contents: dict[str, bytes]) -> None:
        """Go on from tables that ``to_parquet`` gave; none: from the beginning."""
        for name, content in contents.items():
            self.earlier[name] = pq.read_table(io.BytesIO(content), schema=TABLES[name])
