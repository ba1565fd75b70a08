"""What studies share when they tell."""

import numpy as np
import pandas as pd
import pytest

from fairfl.studies.crosscheck import table_rows

TABLE = pd.DataFrame({"seed": [0, 1, 2, 1], "world": list("abab"), "x": [1.0, 2.0, 4.0, 8.0]})


@pytest.mark.parametrize(
    "seeds, said",
    [
        ([], "no runs"),
        ([3], "1 runs, seed 3"),
        ([2, 2, 3], "3 runs, seeds 2 to 3"),
        ([0, 2, 1], "3 runs, seeds 0 to 2"),
        ([5, 1, 2], "3 runs, seeds 1, 2, 5"),
    ],
)
def test_seeds_are_counted_once(seeds, said):
    assert table_rows.counted(pd.DataFrame({"seed": seeds}), "runs") == said


def test_series_do_not_align_by_their_index():
    """Of rows that were picked from tables: the first of each goes together."""
    table = table_rows.series("p", "n", "points", TABLE["x"][2:], [1, 2], low=np.array([0, None]))
    assert table["x"].tolist() == [4.0, 8.0] and table["y"].tolist() == [1.0, 2.0]
    assert table["low"].isna().tolist() == [False, True] and set(table["panel"]) == {"p"}
    part = pd.DataFrame({"disparity": [0.1], "accuracy": [0.9]}, index=[7])
    assert table_rows.points_of("p", "n", part)[["x", "y"]].to_numpy().tolist() == [[0.1, 0.9]]
