"""fairfl frontier, from people and from laws."""

import dataclasses
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import fairfl as ff
import fairfl.reports.price

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


@pytest.fixture
def quick(monkeypatch):
    """LFT+FedAvg's frontier is searched for, which takes seconds: where it does not matter, CFL's stands in."""
    whole = fairfl.reports.price.frontier

    def frontier(federation, scheme, points):
        found = whole(federation, "cfl" if scheme == "lft_fedavg" else scheme, points)
        return dataclasses.replace(found, scheme=scheme)

    monkeypatch.setattr("fairfl.reports.price.frontier", frontier)


def test_people_in_a_table_and_in_words(cli, quick, table, tmp_path):
    result = cli("frontier", table, *COLUMNS, "--points", 8, "--out", tmp_path / "out")
    assert result.exit_code == 0
    assert result.stderr == ""
    text = result.stdout
    for part in ("clients: north (50 %), south (50 %)", "groups: old and young", "LFT+Ensemble", "240 people"):
        assert part in text
    assert "y = 1 stands for y = yes" in text
    assert "Perfect fairness (disparity 0) costs" in text and "pooling all data reaches" in text
    assert {file.name for file in (tmp_path / "out").iterdir()} == {
        "frontier.csv", "frontier.svg", "frontier.png", "frontier.manifest.json",
    }  # fmt: skip
    written = pd.read_csv(tmp_path / "out" / "frontier.csv")
    assert set(written["scheme"]) == {"cfl", "lft_fedavg", "lft_ensemble"}
    assert (written["below_cfl"] >= -1e-12).all()


def test_json_is_what_the_library_says(cli, people, table):
    result = cli("frontier", table, *COLUMNS, "--points", 8, "--at", 0.05, "--at", 0.2, "--levels", 0, "--json")
    found = json.loads(result.stdout)
    frame = people
    y = (frame["y"] == "yes").astype(int)
    fed = ff.Federation.from_samples(frame["s"], y, frame["a"], frame["site"])
    by_scheme = {scheme["scheme"]: scheme for scheme in found["schemes"]}
    curve = ff.frontier(fed, "cfl", 8)
    assert by_scheme["cfl"]["frontier"]["accuracy"] == pytest.approx(curve.accuracy, abs=1e-12)
    assert [at["disparity"] for at in by_scheme["cfl"]["at"]] == [0.05, 0.2]
    assert by_scheme["cfl"]["at"][0]["accuracy"] == pytest.approx(float(curve.accuracy_at(0.05)), abs=1e-12)
    least = ff.min_disparity(fed, "lft_ensemble").disparity
    assert by_scheme["lft_ensemble"]["smallest_disparity"] == pytest.approx(least, abs=1e-12)
    low = by_scheme["lft_ensemble"]["at"][0]["accuracy"]
    assert (low is None) == (least > 0.05)
    assert found["groups"] == ["old", "young"] and found["files"] == []
    assert len(found["in_words"]) == 6  # both disparities that were asked for


def test_a_score_is_made_from_features_and_merged_into_levels(cli, quick, table):
    result = cli("frontier", table, *COLUMNS[2:], "--feature", "z", "--points", 4)
    assert result.exit_code == 0
    assert "logistic regression on s, z" not in result.stdout and "logistic regression on z, a" in result.stdout
    assert "people or more (--levels 0 keeps all). Merging cost" in result.stdout
    blind = cli("frontier", table, *COLUMNS[2:], "--feature", "z", "--points", 4, "--blind")
    assert "logistic regression on z," in blind.stdout


def test_parquet_and_one_client(cli, quick, people, tmp_path):
    file = tmp_path / "people.parquet"
    people.to_parquet(file)
    result = cli("frontier", file, *COLUMNS[:6], *COLUMNS[8:], "--points", 4, "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert [client["name"] for client in found["clients"]] == ["all"]
    # one client is the whole: nothing is lost by training on it
    assert all(abs(scheme["largest_loss_against_cfl"]) < 1e-9 for scheme in found["schemes"])


def test_three_groups_need_a_pair(cli, quick, people, tmp_path):
    frame = people
    frame.loc[::5, "a"] = "other, or none"
    file = tmp_path / "people.csv"
    frame.to_csv(file, index=False)
    result = cli("frontier", file, *COLUMNS, "--points", 4)
    assert result.exit_code == 2
    assert "two groups are needed" in result.stderr and "old, other, or none, young" in result.stderr
    assert "--group-pair" in result.stderr
    good = cli("frontier", file, *COLUMNS, "--points", 4, "--group-pair", "young,other, or none")
    assert good.exit_code == 0
    assert "groups: other, or none and young" in good.stdout
    left_out = (frame["a"] == "old").sum()
    assert f"{left_out} people of other groups are left out" in good.stdout
    for pair in ("young", "young,nobody", "young,young"):
        bad = cli("frontier", file, *COLUMNS, "--group-pair", pair)
        assert bad.exit_code == 2 and repr(pair) in bad.stderr


def test_a_client_without_one_of_the_groups_is_named(cli, quick, people, tmp_path):
    frame = people
    file = tmp_path / "people.csv"
    frame[(frame["site"] == "north") | (frame["a"] == "old")].to_csv(file, index=False)
    result = cli("frontier", file, *COLUMNS, "--points", 4)
    assert result.exit_code == 0
    assert "bound by no local constraint: south" in result.stdout


def test_names_that_look_like_markup_are_shown_as_they_are(cli, quick, people, tmp_path):
    frame = people
    frame["a"] = "[red]" + frame["a"] + "[/red]"
    file = tmp_path / "people.csv"
    frame.to_csv(file, index=False)
    assert "groups: [red]old[/red] and [red]young[/red]" in cli("frontier", file, *COLUMNS, "--points", 4).stdout


def test_laws_from_toml(cli, quick, tmp_path):
    file = tmp_path / "two.toml"
    file.write_text(LAWS)
    result = cli("frontier", file, "--points", 4, "--json")
    assert result.exit_code == 0
    found = {scheme["scheme"]: scheme for scheme in json.loads(result.stdout)["schemes"]}
    fed = ff.Federation.normal([[3, 5], [1, -1]])
    assert found["lft_ensemble"]["smallest_disparity"] == ff.min_disparity(fed, "lft_ensemble").disparity
    assert found["cfl"]["smallest_disparity"] == 0.0


def test_what_a_search_found_is_said_to_be_so(cli, table, tmp_path):
    file = tmp_path / "two.toml"
    first = LAWS.replace("mean = [3, 5]", "mean = [3, 5]\nq = 0.2")  # FedFB's figure 5 (d)
    file.write_text(first.replace("mean = [1, -1]", "mean = [1, -1]\nq = 0.8"))
    searched = cli("frontier", file, "--points", 4).stdout
    assert "the best that a search found" in searched and "was found no fairer than" in searched
    exact = cli("frontier", table, *COLUMNS, "--points", 4).stdout  # a finite X
    assert not any(words in exact for words in ("a search found", "was found", "LFT+FedAvg:", "LFT+FedAvg's"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("clients = 3", "at least one [[clients]]"),
        ("[[clients", "not a TOML file"),
        ("\udcff", "not a TOML file"),
        ("colour = 1\n" + LAWS, "colour"),
        ("[[clients]]\nq = 0.5", "clients[0] must have either mean (and sd) or laws"),
        ("[[clients]]\nmean = [1]", "clients[0].mean must be two values"),
        ("[[clients]]\nmean = [1, 'x']", "clients[0].mean must be a number"),
        ("[[clients]]\nmean = [1, nan]", "clients[0].mean must not hold NaN"),
        ("[[clients]]\nmean = [1, 2]\nsd = -1", "clients[0].sd must be positive"),
        ("[[clients]]\nmean = [1, 2]\nq = 1.5", "clients[0].q must be in [0, 1]"),
        ("[[clients]]\nmean = [1, 2]\nweight = 0", "clients[0].weight must be positive"),
        ("[[clients]]\nmean = [1, 2]\nvariance = 1", "variance"),
        ("[[clients]]\nmean = [1, 2]\nq = 1", "group 0 is empty"),
        ("[[clients]]\nmean = [1, 2]\neta = {slope = -1}", "slope must be positive"),
        ("[[clients]]\nmean = [1, 2]\neta = 3", "clients[0].eta must be a table"),
        ("[[clients]]\nlaws = [{law = 'norm'}]", "clients[0].laws must be two values"),
        ("[[clients]]\nlaws = [{law = 'nosuch'}, {law = 'norm'}]", "'nosuch'"),
        ("[[clients]]\nlaws = [{law = 'norm'}, {law = 'poisson', mu = 2}]", "must have a density"),
        ("[[clients]]\nlaws = [{law = 'gamma'}, {law = 'norm'}]", "its parameters (a, loc, scale), got none"),
        ("[[clients]]\nlaws = [{law = 'norm', scale = -1}, {law = 'norm'}]", "valid parameters"),
        ("[[clients]]\nlaws = [{law = 'norm'}, {law = 'norm'}]\nsd = 1", "clients[0].sd goes with mean"),
        ("[[clients]]\nlaws = [{points = [0, 1], masses = [0.5, 0.4]}, {law = 'norm'}]", "masses must sum to one"),
        ("[[clients]]\nlaws = [{points = [0, 1], masses = [0.5, 0.5]}, {law = 'norm'}]", "mixture of both kinds"),
        ("[[clients]]\nlaws = [3, {law = 'norm'}]", "must be a table with one of law, mixture and points"),
    ],
)
def test_a_bad_federation_is_one_line_that_says_where(cli, tmp_path, text, told):
    file = tmp_path / "bad.toml"
    file.write_bytes(text.encode(errors="surrogateescape"))
    result = cli("frontier", file)
    assert (result.exit_code, result.stdout) == (2, "")
    assert len(result.stderr.splitlines()) == 1
    assert told in result.stderr


def test_laws_of_every_kind_are_read(tmp_path):
    from fairfl.reports.federation_file import read_federation

    file = tmp_path / "kinds.toml"
    file.write_text(
        "[[clients]]\neta = {slope = 2}\n"
        "laws = [{law = 'gamma', a = 2, scale = 1.5}, "
        "{mixture = [{law = 'norm'}, {law = 't', df = 4}], weights = [1, 3]}]\n"
        "[[clients]]\nmean = [0, 1]\nq = 0.25\nweight = 3"
    )
    fed, names = read_federation(file)
    assert names == ("0", "1")
    assert fed.q.tolist() == [0.5, 0.25] and fed.weight.tolist() == [0.25, 0.75]
    assert ff.solve(fed, "lft_ensemble", 0.1).duality_gap < 1e-10
    file.write_text("[[clients]]\nlaws = [{points = [0, 1], masses = [0.5, 0.5]}, {points = [2], masses = [1]}]")
    assert read_federation(file)[0].is_finite


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "needs --label and --group"),
        (("--label", "y"), "needs --group"),
        (("--score", "t", "--label", "y", "--group", "a"), "'t'"),
        (("--score", "s", "--label", "z", "--group", "a"), "exactly two values"),
        (("--score", "s", "--label", "y", "--group", "a", "--feature", "z"), "features"),
        (("--score", "a", "--label", "y", "--group", "site"), "finite numbers"),
        ((*COLUMNS, "--at", "1.5"), "at must be in [0, 1]"),
        ((*COLUMNS, "--at", "nan"), "NaN"),
    ],
)
def test_bad_words_about_a_table_are_one_line(cli, table, words, told):
    result = cli("frontier", table, *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert len(result.stderr.splitlines()) == 1
    assert told in result.stderr


def test_files_that_cannot_be_read(cli, tmp_path):
    for name in ("none.csv", "none.toml", "."):
        result = cli("frontier", tmp_path / name, "--label", "y", "--group", "a")
        assert result.exit_code == 2
        assert len(result.stderr.splitlines()) == 1
    (tmp_path / "empty.csv").write_text("")
    assert "empty" in cli("frontier", tmp_path / "empty.csv", "--label", "y", "--group", "a").stderr
    (tmp_path / "two.toml").write_text(LAWS)
    result = cli("frontier", tmp_path / "two.toml", "--label", "y")
    assert result.exit_code == 2 and "--label goes with a table of people" in result.stderr


def test_wrong_usage_and_no_certificate_have_their_codes(cli, tmp_path, monkeypatch):
    assert cli("frontier").exit_code == 2
    assert cli("nosuch").exit_code == 2
    assert cli("frontier", "x.csv", "--points", "1").exit_code == 2
    (tmp_path / "two.toml").write_text(LAWS)

    def uncertain(*args, **kwargs):
        raise ff.CertificationError("no solution certified")

    monkeypatch.setattr("fairfl.reports.price.frontier", uncertain)
    result = cli("frontier", tmp_path / "two.toml")
    assert (result.exit_code, result.stderr) == (1, "fairfl: error: no solution certified\n")


def test_version_and_help(cli):
    assert cli("--version").stdout == f"fairfl {ff.__version__}\n"
    shown = cli("--help").stdout
    assert all(command in shown for command in ("figures", "frontier", "reproduce", "bench"))


def test_in_a_real_process_without_warnings(table):
    words = ["frontier", str(table), *COLUMNS[:-1], "20", "--points", "4"]
    line = [sys.executable, "-W", "error", "-m", "fairfl.cli.main", *words]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert "What" not in done.stdout and "LFT+FedAvg" in done.stdout
    wrong = subprocess.run([*line, "--levels", "-1"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "Traceback" not in wrong.stderr


def test_help_is_fast():
    code = (
        "import sys, fairfl.cli.main\n"
        "heavy = {'numpy', 'pandas', 'scipy', 'matplotlib', 'fairfl.solvers'} & set(sys.modules)\n"
        "print(sorted(heavy))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_levels_keep_order_and_mean():
    from fairfl.reports.people import _merged

    rng = np.random.default_rng(0)
    score = rng.normal(size=500)
    label = (rng.random(500) < 1 / (1 + np.exp(-score))).astype(float)
    for asked, most in ((20, 20), (3, 3), (1, 2), (None, 500 // 40)):
        merged, told = _merged(score, label, 4, asked)
        levels, people = np.unique(merged, return_counts=True)
        assert 2 <= levels.size <= most and f"{levels.size} levels of {people.min()} people or more" in told
        assert asked == 1 or people.min() >= 500 / (asked or 500 / 40)
        assert (np.diff(merged[np.argsort(score)]) >= 0).all()
        assert merged.mean() == pytest.approx(score.mean(), abs=1e-12)
    same, _ = _merged(score, label, 4, 0)
    assert same is score
    few = np.repeat([0.0, 1.0, 2.0], [5, 490, 5])
    assert _merged(few, (few > 1).astype(float), 4, 3)[0] is few  # no more scores than levels that were asked for


def table_of(tmp_path, score, label, seed=0, sites=6):
    """People of six sites, with a made-up group."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"s": score, "y": label, "a": rng.integers(0, 2, len(score))})
    frame["site"] = rng.integers(0, sites, len(score))
    file = tmp_path / "made.csv"
    frame.to_csv(file, index=False)
    return file


def best_threshold(score, label):
    order = np.argsort(score)
    wrong = np.append(0, np.cumsum(np.where(np.asarray(label)[order] == 1, 1, -1)))  # below the cut is 0
    return 1 - ((np.asarray(label) == 0).sum() + wrong.min()) / len(label)


@pytest.mark.parametrize("seed", range(3))
def test_a_good_score_stays_good_and_what_merging_costs_is_said(cli, quick, tmp_path, seed):
    """569 people, 12 cells, a score that is right for 98 %: four levels at most, cut where they tell labels apart."""
    rng = np.random.default_rng(seed)
    label = (rng.random(569) < 0.63).astype(int)
    score = label + 0.24 * rng.normal(size=569)
    result = cli("frontier", table_of(tmp_path, score, label), *COLUMNS, "--points", 4, "--json")
    found = json.loads(result.stdout)
    told = next(line for line in found["notes"] if "Merging cost" in line)
    right = best_threshold(score, label)
    best = found["schemes"][0]["best_accuracy"]
    assert right > 0.97 and best > right - 0.01
    assert f"{100 * right:.2f} % of these people, of the levels for {100 * best:.2f} %" in told
    assert not any("Warning" in line for line in found["notes"])


def test_a_score_that_is_odd_is_said_to_be(cli, quick, tmp_path):
    rng = np.random.default_rng(0)
    label = (rng.random(600) < 0.6).astype(int)
    upside_down = cli("frontier", table_of(tmp_path, -label + rng.normal(size=600), label), *COLUMNS, "--points", 4)
    assert "Warning: y = 1 is likelier at smaller scores: is the score reversed?" in upside_down.stdout
    rare = (rng.random(600) < 0.05).astype(int)
    useless = cli("frontier", table_of(tmp_path, rare + 5 * rng.normal(size=600), rare), *COLUMNS, "--points", 4)
    assert "the most accurate rule accepts nobody, whatever the score" in useless.stdout


def test_intervals_and_people_held_out(cli, quick, table):
    words = ("frontier", table, *COLUMNS[:-1], 25, "--points", 4, "--at", 0.2, "--at", 0.3)
    found = json.loads(cli(*words, "--seed", 3, "--json").stdout)
    assert found["intervals"] == {"bootstraps": 25, "failed": 0, "seed": 3, "level": 0.95} and found["people"] == 240
    for scheme in found["schemes"]:
        low, high = scheme["intervals"]["best_accuracy"]
        assert 0 <= low < high <= 1 and high - low < 0.3
        assert [row["rule"] for row in scheme["held_out"]] == ["smallest disparity", 0.2, 0.3, "best accuracy"]
    last = found["schemes"][0]["held_out"][-1]
    # both halves are fitted to, and no threshold is better on a half than the one that was fitted to it
    assert last["inside"]["accuracy"] >= last["outside"]["accuracy"] - 1e-12 and last["reached"] == 1
    assert found["schemes"][0]["intervals"]["smallest_disparity"] is None  # CFL's is 0 whoever comes
    shown = cli(*words, "--seed", 3).stdout
    assert "from 25 bootstraps (seed 3)" in shown and "for these 240 people" in shown
    low, high = found["schemes"][0]["intervals"]["best_accuracy"]
    assert f"{100 * low:.2f} to {100 * high:.2f}" in shown and "half fitted to" in shown
    assert json.loads(cli(*words, "--seed", 3, "--json").stdout) == found
    assert json.loads(cli(*words, "--seed", 4, "--json").stdout)["schemes"] != found["schemes"]
    few = cli("frontier", table, *COLUMNS[:-1], 2, "--points", 4).stdout
    assert "No intervals, which take 20 bootstraps: there are 2." in few


def test_a_minute_is_not_spent_in_vain(cli, quick, table, monkeypatch):
    monkeypatch.setattr("fairfl.reports.sampling.SECONDS", 1e-3)
    shown = cli("frontier", table, *COLUMNS[:-2], "--points", 4).stdout
    assert "No intervals, which take 20 bootstraps: there are 1." in shown and "half fitted to" not in shown


def test_laws_are_no_sample(cli, quick, tmp_path):
    (tmp_path / "two.toml").write_text(LAWS)
    shown = cli("frontier", tmp_path / "two.toml", "--points", 4).stdout
    assert "bootstrap" not in shown and "people" not in shown
    wrong = cli("frontier", tmp_path / "two.toml", "--bootstraps", 10, "--seed", 1)
    assert wrong.exit_code == 2 and "--bootstraps, --seed goes with a table of people" in wrong.stderr
