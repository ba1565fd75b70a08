"""Tables that others wrote: what is read, and what is told."""

import gzip
import os
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairfl.sims.data import table_file
from fairfl.sims.data.table_file import BLOCK, Form, ordered, read_table, table_rows

ROLES = {"score": ["s"], "label": ["y"]}
TEXT = "s,y\n0.5,yes\n2,no\n"


def written(folder: Path, text, name="people.csv", encoding="utf-8") -> Path:
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    return folder / name


def test_what_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(FileNotFoundError, match=r"no such file: .*people.csv"):
        read_table(tmp_path / "people.csv", Form(), ROLES)
    with pytest.raises(OSError, match="path must be a file, got the folder"):
        read_table(tmp_path, Form(), ROLES)
    file = written(tmp_path, TEXT)

    def refuse(*arguments: object, **named: object) -> None:
        raise PermissionError(13, "Permission denied")

    # root reads every file, so that a mode would not do
    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(OSError, match=r"cannot read .*people.csv.*: Permission denied"):
        read_table(file, Form(), ROLES)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (TEXT, {}),
        ("\ufeff" + TEXT, {}),
        ("\ufeff" + TEXT, {"encoding": "UTF8"}),
        ("\n" + TEXT.replace("\n", "\r\n\r\n"), {}),
        (' s , "y"\n 0.5,  yes \n"2",no', {}),
        ("s;y\n0,5;yes\n2;no\n", {"sep": ";", "decimal": ","}),
        (TEXT.replace(",", "\t"), {"sep": r"\t"}),
        (TEXT.replace(",", "|"), {"sep": "|", "encoding": "utf-16"}),
    ],
)
def test_the_same_people_in_other_forms(tmp_path: Path, text: str, options: dict[str, str]):
    form = Form(**options, pos_label="yes")
    table = read_table(
        written(tmp_path, text, encoding=options.get("encoding", "utf-8")), form, ROLES
    )
    codes, names = table.labels("y")
    assert table.numbers("s").tolist() == [0.5, 2] and len(table) == 2
    assert (codes.tolist(), names) == ([1, 0], ("no", "yes")) and not table.dropped


def test_labels_are_the_same_with_decimals_and_without(tmp_path: Path):
    """Also in one column, and as --positive; names of groups stay as they are written."""
    text = "s,y,a\n0.5,1.0,1\n2,0,1.0\n3,1,01\n"
    for sep, decimal in ((",", "."), (";", ",")):
        form = Form(sep=sep, decimal=decimal, pos_label=f"0{decimal}0")
        same = text.replace(",", ";").replace(".", ",") if sep == ";" else text
        table = read_table(written(tmp_path, same), form, ROLES | {"group": ["a"]})
        codes, names = table.labels("y")
        assert (codes.tolist(), names) == ([0, 1, 0], ("1", "0"))
        assert set(table.categories("a")[1]) == {"1", f"1{decimal}0", "01"}


def test_compressed_files_and_parquet_are_the_same(tmp_path: Path):
    files = [written(tmp_path, gzip.compress(TEXT.encode()), "people.csv.GZ")]
    frame = pd.read_csv(written(tmp_path, TEXT)).iloc[::-1]  # whose row names pandas keeps
    frame.to_parquet(tmp_path / "people.pq")
    for file in [*files, tmp_path / "people.pq"]:
        table = read_table(file, Form(), ROLES, None)
        assert sorted(table.numbers("s")) == [0.5, 2] and table.columns.keys() == {"s", "y"}


def test_random_tables_are_read_as_pandas_reads_them(tmp_path: Path):
    rng = np.random.default_rng(0)
    n = 3 * BLOCK + 7
    texts = ["a,b", 'say "x"', "two\nlines", "NA", "ü", "007", "7"]
    frame = pd.DataFrame({"s": rng.normal(size=n), "y": rng.choice(texts, n), "z": "left"})
    frame.to_csv(tmp_path / "people.csv", index=False)
    table = read_table(tmp_path / "people.csv", Form(), ROLES)
    codes, names = table.categories("y")
    assert table.numbers("s").tolist() == frame["s"].tolist() and names == tuple(sorted(texts))
    assert np.array(names)[codes].tolist() == frame["y"].tolist() and "z" not in table.columns
    rows = list(table_rows(tmp_path / "people.csv"))
    assert [row[1] for row in rows[1:]] == frame["y"].tolist() and rows[0] == ["s", "y", "z"]


def test_values_are_in_the_order_of_numbers_if_all_are():
    assert ordered({"10", "9", "-1"}) == ("-1", "9", "10")
    assert ordered({"10", "9", "b"}) == ("10", "9", "b")
    assert ordered({"0,5", "0,25"}, Form(sep=";", decimal=",")) == ("0,25", "0,5")


MISSING = "s,y,a,site\n0.5,1,f,n\n,0,f,n\nNA,1,m,s\n2,,NA,s\n1,0, ,n\n3,0,NA,n\n0.1,nan,f,s\n"
TOLD = (
    "5 of 7 rows with one ('s' in rows 2, 3; 'y' in rows 4, 7; 'a' in row 5), by 'site' and 'a': "
    "n & f 1, n & missing 1, s & NA 1, s & f 1, s & m 1"
)


def test_missing_cells_are_counted_and_left_out_if_asked(tmp_path: Path):
    """NA is no number, but a text as any other."""
    file, roles = written(tmp_path, MISSING), ROLES | {"client": ["site"], "group": ["a"]}
    with pytest.raises(ValueError) as error:
        read_table(file, Form(), roles)
    assert f"columns that are read, got {TOLD} (--missing drop" in str(error.value)
    table = read_table(file, Form(missing="drop"), roles)
    assert table.dropped == f"Rows with a missing cell are left out: {TOLD}."
    assert table.rows.tolist() == [1, 6] and table.numbers("s").tolist() == [0.5, 3]
    assert table.categories("site")[1] == ("n",) and table.labels("y")[1] == ("0", "1")
    assert table.categories("a")[1] == ("NA", "f")
    others = read_table(file, Form(), {"client": ["site"]})  # complete
    assert len(others) == 7 and not others.dropped
    file = written(tmp_path, "s,y\n,1\n2,\n")
    with pytest.raises(ValueError, match="must have a row without a missing cell, got 2 of 2"):
        read_table(file, Form(missing="drop"), ROLES)
    file = written(tmp_path, "s,y\n,1\n2,0\n0x,1\n3,0\n")  # rows keep their numbers
    with pytest.raises(ValueError, match="finite numbers, got '0x' in row 3"):
        read_table(file, Form(missing="drop"), ROLES).numbers("s")


def test_what_has_no_end_is_refused_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """As /dev/zero and /dev/urandom have none; a pipe cannot be read again to say what is wrong."""
    file = written(tmp_path, "s,y\n0.5,1\n" + 100 * "\0")
    with monkeypatch.context() as patch:
        patch.setattr(table_file, "MOST_LINE", 50)
        with pytest.raises(ValueError, match="is not a readable table: line 3 has 50 characters"):
            read_table(file, Form(), ROLES)
    with monkeypatch.context() as patch:
        patch.setattr("fairfl._support.checks.MOST_CELLS", 5)
        written(tmp_path, "s,y\n" + 3 * "0.5,1\n")
        with pytest.raises(ValueError, match="people.csv must be a table of at most .* got 3 x 2"):
            read_table(file, Form(), ROLES)
    out, into = os.pipe()
    with open(into, "wb") as stream:
        stream.write(b"s,y\n0.5,1\n0.5,\xff\n")
    try:
        with pytest.raises(ValueError, match="utf-8, got the byte 0xff in line 3; see --encoding"):
            read_table(f"/dev/fd/{out}", Form(), ROLES)
    finally:
        os.close(out)


def test_a_wide_table_is_read_in_linear_time(tmp_path: Path):
    names = ["s", "y", *(f"c{k}" for k in range(40_000))]  # the square of it took 40 seconds
    file = written(tmp_path, f"{','.join(names)}\n" + f"{','.join('1' for _ in names)}\n" * 2)
    start = time.process_time()
    assert len(read_table(file, Form(), ROLES, None).columns) == len(names)
    assert time.process_time() - start < 15.0
