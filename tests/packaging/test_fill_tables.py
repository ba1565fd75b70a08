"""tools/fill_tables.py: a page's blocks from tables, and nothing else changed."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("fill_tables", ROOT / "tools" / "fill_tables.py")
tool = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tool)

TABLE = """dataset,objective,measure,mean,sd,seeds,published,published_sd,apart
Adult,FedAvg,Acc.,0.8451,0.0004,5,0.837,0.007,1.2
Adult,FedAvg,DP disp.,0.1174,0.002,5,0.144,0.008,3.3
Adult,all 0,Acc.,0.764,,1,,,
Bank,FedAvg,Acc.,0.9,0.001,5,,,
Bank,FedAvg,|SPD|,0.01,0.001,5,,,
"""
PAGE = """# A page

<!-- fill run: Acc., DP disp. -->
old
<!-- /fill -->

<!-- fill run@Bank: Acc. -->
<!-- /fill -->
"""


@pytest.fixture
def runs(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "table.csv").write_text(TABLE)
    return tmp_path


def test_blocks_are_filled(runs):
    page = tool.fill(PAGE, runs)
    assert "old" not in page
    assert "| data | objective | Acc. | DP disp. |" in page
    assert "| Adult | FedAvg | 0.845 ± 0.000 [0.837 ± 0.007] | 0.117 ± 0.002 [0.144 ± 0.008]* |" in page
    assert "| Adult | all 0 | 0.764 |  |" in page
    assert "| objective | Acc. |\n| --- | --- |\n| FedAvg | 0.900 ± 0.001 |\n<!-- /fill -->" in page
    assert r"| FedAvg | 0.010 ± 0.001 |" in tool.fill("<!-- fill run@Bank: |SPD| -->\n<!-- /fill -->", runs)
    assert r"| objective | \|SPD\| |" in tool.fill("<!-- fill run@Bank: |SPD| -->\n<!-- /fill -->", runs)
    assert page.startswith("# A page\n\n<!-- fill run: Acc., DP disp. -->\n")
    assert tool.fill(page, runs) == page


@pytest.mark.parametrize(
    ("block", "error", "words"),
    [
        ("<!-- fill run: Loss -->\n<!-- /fill -->", ValueError, "'Loss'"),
        ("<!-- fill run@Mars: Acc. -->\n<!-- /fill -->", ValueError, "'Mars'"),
        ("<!-- fill other: Acc. -->\n<!-- /fill -->", FileNotFoundError, "other"),
    ],
)
def test_bad_blocks(block, error, words, runs):
    with pytest.raises(error, match=words):
        tool.fill(block, runs)


def test_the_command(runs, monkeypatch):
    page = runs / "page.md"
    page.write_text(PAGE)
    monkeypatch.setattr("sys.argv", ["fill_tables", str(page), "--runs", str(runs), "--check"])
    assert tool.main() == 1
    assert page.read_text() == PAGE
    monkeypatch.setattr("sys.argv", ["fill_tables", str(page), "--runs", str(runs)])
    assert tool.main() == 0
    assert page.read_text() == tool.fill(PAGE, runs)
    monkeypatch.setattr("sys.argv", ["fill_tables", str(page), "--runs", str(runs), "--check"])
    assert tool.main() == 0
