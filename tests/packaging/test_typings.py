"""The links for type checkers are those that the tree asks for."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def load_tool():
    spec = importlib.util.spec_from_file_location("fairfl_tools_typings", ROOT / "tools" / "typings.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_links_are_up_to_date():
    tool = load_tool()
    assert tool.present() == tool.wanted(), "run `make typings`, and commit the links"


def test_every_link_leads_to_something():
    dangling = [link.name for link in (ROOT / "typings" / "fairfl").iterdir() if not link.exists()]
    assert not dangling


def test_renewing_mends_what_is_stale_missing_or_no_link(tmp_path):
    tool = load_tool()
    (tmp_path / "pyproject.toml").write_text(
        '[tool.setuptools.package-dir]\n"fairfl" = "fairfl"\n"fairfl.theory" = "theory"\n', encoding="utf-8"
    )
    for folder in ("fairfl", "theory", "typings/fairfl"):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("__init__.py", "cli.py", "report.py"):
        (tmp_path / "fairfl" / name).touch()
    links = tmp_path / "typings" / "fairfl"
    (links / "gone.py").symlink_to("../../fairfl/gone.py")  # stale
    (links / "cli.py").touch()  # a copy instead of a link
    (links / "report.py").symlink_to("../../theory/report.py")  # leads elsewhere

    tool.renew(tmp_path)

    assert tool.present(tmp_path) == {
        "__init__.py": "../../fairfl/__init__.py",
        "cli.py": "../../fairfl/cli.py",
        "report.py": "../../fairfl/report.py",
        "theory": "../../theory",
    }
