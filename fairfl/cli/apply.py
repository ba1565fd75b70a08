"""``fairfl apply``: decide on people by a rule that ``fairfl frontier --out`` or Python wrote."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairfl.cli.options import form_of, of_file, option, out_file, place, with_form

if TYPE_CHECKING:
    from fairfl._support.checks import Array
    from fairfl.sims.data.table_file import Table

ADDED = ("chance", "decision")


@partial(with_form, names=("sep", "decimal", "encoding", "missing"))
def apply(
    rule: Annotated[Path, typer.Argument(metavar="RULE", help="A rule, .json.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="People as .csv or .parquet.")],
    score: Annotated[
        list[str],
        option("Column of the score that the rule was made for; repeat where there are several."),
    ],
    group: Annotated[
        list[str], option("Column of the groups; repeat where the rule's are of several columns.")
    ],
    seed: Annotated[int, option("Of the draws, where a rule accepts a share.", min=0)] = 0,
    *,
    form: dict[str, Any],
    out: Annotated[Path, option("File to write.", "--out", **place("FILE"))] = Path(
        "decisions.csv"
    ),
) -> None:
    """Add two columns to the table: the chance to be accepted, and the decision, 1 or 0."""
    import csv
    import io
    from itertools import tee

    import numpy as np

    from fairfl._support.checks import listed
    from fairfl._support.json_file import read_bounded
    from fairfl._support.whole_file import write_whole
    from fairfl.sims.data.table_file import read_table, table_rows
    from fairfl.theory.populations.classifiers import Classifier, called

    out_file(out)
    text_form = form_of(form)
    with of_file(rule):
        classifier = Classifier.from_json(read_bounded(rule))
    classifier = classifier.named([called(name) for name in classifier.groups])
    rows = table_rows(file, text_form)
    # a pipe can be read once only: its rows stay in memory
    rows, unread = (rows, table_rows(file, text_form)) if file.is_file() else tee(rows)
    table = read_table(file, text_form, {"score": score, "group": group}, rows=rows)
    a = _places("group", table, group, [str(name) for name in classifier.groups])
    names = classifier.names
    cells = classifier.cells
    numbers = cells.names if cells else ("the score",)
    if len(numbers) != len(score):
        raise ValueError(
            f"--score must name {len(numbers)} columns as the rule's ({listed(numbers)}), got "
            f"{len(score)}"
        )
    if cells is not None:
        x = cells(np.stack([table.numbers(column) for column in score], axis=1))
    else:
        x = _places("score", table, score, names) if names else table.numbers(score[0])
    chance = classifier.of_number(x, a)
    decision = np.random.default_rng(seed).random(len(table)) < chance
    header = next(unread)
    if taken := {name.strip() for name in header} & set(ADDED):
        raise ValueError(f"{file.name} must have no column {min(taken)!r}: it is to be added")
    text = io.StringIO()
    writer = csv.writer(text, delimiter=text_form.sep, lineterminator="\n")
    writer.writerow([*header, *ADDED])
    added = dict(zip(table.rows.tolist(), zip(chance, decision, strict=True), strict=True))
    for number, row in enumerate(unread, start=1):
        if number in added:
            p, yes = added[number]
            writer.writerow([*row, f"{p:.12g}".replace(".", text_form.decimal), int(yes)])
    write_whole(out, text.getvalue())
    if table.dropped:
        typer.echo(table.dropped)
    for name, code in zip(classifier.groups, classifier.number(classifier.groups), strict=True):
        decisions = decision[a == code]
        count = f"{decisions.sum():,} of {decisions.size:,} accepted"
        typer.echo(f"{name}: {count}; {classifier.accepted(name)}")
    typer.echo(f"written: {out}")


def _places(role: str, table: Table, columns: list[str], rule_names: Sequence[str]) -> Array:
    """(n,) which of the rule's names each row has, in several columns with " & " between."""
    import numpy as np

    from fairfl._support.checks import listed

    parts = zip(
        *([names[k] for k in codes] for codes, names in map(table.categories, columns)), strict=True
    )
    index, positions = {name: k for k, name in enumerate(rule_names)}, []
    for row, names in zip(table.rows, parts, strict=True):
        if (name := " & ".join(names)) not in index:
            raise ValueError(
                f"{role} must be one of {listed(list(map(repr, rule_names)))} of the rule, got "
                f"{name!r} in row {row} of {table.path.name}"
            )
        positions.append(index[name])
    return np.array(positions)
