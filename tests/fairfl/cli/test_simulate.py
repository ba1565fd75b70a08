"""fairfl simulate and crosscheck: tables, verdicts, files, exit codes, resuming, JSON."""

import json
import os

import pandas as pd
import pytest

from fairfl.studies.crosscheck.practice import CFL, ENSEMBLE
from fairfl.studies.papers.qffl import qffl_runs

CONFIG = """
title = "Two algorithms"
[data]
name = "synthetic"
clients = 6
[model]
kind = "softmax"
[[algorithm]]
name = "fedavg"
[[algorithm]]
name = "qfedavg"
q = 1.0
[training]
rounds = {rounds}
epochs = 1
participation = {{kind = "uniform", count = 2}}
[run]
seeds = [0, 1]
"""


@pytest.fixture
def config(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(CONFIG.format(rounds=4), "utf-8")
    return file


def test_a_table_and_its_files(cli, config, tmp_path):
    result = cli("simulate", config, "--out", tmp_path / "out")
    assert result.exit_code == 0 and result.stderr == ""
    assert "Two algorithms" in result.stdout
    assert "qfedavg, q = 1.0" in result.stdout
    assert "2 seeds" in result.stdout
    folder = tmp_path / "out" / "mine"
    table = pd.read_csv(folder / "table.csv")
    assert set(table["objective"]) == {"fedavg", "qfedavg, q = 1.0"} and (table["seeds"] == 2).all()
    pictures = {
        f"mine-{kind}{end}" for kind in ("accuracies", "rounds") for end in (".csv", ".svg", ".png")
    }
    manifests = {f"{name}.manifest.json" for name in ("table", "mine-accuracies", "mine-rounds")}
    texts = {"table.csv", "paired.csv", "differences.txt"}
    assert {file.name for file in folder.iterdir()} == pictures | manifests | texts
    differences, keys = pd.read_csv(folder / "paired.csv"), ["objective", "measure"]
    means = table.set_index(keys)["mean"]
    for row in differences.itertuples():  # two seeds: Student's quantile of one degree of freedom
        ahead = means[row.objective, row.measure] - means["fedavg", row.measure]
        assert row.mean == pytest.approx(ahead, abs=1e-6)
        assert row.half == pytest.approx(12.7062 * row.sd / 2**0.5, rel=1e-4)
    assert set(differences["objective"]) == {"qfedavg, q = 1.0"}
    assert "half of its 95 % interval" in result.stdout and "Less fedavg" in result.stdout
    assert "quick profile" not in (folder / "differences.txt").read_text("utf-8")
    curve = pd.read_csv(folder / "mine-rounds.csv")
    assert curve["round"].max() == 4 and (curve["least"] <= curve["average"]).all()
    spread = pd.read_csv(folder / "mine-accuracies.csv")
    for _, part in spread.groupby("objective"):  # distribution functions, in percent
        assert part["accuracy"].is_monotonic_increasing and part["share"].is_monotonic_increasing
        assert part["share"].iloc[-1] == pytest.approx(100)


def test_groups_of_people_and_groups_that_join_have_their_files(cli, config, tmp_path):
    joining = CONFIG.format(rounds=4).replace(
        '{kind = "uniform", count = 2}',
        '{kind = "joining", joins = [0, 2], groups = [0, 0, 0, 1, 1, 1]}',
    )
    people = joining.partition("participation")[0].replace('"synthetic"', '"fedfb-synthetic"')
    people = people.replace("clients = 6", "clients = 2") + "lr = 0.01\nbatch_size = 512\n"
    for name, text in (("join", joining), ("people", people)):
        (tmp_path / f"{name}.toml").write_text(text, "utf-8")
        result = cli("simulate", tmp_path / f"{name}.toml", "--out", tmp_path)
        assert (result.exit_code, result.stderr) == (0, "")
    rounds = pd.read_csv(
        tmp_path / "join" / "curves.csv", header=[0, 1, 2], index_col=list(range(5))
    )
    assert ("GB (9)", "test", "mean") in rounds and rounds.index.get_level_values(3).max() == 4
    points = pd.read_csv(tmp_path / "people" / "people-disparity.csv").set_index("objective")
    table = pd.read_csv(tmp_path / "people" / "table.csv").set_index(["objective", "measure"])
    for name in points.index:
        assert points["disparity"][name] == pytest.approx(table["mean"][name, "disparity"])
        assert points["accuracy"][name] == pytest.approx(table["mean"][name, "Acc."])


def test_runs_are_not_written_over_and_can_be_resumed(cli, config, tmp_path):
    first = cli("simulate", config, "--out", tmp_path / "out", "--json")
    answer = json.loads(first.stdout)
    assert (answer["name"], answer["seeds"], answer["profile"]) == ("mine", 2, "quick")
    row = answer["table"][0]
    assert row["objective"] == "fedavg" and row["published"] is None and 0 <= row["mean"] <= 100
    assert all(os.path.exists(file) for file in answer["files"])
    again = cli("simulate", config, "--out", tmp_path / "out")
    assert (
        again.exit_code == 2 and "--resume" in again.stderr and "mine-0 and 1 more" in again.stderr
    )
    resumed = cli("simulate", config, "--out", tmp_path / "out", "--resume", "--json")
    assert resumed.exit_code == 0 and json.loads(resumed.stdout) == json.loads(first.stdout)
    config.write_text(CONFIG.format(rounds=5), "utf-8")
    changed = cli("simulate", config, "--out", tmp_path / "out", "--resume")
    assert changed.exit_code == 2 and "must hold a run of the same configuration" in changed.stderr


def test_a_quick_run_is_said_to_be_one_and_not_held_against_the_published(
    cli, tmp_path, monkeypatch
):
    monkeypatch.setitem(qffl_runs.ROUNDS, "Synthetic", (2, 3))
    for profile, compared in (("paper", True), ("quick", False)):
        words = ("--out", tmp_path / profile, "--seeds", 1, "--profile", profile)
        shown = cli("simulate", "qffl-table-9", *words, "--only", "*synthetic*")
        table = pd.read_csv(tmp_path / profile / "qffl-table-9" / "table.csv")
        assert table["published"].notna().any() and table["apart"].notna().any() == compared
        assert "[published ± sd]" in shown.stdout
        assert ("ours ± sd, not converged" in shown.stdout) != compared
    result = cli("simulate", "qffl-table-9", "--out", tmp_path, "--seeds", 1)
    assert result.exit_code == 0
    differences = (tmp_path / "qffl-table-9" / "differences.txt").read_text("utf-8").splitlines()
    assert differences[0].startswith("The quick profile stops")
    assert f"- {differences[0]}" in result.stdout


def test_missing_data_is_1(cli, tmp_path, monkeypatch):
    """Vehicle has no public source; Synthetic runs first, in no time."""
    monkeypatch.setattr(qffl_runs, "ROUNDS", {"Synthetic": (1, 1), "Vehicle": (1, 1)})
    monkeypatch.setenv("FAIRFL_DATA", str(tmp_path))
    result = cli("simulate", "qffl-table-1", "--seeds", 1, "--out", tmp_path / "out")
    assert result.exit_code == 1 and "vehicle" in result.stderr and "Traceback" not in result.stderr


def test_a_study_has_verdicts_and_files(cli, planted_study, tmp_path):
    result = cli("crosscheck", "planted", "--out", tmp_path)
    assert result.exit_code == 0 and result.stderr == ""
    assert "- planted (hard): holds. It holds. Found: 2 rules." in result.stdout
    assert "1 seed\n" in result.stdout
    # what groupby left as the rows' names is a column
    means = pd.read_csv(tmp_path / "planted" / "means.csv")
    assert list(means) == ["scheme", "accuracy"]
    assert sorted(means["scheme"]) == sorted([CFL, ENSEMBLE])
    assert "means\n" in result.stdout and "scheme        accuracy\n" in result.stdout
    names = {"measures.csv", "means.csv", "verdicts.json"}
    names |= {f"crosscheck-planted.{end}" for end in ("csv", "svg", "png", "manifest.json")}
    names.add("verdicts.manifest.json")
    assert {file.name for file in (tmp_path / "planted").iterdir()} == names
    assert pd.read_csv(tmp_path / "planted" / "measures.csv")["scheme"].tolist() == [CFL, ENSEMBLE]
    assert (
        json.loads((tmp_path / "planted" / "verdicts.json").read_text("utf-8"))[0]["holds"] is True
    )
    again = cli("crosscheck", "planted", "--out", tmp_path)
    assert again.exit_code == 2 and "--resume" in again.stderr
    resumed = cli("crosscheck", "planted", "--out", tmp_path, "--resume", "--json")
    assert resumed.exit_code == 0
    answer = json.loads(resumed.stdout)[0]
    assert (
        answer["seeds"] == 1
        and answer["verdicts"][0]["hard"]
        and len(answer["tables"]["means"]) == 2
    )


@pytest.mark.parametrize(
    ("holds", "hard", "code"), [(False, True, 1), (False, False, 0), (None, True, 0)]
)
def test_a_hard_verdict_that_fails_is_exit_code_1(cli, planted_study, tmp_path, holds, hard, code):
    planted_study.holds, planted_study.hard = holds, hard
    result = cli("crosscheck", "planted", "--out", tmp_path)
    assert result.exit_code == code
    assert ("undecided" if holds is None else "DOES NOT HOLD") in result.stdout
