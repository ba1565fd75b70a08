"""``fairfl frontier``: what the schemes reach on people, as a table or as summaries of sites, or on
laws from a TOML file.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairfl.cli.options import (
    FORM,
    NOTION,
    AsJson,
    Categorical,
    Weight,
    form_of,
    nonempty,
    option,
    out_file,
    out_folder,
    place,
    require_columns,
    with_form,
)

if TYPE_CHECKING:
    from fairfl.reports.comparison import Comparison
    from fairfl.reports.parts import Part
    from fairfl.reports.people import Read
    from fairfl.reports.question import Question

PEOPLE = {
    "score": Annotated[
        list[str] | None,
        option(
            "Column: larger where y = 1 is likelier. Repeat for several numbers of a person, which "
            "rules that do not see the group need."
        ),
    ],
    "label": Annotated[str | None, option("Column of two values, y.")],
    "group": Annotated[
        list[str] | None,
        option("Column of the protected groups, a; repeat for the groups of several columns."),
    ],
    "client": Annotated[
        str | None, option("Column of the clients; without it all are one client.")
    ],
    "weight": Weight,
    "features": Annotated[
        list[str] | None,
        option("Column to make a score from, in place of --score; repeat.", "--feature"),
    ],
    "compare_score": Annotated[
        list[str] | None,
        option("Column of a score made without pooling, to say what pooling is worth; repeat."),
    ],
    "group_pair": Annotated[
        str | None, option("Two groups to keep, where there are more.", metavar="A,B")
    ],
    "blind": Annotated[bool, option("Do not make the score from the group itself.", "--blind")],
    "levels": Annotated[
        int | None, option("Levels to merge scores into, at most; 0: none merged.", min=0)
    ],
    "categorical": Categorical,
    **FORM,
}
"""Options of a table of people."""


@partial(with_form, names=tuple(PEOPLE), table=PEOPLE)
def frontier(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="FEDERATION.toml; people as .csv or .parquet; or a summary of each site, .json.",
        ),
    ],
    *,
    form: dict[str, Any],
    calibrate: Annotated[
        str,
        option("P(y=1|x): shared, or one for each group, client or client_group; auto: tested."),
    ] = "auto",
    notion: Annotated[str, option(NOTION)] = "demographic_parity",
    difference: Annotated[
        str, option("Of groups' rates: pairwise, or overall (from the population's).")
    ] = "pairwise",
    costs: Annotated[
        str,
        option(
            "Costs of a missed and of a wrong positive, such as 5:1; each a number, or one per "
            "group with commas. Or balanced, for balanced accuracy.",
            metavar="FN:FP",
        ),
    ] = "1:1",
    sees: Annotated[str, option("xa, or x: rules do not see the group.")] = "xa",
    monotone: Annotated[
        bool, option("Within a group a larger score is never accepted less.", "--monotone")
    ] = False,
    local_eps: Annotated[
        float | None,
        option(
            "Also one shared rule, cfl_local, and client-aware rules of at most this disparity at "
            "each client; inf: any."
        ),
    ] = None,
    schemes: Annotated[
        str | None,
        option(
            "Solve these only, with commas between, and cfl: lft_fedavg_common, "
            "lft_ensemble_common (one budget for all clients), lft_fedavg, lft_ensemble (a budget "
            "for each), cfl_local and client_aware (with --local-eps).",
            metavar="NAME,...",
        ),
    ] = None,
    at: Annotated[list[float] | None, option("Disparity to compare accuracies at; repeat.")] = None,
    guarantee: Annotated[
        float | None,
        option(
            "Write rules that keep the first disparity among all such people with this "
            "probability, such as 0.95, tested by people who did not make them.",
            metavar="P",
        ),
    ] = None,
    by_client: Annotated[
        str | None,
        option("Also a table by client and group of this scheme's rule.", metavar="SCHEME"),
    ] = None,
    points: Annotated[int, option("Points of each frontier.", min=2)] = 60,
    bootstraps: Annotated[
        int | None,
        option(
            "0: no intervals. Else draws of people for that of the best rule's disparity, 20 or "
            "more; default 100.",
            min=0,
        ),
    ] = None,
    seed: Annotated[int | None, option("Of the draws and of the parts; default 0.", min=0)] = None,
    out: Annotated[
        Path | None, option("Also write picture, data and rules.", "--out", **place("DIR"))
    ] = None,
    page: Annotated[
        Path | None,
        option("Also write a page with a slider, for a browser.", "--page", **place("FILE.html")),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what CFL, LFT+FedAvg and LFT+Ensemble can reach, and what it costs not to pool the
    data.
    """
    from fairfl._support.checks import in_range
    from fairfl.cli.progress import stages
    from fairfl.reports.comparison_words import failed
    from fairfl.reports.curves import noted
    from fairfl.reports.frontier import compared, report
    from fairfl.reports.frontier_page import frontier_page
    from fairfl.reports.guarantee import with_guarantee
    from fairfl.reports.scores import compare_scores

    only = () if schemes is None else tuple(name.strip() for name in schemes.split(","))
    arguments = (notion, difference, _costs(costs), sees, local_eps, only)
    question = _question(arguments, monotone, form.get("score", ()), by_client)
    if guarantee is not None:
        in_range("--guarantee", guarantee, 0, 1, open_low=True, open_high=True)
    draws = nonempty(bootstraps=bootstraps, seed=seed)
    title = files[0].stem
    if out is not None:
        from fairfl.figures.lib.saved import names

        out_folder(out, *names("frontier"))
    if page is not None:
        out_file(page, "--page")
    with stages() as progress:
        progress(f"reading of {files[0].name}", 0, 1)
        read = _read(files, form, draws, question, calibrate, guarantee is not None)
        question, left_out = question.for_groups(read.federation.n_groups, by_client)
        read = read._replace(notes=[*read.notes, *left_out])
        settings: Any = draws | {"progress": progress}
        comparison = compared(
            read.federation, read.people, question=question, at=at or None, count=points, **settings
        )
        if guarantee is not None:
            comparison = with_guarantee(comparison, read, guarantee, progress)
        rules = comparison.rules
        parts = {by_client: _parts(read, comparison, by_client)} if by_client in rules else None
        scores = []
        with noted("scores", comparison.failures):
            scores = compare_scores(read, comparison, seed or 0, progress) if read.rows else []
        pages = {}
        if page is not None:
            contents = read.federation, read.people, read.notes
            pages[page] = frontier_page(comparison, *contents, title=title, **settings)
    if out is not None and read.model is not None:
        pages[out / "score_model.json"] = read.model().to_json()
    report(
        comparison,
        read.notes,
        title=title,
        out=out,
        pages=pages,
        scores=scores,
        parts=parts,
        as_json=as_json,
    )
    if comparison.failures:
        raise RuntimeError("; ".join(failed(comparison)))


def _question(
    arguments: Any, monotone: bool, scores: Sequence[str], by_client: str | None
) -> Question:
    """The question that the options ask, once they go together."""
    from fairfl._support.checks import one_of
    from fairfl.reports.question import Question
    from fairfl.solvers.schemes import SCHEMES

    question = Question(*arguments, monotone=monotone)
    if monotone and len(scores) > 1:
        names = ", ".join(scores)
        raise ValueError(f"--monotone needs one --score, several have no order, got {names}")
    if by_client is not None:
        shared = [name for name in question.schemes if not SCHEMES[name].sees_client]
        one_of("--by-client", by_client, shared)
    return question


def _read(
    files: list[Path],
    form: dict[str, Any],
    draws: dict[str, Any],
    question: Question,
    calibrate: str,
    tests: bool,
) -> Read:
    """What the files hold: a table of people, summaries of sites, or a federation of laws;
    ``tests``: whether rules are tested by people who did not make them.
    """
    from fairfl.reports.people import Read, read, read_summaries
    from fairfl.sims.data.summary import is_counts

    kinds = {".json" if is_counts(file) else file.suffix.lower() for file in files}
    if len(files) > 1 and kinds != {".json"}:
        raise ValueError(
            "several files must be summaries of sites (.json), got "
            f"{', '.join(file.name for file in files)}"
        )
    if kinds == {".json"}:
        _no_table(form, "summaries of sites")
        return read_summaries(files, calibrate, question)
    if kinds == {".toml"}:
        from fairfl.studies.user_runs.federation_file import read_federation

        if tests:
            raise ValueError(f"guarantee goes with people, got the federation {files[0].name}")
        options = form | ({} if calibrate == "auto" else {"calibrate": calibrate}) | draws
        _no_table(options, f"the federation {files[0].name}")
        return Read(read_federation(files[0]))
    require_columns(form)
    people = form | {"calibrate": calibrate, "tests": tests, "question": question}
    if len(form.get("score", ())) == 1:
        (people["score"],) = form["score"]
    return read(files[0], form=form_of(people), **people)


def _no_table(options: dict[str, Any], source: str) -> None:
    """ValueError where options of a table of people are given without one."""
    if options:
        raise ValueError(f"{', '.join(options)} goes with a table of people, got {source}")


def _parts(read: Read, comparison: Comparison, scheme: str) -> list[Part]:
    """The people by client and group, decided by a scheme's rule."""
    from fairfl.reports.parts import Decided

    if read.people is None:
        raise ValueError("--by-client goes with people, got a federation of laws")
    rule: Any = comparison.rules[scheme].solution.classifier
    return Decided.by_rule(read.people, rule).parts(comparison.question)


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
