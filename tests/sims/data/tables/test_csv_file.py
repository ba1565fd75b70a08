"""Tables that others wrote: what is read, encoded and told."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairfl.sims.data.tables.csv_file import categories, numbers, read_table, require_column
from fairfl.sims.data.tables.encode import codes_of, encode, require


def test_an_absent_file_and_a_folder(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match="no such file: .*people.csv"):
        read_table(tmp_path / "people.csv")
    with pytest.raises(OSError, match="path must be a file, got the folder"):
        read_table(tmp_path)


def test_a_file_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "people.csv").write_text("a\n1\n")

    def refuse(*arguments: object, **named: object) -> None:
        raise PermissionError(13, "Permission denied")

    # root reads every file, so that a mode would not do
    monkeypatch.setattr(pd, "read_csv", refuse)
    with pytest.raises(OSError, match="cannot read .*people.csv.*: Permission denied"):
        read_table(tmp_path / "people.csv")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("people.csv", b"", "people.csv' is empty"),
        ("people.csv", b"\n\n", "people.csv' is empty"),
        ("people.csv", b"a,b\n", "people.csv' has no rows below its header"),
        ("people.csv", b"a,b\n1,2\n1,2,3\n", "people.csv' is not a readable table: "),
        (
            "people.csv",
            b"a,b\n1,2,3\n1,2,3\n",
            "people.csv' is not a readable table: its rows are longer",
        ),
        ("people.csv", b"a,b\n\xff\xfe,2\n", "people.csv' is not a readable table: .*utf-8"),
        ("people.csv", b'a,b\n"1,2\n', "people.csv' is not a readable table: "),
        ("people.parquet", b"a,b\n1,2\n", "people.parquet' is not a readable table: "),
        ("people.parquet", b"", "people.parquet' is not a readable table: "),
    ],
)
def test_what_is_no_table_is_told(tmp_path: Path, name: str, content: bytes, message: str):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_table(tmp_path / name)


def test_spaces_and_a_byte_order_mark_do_not_hurt(tmp_path: Path):
    (tmp_path / "people.csv").write_bytes(b"\xef\xbb\xbfs, y\n1, yes\n")
    frame = read_table(tmp_path / "people.csv")
    assert list(frame.columns) == ["s", "y"]
    assert frame["y"].tolist() == ["yes"]


def test_a_name_given_twice_is_no_column(tmp_path: Path):
    path = tmp_path / "people.csv"
    path.write_text("s,y,s\n1,0,2\n")
    frame = read_table(path)
    with pytest.raises(
        ValueError, match="score 's' must be one column, got 2 of that name, of people.csv"
    ):
        require_column(frame, "score", "s", path)
    require_column(frame, "label", "y", path)


def test_numbers_written_as_texts_are_numbers():
    assert numbers(pd.DataFrame({"x": ["1", "2.5", "-1e3"]}), "x").tolist() == [1, 2.5, -1000]


def test_missing_values_of_every_kind_are_missing():
    for values in (
        [1, None],
        ["a", None],
        pd.array([1, None], dtype="Int64"),
        [pd.Timestamp(0), pd.NaT],
    ):
        with pytest.raises(ValueError, match=r"column 'x' has a missing value \(NaN\) in row 2"):
            categories(pd.DataFrame({"x": values}), "x")


def test_categories_sort_as_values_and_not_as_texts():
    codes, names = categories(pd.DataFrame({"x": [10, 9, 10, 2]}), "x")
    assert codes.tolist() == [2, 1, 2, 0]
    assert names == ("2", "9", "10")


def test_mixed_kinds_are_compared_as_texts():
    codes, names = categories(pd.DataFrame({"x": pd.Series(["b", 1, "a"], dtype=object)}), "x")
    assert codes.tolist() == [2, 0, 1]
    assert names == ("1", "a", "b")
    codes, names = categories(pd.DataFrame({"x": pd.Series(["1", 1, "a"], dtype=object)}), "x")
    assert codes.tolist() == [0, 0, 1]
    assert names == ("1", "a")


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
