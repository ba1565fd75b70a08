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
