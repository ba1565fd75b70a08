"""Summaries that a database counts are those of ``summarize``, cell by cell."""

import csv
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from fairfl.sims.data.summary import read_summary, summarize
from fairfl.sims.data.summary_sql import query
from fairfl.sims.data.table_file import Form

EDGES = [k / 20 for k in range(21)]
HEADER = ("s", "p", "kind", 'the "label"', "a'b")
ROLES = {
    "label": HEADER[3],
    "group": HEADER[4],
    "site": "No'rth \\ 1",
    "form": Form(pos_label="yes"),
}
QUESTIONS = {
    "levels": {"score": "s", "edges": EDGES},
    "names": {"score": "kind", "edges": []},
    "two scores": {"score": ["s", "p"], "edges": [[0, 0.3, 1], [-1e-9, 0.25, 0.5, 1]]},
}


def people():
    """Rows with scores on edges and beside them, and texts that a database may take for others."""
    rng, near = np.random.default_rng(0), [*EDGES, *np.nextafter(EDGES[1:], 0), 6 * 0.05]
    choices = near, near[:20], ["1", " y", "é;"], ["yes", "no"], ["01", "1", "O'Neil"]
    return list(zip(*(rng.choice(column, 900).tolist() for column in choices), strict=True))


def selected(database, rows, folder, **question):
    """The table that the database gives, saved as text."""
    with (folder / "people.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([HEADER, *rows])
    counts = folder / "counts.csv"
    if database == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        text = query(str(folder / "people.csv"), "duckdb", **question)
        duckdb.sql(text.rstrip(";")).write_csv(str(counts))
        return counts
    with closing(sqlite3.connect(":memory:")) as base, counts.open("w", newline="") as stream:
        base.execute('CREATE TABLE people (s REAL, p REAL, kind, \'the "label"\', "a\'b")')
        base.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", rows)
        cursor = base.execute(query("main.people", "sqlite", **question))
        csv.writer(stream).writerows([[name for name, *_ in cursor.description], *cursor])
    return counts


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("database", ["duckdb", "sqlite"])
def test_a_database_counts_what_summarize_does(database, name, tmp_path):
    missing = [(0.5, 0.5, "1", None, "1"), (None, 0.5, None, "yes", "1")]
    question = ROLES | QUESTIONS[name] | {"form": Form(pos_label="yes", missing="drop")}
    counts = selected(database, people() + missing, tmp_path, **question)
    expected = summarize(tmp_path / "people.csv", **question)
    assert expected.people == 900 and read_summary(counts).as_text() == expected.as_text()
    rounded = selected(database, people(), tmp_path, rounded_to=6, **question)
    assert read_summary(rounded).as_text() == expected.rounded(6).as_text()
    sizes = [row["people_count"] for row in csv.DictReader(rounded.read_text().splitlines())]
    assert "0" not in sizes  # such a row would say that somebody is there


LABELS = {"booleans": ([False, True], "TRUE"), "doubles": ([0.0, 1.0], "1"), "bits": ([0, 1], None)}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_a_type_are_those_of_summarize(kind, tmp_path):
    duckdb, pd = pytest.importorskip("duckdb"), pytest.importorskip("pandas")
    values, positive = LABELS[kind]
    rows = {"s": [0.1, 0.6, 0.7], "y": [values[0], values[1], values[1]], "a": ["f", "m", "f"]}
    pd.DataFrame(rows).to_parquet(file := tmp_path / "people.parquet")
    question = {"score": "s", "edges": [0, 0.5, 1], "label": "y", "group": "a", "site": "n"}
    question["form"] = Form(pos_label=positive)
    duckdb.sql(query(str(file), "duckdb", **question).rstrip(";")).write_csv(
        str(counts := tmp_path / "counts.csv")
    )
    summary = read_summary(counts)
    assert summary.as_text() == summarize(file, **question).as_text()
    assert summary.counts[:, 1].tolist() == [[0, 1], [0, 1]]


FAULTS = {
    "a score outside": ((1.5, 0, "1", "yes", "1"), lambda text: text, "missing cell in the"),
    "no label": ((0.5, 0, "1", None, "1"), lambda text: text, "missing cell in the"),
    "half a person": (None, lambda text: text.replace(",yes,19,", ",yes,19,.", 1), "whole numbers"),
    "a row twice": (None, lambda text: text + text.splitlines()[-1], "different cells"),
    "a row lost": (None, lambda text: "\n".join(text.split("\n")[:-2]), "people_total is 890"),
    "a count altered": (None, lambda text: text.replace(",yes,19,", ",yes,19,5", 1), "altered"),
    "a row of another site": (None, lambda text: text.replace("No", "So", 1), "one summary"),
    "no multiple": (None, lambda text: text.replace('to"": 5', 'to"": 50'), "multiples of"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_table_is_refused(fault, tmp_path):
    """A person without a level, too, whom rounding would leave out."""
    row, damaged, reason = FAULTS[fault]
    rows = people() + ([row] if row else [])
    counts = selected("sqlite", rows, tmp_path, rounded_to=5, **QUESTIONS["levels"], **ROLES)
    counts.write_text(damaged(counts.read_text()))
    with pytest.raises(ValueError, match=rf"counts.csv is not what a query .*: .*{reason}"):
        read_summary(counts)


def test_bigquery_has_its_own_signs():
    text = query("set.people", "bigquery", rounded_to=5, **QUESTIONS["levels"], **ROLES)
    for part in ("FROM `set`.`people`", "MOD(COUNT(*) + 2, 5)", r"No\\u0027rth", "AS STRING"):
        assert part in text
    with pytest.raises(ValueError, match="sql must be one of 'duckdb', .* got 'oracle'"):
        query("people", "oracle", **QUESTIONS["levels"], **ROLES)
