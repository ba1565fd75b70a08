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
    "form": Form(pos_label="in"),
}
QUESTIONS = {
    "levels": {"score": "s", "edges": EDGES},
    "names": {"score": "kind", "edges": []},
    "two scores": {"score": ["s", "p"], "edges": [[0, 0.3, 1], [-1e-9, 0.25, 0.5, 1]]},
}


def people():
    """Rows with scores on edges and beside them; a text has spaces around it."""
    rng, near = np.random.default_rng(0), [*EDGES, *np.nextafter(EDGES[1:], 0), 6 * 0.05]
    choices = near, near[:20], ["x", " y", "é;"], ["in", "out"], ["old", "young", "O'Neil"]
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
    missing = [(0.5, 0.5, "x", None, "old"), (None, 0.5, None, "in", "old")]
    question = ROLES | QUESTIONS[name] | {"form": Form(pos_label="in", missing="drop")}
    counts = selected(database, people() + missing, tmp_path, **question)
    expected = summarize(tmp_path / "people.csv", **question)
    assert expected.people == 900 and read_summary(counts).as_text() == expected.as_text()
    rounded = selected(database, people(), tmp_path, rounded_to=6, **question)
    assert read_summary(rounded).as_text() == expected.rounded(6).as_text()
    assert ",0\n" not in rounded.read_text()  # such a row would say that somebody is there


FAULTS = {
    "a score outside": ((1.5, 0, "x", "in", "old"), lambda text: text),
    "no label": ((0.5, 0, "x", None, "old"), lambda text: text),
    "half a person": (None, lambda text: text.replace(",in,19,", ",in,19,0.5", 1)),
    "a row twice": (None, lambda text: text + text.splitlines()[-1]),
    "a row of another site": (None, lambda text: text.replace("No", "So", 1)),
    "no multiple": (None, lambda text: text.replace('to"": 5', 'to"": 50')),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_table_is_refused(fault, tmp_path):
    """A person without a level, too, whom rounding would leave out."""
    row, damaged = FAULTS[fault]
    rows = people() + ([row] if row else [])
    counts = selected("sqlite", rows, tmp_path, rounded_to=5, **QUESTIONS["levels"], **ROLES)
    counts.write_text(damaged(counts.read_text()))
    with pytest.raises(ValueError, match=r"counts.csv is not what a query of fairfl summarize"):
        read_summary(counts)


def test_bigquery_has_its_own_signs():
    text = query("set.people", "bigquery", rounded_to=5, **QUESTIONS["levels"], **ROLES)
    for part in ("FROM `set`.`people`", "MOD(COUNT(*) + 2, 5)", r"No\\u0027rth", "AS STRING"):
        assert part in text
    with pytest.raises(ValueError, match="sql must be one of 'duckdb', .* got 'oracle'"):
        query("people", "oracle", **QUESTIONS["levels"], **ROLES)
