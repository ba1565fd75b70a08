"""fairfl simulate people.csv: the methods side by side on a table of one's own."""

import json

import pandas as pd
import pytest

COLUMNS = ("--label", "y", "--group", "a", "--client", "site")


@pytest.mark.slow
def test_the_table_and_its_files(cli, table, tmp_path):
    result = cli(
        "simulate", table, *COLUMNS, "--budget", 0.1, "--seeds", 1, "--out", tmp_path / "out"
    )
    assert result.exit_code == 0 and result.stderr == ""
    assert "people: fair training by 2 clients" in result.stdout
    assert "FedFB, ε = 0.1" in result.stdout
    assert "Notes:" in result.stdout and "paper" not in result.stdout
    folder = tmp_path / "out" / "people"
    pictures = {f"people-tradeoff{end}" for end in (".csv", ".svg", ".png")}
    assert {file.name for file in folder.iterdir()} == pictures | {
        "table.csv",
        "differences.txt",
    } | {f"{name}.manifest.json" for name in ("table", "people-tradeoff")}
    shown = pd.read_csv(folder / "table.csv")
    assert "LFT+Ensemble, ε = 0.1" in set(shown["objective"]) and shown["published"].isna().all()


@pytest.mark.slow
def test_features_budgets_and_json(cli, table, tmp_path):
    words = "--feature z --budget 0 --budget 0.3 --blind --notion eo --seeds 1".split()
    result = cli("simulate", table, *COLUMNS, *words, "--out", tmp_path, "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 0 and "Features: z." in found["differences"][0]
    assert {"CFL, ε = 0", "CFL, ε = 0.3"} <= {row["objective"] for row in found["table"]}


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--label", "y"), "a table of people needs --group"),
        ((), "a table of people needs --label and --group"),
        ((*COLUMNS, "--feature", "nothing"), "feature 'nothing' must be a column of people.csv"),
        ((*COLUMNS, "--budget", -1), "budgets must be"),
        ((*COLUMNS, "--notion", "cp"), "--notion"),
        ((*COLUMNS, "--hidden", -1), "--hidden"),
    ],
)
def test_wrong_usage_is_one_line_and_2(cli, table, tmp_path, words, why):
    result = cli("simulate", table, *words, "--out", tmp_path / "out")
    assert result.exit_code == 2 and why in result.stderr and "Traceback" not in result.stderr
    assert not (tmp_path / "out").exists()


def test_columns_go_with_a_table_alone(cli):
    result = cli("simulate", "qffl-table-9", "--label", "y", "--blind")
    assert result.exit_code == 2 and "--label, --blind goes with a table of people" in result.stderr
    missing = cli("simulate", "nowhere.csv", *COLUMNS)
    assert missing.exit_code == 2 and "no such file" in missing.stderr
