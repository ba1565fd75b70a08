"""fairfl simulate people.csv: the methods side by side on a table of one's own."""

import json

import pytest

COLUMNS = ("--label", "y", "--group", "a", "--client", "site")


@pytest.mark.slow
def test_features_budgets_and_json(cli, table, tmp_path):
    words = "--feature z --budget 0 --budget 0.3 --blind --notion eo --seeds 1".split()
    result = cli("simulate", table, *COLUMNS, *words, "--out", tmp_path, "--json")
    answer = json.loads(result.stdout)
    assert result.exit_code == 0 and "Features: z." in answer["differences"][0]
    assert {"CFL, ε = 0", "CFL, ε = 0.3"} <= {row["objective"] for row in answer["table"]}
    (model,) = [name for name in answer["files"] if name.endswith("cfl-eps-0-seed-0.json")]
    rule = model.replace("cfl-eps-0-seed-0", "rule")
    done = cli("apply", rule, table, "--group", "a", "--model", model, "--out", tmp_path / "d.csv")
    assert (done.exit_code, done.stdout.splitlines()[0]) == (0, "CFL, ε = 0, seed 0.")
