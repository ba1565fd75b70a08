"""Fill the verdicts and errata of docs/papers, and the words of docs/papers.md, from the record of
the claims.

    python docs/fill_papers.py           # every page
    python docs/fill_papers.py --check   # write nothing; 1 if a page would change

What stands between ``<!-- NAME -->`` and ``<!-- /NAME -->`` of a page is replaced: verdicts,
errata, words.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from fairfl._support.whole_file import write_whole
from fairfl.claims.registry import find
from fairfl.claims.runner import judge
from fairfl.reports.claims.markdown import errata_list, verdicts
from fairfl.reports.claims.vocabulary import in_short

DOCS = Path(__file__).resolve().parent
BLOCK = re.compile(r"(<!-- (verdicts|errata|words) -->\n).*?(<!-- /\2 -->)", re.DOTALL)


def filled() -> Iterator[tuple[Path, str]]:
    """The pages with what the record says."""
    for page in (DOCS / "papers.md", *sorted(DOCS.glob("papers/*.md"))):
        texts = {"words": in_short()}
        if page.parent != DOCS:
            checked = judge(find([f"{page.stem}/"]))
            texts |= {"verdicts": verdicts(checked), "errata": errata_list(checked)}
        yield (
            page,
            BLOCK.sub(
                lambda block, texts=texts: f"{block[1]}\n{texts[block[2]].strip()}\n\n{block[3]}",
                page.read_text("utf-8"),
            ),
        )


def main(check: bool) -> int:
    """Write the pages that change, or 1 where ``check`` and there are some."""
    changed = [(page, text) for page, text in filled() if page.read_text("utf-8") != text]
    for page, text in () if check else changed:
        write_whole(page, text)
    return int(check and bool(changed))


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
