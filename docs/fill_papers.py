"""Write what stands in the papers' pages and in lists but is known to the code.

    python docs/fill_papers.py

Verdicts and errata of docs/papers, words and figures of docs/papers.md stand between ``<!-- NAME
-->`` and ``<!-- /NAME -->``, the first two from the record of the claims. The lists of figures,
experiments and studies are those that shells complete names from, which import nothing.
"""

import re
import subprocess
import sys
from pathlib import Path

from fairfl._support.whole_file import write_whole
from fairfl.claims.registry import find
from fairfl.claims.runner import judge
from fairfl.figures.catalog.all_figures import registered
from fairfl.reports.claims.errata import errata_list, verdicts
from fairfl.reports.claims.vocabulary import in_short

DOCS = Path(__file__).resolve().parent
PAGES = (DOCS / "papers.md", *sorted(DOCS.glob("papers/*.md")))
BLOCK = re.compile(r"(<!-- (verdicts|errata|words|figures) -->\n).*?(<!-- /\2 -->)", re.DOTALL)
LISTS = {
    "figures": DOCS.parent / "figures" / "figures.json",
    "simulate": DOCS.parent / "studies" / "experiments.json",
    "crosscheck": DOCS.parent / "studies" / "studies.json",
}
"""Commands, and the files of their lists."""


def filled(page: Path) -> str:
    """A page with what the record and the registry of figures say."""
    checked = [] if page.parent == DOCS else judge(find([f"{page.stem}/"]))
    texts = {"words": in_short(), "verdicts": verdicts(checked), "errata": errata_list(checked)}
    texts["figures"] = f"`figures {' '.join(other_figures())}` are no figures of the papers'."
    return BLOCK.sub(
        lambda block: f"{block[1]}\n{texts[block[2]].strip()}\n\n{block[3]}",
        page.read_text("utf-8"),
    )


def other_figures() -> list[str]:
    """The figures that no paper's page names."""
    text = "".join(page.read_text("utf-8") for page in PAGES if page.parent != DOCS)
    words = " ".join(re.findall(r"`figures ([^`]+)`", text)).split()
    return [name for name in registered() if name not in words]


if __name__ == "__main__":
    for command, file in LISTS.items():
        line = [sys.executable, "-m", "fairfl", command, "--list", "--json"]
        write_whole(file, subprocess.run(line, check=True, capture_output=True, text=True).stdout)
    for page in PAGES:
        write_whole(page, filled(page))
