"""Links of all pages, and paths in ARCHITECTURE.md, lead somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*ROOT.glob("*.md"), ROOT / "claims" / "README.md", *(ROOT / "docs").rglob("*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        assert link.startswith("https://") or (page.parent / link).exists(), link


def test_paths_that_the_architecture_names_exist() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    for path in re.findall(r"`(\w+/[\w./]*)`", text):
        assert (ROOT / path).exists() or any(ROOT.glob(f"*/{path}")), path
