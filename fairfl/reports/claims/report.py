"""claims.html, claims.md and claims.json in one folder, and their manifest."""

import json
from collections.abc import Sequence
from pathlib import Path

from fairfl._support.manifest import SUFFIX, write_piece
from fairfl.claims.runner import Checked
from fairfl.reports.claims.markdown import markdown
from fairfl.reports.claims.page import page
from fairfl.reports.claims.text import as_data

NAMES: tuple[str, ...] = ("claims.html", "claims.md", "claims.json")


def write_report(out: Path, checked: Sequence[Checked]) -> tuple[Path, ...]:
    """Write the three files into ``out``, made if missing, and return their paths; the same bytes
    each time.
    """
    data = json.dumps([as_data(c) for c in checked], ensure_ascii=False, indent=1) + "\n"
    texts = dict(zip(NAMES, (page(checked), markdown(checked), data), strict=True))
    return tuple(write_piece(out / f"claims{SUFFIX}", texts))
