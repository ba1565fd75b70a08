"""``fairfl apply``: decide on people by a rule that ``fairfl frontier --out`` or Python wrote."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from fairfl.cli.lib.options import option, out_file, place, with_form


@partial(with_form, names=("sep", "decimal", "encoding", "missing"))
def apply(
    rule: Annotated[Path, typer.Argument(metavar="RULE", help="A rule, .json.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="People as .csv or .parquet.")],
    group: Annotated[
        list[str], option("Column of the groups; repeat where the rule's are of several columns.")
    ],
    score: Annotated[
        list[str] | None,
        option("Column of the score that the rule was made for; repeat where there are several."),
    ] = None,
    model: Annotated[
        Path | None,
        option("In place of --score: the model of features beside a rule, .json.", metavar="FILE"),
    ] = None,
    client: Annotated[
        str | None,
        option("Column of the clients, whose models of an ensemble decide on their people."),
    ] = None,
    seed: Annotated[int, option("Of the draws, where a rule accepts a share.", min=0)] = 0,
    *,
    form: dict[str, Any],
    out: Annotated[Path, option("File to write.", "--out", **place("FILE"))] = Path(
        "decisions.csv"
    ),
) -> None:
    """Add two columns to the table: the chance to be accepted, and the decision, 1 or 0."""
    from itertools import tee

    from fairfl._support.whole_file import write_whole
    from fairfl.sims.data import decisions
    from fairfl.sims.data.table_file import form_of, table_rows

    out_file(out)
    text_form = form_of(dict(form))
    # a pipe can be read once only: its rows stay in memory
    rows, unread = (table_rows(file, text_form) for _ in range(2))
    if not file.is_file():
        rows, unread = tee(rows)
    columns: Any = {"group": group, "score": score, "model": model, "client": client}
    decided = decisions.apply(rule, file, **columns, seed=seed, rows=rows, **form)
    write_whole(out, decided.added_to(file.name, unread, text_form))
    typer.echo("\n".join([*decided.words, f"written: {out}"]))
