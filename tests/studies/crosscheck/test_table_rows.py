"""What studies share when they tell."""

import numpy as np
import pandas as pd

from fairfl.studies.crosscheck import table_rows

TABLE = pd.DataFrame({"seed": [0, 1, 2, 1], "world": list("abab"), "x": [1.0, 2.0, 4.0, 8.0]})


def test_series_do_not_align_by_their_index():
    """Of rows that were picked from tables: the first of each goes together."""
    table = table_rows.series("p", "n", "points", TABLE["x"][2:], [1, 2], low=np.array([0, None]))
    assert table["x"].tolist() == [4.0, 8.0] and table["y"].tolist() == [1.0, 2.0]
    assert table["low"].isna().tolist() == [False, True] and set(table["panel"]) == {"p"}
