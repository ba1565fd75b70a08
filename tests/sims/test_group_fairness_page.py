"""The examples of docs/group_fairness.md run on people as it describes them."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "group_fairness.md"


@pytest.fixture
def folder(tmp_path, monkeypatch, request):
    """People as the page describes them, in the folder that the test runs in."""
    rng, n = np.random.default_rng(1), request.param
    sex = rng.choice(["F", "M"], n)
    score = rng.normal(size=n) + 0.8 * (sex == "M")
    people = {"hired": np.where(score + rng.logistic(size=n) > 0.4, "yes", "no"), "sex": sex}
    people |= {"site": rng.choice(["north", "south", "west"], n)}
    people |= {"school": rng.choice(["a", "b", "c"], n), "age": rng.integers(18, 65, n)}
    people |= {"score": score}
    pd.DataFrame(people).to_csv(tmp_path / "people.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("folder", [300], indirect=True)
def test_the_commands_run(folder, cli):
    text = PAGE.read_text("utf-8").replace("$models", "out/simulate/people/models")
    lines = re.findall(r"^(fairfl (?:simulate people|apply|judge)[^#\n]*)", text, re.MULTILINE)
    Path("new.csv").write_bytes(Path("people.csv").read_bytes())
    train, *others = ([*shlex.split(line)[1:]] for line in lines)
    outcome = cli(*train, "--seeds", 1, "--budget", 0.05)
    assert outcome.exit_code == 0, outcome.stderr
    assert "Features: school, age, score, sex." in outcome.stdout
    assert "Notes:" in outcome.stdout and "paper" not in outcome.stdout
    for words, message in zip(others, ("FedFB, ε = 0.05, seed 0.", "300 people"), strict=True):
        done = cli(*words)
        assert done.exit_code == 0 and message in done.stdout, done.stderr
    out = folder / "out" / "simulate" / "people"
    names = {f"people-tradeoff{end}" for end in (".csv", ".svg", ".png", ".manifest.json")}
    assert {file.name for file in out.iterdir()} == names | {
        *("table.csv", "table.manifest.json", "differences.txt", "models")
    }
    table = pd.read_csv(out / "table.csv")
    assert "LFT+Ensemble, ε = 0.05" in set(table["objective"]) and table["published"].isna().all()


@pytest.mark.parametrize("folder", [1200], indirect=True)
def test_the_example_runs(folder):
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), flags=re.DOTALL)
    names = {"__name__": "page"}
    exec(compile(block, PAGE.name, "exec", dont_inherit=True), names)
    test = names["measured"]("test")
    assert names["chosen"] in test.index[1:]
    # fairer on people that it has not seen
    assert test.loc[names["chosen"], "dp"] < test.loc["FedAvg", "dp"] / 2
