"""The models of features behind a score, kept beside a rule, so that it decides on new people.

It needs numpy alone, as ``fairfl apply`` does.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfl._support.json_file import list_of, parsed, sealed, unsealed
from fairfl.sims.data.table_file import Table

FORMAT = "fairfl score model 1"


@dataclass(frozen=True)
class ScoreModel:
    """d logistic regressions on p features of a table.

    Attributes
    ----------
    names : (d,) what each predicts; the first y.
    features : (p,) columns and values, of a column of numbers "".
    coefficients, intercepts : (d, p) and (d,).
    """

    names: tuple[str, ...]
    features: tuple[tuple[str, str], ...]
    coefficients: NDArray[np.float64]
    intercepts: NDArray[np.float64]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that a table must have."""
        return tuple(dict.fromkeys(column for column, _ in self.features))

    def __call__(self, table: Table) -> NDArray[np.float64]:
        """(n, d) chances of a table's rows; ValueError for a value that nobody had before."""
        x = self.design(table)
        return 0.5 + 0.5 * np.tanh(0.5 * (x @ self.coefficients.T + self.intercepts))

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
        numbers = {"coefficients": self.coefficients, "intercepts": self.intercepts}
        fields: dict[str, Any] = {"format": FORMAT, "names": self.names, "features": self.features}
        return sealed(fields | {name: values.tolist() for name, values in numbers.items()})

    @classmethod
    def from_json(cls, text: str | bytes) -> "ScoreModel":
        """The inverse of :meth:`to_json`; ValueError for another text, or one that was changed."""
        data = parsed(text)
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise ValueError(f"a score's model must be JSON with format {FORMAT!r}")
        fields = unsealed(data)
        rows = {
            name: list_of(name, fields.get(name), (list,), "lists")
            for name in ("features", "coefficients")
        }
        names = tuple(list_of("names", fields.get("names"), (str,), "texts"))
        features = tuple((str(column), str(value)) for column, value in rows["features"])
        coefficients, intercepts = np.array(rows["coefficients"]), np.array(fields["intercepts"])
        shapes = (len(names), len(features)), (len(names),)
        if (coefficients.shape, intercepts.shape) != shapes:
            raise ValueError(f"coefficients and intercepts must have shapes {shapes}")
        return cls(names, features, coefficients, intercepts)
