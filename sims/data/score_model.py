"""Models of features, fitted behind a score or trained, kept beside a rule that decides by them.

It needs numpy alone, as ``fairfl apply`` does.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl._support.checks import listed
from fairfl._support.json_file import list_of, parsed, sealed, unsealed
from fairfl.sims.data.table_file import Table

FORMAT = "fairfl score model 1"
ARRAYS = "coefficients", "intercepts", "hidden_coefficients", "hidden_intercepts"


@dataclass(frozen=True)
class ScoreModel:
    """d logistic regressions on p features of a table, or networks with h hidden units (ReLU).

    Attributes
    ----------
    names : (d,) what each predicts, the first y; or of an ensemble whose model it is.
    features : (p,) columns and values, of a column of numbers "".
    coefficients, intercepts : (d, p) and (d,), of networks (d, h) and (d,).
    hidden : of networks the hidden units' coefficients (d, h, p) and intercepts (d, h).
    shares : (d,) of an ensemble, the clients' models, the chance that each one decides.
    title : what was trained, and by which algorithm.
    """

    names: tuple[str, ...]
    features: tuple[tuple[str, str], ...]
    coefficients: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    hidden: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    shares: tuple[float, ...] = ()
    title: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that a table must have."""
        return tuple(dict.fromkeys(column for column, _ in self.features))

    def __call__(self, table: Table) -> NDArray[np.float64]:
        """(n, d) chances of a table's rows; ValueError for a value that nobody had before."""
        inputs = self.design(table)[None]
        if self.hidden is not None:
            weights, offsets = self.hidden
            inputs = np.maximum(inputs @ weights.swapaxes(1, 2) + offsets[:, None], 0.0)
        z = (inputs @ self.coefficients[:, :, None])[..., 0].T + self.intercepts
        return 0.5 + 0.5 * np.tanh(0.5 * z)

    def design(self, table: Table) -> NDArray[np.float64]:
        """(n, p) the features of a table's rows."""
        values: dict[str, NDArray[np.float64] | NDArray[np.str_]] = {}
        for column in self.columns:
            levels = {value for name, value in self.features if name == column}
            if levels == {""}:
                values[column] = table.numbers(column)
                continue
            codes, names = table.categories(column)
            if new := sorted({*names} - levels):
                row = table.rows[np.flatnonzero(codes == names.index(new[0]))[0]]
                raise ValueError(
                    f"column {column!r} of {table.path.name} must hold values that the score's "
                    f"model was fitted to, got {new[0]!r} in row {row}"
                )
            values[column] = np.array(names)[codes]
        features = [
            (values[column] == value) if value else values[column]
            for column, value in self.features
        ]
        return np.stack(features, axis=1).astype(np.float64)

    def to_json(self) -> str:
        """Every number exactly, with the SHA-256 of all."""
        fields: dict[str, Any] = {"format": FORMAT, "names": self.names, "features": self.features}
        fields |= {name: getattr(self, name) for name in ("shares", "title") if getattr(self, name)}
        arrays = self.coefficients, self.intercepts, *(self.hidden or ())
        named = zip(ARRAYS, arrays, strict=False)  # the last two are of networks
        return sealed(fields | {name: array.tolist() for name, array in named})

    @classmethod
    def from_json(cls, text: str | bytes) -> "ScoreModel":
        """The inverse of :meth:`to_json`; ValueError for another text, or one that was changed."""
        data = parsed(text)
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise ValueError(f"a score's model must be JSON with format {FORMAT!r}")
        fields = {"shares": [], "title": "", **unsealed(data)}
        kinds = {"names": (str, "texts"), "features": (list, "lists"), "shares": (float, "numbers")}
        names, features, shares = (
            list_of(name, fields.get(name), (kind,), words) for name, (kind, words) in kinds.items()
        )
        kept = ARRAYS[: 4 if ARRAYS[2] in fields else 2]
        arrays = [np.array(list_of(n, fields.get(n), (list, float), "numbers")) for n in kept]
        d, p, h = len(names), len(features), arrays[0].shape[-1]
        shapes = [(d, h), (d,), (d, h, p), (d, h)] if kept[2:] else [(d, p), (d,)]
        if [array.shape for array in arrays] != shapes or len(shares) not in (0, d):
            raise ValueError(f"{listed(kept)} must have shapes {shapes}, and shares {d} numbers")
        hidden = (arrays[2], arrays[3]) if kept[2:] else None
        pairs = tuple((str(column), str(value)) for column, value in features)
        rest = hidden, tuple(shares), str(fields["title"])
        return cls(tuple(names), pairs, arrays[0], arrays[1], *rest)
