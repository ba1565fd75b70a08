"""Fill the papers' pages from the record of the claims: verdicts and errata of docs/papers, and the
words of docs/papers.md, between ``<!-- NAME -->`` and ``<!-- /NAME -->``.

    python docs/fill_papers.py           # every page
    python docs/fill_papers.py --check   # write nothing; 1 if a page would change
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from fairfl._support.whole_file import write_whole
from fairfl.claims.registry import find
from fairfl.claims.runner import judge
from fairfl.reports.claims.markdown import errata_list, verdicts
from fairfl.reports.claims.vocabulary import in_short

DOCS = Path(__file__).resolve().parent
PAGES = (DOCS / "papers.md", *sorted(DOCS.glob("papers/*.md")))
BLOCK = re.compile(r"(<!-- (verdicts|errata|words) -->\n).*?(<!-- /\2 -->)", re.DOTALL)


def filled(page: Path) -> str:
    """A page with what the record says."""
    checked = [] if page.parent == DOCS else judge(find([f"{page.stem}/"]))
    texts = {"words": in_short(), "verdicts": verdicts(checked), "errata": errata_list(checked)}
    return BLOCK.sub(
        lambda block: f"{block[1]}\n{texts[block[2]].strip()}\n\n{block[3]}",
        page.read_text("utf-8"),
    )


if __name__ == "__main__":
    changed = {page: text for page in PAGES if (text := filled(page)) != page.read_text("utf-8")}
    if "--check" in sys.argv[1:]:
        sys.exit(bool(changed))
    for page, text in changed.items():
        write_whole(page, text)
