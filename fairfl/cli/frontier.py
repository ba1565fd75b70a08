"""``fairfl frontier``: what the schemes reach on people, as a table or as summaries of sites, or on
laws from a TOML file.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairfl.cli.errors import one_line
from fairfl.cli.options import (
    AsJson,
    Categorical,
    Decimal,
    Encoding,
    Missing,
    Positive,
    Sep,
    given,
    option,
    out_folder,
    place,
    require_columns,
    take_form,
)

if TYPE_CHECKING:
    from fairfl.theory.populations.calibration import Counted
    from fairfl.theory.populations.federation import Federation


class Calibrate(StrEnum):
    """How η is fitted to a table of people."""

    shared = "shared"
    client = "client"
    client_group = "client_group"


def frontier(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="FEDERATION.toml; people as .csv or .parquet; or a summary of each site, .json.",
        ),
    ],
    score: Annotated[str | None, option("Column: larger where y = 1 is likelier.")] = None,
    label: Annotated[str | None, option("Column of two values, y.")] = None,
    group: Annotated[
        list[str] | None,
        option("Column of the protected groups, a; repeat for the groups of several columns."),
    ] = None,
    client: Annotated[
        str | None, option("Column of the clients; without it all are one client.")
    ] = None,
    feature: Annotated[
        list[str] | None, option("Column to make a score from, in place of --score; repeat.")
    ] = None,
    group_pair: Annotated[
        str | None, option("Two groups to keep, where there are more.", metavar="A,B")
    ] = None,
    blind: Annotated[
        bool, option("Do not make the score from the group itself.", "--blind")
    ] = False,
    levels: Annotated[
        int | None, option("Levels to merge scores into, at most; 0: none merged.", min=0)
    ] = None,
    categorical: Categorical = False,
    sep: Sep = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    positive: Positive = None,
    missing: Missing = None,
    calibrate: Annotated[
        Calibrate, option("One P(y=1|x) for all, or one each.")
    ] = Calibrate.shared,
    notion: Annotated[
        str,
        option(
            "demographic_parity (dp), true_positive_rate_parity (eo), "
            "false_positive_rate_parity, equalized_odds (eodds) or accuracy_parity."
        ),
    ] = "demographic_parity",
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
    local_eps: Annotated[
        float | None,
        option("Also client-aware rules, of at most this disparity at each client; inf: any."),
    ] = None,
    schemes: Annotated[
        str | None,
        option(
            "Solve these only, with commas between, and cfl: lft_fedavg_common, "
            "lft_ensemble_common (one budget for all clients), lft_fedavg, lft_ensemble (a budget "
            "for each), client_aware.",
            metavar="NAME,...",
        ),
    ] = None,
    at: Annotated[list[float] | None, option("Disparity to compare accuracies at; repeat.")] = None,
    points: Annotated[int, option("Points a frontier.", min=2)] = 60,
    bootstraps: Annotated[
        int | None,
        option(
            "0: no intervals. Else draws of people for that of the best rule's disparity, 20 or "
            "more; default 200.",
            min=0,
        ),
    ] = None,
    seed: Annotated[int | None, option("Of the draws and of the parts; default 0.", min=0)] = None,
    out: Annotated[
        Path | None, option("Also write frontier.png, .svg and .csv.", "--out", **place("DIR"))
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
    with one_line():
        from fairfl.cli.progress import stages
        from fairfl.reports.frontier import compared, report, searched
        from fairfl.reports.question import Question

        only = () if schemes is None else tuple(name.strip() for name in schemes.split(","))
        asked: Any = (notion, difference, _costs(costs), sees, local_eps, only)
        question = Question(*asked)
        draws = given(bootstraps=bootstraps, seed=seed)
        people = given(
            score=score,
            label=label,
            group=group,
            client=client,
            feature=feature,
            group_pair=group_pair,
            levels=levels,
            blind=blind,
            categorical=categorical,
            sep=sep,
            decimal=decimal,
            encoding=encoding,
            missing=missing,
            positive=positive,
        )
        if calibrate is not Calibrate.shared:
            people["calibrate"] = calibrate.value
        if page is not None:
            out_folder(page.parent, page.name, option="--page's folder")
        file = files[0]
        summaries = file.suffix.lower() == ".json"
        if len(files) > 1 and not all(one.suffix.lower() == ".json" for one in files):
            raise ValueError(
                "several files must be summaries of sites (.json), got "
                f"{', '.join(one.name for one in files)}"
            )
        with stages() as progress:
            progress(f"reading of {file.name}", 0, 1)
            if summaries:
                federation, notes, sample = _summaries(files, people)
            elif file.suffix.lower() == ".toml":
                federation, notes, sample = _laws(file, people | draws), (), None
            else:
                federation, notes, sample = _people(file, people, sees == "x")
            if out is not None:
                from fairfl.figures.lib.saved import names

                out_folder(out, *names("frontier"))
            found = compared(
                federation,
                sample,
                question=question,
                at=at or None,
                count=points,
                progress=progress,
                **draws,
            )
            if page is not None:
                from fairfl._support.whole_file import write_whole
                from fairfl.reports.frontier_page import frontier_page

                told = [*notes, *searched(found)]
                text = frontier_page(
                    found, federation, sample, told, title=file.stem, progress=progress, **draws
                )
                write_whole(page, text)
        written = [] if page is None else [page]
        report(found, notes, title=file.stem, out=out, written=written, as_json=as_json)


def _laws(file: Path, people: dict[str, Any]) -> Federation:
    """The federation of a TOML file, with which no option of a table of people goes."""
    if people:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in people)
        raise ValueError(f"{names} goes with a table of people, got the federation {file.name}")
    from fairfl.studies.own.federation_file import read_federation

    return read_federation(file)


def _summaries(files: list[Path], people: dict[str, Any]) -> tuple[Federation, list[str], Counted]:
    """As :func:`_people`, of the sites' counts."""
    calibrate = people.pop("calibrate", "shared")
    if people:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in people)
        raise ValueError(f"{names} goes with a table of people, got summaries of sites")
    from fairfl.reports.people import read_summaries

    return read_summaries(files, calibrate)


def _people(
    file: Path, people: dict[str, Any], unseen: bool
) -> tuple[Federation, list[str], Counted]:
    """A table of people as a federation, what was done to it, and its people."""
    require_columns(people)
    from fairfl.reports.people import read

    form, features = take_form(people), people.pop("feature", None)
    return read(file, features=features, unseen=unseen, form=form, **people)


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
