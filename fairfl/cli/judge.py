"""``fairfl judge``: how far any algorithm's predictions are from the frontiers."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from fairfl.cli.lib.options import FORM, PEOPLE, QUESTION, AsJson, optional, with_form

OPTIONS = {
    "prediction": optional(str, "Column of 0 and 1, or of chances of 1."),
    "rule": optional(Path, "Rule that decides on the people of summaries.", metavar="RULE.json"),
    **PEOPLE,
    "score": optional(
        str, "Column of the score whose frontiers the predictions are compared with."
    ),
    "by": optional(str, "Column by whose values the judgement is repeated; of dates by month."),
    "since": optional(
        list[Path],
        "The study's people, in the same form: say what has changed; repeat for summaries.",
    ),
    **QUESTION,
    **FORM,
    "seed": optional(int, "Of the parts that rules are judged on.", min=0),
}
"""Options that ``fairfl.judge`` takes as they are."""


@partial(with_form, table=OPTIONS)
def judge(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="People as .csv or .parquet; or summaries of sites, .json, with --rule.",
        ),
    ],
    *,
    form: dict[str, Any],
    as_json: AsJson = False,
) -> None:
    """Say how accurate and fair predictions are, how far from the best rules, and which part of
    that is due to the scheme, to training and to sampling.
    """
    from fairfl.cli.lib.progress import stages
    from fairfl.reports.comparison_words import failed
    from fairfl.reports.judgement.judge import judge
    from fairfl.reports.judgement.parts import table
    from fairfl.reports.terminal import tell, tell_table

    with stages() as progress:
        judgement = judge(files, progress=progress, **form)
    if as_json:
        typer.echo(judgement.to_json())
    else:
        group = ", ".join(form.get("group", ["group"]))
        tell_table(table(judgement.parts, form.get("client", "client"), group, form.get("by")))
        for line in judgement.words:
            tell(line, "  ")
    if judgement.failures:
        raise RuntimeError("; ".join(failed(judgement)))
