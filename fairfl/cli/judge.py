"""``fairfl judge``: how far any algorithm's predictions are from the frontiers."""

from pathlib import Path
from typing import Annotated, Any

import typer

from fairfl.cli.options import NOTION, AsJson, Categorical, Weight, option, with_form


@with_form
def judge(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="People as .csv or .parquet; or summaries of sites, .json, with --rule.",
        ),
    ],
    prediction: Annotated[
        str | None, option("Column of 0 and 1, or of chances of 1; of a table.")
    ] = None,
    group: Annotated[
        list[str] | None,
        option("Column of the protected groups, a; repeat for the groups of several columns."),
    ] = None,
    rule: Annotated[
        Path | None, option("Rule that decides on the people of summaries.", metavar="RULE.json")
    ] = None,
    label: Annotated[
        str | None, option("Column of two values, y; demographic parity needs none.")
    ] = None,
    client: Annotated[
        str | None, option("Column of the clients; without it all are one client.")
    ] = None,
    weight: Weight = None,
    score: Annotated[
        str | None, option("Column of the score whose frontiers the predictions are compared with.")
    ] = None,
    by: Annotated[
        str | None, option("Column by whose values the judgement is repeated; of dates by month.")
    ] = None,
    categorical: Categorical = False,
    since: Annotated[
        list[Path] | None,
        option("The study's people, in the same form: say what has changed; repeat for summaries."),
    ] = None,
    notion: Annotated[str, option(NOTION)] = "demographic_parity",
    difference: Annotated[
        str, option("Of groups' rates: pairwise, or overall (from the population's).")
    ] = "pairwise",
    *,
    form: dict[str, Any],
    seed: Annotated[int, option("Of the parts that rules are judged on.", min=0)] = 0,
    as_json: AsJson = False,
) -> None:
    """Say how accurate and fair predictions are, how far from the best rules, and which part of
    that is due to the scheme, to training and to sampling.
    """
    from fairfl.cli.progress import stages
    from fairfl.reports.comparison_words import failed
    from fairfl.reports.judge import judge
    from fairfl.reports.parts import table
    from fairfl.reports.terminal import tell, tell_table

    with stages() as progress:
        judgement = judge(
            files,
            prediction=prediction,
            rule=rule,
            label=label,
            group=group or None,
            client=client,
            weight=weight,
            score=score,
            by=by,
            categorical=categorical,
            since=since or None,
            notion=notion,  # type: ignore[arg-type]
            difference=difference,  # type: ignore[arg-type]
            seed=seed,
            progress=progress,
            **form,
        )
    if as_json:
        typer.echo(judgement.to_json())
    else:
        tell_table(table(judgement.parts, client or "client", ", ".join(group or ["group"]), by))
        for line in judgement.words:
            tell(line, "  ")
    if judgement.failures:
        raise RuntimeError("; ".join(failed(judgement)))
