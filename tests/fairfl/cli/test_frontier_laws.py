"""fairfl frontier, from laws in a TOML file."""

import json

import fairfl as ff

COLUMNS = ("--score", "s", "--label", "y", "--group", "a", "--client", "site", "--bootstraps", "0")
LAWS = """
eta = {slope = 1.0}
[[clients]]
name = "north"
mean = [3, 5]
[[clients]]
mean = [1, -1]
sd = [1.0, 1.0]
"""


def test_laws_from_toml(cli, quick, tmp_path):
    file = tmp_path / "two.toml"
    file.write_text(LAWS)
    result = cli("frontier", file, "--points", 4, "--json")
    assert result.exit_code == 0
    by_scheme = {scheme["scheme"]: scheme for scheme in json.loads(result.stdout)["schemes"]}
    fed = ff.Federation.normal([[3, 5], [1, -1]])
    assert (
        by_scheme["lft_ensemble"]["smallest_disparity"]
        == ff.min_disparity(fed, "lft_ensemble").disparity
    )
    assert by_scheme["cfl"]["smallest_disparity"] == 0.0


def test_what_a_search_found_is_said_to_be_so(cli, table, tmp_path):
    file = tmp_path / "two.toml"
    first = LAWS.replace("mean = [3, 5]", "mean = [3, 5]\nq = 0.2")  # FedFB's figure 5 (d)
    file.write_text(first.replace("mean = [1, -1]", "mean = [1, -1]\nq = 0.8"))
    searched = cli("frontier", file, "--points", 4).stdout
    assert "are the best of a search" in searched and "was found no fairer than" in searched
    assert "bootstrap" not in searched and "people" not in searched
    exact = cli("frontier", table, *COLUMNS, "--points", 4).stdout  # a finite X
    assert "Its accuracies are the best." in exact
    assert not any(words in exact for words in ("of a search", "was found"))


def test_more_groups_than_laws_can_have_are_refused(cli, tmp_path):
    file = tmp_path / "many.toml"
    file.write_text(f"[[clients]]\nmean = {[0] * 101}\n")
    result = cli("frontier", file)
    message = "fairfl: error: many.toml: groups of laws must be at most 50, got 101\n"
    assert (result.exit_code, result.stderr) == (2, message)
