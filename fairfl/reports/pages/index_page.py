"""index.html beside the pictures: plain HTML, relative links, nothing loaded from elsewhere."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from fairfl._support.manifest import SUFFIX, write_piece
from fairfl.claims.runner import Checked
from fairfl.figures.catalog.all_figures import registered
from fairfl.figures.render import Outcome
from fairfl.reports.claims.page import summary
from fairfl.reports.pages.html_page import html_page

TOGETHER = "crosscheck/predictions.png"
"""The picture with the panels of all studies."""


def write_index(
    out: Path,
    outcomes: Iterable[Outcome],
    claims: Sequence[Checked],
    failures: Mapping[str, str],
    studies: Sequence[dict[str, Any]],
    missing: str,
) -> Path:
    """Write DIR/index.html about what is in DIR, and return its path.

    ``failures``: why the check of a claim failed; ``studies``: what ``fairfl crosscheck --json``
    says of each; ``missing``: why there are none.
    """
    titles = {name: entry.title for name, entry in registered().items()}
    parts = [_section(outcome, titles[outcome.name]) for outcome in outcomes]
    crosschecked = "".join(_study(study, out) for study in studies) or f"<p>{escape(missing)}</p>\n"
    if (out / TOGETHER).is_file() and studies:
        crosschecked = f'<img src="{TOGETHER}" alt="Theory and training">\n{crosschecked}'
    failed = "".join(f"<li>{escape(f'{id}: {why}')}</li>\n" for id, why in failures.items())
    page = html_page(
        Path(__file__).with_suffix(".html"),
        claims=summary(claims, "claims.html"),
        failed=failed,
        crosschecked=crosschecked,
        figures="".join(parts),
    )
    return write_piece(out / f"index{SUFFIX}", {"index.html": page})[0]


def _study(study: dict[str, Any], out: Path) -> str:
    """A study's verdicts, and links to its pictures."""
    title = escape(study["title"])
    verdicts = "".join(f"<li>{escape(line)}</li>\n" for line in study["lines"])
    files = [Path(file).relative_to(out).as_posix() for file in study["files"]]
    pictures = " · ".join(
        f'<a href="{escape(file)}">{escape(Path(file).stem)}</a>'
        for file in files
        if file.endswith(".png")
    )
    return f"<h3>{title}</h3>\n<ul>\n{verdicts}</ul>\n<p>{pictures}</p>\n"


def _section(outcome: Outcome, title: str) -> str:
    name = escape(outcome.name)
    head = f'<section id="{name}">\n<h2>{escape(title)}</h2>\n'
    if outcome.status == "skipped":
        return f"{head}<p>Not drawn: {escape(outcome.reason)}</p>\n</section>\n"
    links = " · ".join(
        f'<a href="{escape(file.name)}">{escape(file.suffix[1:].upper())}</a>'
        for file in outcome.files
    )
    picture = (
        f'<a href="{name}.svg"><img src="{name}.png" alt="{escape(title)}"></a>\n<p>{links}</p>\n'
    )
    return f"{head}{picture}</section>\n"
