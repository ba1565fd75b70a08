"""``fairfl summarize``: a site's people as counts, for ``fairfl frontier``; no row leaves."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairfl.cli.lib.options import Categorical, Weight, nonempty, option, out_file, place, with_form

if TYPE_CHECKING:
    from fairfl.sims.data.summary import Summary


Levels = Annotated[
    int | None,
    option(
        "Levels of equal width on [0, 1]; default 20, of each of several scores 10.",
        min=2,
        max=10_000,
    ),
]
Edges = Annotated[
    list[str] | None,
    option(
        "Edges of the levels instead, such as 0,0.1,0.3,1; of several scores for each in turn.",
        metavar="E,E,...",
    ),
]
MinCell = Annotated[
    int | None, option("Withhold counts from 1 to below this, and what would give one away.", min=2)
]
Epsilon = Annotated[
    float | None,
    option("Add noise to every count instead; the privacy budget that the file costs."),
]
Rounded = Annotated[
    int | None, option("Round every count to a multiple of this instead.", "--round", min=2)
]
Sql = Annotated[
    str | None,
    option("Print a query of FILE, a table, for duckdb, postgresql, bigquery or sqlite."),
]


@with_form
def summarize(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="People, .csv, .parquet or SQL.")],
    score: Annotated[
        list[str],
        option("Column: larger where y = 1 is likelier. Repeat for several numbers of a person."),
    ],
    label: Annotated[str, option("Column of two values, y.")],
    group: Annotated[str, option("Column of the protected groups, a.")],
    site: Annotated[str, option("The site's name.")],
    levels: Levels = None,
    edges: Edges = None,
    categorical: Categorical = False,
    weight: Weight = None,
    min_cell: MinCell = None,
    epsilon: Epsilon = None,
    rounded_to: Rounded = None,
    sql: Sql = None,
    *,
    form: dict[str, Any],
    out: Annotated[Path, option("File to write.", "--out", **place("FILE"))] = Path("site.json"),
) -> None:
    """Count people by group, label and level of the score; print and write what leaves the site."""
    from fairfl._support.whole_file import write_whole
    from fairfl.sims.data import summary
    from fairfl.sims.data.summary_sql import query
    from fairfl.sims.data.table_file import form_of

    out_file(out)
    cuts: Any = _edges(levels, edges, categorical, len(score))
    if len(nonempty(min_cell=min_cell, epsilon=epsilon, rounded_to=rounded_to)) > 1:
        raise ValueError("--min-cell, --epsilon and --round must not be given together")
    columns: Any = {"site": site, "score": score, "edges": cuts, "label": label, "group": group}
    if len(score) == 1:
        columns |= {"score": score[0], "edges": cuts[0]}
    columns["form"] = form_of(form)
    if sql is not None:
        if (weight, min_cell, epsilon) != (None, None, None):
            raise ValueError("--weight, --min-cell and --epsilon must not be given with --sql")
        return typer.echo(query(str(file), sql, rounded_to=rounded_to or 1, **columns))
    counted = summary.summarize(file, weight=weight, **columns)
    if min_cell is not None:
        counted = counted.suppressed(min_cell)
    if epsilon is not None:
        counted = counted.noised(epsilon)
    if rounded_to is not None:
        counted = counted.rounded(rounded_to)
    summary.check_alone(counted, out.parent)
    _tell(counted)
    write_whole(out, counted.as_text())
    typer.echo(f"written: {out}")


def _tell(counted: Summary) -> None:
    """Print what leaves the site, and what it costs."""
    if counted.withheld.any():
        typer.echo("Send one file about these people: two can give withheld counts away.")
    epsilon = counted.epsilon
    if epsilon is not None:
        typer.echo(
            f"Noise: every count has two-sided geometric noise of epsilon = {epsilon:g}. One "
            "person more or less changes one count by 1, so that the file costs a privacy "
            f"budget of {epsilon:g}; another file of these people costs its own. The names are "
            "not protected."
        )
    kind = f"({int(counted.withheld.sum())} withheld)"
    if counted.rounded_to > 1:
        kind = f"that {counted.noise_words}"
    if counted.weights is not None:
        kind = "of people, as many sums of their weights and of the squares of these,"
    people = f"{counted.people:,} people{', with the noise,' * (epsilon is not None)}"
    with suppress(SystemExit):  # a reader such as head has seen enough
        if counted.left_out:
            typer.echo(counted.left_out)
        typer.echo(
            f"{people} of {counted.site}; y = 1 stands for {counted.label} = {counted.labels[1]}. "
            f"{counted.counts.size} counts {kind} and the names below leave the "
            "site, and nothing else:"
        )
        typer.echo(counted.as_text(), nl=False)


def _edges(
    levels: int | None, edges: list[str] | None, categorical: bool, count: int
) -> list[list[float]]:
    """Of the levels of each of ``count`` scores; none of a score that is a name."""
    if (levels is not None) + (edges is not None) + categorical > 1:
        raise ValueError("of --levels, --edges and --categorical one at most must be given")
    if categorical:
        if count > 1:
            raise ValueError(f"--categorical goes with one --score, got {count}")
        return [[]]
    if edges is None:
        size = levels or (20 if count == 1 else 10)
        return [[k / size for k in range(size + 1)]] * count
    if len(edges) != count:
        raise ValueError(f"--edges must be given for each of {count} scores, got {len(edges)}")
    try:
        return [[float(edge) for edge in text.split(",")] for text in edges]
    except ValueError:
        shown = " ".join(edges)
        raise ValueError(f"--edges must be numbers with commas between, got {shown!r}") from None
