"""Results as tables: a DataFrame, and what a notebook shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.checks import Array

if TYPE_CHECKING:
    import pandas as pd


class Tabular:
    """A result with ``_columns``, scalars or arrays of one length, and ``words`` for notebooks."""

    words: Any = ()
    _most_rows = 10

    def _columns(self) -> dict[str, ArrayLike]:
        raise TypeError(f"{type(self).__name__} has no columns")

    def to_frame(self) -> pd.DataFrame:
        """The numbers as a table."""
        import pandas as pd  # a second to load, and no solution needs it

        columns = self._columns()
        is_scalar = all(np.ndim(column) == 0 for column in columns.values())
        return pd.DataFrame(columns, index=[0] if is_scalar else None)

    def to_json(self) -> str:
        """The table as JSON: a list of its rows."""
        return str(self.to_frame().to_json(orient="records", double_precision=15))

    def _repr_html_(self) -> str:
        from html import escape

        settings: Any = {"index": False, "max_rows": self._most_rows}
        table = self.to_frame().to_html(**settings, float_format="{:.6g}".format)
        words = "".join(f"<p>{escape(line)}</p>\n" for line in self.words)
        return f"<p><code>{escape(repr(self))}</code></p>\n{table}\n{words}"


def numbered(name: str, values: Array) -> dict[str, ArrayLike]:
    """Columns name_0, name_1, ... of the last axis of ``values``."""
    return {f"{name}_{k}": values[..., k] for k in range(values.shape[-1])}
