"""What studies share when they tell."""

import numpy as np
import pandas as pd

from fairfl.studies.crosscheck import table_rows


def test_series_do_not_align_by_their_index():
    """Of rows that were picked from tables: the first of each goes together."""
    x, low = pd.Series([1.0, 2.0, 4.0, 8.0])[2:], np.array([0, None])
    table = table_rows.series("p", "n", "points", x, [1, 2], low=low)
    assert table["x"].tolist() == [4.0, 8.0] and table["y"].tolist() == [1.0, 2.0]
    assert table["low"].isna().tolist() == [False, True] and set(table["panel"]) == {"p"}
