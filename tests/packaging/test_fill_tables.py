"""docs/results/fill_tables.py: a page's blocks from the tables of runs."""

import importlib.util
from pathlib import Path

import pytest

from fairfl.studies.papers.all_experiments import experiments

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


@pytest.fixture
def runs(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "table.csv").write_text(RUN)
    return tmp_path


def test_blocks_are_filled(runs):
    page = tool.fill(PAGE, runs)
    assert "old" not in page
    assert "| data | objective | Acc. | DP disp. |" in page
    cells = "0.845 ± 0.000 [0.837 ± 0.007] | 0.117 ± 0.002 [0.144 ± 0.008]* |"
    assert f"| Adult | FedAvg | {cells}" in page
    assert "| Adult | all 0 | 0.764 |  |" in page
    assert "| objective | Acc. |\n| --- | --- |\n| FedAvg | 0.900 ± 0.001 |\n<!-- /fill -->" in page
    spd = tool.fill("<!-- fill run@Bank: |SPD| -->\n<!-- /fill -->", runs)
    assert r"| objective | \|SPD\| |" in spd
    assert "| FedAvg | 0.010 ± 0.001 |" in spd
    assert page.startswith("# A page\n\n<!-- fill run: Acc., DP disp. -->\n")
    assert tool.fill(page, runs) == page


@pytest.mark.parametrize(("name", "measure"), [("run", "Loss"), ("run@Mars", "Acc.")])
def test_bad_blocks(name, measure, runs):
    with pytest.raises(ValueError, match=f"run must have measured '{measure}'"):
        tool.fill(f"<!-- fill {name}: {measure} -->\n<!-- /fill -->", runs)


def test_a_block_that_was_not_run_stays_and_every_experiment_is_named_right(runs):
    page = PAGE.replace("fill run", "fill other")
    assert tool.fill(page, runs) == page
    pages = (file.read_text("utf-8") for file in tool.RESULTS.glob("*.md") if file.stem != "causes")
    blocks = {block[2].partition("@")[0] for page in pages for block in tool.BLOCK.finditer(page)}
    assert blocks - {"declearn"} <= set(experiments())
