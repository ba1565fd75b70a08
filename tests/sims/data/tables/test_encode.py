from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairfl.sims.data.tables.encode import codes_of, encode, require

FRAME = pd.DataFrame({"x": [2, 4, 3, 8], "flat": [5, 5, 5, 6], "kind": ["b", "a", None, "b"]})
TEST = np.array([False, False, False, True])


def test_numbers_are_scaled_by_the_training_rows():
    features, names = encode(FRAME, ["x", "flat"], [], TEST)
    assert names == ("x", "flat")
    assert features.tolist() == [
        [0, 0],
        [1, 0],
        [0.5, 0],
        [3, 0],
    ]  # the test row is 3 training ranges above the minimum


def test_categories_are_one_hot_in_sorted_order_and_a_missing_one_is_zero():
    features, names = encode(FRAME, [], ["kind"], TEST)
    assert names == ("kind=a", "kind=b")
    assert features.tolist() == [[0, 1], [1, 0], [0, 0], [0, 1]]


def test_codes_follow_the_allowed_values():
    assert codes_of(FRAME, "x", (8, 4, 3, 2), Path("f.csv")).tolist() == [3, 1, 2, 0]


@pytest.mark.parametrize(
    ("allowed", "message"),
    [
        (("a", "b"), "got (None|nan) in row 3"),
        (("b",), r"f.csv: kind must be one of \['b'\], got 'a' in row 2"),
    ],
)
def test_a_value_that_is_not_allowed_is_named_with_its_row(allowed: tuple[str, ...], message: str):
    with pytest.raises(ValueError, match=message):
        codes_of(FRAME, "kind", allowed, Path("f.csv"))


def test_a_missing_column_and_an_empty_table_are_told():
    with pytest.raises(ValueError, match="f.csv must have the columns x, y, z; missing: y, z"):
        require(FRAME, ["x", "y", "z"], [], Path("f.csv"))
    with pytest.raises(ValueError, match="f.csv must have at least one row, got none"):
        require(FRAME.iloc[:0], ["x"], [], Path("f.csv"))


def test_a_text_among_numbers_is_named_with_its_row():
    with pytest.raises(ValueError, match="f.csv: kind must be a number, got 'b' in row 1"):
        require(FRAME, [], ["x", "kind"], Path("f.csv"))
