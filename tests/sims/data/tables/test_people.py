import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fairfl.sims.data.table_file import Form
from fairfl.sims.data.tables import read_people

ROLES: dict[str, Any] = {"score": "s", "label": "y", "group": "a", "client": "site"}
PARTS: dict[str, Any] = {"label": "y", "group": "a", "client": "site"}
LINES = ["s,y,a,site", "0.5,1,f,north", "-2,0,m,south", "3e1,1,m,south", "0.25,0,NA,north"]


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def saved(folder: Path, frame: pd.DataFrame) -> Path:
    frame.to_csv(folder / "people.csv", index=False)
    return folder / "people.csv"


def people(n: int = 200) -> pd.DataFrame:
    """A table with two features that tell the label, and a group and a site."""
    rng = np.random.default_rng(0)
    x, colour = rng.normal(size=n), rng.choice(["blue", "red"], n)
    y = (x + 2 * (colour == "red") + rng.normal(size=n) > 1).astype(int)
    roles = {"y": y, "a": rng.choice(["f", "m"], n), "site": rng.integers(7, 9, n)}
    return pd.DataFrame({"x": x, "colour": colour} | roles)


def test_a_file_with_every_column(tmp_path: Path):
    data = read_people(write(tmp_path / "people.csv", LINES), **ROLES)
    assert data.features.tolist() == [[0.5], [-2], [30], [0.25]] and data.feature_names == ("s",)
    assert data.label.tolist() == [1, 0, 1, 0] and data.label_names == ("0", "1")
    assert data.group.tolist() == [1, 2, 2, 0]
    assert data.group_names == ("NA", "f", "m")  # NA is a text as any other
    assert data.client.tolist() == [0, 1, 1, 0] and data.client_names == ("north", "south")
    columns = {role: (column,) for role, column in (ROLES | {"features": "s"}).items()}
    assert data.columns == columns and not data.is_test.any() and len(data) == 4


def test_groups_of_several_columns_are_the_combinations_that_somebody_has(tmp_path: Path):
    frame = people()
    frame["b"] = np.where(frame["a"] == "f", "x", np.where(frame["x"] > 0, "x", "y"))
    file = saved(tmp_path, frame)
    data = read_people(file, label="y", group=["a", "b"], client="site")
    assert data.group_names == ("f & x", "m & x", "m & y")
    both = frame["a"] + " & " + frame["b"]
    assert [data.group_names[code] for code in data.group] == both.tolist()
    assert data.columns["group"] == ("a", "b") and data.columns["features"][-2:] == ("a", "b")
    assert data.feature_names[-4:] == ("a=f", "a=m", "b=x", "b=y")
    with pytest.raises(ValueError, match="group must name at least one column, got none"):
        read_people(file, label="y", group=[])
    with pytest.raises(ValueError, match="must be different columns, got .*'group': 'a, a'"):
        read_people(file, label="y", group=["a", "a"])


def test_without_a_client_column_all_are_of_one(tmp_path: Path):
    file = write(tmp_path / "people.csv", LINES)
    alone = read_people(file, score="s", label="y", group="a")
    assert alone.client.tolist() == [0, 0, 0, 0] and alone.client_names == ("all",)


@pytest.mark.parametrize(
    ("written", "names"),
    [
        (("ja", "nein"), ("nein", "ja")),
        (("1.0", "0.0"), ("0", "1")),
        (("True", "False"), ("False", "True")),
        (("1", "-1"), ("-1", "1")),
    ],
)
def test_a_label_of_two_values(tmp_path: Path, written: tuple[str, str], names: tuple[str, str]):
    lines = ["s,y,a", f"1,{written[0]},f", f"2,{written[1]},m", f"3,{written[0]},m"]
    file, roles = write(tmp_path / "people.csv", lines), {"score": "s", "label": "y", "group": "a"}
    data = read_people(file, **roles, form=Form(pos_label=written[0]))
    if written[0] != "ja":
        assert (read_people(file, **roles).label == data.label).all()
    assert data.label.tolist() == [1, 0, 1]
    assert data.label_names == names


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"client": "a"}, "score, label, group and client must be different columns"),
        ({"features": ["s"]}, "features must not be given together with a score, which"),
        ({"blind": True}, "blind must not be given together with a score, which is as it is, got"),
        ({"score": None, "categorical": True}, "categorical goes with one score, got score=None"),
        ({"score": None, "features": ["s", "z"]}, "feature 'z' must be a column of people.csv"),
        ({"score": None, "features": ["y"]}, "features must not hold the label column 'y'"),
        ({"score": None, "features": []}, "people.csv must have at least one feature column, got"),
    ],
)
def test_a_wrong_column_is_named(tmp_path: Path, change: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=re.escape(message)):
        read_people(write(tmp_path / "people.csv", LINES), **{**ROLES, **change})


def test_a_group_column_of_names_of_people_is_refused(tmp_path: Path):
    file = write(tmp_path / "p.csv", ["s,y,a", *(f"{k},{k % 2},g{k}" for k in range(101))])
    with pytest.raises(ValueError, match="group column 'a' must have at most 100 values, got 101"):
        read_people(file, score="s", label="y", group="a")


def test_features_are_all_other_columns_and_the_group(tmp_path: Path):
    frame = people()
    frame.to_csv(tmp_path / "people.csv")  # with row numbers, in a column without a name
    data = read_people(tmp_path / "people.csv", label="y", group="a", client="site")
    alone = np.column_stack([frame["x"], frame["colour"] == "blue", frame["colour"] == "red"])
    both = np.column_stack([alone, frame["a"] == "f", frame["a"] == "m"])
    np.testing.assert_allclose(data.features, both, atol=1e-12)
    assert data.feature_names == ("x", "colour=blue", "colour=red", "a=f", "a=m")
    assert data.columns["features"] == ("x", "colour", "a") and data.client_names == ("7", "8")
    blind = read_people(tmp_path / "people.csv", label="y", group="a", client="site", blind=True)
    np.testing.assert_allclose(blind.features, alone, atol=1e-12)
    assert blind.columns["features"] == ("x", "colour")


def test_features_are_those_that_are_named(tmp_path: Path):
    frame = people()
    frame.to_parquet(tmp_path / "people.parquet")
    # each once
    file, roles = tmp_path / "people.parquet", {"label": "y", "group": "a"}
    data = read_people(file, features=["x", "a", "x"], **roles)
    expected = np.column_stack([frame["x"], frame["a"] == "f", frame["a"] == "m"])
    np.testing.assert_array_equal(data.features, expected)
    blind = read_people(file, features=["a", "x"], blind=True, **roles)
    assert blind.columns["features"] == ("a", "x")


@pytest.mark.parametrize(
    ("rows", "values", "named", "taken"),
    [
        (22, 20, False, True),
        (22, 21, False, False),
        (200, 100, False, True),
        (200, 101, False, False),
        (200, 200, True, True),
        (1200, 1000, True, True),
        (1200, 1001, True, False),
    ],
)
def test_an_identifier_is_no_feature_unless_named(tmp_path, rows, values, named, taken):
    """20 values are taken, or as many as half of the rows; if the column is named, 1,000."""
    roles = PARTS | {"features": ["x", "name"] if named else None}
    frame = people(rows).assign(name=[f"person {i % values}" for i in range(rows)])
    file = saved(tmp_path, frame)
    if taken:
        data = read_people(file, **roles)
        assert sum(name.startswith("name=") for name in data.feature_names) == values
        return
    message = f"column 'name' has {values} different values in {rows} rows, .* looks like an ident"
    with pytest.raises(ValueError, match=message):
        read_people(file, **roles)


DAYS = pd.date_range("2024-01-30", periods=200)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (DAYS.astype(str), "holds dates, such as '2024-01-30'"),
        (DAYS.strftime("%d/%m/%Y %H:%M"), "holds dates, such as '01/02/2024 00:00'"),
        (["2023-1-9", "2024-12-31"] * 100, "holds dates, such as '2023-1-9'"),
        (["none"] * 120 + [f"came {k} times" for k in range(80)], "81 different"
         " values in 200 rows, 80 of them once, and looks like an identifier or free text"),
        ([f"ward {k % 40}" for k in range(200)], ""),
        (["1.2.3", "10.0"] * 100, ""),
    ],
)  # fmt: skip
def test_dates_and_free_text_are_questioned(tmp_path, column, words):
    """Unless they are named; the columns to use are listed."""
    file = saved(tmp_path, people().assign(z=column))
    if words:
        message = (
            f"column 'z' .*{re.escape(words)}.*: name the features by --feature .x, colour., or"
        )
        with pytest.raises(ValueError, match=message):
            read_people(file, **PARTS)
    names = read_people(file, **PARTS, features=["z"] if words else None).feature_names
    assert sum(name.startswith("z=") for name in names) == len(set(column))


def test_columns_of_one_value_are_left_out_and_noted(tmp_path):
    plain = read_people(saved(tmp_path, people()), **PARTS)
    file = saved(tmp_path, people().assign(country="US", k=1))
    data = read_people(file, **PARTS)
    assert data.feature_names == plain.feature_names and (data.features == plain.features).all()
    assert data.note == "Left out of the features, of one value: country, k." and not plain.note
    with pytest.raises(ValueError, match="one feature column, got none .Left out of the features"):
        read_people(file, **PARTS, features=["k"])


def test_parts_of_people_are_months_or_values(tmp_path):
    """In the order of time; of a column with a role, too."""
    frame = people().assign(day=DAYS.astype(str))
    file = saved(tmp_path, frame)
    data = read_people(file, **PARTS, by="day", features=["x"])
    assert data.by is not None and data.feature_names[0] == "x"
    assert data.by_names == tuple(sorted(frame["day"].str[:7].unique()))
    assert [data.by_names[k] for k in data.by] == frame["day"].str[:7].tolist()
    assert np.size(data.select(data.by == 0).by) == 2
    data = read_people(file, **PARTS, by="site", score="x")
    assert (data.by == data.client).all() and data.by_names == data.client_names
