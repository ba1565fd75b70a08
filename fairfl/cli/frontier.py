"""``fairfl frontier``: what the schemes reach on people, on counts of sites, or on laws."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from fairfl.cli.lib.options import (
    FORM,
    PEOPLE,
    QUESTION,
    AsJson,
    option,
    optional,
    out_file,
    out_folder,
    place,
    with_form,
)

OPTIONS = {
    "score": optional(
        list[str],
        "Column: larger where y = 1 is likelier. Repeat for several numbers of a person, which "
        "rules that do not see the group need.",
    ),
    **PEOPLE,
    "features": optional(
        list[str], "Column to make a score from, in place of --score; repeat.", "--feature"
    ),
    "compare_score": optional(
        list[str], "Column of a score made without pooling, to say what pooling is worth; repeat."
    ),
    "group_pair": optional(str, "Two groups to keep, where there are more.", metavar="A,B"),
    "blind": optional(bool, "Do not make the score from the group itself.", "--blind"),
    "levels": optional(int, "Levels to merge scores into, at most; 0: none merged.", min=0),
    **FORM,
    "calibrate": optional(
        str, "P(y=1|x): shared, or one for each group, client or client_group; default: tested."
    ),
    **QUESTION,
    "sees": optional(str, "xa (default), or x: rules do not see the group."),
    "monotone": optional(
        bool, "Within a group a larger score is never accepted less.", "--monotone"
    ),
    "local_eps": optional(
        float,
        "Also one shared rule, cfl_local, and client-aware rules of at most this disparity at each "
        "client; inf: any.",
    ),
    "at": optional(list[float], "Disparity to compare accuracies at; repeat."),
    "guarantee": optional(
        float,
        "Write rules that keep the first disparity among all such people with this probability, "
        "such as 0.95, tested by people who did not make them.",
        metavar="P",
    ),
    "by_client": optional(
        str, "Also a table by client and group of this scheme's rule.", metavar="SCHEME"
    ),
    "points": optional(int, "Points of each frontier; default 60.", min=2),
    "bootstraps": optional(
        int,
        "0: no intervals. Else draws of people for that of the best rule's disparity, 20 or more; "
        "default 100.",
        min=0,
    ),
    "seed": optional(int, "Of the draws and of the parts; default 0.", min=0),
}
"""Options that ``fairfl.compare`` takes as they are."""


@partial(with_form, table=OPTIONS)
def frontier(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="FEDERATION.toml; people as .csv or .parquet; or a summary of each site, .json.",
        ),
    ],
    *,
    form: dict[str, Any],
    costs: Annotated[
        str,
        option(
            "Costs of a missed and of a wrong positive, such as 5:1; each a number, or one per "
            "group with commas. Or balanced, for balanced accuracy.",
            metavar="FN:FP",
        ),
    ] = "1:1",
    schemes: Annotated[
        str | None,
        option(
            "Solve these only, with commas between, and cfl: lft_fedavg_common, "
            "lft_ensemble_common (one budget for all clients), lft_fedavg, lft_ensemble (a budget "
            "for each), cfl_local and client_aware (with --local-eps).",
            metavar="NAME,...",
        ),
    ] = None,
    out: Annotated[
        Path | None, option("Also write picture, data and rules.", "--out", **place("DIR"))
    ] = None,
    page: Annotated[
        Path | None,
        option("Also write a page with a slider, for a browser.", "--page", **place("FILE.html")),
    ] = None,
    card: Annotated[
        Path | None, option("Also write a model card of the rules.", "--card", **place("FILE.md"))
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what CFL, LFT+FedAvg and LFT+Ensemble reach, and what it costs not to pool the data."""
    from fairfl._support.whole_file import write_whole
    from fairfl.cli.lib.progress import stages
    from fairfl.reports.answer import compare
    from fairfl.reports.comparison_words import failed
    from fairfl.reports.frontier import show

    if schemes is not None:
        form["schemes"] = [name.strip() for name in schemes.split(",")]
    if out is not None:
        from fairfl.figures.lib.saved import names

        out_folder(out, *names("frontier"))
    for name, file in (("--page", page), ("--card", card)):
        if file is not None:
            out_file(file, name)
    with stages() as progress:
        answer = compare(sources, costs=_costs(costs), progress=progress, **form)
        pages = {} if page is None else {page: answer.page(progress)}
        pages |= {} if card is None else {card: answer.card()}
    files = [] if out is None else answer.write(out)
    files += [write_whole(file, text) for file, text in pages.items()]
    if as_json:
        typer.echo(answer.to_json(files))
    else:
        show(answer.comparison, answer.read.notes, answer.scores, answer.parts or {})
        for file in files:
            typer.echo(f"written: {file}")
    if answer.comparison.failures:
        raise RuntimeError("; ".join(failed(answer.comparison)))


def _costs(text: str) -> Any:
    """Costs as ``solve`` takes them."""
    if text == "balanced":
        return text
    try:
        missed, wrong = ([float(cost) for cost in part.split(",")] for part in text.split(":"))
    except ValueError:
        raise ValueError(
            "--costs must be balanced, or FN:FP such as 5:1 (each a number, or one for each group "
            f"with commas between), got {text!r}"
        ) from None
    return tuple(tuple(part) if len(part) > 1 else part[0] for part in (missed, wrong))
