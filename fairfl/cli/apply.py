"""``fairfl apply``: decide on people by a rule that ``fairfl frontier --out`` or Python wrote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairfl.cli.options import form_of, of_file, option, out_file, place, with_form

if TYPE_CHECKING:
    from fairfl._support.checks import Array
    from fairfl.sims.data.score_model import ScoreModel
    from fairfl.sims.data.table_file import Form, Table
    from fairfl.theory.populations.classifiers import Classifier

ADDED = ("chance", "decision")


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
        option("In place of --score: score_model.json beside a rule of features.", metavar="FILE"),
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

    import numpy as np

    from fairfl._support.json_file import read_bounded
    from fairfl._support.whole_file import write_whole
    from fairfl.sims.data.score_model import ScoreModel
    from fairfl.sims.data.table_file import read_table, table_rows
    from fairfl.theory.populations.classifiers import Classifier, called

    out_file(out)
    text_form = form_of(form)
    with of_file(rule):
        classifier = Classifier.from_json(read_bounded(rule))
    classifier = classifier.named([called(name) for name in classifier.groups])
    if (score is None) == (model is None):
        raise ValueError("--score or --model must be given, and not both")
    score_model = None
    if model is not None:
        with of_file(model):
            score_model = ScoreModel.from_json(read_bounded(model))
    columns = score_model.columns if score_model else ()
    inputs = score or [name for name in columns if name not in group]
    _check_numbers(classifier, score, score_model)
    rows = table_rows(file, text_form)
    # a pipe can be read once only: its rows stay in memory
    rows, unread = (rows, table_rows(file, text_form)) if file.is_file() else tee(rows)
    table = read_table(file, text_form, {"score": inputs, "group": group}, rows=rows)
    a = _places("group", table, group, [str(name) for name in classifier.groups])
    if classifier.names:
        x = _places("score", table, inputs, classifier.names)
    elif score_model is not None:
        x = score_model(table)
    else:
        x = np.stack([table.numbers(column) for column in inputs], axis=1)
    level = classifier.level(x[:, 0] if x.shape[1:] == (1,) else x)
    chance = classifier.of_number(level, a)
    decision = np.random.default_rng(seed).random(len(table)) < chance
    added = dict(zip(table.rows.tolist(), zip(chance, decision, strict=True), strict=True))
    write_whole(out, _with_decisions(file.name, unread, added, text_form))
    if table.dropped:
        typer.echo(table.dropped)
    for name, code in zip(classifier.groups, classifier.number(classifier.groups), strict=True):
        decisions = decision[a == code]
        count = f"{decisions.sum():,} of {decisions.size:,} accepted"
        typer.echo(f"{name}: {count}; {classifier.accepted(name)}")
    typer.echo(f"written: {out}")


def _with_decisions(
    name: str, rows: Iterator[list[str]], added: dict[int, tuple[float, bool]], form: Form
) -> str:
    """The table as text, of the ``rows`` whose number is in ``added``, with chance and decision."""
    import csv
    import io

    header = next(rows)
    if taken := {column.strip() for column in header} & set(ADDED):
        raise ValueError(f"{name} must have no column {min(taken)!r}: it is to be added")
    text = io.StringIO()
    writer = csv.writer(text, delimiter=form.sep, lineterminator="\n")
    writer.writerow([*header, *ADDED])
    for number, row in enumerate(rows, start=1):
        if number in added:
            chance, decision = added[number]
            writer.writerow([*row, f"{chance:.12g}".replace(".", form.decimal), int(decision)])
    return text.getvalue()


def _check_numbers(
    rule: Classifier, score: list[str] | None, score_model: ScoreModel | None
) -> None:
    """ValueError unless the columns, or the model, give as many numbers as the rule is of."""
    from fairfl._support.checks import listed

    numbers = rule.cells.names if rule.cells else ("the score",)
    labels = score_model.names if score_model else score or ()
    if len(labels) != len(numbers) or (score_model and rule.names):
        raise ValueError(
            f"--{'model' if score_model else 'score'} must have {len(numbers)} numbers of a "
            f"person, as the rule ({listed(numbers)}), got {listed(labels)}"
        )


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
