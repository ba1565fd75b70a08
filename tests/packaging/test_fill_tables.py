"""docs/results/fill_tables.py: a page's blocks from its CSV, that from runs; pages are filled."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location(
    "fill_tables", ROOT / "docs" / "results" / "fill_tables.py"
)
tool = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tool)

RUN = """dataset,objective,measure,mean,sd,seeds,published,published_sd,apart
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
OTHER = dict.fromkeys(tool.COLUMNS, "") | {
    "experiment": "other",
    "dataset": "D",
    "measure": "M",
    "mean": "1",
}


@pytest.fixture
def runs(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "table.csv").write_text(RUN)
    return tmp_path


@pytest.fixture
def rows(runs):
    return tool.with_runs([OTHER], ["run", "not run"], runs)


def test_blocks_are_filled(rows):
    page = tool.fill(PAGE, rows)
    assert "old" not in page
    assert "| data | objective | Acc. | DP disp. |" in page
    assert (
        "| Adult | FedAvg | 0.845 ± 0.000 [0.837 ± 0.007] | 0.117 ± 0.002 [0.144 ± 0.008]* |"
        in page
    )
    assert "| Adult | all 0 | 0.764 |  |" in page
    assert "| objective | Acc. |\n| --- | --- |\n| FedAvg | 0.900 ± 0.001 |\n<!-- /fill -->" in page
    spd = tool.fill("<!-- fill run@Bank: |SPD| -->\n<!-- /fill -->", rows)
    assert r"| objective | \|SPD\| |" in spd
    assert "| FedAvg | 0.010 ± 0.001 |" in spd
    assert page.startswith("# A page\n\n<!-- fill run: Acc., DP disp. -->\n")
    assert tool.fill(page, rows) == page


@pytest.mark.parametrize(
    ("name", "measure"), [("run", "Loss"), ("run@Mars", "Acc."), ("nothing", "Acc.")]
)
def test_bad_blocks(name, measure, rows):
    with pytest.raises(ValueError, match=f"{name} must have measured '{measure}'"):
        tool.fill(f"<!-- fill {name}: {measure} -->\n<!-- /fill -->", rows)


def test_the_command(runs, monkeypatch):
    page = runs / "page.md"
    page.write_text(PAGE)
    page.with_suffix(".csv").write_text(",".join(tool.COLUMNS) + "\n")
    called = ["fill_tables", "--results", str(runs), "--runs", str(runs)]
    monkeypatch.setattr("sys.argv", [*called, "--check"])
    assert tool.main() == 1
    assert page.read_text() == PAGE
    monkeypatch.setattr("sys.argv", called)
    assert tool.main() == 0
    filled = page.read_text()
    assert "old" not in filled
    monkeypatch.setattr("sys.argv", [*called[:3], "--check"])  # from its own CSV alone
    assert tool.main() == 0


def test_the_pages_of_results_are_filled(monkeypatch):
    monkeypatch.setattr("sys.argv", ["fill_tables", "--check"])
    assert tool.main() == 0
    assert len(list(tool.RESULTS.glob("*.csv"))) >= 5
