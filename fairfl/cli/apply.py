"""``fairfl apply``: decide on people by a rule that ``fairfl frontier --out`` or Python wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairfl.cli.errors import one_line
from fairfl.cli.options import option, out_folder, place

ADDED = ("chance", "decision")


def apply(
    rule: Annotated[Path, typer.Argument(metavar="RULE", help="A rule, .json.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="People as .csv, with a header.")],
    score: Annotated[str, option("Column of the score that the rule was made for.")],
    group: Annotated[
        list[str], option("Column of the groups; repeat where the rule's are of several columns.")
    ],
    seed: Annotated[int, option("Of the draws, where a rule accepts a share.", min=0)] = 0,
    out: Annotated[Path, option("File to write.", "--out", **place("FILE"))] = Path(
        "decisions.csv"
    ),
) -> None:
    """Add two columns to the table: the chance to be accepted, and the decision, 1 or 0."""
    with one_line():
        import csv
        import io

        import numpy as np

        from fairfl._support.checks import existing_file
        from fairfl._support.whole_file import write_whole
        from fairfl.sims.data.summary import number, read_rows
        from fairfl.theory.populations.classifiers import Classifier, called

        existing_file(rule)
        try:
            given = Classifier.from_json(rule.read_text("utf-8"))
        except ValueError as error:
            raise ValueError(f"{rule.name}: {error}") from None
        known = given.named([called(name) for name in given.groups])
        header, *rows = read_rows(file, score, *group)
        if there := set(header) & set(ADDED):
            raise ValueError(f"{file.name} must have no column {min(there)!r}: it is to be added")
        x = [number(row[header.index(score)], score, k) for k, row in enumerate(rows, start=1)]
        a = [" & ".join(row[header.index(name)] for name in group) for row in rows]
        chance = known(x, a)
        decision = np.random.default_rng(seed).random(len(rows)) < chance
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow([*header, *ADDED])
        table.writerows(
            [*row, f"{p:.12g}", int(yes)]
            for row, p, yes in zip(rows, chance, decision, strict=True)
        )
        out_folder(out.parent, out.name)
        write_whole(out, text.getvalue())
        for name, each in zip(known.groups, known.number(known.groups), strict=True):
            own = decision[known.number(a) == each]
            typer.echo(f"{name}: {own.sum():,} of {own.size:,} accepted; {known.accepted(name)}")
        typer.echo(f"written: {out}")
