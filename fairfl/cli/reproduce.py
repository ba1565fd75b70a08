"""``fairfl reproduce``: figures, claims and a quick cross-check, in one folder with a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fairfl._support.extras import MissingExtra, extras_named
from fairfl._support.processes import as_done, job_count, pool_of
from fairfl.cli.crosscheck import failed, run_study
from fairfl.cli.figures import draw
from fairfl.cli.lib.errors import FAILED
from fairfl.cli.lib.options import Force, Jobs, Out, out_folder
from fairfl.cli.lib.unit_runs import RunOptions

if TYPE_CHECKING:
    from fairfl.claims.outcome import Outcome
    from fairfl.studies.crosscheck.study import Study

STUDIES = (
    "frontier", "ensemble", "lft-fedavg", "fedfb", "dual-weights", "dynamic-bounds", "personal",
)  # fmt: skip
"""Of the cross-check: the predictions that are tried by training."""


TOGETHER = "predictions"
"""Name of the picture that shows all of them."""


def reproduce(out: Out = Path("out"), jobs: Jobs = 0, force: Force = False) -> None:
    """Draw everything, report the claims and hold what is learned against the theory, in one
    folder with an index page. A stopped run goes on where it was.

    Claims are as on record where nothing that they use has changed: their certificates are
    verified, but proofs are compiled again by "fairfl claims check" alone.

    Exit code 1 where the check of a claim or a hard verdict of the cross-check fails.
    """
    with pool_of(job_count(jobs)):
        from fairfl.claims.runner import recorded
        from fairfl.reports.claims.page import NAMES, write_report
        from fairfl.reports.pages.index_page import write_index

        out_folder(out, *NAMES, "index.html")
        outcomes = draw(None, out, jobs, force)
        claims = recorded()
        write_report(out, claims)
        failures = {c.claim.id: "; ".join(c.problems) for c in claims if c.outcome and c.problems}
        failures |= _unverified([c.outcome for c in claims if c.outcome], jobs)
        studies, missing = _crosschecked(out / "crosscheck", jobs)
        typer.echo(f"page: {write_index(out, outcomes, claims, failures, studies, missing)}")
        if failures or any(map(failed, studies)):
            raise typer.Exit(FAILED)


def _unverified(outcomes: Sequence[Outcome], jobs: int) -> dict[str, str]:
    """Claims whose certificates do not verify, and why."""
    from fairfl.claims.runner import verified
    from fairfl.cli.lib.progress import counting

    failures = {}
    tasks = [(outcome,) for outcome in outcomes]
    with counting("claims", len(tasks)) as one_more:
        for id, reason, _ in as_done(verified, tasks, job_count(jobs, len(tasks))):
            one_more(id)
            failures |= {id: reason} if reason else {}
    return failures


def _crosschecked(out: Path, jobs: int) -> tuple[list[dict[str, Any]], str]:
    """What the studies found, quick; or why they could not be run, else ""."""
    try:
        with extras_named():
            from fairfl.studies.crosscheck.studies.all_studies import find

            chosen = find([*STUDIES]) if STUDIES else []
            run = RunOptions(out=out, resume=True, jobs=jobs, as_json=True)
            reports = [run_study(study, run) for study in chosen]
            _draw_together(chosen, out)
            return reports, ""
    except MissingExtra as error:
        return [], str(error)


def _draw_together(studies: Sequence[Study], out: Path) -> None:
    """One picture with the panels of every study's first picture."""
    import pandas as pd

    from fairfl.figures.lib.crosscheck import draw_together

    drawings = []
    for study in studies:
        for drawing in study.pictures[:1]:
            table = pd.read_csv(out / study.name / f"{drawing.name}.csv")
            drawings.append((drawing, table))
    if drawings:
        draw_together(TOGETHER, "Theory and training", drawings, out)
