"""``fairfl claims``: list, show and check the statements of the papers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairfl.claims.ids import REPAIRED, matching
from fairfl.claims.words import LEVELS, SEVERITIES, VERDICTS, WHOSE
from fairfl.cli.lib.errors import FAILED, Command
from fairfl.cli.lib.options import AsJson, Imports, Jobs, Out, option, out_folder, place

if TYPE_CHECKING:
    from fairfl.claims.outcome import Outcome
    from fairfl.claims.registry import Entry

app = typer.Typer(
    no_args_is_help=True, help="The statements of the papers: verified, repaired or refuted."
)
ID_COLUMN = 26
"""Letters; a longer id moves the rest of its line."""


def _only(name: str, words: Sequence[str]) -> object:
    """An option that takes some of ``words``, once or several times."""

    def chosen(values: list[str] | None) -> list[str]:
        selected = [word.strip() for value in values or () for word in value.split(",")]
        for word in selected:
            if word not in words:
                raise typer.BadParameter(f"must be one of {', '.join(words)}, got {word!r}")
        return selected

    return option(f"Only {', '.join(words)}: repeat, or commas.", name, callback=chosen)


Ids = Annotated[
    list[str] | None,
    typer.Argument(metavar="[ID]...", help="Claims, or beginnings such as pffl; by default all."),
]


@app.command("list", cls=Command)
def list_claims(
    ids: Ids = None,
    level: Annotated[list[str] | None, _only("--level", LEVELS)] = None,
    verdict: Annotated[list[str] | None, _only("--verdict", VERDICTS)] = None,
    severity: Annotated[list[str] | None, _only("--severity", SEVERITIES)] = None,
    whose: Annotated[list[str] | None, _only("--whose", WHOSE)] = None,
    as_json: AsJson = False,
    imports: Imports = None,
) -> None:
    """List claims with the verdicts of the committed record, theorems and severe errors first;
    --json has more of each, and the repaired forms of false ones.
    """
    claims = _listed(ids, level=level, verdict=verdict, severity=severity, whose=whose)
    if as_json:
        typer.echo(json.dumps(claims, ensure_ascii=False, indent=1))
        return
    _table(claims)


@app.command(cls=Command)
def show(
    id: Annotated[str, typer.Argument(metavar="ID", help="The id of a claim.")],
    replay: Annotated[
        bool,
        option("Draw every recorded example again, not the first; compile proofs.", "--replay"),
    ] = False,
    as_json: AsJson = False,
    imports: Imports = None,
) -> None:
    """Show a claim: as printed and as checked, its hypotheses, verdict and evidence."""
    from fairfl.claims.registry import find
    from fairfl.claims.runner import judge, verified
    from fairfl.reports.claims.text import as_data, as_text

    exact = [entry for entry in find([id]) if entry.claim.id == id]
    if not exact:
        raise ValueError(f"claim must be a whole id, such as {find([id])[0].claim.id}, got {id!r}")
    (checked,) = judge(exact)
    if checked.outcome is not None:
        _, reason, lines = verified(checked.outcome, replay)
        for line in lines:
            typer.echo(line, err=True)
        if reason:
            raise RuntimeError(f"the record of {id} was altered: {reason}")
    typer.echo(
        json.dumps(as_data(checked), ensure_ascii=False, indent=1) if as_json else as_text(checked)
    )


@app.command(cls=Command)
def check(
    ids: Ids = None,
    jobs: Jobs = 1,
    deep: Annotated[bool, option("Ten thousand examples; resumable.", "--deep")] = False,
    out: Annotated[
        Path | None,
        option("Keep outcomes here, and go on from those that are.", "--out", **place("DIR")),
    ] = None,
    to_record: Annotated[
        bool,
        option("Keep outcomes in the committed record, and go on from those that are.", "--record"),
    ] = False,
    as_json: AsJson = False,
    imports: Imports = None,
) -> None:
    """Check claims and their mutants anew; exit code 1 where a verdict is not the expected one."""
    from fairfl.claims import record
    from fairfl.claims.registry import find
    from fairfl.claims.runner import judge, needed
    from fairfl.reports.claims.text import instance, violations

    entries = find(ids)
    files = []
    if out is not None or deep:
        files.append(out_folder(out or Path("out/claims")) / record.NAME)
    if to_record:
        for entry in entries:
            if not entry.module.startswith("fairfl."):
                raise ValueError(
                    f"--record must be of claims of this project, got {entry.claim.id}"
                )
        out_folder(record.COMMITTED.parent, option="--record")
        files.append(record.COMMITTED)
    effort = "deep" if deep else "quick"
    outcomes = {o.id: o for o in _run(needed(entries), effort, jobs, files, quiet=as_json)}
    results = judge(entries, outcomes)
    failed = [checked for checked in results if checked.problems]
    if as_json:
        data = [{**c.to_json(), "problems": list(c.problems)} for c in results]
        typer.echo(json.dumps(data, ensure_ascii=False, indent=1))
    else:
        _table([c.to_json() for c in results])
        for checked in results:
            if checked.outcome is not None and checked.claim.id in (ids or ()):
                for certificate in checked.outcome.instances:
                    typer.echo(f"\n{checked.claim.id}, {instance(certificate)}")
        for checked in failed:
            typer.echo(f"\nFAILED {checked.claim.id}")
            for problem in (*checked.problems, *violations(checked.outcome)):
                typer.echo("    " + problem.replace("\n", "\n    "))
        typer.echo(f"claims checked: {len(results)}, failed: {len(failed)}")
    if failed:
        raise typer.Exit(FAILED)


@app.command(cls=Command)
def report(ids: Ids = None, out: Out = Path("out/claims"), imports: Imports = None) -> None:
    """Write the report of the committed record: claims.html (one page, no network), claims.json."""
    from fairfl.claims.registry import find
    from fairfl.claims.runner import judge
    from fairfl.reports.claims.page import NAMES, write_report

    entries = find(ids)
    for file in write_report(out_folder(out, *NAMES), judge(entries)):
        typer.echo(f"written: {file}")


def _listed(ids: list[str] | None, **only: list[str] | None) -> list[dict[str, Any]]:
    """The claims whose level, verdict, ... is one of those given, where some are."""
    from fairfl.claims.listing import listing

    recorded = listing()
    claims = [recorded[id] for id in matching(ids, recorded)]
    return [
        claim
        for claim in claims
        if all(claim[name] in words for name, words in only.items() if words)
    ]


def _run(
    entries: list[Entry], effort: str, jobs: int, files: Sequence[Path], quiet: bool
) -> Iterator[Outcome]:
    """The outcomes as they come, taken from the first of ``files`` where they are there, and
    written into all; verdicts, which may need several, are printed at the end.
    """
    from fairfl._support.processes import as_done, job_count, pool_of
    from fairfl.claims.call import values_kept
    from fairfl.claims.certificates.kernel_proof import accept
    from fairfl.claims.record import Record
    from fairfl.claims.runner import examine_id, on_record, proofs, put_on_record
    from fairfl.cli.lib.progress import counting

    stores = [Record(file) for file in files]
    by_id = {entry.claim.id: entry for entry in entries}
    recorded = (on_record(stores[0], entry, effort) for entry in entries) if stores else ()
    earlier = {outcome.id: outcome for outcome in recorded if outcome}
    stale = [id for id in by_id if id not in earlier]
    jobs = job_count(jobs, len(stale))
    pool, count = pool_of(jobs) if jobs > 1 else nullcontext(), counting("claims", len(entries))
    with values_kept(), pool, count as one_more:
        names = proofs(by_id[id] for id in stale)
        parts = [tuple(names[job::jobs]) for job in range(jobs)]
        accepted = frozenset[str]().union(*as_done(accept, parts, jobs))
        tasks = [(id, effort, accepted) for id in stale]
        for outcome in chain(earlier.values(), as_done(examine_id, tasks, jobs)):
            for store in stores:
                put_on_record(store, by_id[outcome.id], outcome)
            one_more(outcome.id)
            if not quiet:
                status = "checked" if outcome.passed else "FAILED"
                typer.echo(f"{outcome.id:<48}  {status:<7}  {outcome.seconds:6.1f} s")
            yield outcome


def _table(claims: list[dict[str, Any]]) -> None:
    """A line per claim, cut to the terminal's width; of a repaired form its claim tells."""
    from fairfl.reports.terminal import width

    ids = {c["id"] for c in claims}
    rows = [("id", "verdict", "level", "severity", "statement")]
    for c in claims:
        if c["id"].removesuffix(REPAIRED) not in ids - {c["id"]}:
            verdict = c["verdict"] or re.split(r"[:,] | since| for", c["status"])[0]
            rows.append((c["id"], verdict, c["level"] or "", c["severity"] or "", c["statement"]))
    sizes = [max(map(len, column)) for column in list(zip(*rows, strict=True))[:4]]
    sizes[0] = min(sizes[0], ID_COLUMN)
    columns = width()
    for *short, statement in rows:
        line = "  ".join(
            [c.ljust(size) for c, size in zip(short, sizes, strict=True)] + [statement]
        )
        typer.echo(line if columns is None or len(line) <= columns else f"{line[: columns - 1]}…")
