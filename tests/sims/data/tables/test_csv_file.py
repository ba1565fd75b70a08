"""Tables that others wrote: what is read, encoded and told."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairfl.sims.data.tables.csv_file import categories, numbers, read_table, require_column
from fairfl.sims.data.tables.encode import codes_of, encode


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
        ("people.csv", b"a,b\n1,2,3\n1,2,3\n", "not a readable table: its rows are longer"),
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
    told = "score 's' must be one column, got 2 of that name, of people.csv"
    with pytest.raises(ValueError, match=told):
        require_column(frame, "score", "s", path)
    require_column(frame, "label", "y", path)


def test_numbers_written_as_texts_are_numbers():
    assert numbers(pd.DataFrame({"x": ["1", "2.5", "-1e3"]}), "x").tolist() == [1, 2.5, -1000]


def test_missing_values_of_every_kind_are_missing():
    whole = pd.array([1, None], dtype="Int64")
    for values in ([1, None], ["a", None], whole, [pd.Timestamp(0), pd.NaT]):
        with pytest.raises(ValueError, match=r"column 'x' has a missing value \(NaN\) in row 2"):
            categories(pd.DataFrame({"x": values}), "x")


def test_categories_sort_as_values_and_not_as_texts():
    """And as texts where kinds are mixed."""
    for values, expected, levels in (
        ([10, 9, 10, 2], [2, 1, 2, 0], ("2", "9", "10")),
        (pd.Series(["b", 1, "a"], dtype=object), [2, 0, 1], ("1", "a", "b")),
        (pd.Series(["1", 1, "a"], dtype=object), [0, 0, 1], ("1", "a")),
    ):
        codes, names = categories(pd.DataFrame({"x": values}), "x")
        assert codes.tolist() == expected and names == levels


FRAME = pd.DataFrame({"x": [2, 4, 3, 8], "flat": [5, 5, 5, 6], "kind": ["b", "a", None, "b"]})
TEST = np.array([False, False, False, True])


def test_numbers_are_scaled_by_the_training_rows():
    features, names = encode(FRAME, ["x", "flat"], [], TEST)
    assert names == ("x", "flat")
    # the test row is 3 training ranges above the minimum
    assert features.tolist() == [[0, 0], [1, 0], [0.5, 0], [3, 0]]


def test_categories_are_one_hot_in_sorted_order_and_a_missing_one_is_zero():
    features, names = encode(FRAME, [], ["kind"], TEST)
    assert names == ("kind=a", "kind=b")
    assert features.tolist() == [[0, 1], [1, 0], [0, 0], [0, 1]]


FILE = Path("f.csv")


def test_codes_follow_the_allowed_values():
    assert codes_of(FRAME, "x", (8, 4, 3, 2), FILE).tolist() == [3, 1, 2, 0]


@pytest.mark.parametrize(
    ("take", "message"),
    [
        (lambda: codes_of(FRAME, "kind", ("a", "b"), FILE), "got (None|nan) in row 3"),
        (
            lambda: codes_of(FRAME, "kind", ("b",), FILE),
            r"f.csv: kind must be one of \['b'\], got 'a' in row 2",
        ),
        (lambda: encode(FRAME, ["x", "kind"], [], TEST), "column 'kind' has a missing value"),
    ],
)
def test_what_does_not_fit_is_named_with_its_row(take, message: str):
    with pytest.raises(ValueError, match=message):
        take()
