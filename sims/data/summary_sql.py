"""Summaries by SQL: one SELECT that counts a site's people where they are, and the reader of the
table that it gives, a row for each group, label and level that somebody has.
"""

import json
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

from fairfl._support.checks import listed, one_of
from fairfl._support.json_file import parsed
from fairfl.sims.data.summary import MARK, Summary, grid_of, summarize
from fairfl.sims.data.table_file import Form, table_rows

LEVEL, COUNT, TOTAL = "score_level", "people_count", "people_total"
STANDARD, BIGQUERY = ('"', "VARCHAR", "({0}) % {1}"), ("`", "STRING", "MOD({0}, {1})")
"""The sign around names, the type of texts, and the rest of a division."""
DIALECTS = {"duckdb": STANDARD, "postgresql": STANDARD, "sqlite": STANDARD, "bigquery": BIGQUERY}


def query(table: str, dialect: str, *, form: Form, rounded_to: int = 1, **meta: Any) -> str:
    """The SELECT from ``table``, a name with dots between its parts, or a file that DuckDB reads.

    ``meta``: site, score, label, group and edges, as ``summarize`` has them. Counts are multiples
    of ``rounded_to``, without those that are 0; each row has their sum, a control total. Of a .csv
    DuckDB reads groups, labels and names as they are written. ValueError: an unknown dialect, or
    no edges.
    """
    quote, kind, rest = DIALECTS[one_of("sql", dialect, (*DIALECTS,))]
    grid = grid_of(meta["score"], meta["edges"]) if meta["edges"] else ()
    text = json.dumps(meta | {"positive": form.pos_label, "rounded_to": rounded_to})
    text = text.replace("'", r"\u0027").replace("\\", "\\" * (1 + (quote == "`")))  # its escape

    def name(column: str) -> str:
        return quote + column.replace(quote, 2 * quote) + quote

    scores = [meta["score"]] if isinstance(meta["score"], str) else meta["score"]
    columns = *scores, meta["group"], meta["label"]
    words = [f"NULLIF(TRIM(CAST({name(c)} AS {kind})), '')" for c in columns]
    level = "" if grid else words[0]
    for column, cuts in zip(scores, grid, strict=False):
        level = f"({level}) * {len(cuts) - 1} + " * bool(level) + _level(name(column), cuts)
    keys = [name(c) for c in (*columns[-2:], LEVEL)]
    key_list, unknown = ", ".join(keys), " OR ".join(f"{key} IS NULL" for key in keys)
    selected = zip((*words[-2:], level), keys, strict=True)
    raised = f"COUNT(*) + {rounded_to // 2}"
    multiple = f"{raised} - {rest.format(raised, rounded_to)}" if rounded_to > 1 else "COUNT(*)"
    parts = [table] if Path(table).suffix in (".csv", ".parquet") else table.split(".")
    source = ".".join(map(name, parts))
    if dialect == "duckdb" and Path(table).suffix == ".csv":
        file, *texts = (v.replace("'", "''") for v in (table, *columns[-2 if grid else 0 :]))
        kinds = ", ".join(f"'{column}': '{kind}'" for column in texts)
        source = f"read_csv('{file}', header = true, types = {{{kinds}}})"
    lines = [
        f"SELECT '{text}' AS {MARK},\n  {key_list}, {multiple} AS {COUNT},",
        f"  SUM({multiple}) OVER () AS {TOTAL}\nFROM (",
        "  SELECT " + ",\n    ".join(f"{value} AS {key}" for value, key in selected),
        f"  FROM {source}",
        ("  WHERE " + " AND ".join(f"{w} IS NOT NULL" for w in words)) * (form.missing == "drop"),
        f") AS people\nGROUP BY {key_list}",
        f"HAVING {raised} >= {rounded_to} OR {unknown}" * (rounded_to > 1),
    ]
    return "\n".join([*filter(None, lines), f"ORDER BY {key_list};"])


def _level(column: str, cuts: tuple[float, ...]) -> str:
    """The level's number; NULL outside the edges. A number with an exponent is a double."""
    first, *upper = (f"{cut!r}{'' if 'e' in repr(cut) else 'e0'}" for cut in cuts)
    ends = [f"< {cut}" for cut in upper[:-1]] + [f"<= {upper[-1]}"]
    whens = [f"\n      WHEN {column} {end} THEN {k}" for k, end in enumerate(ends)]
    return f"CASE WHEN {column} < {first} THEN NULL{''.join(whens)} END"


def read_counts(path: Path) -> Summary:
    """The summary in a table of the query. ValueError: another, or people without a level."""
    try:
        names, *rows = table_rows(path)
        if len({row[0] for row in rows}) != 1 or len({(*row[1:4],) for row in rows}) < len(rows):
            raise ValueError("all rows must have one summary, and different cells")
        meta = parsed(rows[0][0])
        score, edges, form = meta["score"], meta["edges"], Form(pos_label=meta["positive"])
        score = score if isinstance(score, str) else tuple(score)
        grid = grid_of(score, edges) if edges else ()
        levels = range(prod(len(cuts) - 1 for cuts in grid) + 1) if edges else ()
        roles = {role: meta[role] for role in ("site", "label", "group")}
        counted = summarize(path, score=LEVEL, edges=levels, people=COUNT, form=form, **roles)
        if (totals := {row[names.index(TOTAL)] for row in rows}) != {str(counted.people)}:
            total = f"the counts add up to {counted.people}, and {TOTAL} is {listed([*totals])}"
            raise ValueError(f"a row is missing, or a count was altered: {total}")
        edges = grid[0] if len(grid) == 1 else grid
        return replace(counted, score=score, edges=edges, rounded_to=meta["rounded_to"])
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{path.name} is not what a query of fairfl summarize --sql gives, or counts people "
            f"with a missing cell or with a score outside the edges: {error}"
        ) from None
