"""fairfl frontier, from laws in a TOML file."""

import json

import pytest

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
    found = {scheme["scheme"]: scheme for scheme in json.loads(result.stdout)["schemes"]}
    fed = ff.Federation.normal([[3, 5], [1, -1]])
    assert (
        found["lft_ensemble"]["smallest_disparity"]
        == ff.min_disparity(fed, "lft_ensemble").disparity
    )
    assert found["cfl"]["smallest_disparity"] == 0.0


def test_what_a_search_found_is_said_to_be_so(cli, table, tmp_path):
    file = tmp_path / "two.toml"
    first = LAWS.replace("mean = [3, 5]", "mean = [3, 5]\nq = 0.2")  # FedFB's figure 5 (d)
    file.write_text(first.replace("mean = [1, -1]", "mean = [1, -1]\nq = 0.8"))
    searched = cli("frontier", file, "--points", 4).stdout
    assert "the best that a search found" in searched and "was found no fairer than" in searched
    exact = cli("frontier", table, *COLUMNS, "--points", 4).stdout  # a finite X
    assert not any(
        words in exact for words in ("a search found", "was found", "LFT+FedAvg:", "LFT+FedAvg's")
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("clients = 3", "at least one [[clients]]"),
        ("[[clients", "not a TOML file"),
        ("\udcff", "not a TOML file"),
        ("colour = 1\n" + LAWS, "colour"),
        ("[[clients]]\nq = 0.5", "clients[0] must have either mean (and sd) or laws"),
        ("[[clients]]\nmean = [1]", "clients[0].mean must be a list of two or more"),
        ("[[clients]]\nmean = [1, 'x']", "clients[0].mean must be a number"),
        ("[[clients]]\nmean = [1, nan]", "clients[0].mean must not hold NaN"),
        ("[[clients]]\nmean = [1, 2]\nsd = -1", "clients[0].sd must be positive"),
        ("[[clients]]\nmean = [1, 2]\nq = 1.5", "clients[0].q must be in [0, 1]"),
        ("[[clients]]\nmean = [1, 2]\nweight = 0", "clients[0].weight must be positive"),
        ("[[clients]]\nmean = [1, 2]\nvariance = 1", "variance"),
        ("[[clients]]\nmean = [1, 2]\nq = 1", "group 0 is empty"),
        ("[[clients]]\nmean = [1, 2]\neta = {slope = -1}", "slope must be positive"),
        ("[[clients]]\nmean = [1, 2]\neta = 3", "clients[0].eta must be a table"),
        ("[[clients]]\nlaws = [{law = 'norm'}]", "clients[0].laws must be a list of two or more"),
        ("[[clients]]\nlaws = [{law = 'nosuch'}, {law = 'norm'}]", "'nosuch'"),
        ("[[clients]]\nlaws = [{law = 'norm'}, {law = 'poisson', mu = 2}]", "must have a density"),
        (
            "[[clients]]\nlaws = [{law = 'gamma'}, {law = 'norm'}]",
            "its parameters (a, loc, scale), got none",
        ),
        ("[[clients]]\nlaws = [{law = 'norm', scale = -1}, {law = 'norm'}]", "valid parameters"),
        (
            "[[clients]]\nlaws = [{law = 'norm'}, {law = 'norm'}]\nsd = 1",
            "clients[0].sd goes with mean",
        ),
        (
            "[[clients]]\nlaws = [{points = [0, 1], masses = [0.5, 0.4]}, {law = 'norm'}]",
            "masses must sum to one",
        ),
        (
            "[[clients]]\nlaws = [{points = [0, 1], masses = [0.5, 0.5]}, {law = 'norm'}]",
            "mixture of both kinds",
        ),
        (
            "[[clients]]\nlaws = [3, {law = 'norm'}]",
            "must be a table with one of law, mixture and points",
        ),
    ],
)
def test_a_bad_federation_is_one_line_that_says_where(cli, tmp_path, text, told):
    file = tmp_path / "bad.toml"
    file.write_bytes(text.encode(errors="surrogateescape"))
    result = cli("frontier", file)
    assert (result.exit_code, result.stdout) == (2, "")
    assert len(result.stderr.splitlines()) == 1
    assert told in result.stderr


def test_laws_are_no_sample(cli, quick, tmp_path):
    (tmp_path / "two.toml").write_text(LAWS)
    shown = cli("frontier", tmp_path / "two.toml", "--points", 4).stdout
    assert "bootstrap" not in shown and "people" not in shown
    wrong = cli("frontier", tmp_path / "two.toml", "--bootstraps", 10, "--seed", 1)
    assert (
        wrong.exit_code == 2 and "--bootstraps, --seed goes with a table of people" in wrong.stderr
    )
