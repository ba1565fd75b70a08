"""``fairfl judge``: how far any algorithm's predictions are from the frontiers."""

from pathlib import Path
from typing import Annotated, Any

import typer

from fairfl.cli.options import NOTION, AsJson, Categorical, Weight, form_of, option, with_form


@with_form
def judge(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="People as .csv or .parquet.")],
    prediction: Annotated[str, option("Column of 0 and 1, or of chances of 1.")],
    group: Annotated[
        list[str],
        option("Column of the protected groups, a; repeat for the groups of several columns."),
    ],
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
    import json
    from dataclasses import asdict

    from fairfl.cli.progress import stages
    from fairfl.reports.comparison_words import failed
    from fairfl.reports.judge import judge, sentences
    from fairfl.reports.parts import table
    from fairfl.reports.question import Question
    from fairfl.reports.terminal import tell, tell_table

    with stages() as progress:
        judgement = judge(
            file,
            prediction=prediction,
            label=label,
            group=group,
            client=client,
            weight=weight,
            score=score,
            by=by,
            categorical=categorical,
            question=Question(notion, difference),  # type: ignore[arg-type]
            seed=seed,
            form=form_of(form),
            progress=progress,
        )
    if as_json:
        typer.echo(json.dumps(asdict(judgement), indent=1, allow_nan=False))
    else:
        tell_table(table(judgement.parts, client or "client", ", ".join(group), by))
        for line in sentences(judgement):
            tell(line, "  ")
    if judgement.failures:
        raise RuntimeError("; ".join(failed(judgement)))
