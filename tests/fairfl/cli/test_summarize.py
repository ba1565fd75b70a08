"""fairfl summarize, and what follows of what several sites wrote with it; six sites of Adult."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import fairfl as ff
from fairfl.sims.data.tables import load

WORDS = ("--score", "s", "--label", "y", "--group", "a")


def test_what_is_withheld_is_said(cli, quick, people, tmp_path):
    people.to_csv(tmp_path / "all.csv", index=False)
    words = (*WORDS, "--site", "all", "--edges", "0,0.3,0.6,1", "--min-cell", 11)
    outcome = cli("summarize", tmp_path / "all.csv", *words, "--out", tmp_path / "all.json")
    assert (tmp_path / "all.json").read_text() in outcome.stdout  # what leaves is shown whole
    written = json.loads((tmp_path / "all.json").read_text())
    counts = [c for group in written["counts"] for row in group for c in row]
    hidden = counts.count(None)
    assert hidden >= 2 and f"({hidden} withheld)" in outcome.stdout
    assert all(c is None or c == 0 or c >= 11 for c in counts)
    assert written["totals"] == {"people": len(people)}
    shown = cli("frontier", tmp_path / "all.json", "--bootstraps", 0, "--points", 4).stdout
    assert f"Withheld by all: {hidden} counts of" in shown
    assert "Send one file about these people: two can give withheld counts away." in outcome.stdout
    words = (*WORDS, "--site", "all", "--levels", 5, "--out", tmp_path / "again.json")
    again = cli("summarize", tmp_path / "all.csv", *words)
    assert (again.exit_code, again.stdout, again.stderr.count("\n")) == (2, "", 1)
    assert "all.json is a summary of 240 people of 'all', too" in again.stderr
    assert not (tmp_path / "again.json").exists()


def test_the_file_is_written_whoever_reads_the_output(table, tmp_path):
    words = [*WORDS, "--site", "n", "--levels", "9000", "--out", str(tmp_path / "n.json")]
    line = [sys.executable, "-m", "fairfl", "summarize", str(table), *words]
    with subprocess.Popen(line, stdout=subprocess.PIPE) as run:
        assert run.stdout is not None and run.stdout.readline().startswith(b"240 people of n;")
        run.stdout.close()  # as head does
    assert run.returncode == 0 and (tmp_path / "n.json").is_file()


@pytest.mark.filterwarnings("ignore::fairfl.theory.populations.calibration.ScoreWarning")
def test_weights_are_summed_at_the_sites(cli, quick, people, summarized, tmp_path):
    """Summaries are as good as rows with weights, whose sums leave the site and are not hidden."""
    people = people.assign(w=np.random.default_rng(0).gamma(1.0, 50.0, len(people)).round(3))
    people = people.assign(s=np.minimum(np.round(people["s"] * 10) // 2, 4) * 0.2 + 0.1)
    files = summarized(people, "--levels", 5, "--weight", "w")
    words = (
        "summarize",
        files[-1].with_name("people.csv"),
        *WORDS,
        "--site",
        "south",
        "--levels",
        5,
    )
    shown = cli(*words, "--weight", "w", "--out", files[-1]).stdout
    assert "sums of their weights and of the squares of these" in shown
    hidden = cli(*words, "--weight", "w", "--min-cell", 5, "--out", tmp_path / "no.json")
    assert "no count can be withheld or have noise beside the sums of weights" in hidden.stderr
    assert json.loads(files[0].read_text())["version"] == 4
    people.to_csv(tmp_path / "all.csv", index=False)
    options = ("--bootstraps", 20, "--points", 4, "--at", 0.1, "--json")
    roles = (*WORDS, "--client", "site", "--weight", "w", "--levels", 0)
    lines = (("frontier", *files), ("frontier", tmp_path / "all.csv", *roles))
    answers = [json.loads(cli(*line, *options).stdout) for line in lines]
    size = people["w"].sum() ** 2 / (people["w"] ** 2).sum()
    for answer in answers:
        assert answer["people"] == len(people)
        assert f"with weights, as good as {size:.0f} of equal ones" in answer["notes"][0]
    curves = [answer["schemes"][0]["frontier"]["accuracy"] for answer in answers]
    assert curves[0] == pytest.approx(curves[1], abs=1e-9)
    cli(*words, "--out", files[-1])
    mixed = cli("frontier", *files)
    assert mixed.exit_code == 2 and "one has weights of people" in mixed.stderr
    zero = people.assign(w=0.0)
    zero.to_csv(tmp_path / "all.csv", index=False)
    done = cli("frontier", tmp_path / "all.csv", *roles)
    assert done.exit_code == 2 and "column 'w' must be in [1e-100, 1e+100], got 0" in done.stderr


@pytest.mark.filterwarnings("ignore::fairfl.theory.populations.calibration.ScoreWarning")
def test_sites_count_crossed_levels_of_two_numbers(cli, quick, people, summarized, tmp_path):
    """The frontier of two sites' grids is that of the pooled rows' cells, counted by pandas."""
    people["p"] = np.random.default_rng(0).random(len(people)).round(2)
    grid, scores = (
        ("--edges", "0,0.3,0.6,1", "--edges", "0,0.5,1"),
        ("--score", "s", "--score", "p"),
    )
    sites = summarized(people, *grid, score=scores)
    question = ("--sees", "x", "--points", 6, "--bootstraps", 0, "--schemes", "cfl")
    done = cli(
        "frontier", *sites, *question, "--calibrate", "shared", "--json", "--out", tmp_path / "o"
    )
    (answer,) = json.loads(done.stdout)["schemes"]
    cell = pd.cut(people["s"], [0, 0.3, 0.6, 1.1], right=False).cat.codes * 2 + (people["p"] >= 0.5)
    counts = np.zeros((2, 2, 2, 6))
    codes = (pd.Categorical(people[name]).codes for name in ("site", "a"))
    np.add.at(counts, (*codes, people["y"], cell), 1)
    mass = counts.sum(axis=2)
    size = mass.sum(axis=(1, 2))
    eta = counts[:, :, 1].sum(axis=(0, 1)) / np.maximum(mass.sum(axis=(0, 1)), 1)
    fed = ff.Federation.finite(range(6), mass / size[:, None, None], eta, weight=size)
    curve = ff.frontier(fed, "cfl", 6, sees="x")
    assert answer["frontier"]["disparity"] == pytest.approx(curve.disparity, abs=1e-9)
    assert answer["frontier"]["accuracy"] == pytest.approx(curve.accuracy, abs=1e-9)
    people.to_csv(tmp_path / "all.csv", index=False)
    rule, decided = tmp_path / "o" / "rule_cfl.json", tmp_path / "d.csv"
    apply = ("apply", rule, tmp_path / "all.csv", *scores, "--group", "a", "--out", decided)
    assert cli(*apply).exit_code == 0
    chance = pd.read_csv(decided)["chance"].groupby(cell.to_numpy()).agg(["min", "max"])
    assert (chance["min"] == chance["max"]).all()
    words = (*scores, *WORDS[2:], *grid[:2], "--site", "n")
    few = cli("summarize", tmp_path / "all.csv", *words)
    assert few.exit_code == 2 and "--edges must be given for each of 2 scores, got 1" in few.stderr


SITES = ["Federal-gov", "Local-gov", "Private", "Self-emp-inc", "Self-emp-not-inc", "State-gov"]
EDGES = "0,0.05,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1"
ROLES = ("--score", "risk", "--label", "income", "--positive", "over 50K", "--group", "sex")


@pytest.fixture(scope="module")
def adult(fairfl_data):
    """People with a common score; it was fitted to a tenth of them, who are left out."""
    data = load("adult", fairfl_data)
    names = list(data.feature_names)
    work = data.features[:, [names.index(f"workclass={site}") for site in SITES]]
    is_fitted, there = np.arange(len(data)) % 10 == 0, work.sum(axis=1) == 1
    model = LogisticRegression(max_iter=2000).fit(data.features[is_fitted], data.label[is_fitted])
    risk, income = model.predict_proba(data.features)[:, 1], np.where(data.label, "over 50K", "no")
    sex, site = np.array(data.group_names)[data.group], np.array(SITES)[work.argmax(axis=1)]
    columns = {"risk": risk, "income": income, "sex": sex, "site": site, "new": data.is_test}
    return pd.DataFrame(columns)[there & ~is_fitted]


def at(folder, monkeypatch, cli, *words):
    """Run a command in a folder."""
    monkeypatch.chdir(folder)
    done = cli(*words)
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout


def test_six_sites_decide_without_sharing_a_row(cli, adult, tmp_path, monkeypatch):
    """The walk of docs/summaries.md."""
    center = tmp_path / "center"
    center.mkdir()
    old, new = adult[~adult["new"]], adult[adult["new"]]
    for site in SITES:
        folder = tmp_path / site
        folder.mkdir()
        columns_kept = ["risk", "income", "sex"]
        old[old["site"] == site][columns_kept].to_csv(folder / "people.csv", index=False)
        new[new["site"] == site][["risk", "sex"]].to_csv(folder / "new.csv", index=False)
        words = ("summarize", "people.csv", *ROLES, "--site", site, "--edges", EDGES)
        at(folder, monkeypatch, cli, *words)
        shutil.move(folder / "site.json", center / f"site-{site}.json")  # what it sends
    words = ("frontier", *sorted(file.name for file in center.iterdir()), "--at", 0.05)
    options = (
        "--points",
        8,
        "--schemes",
        "lft_fedavg_common,lft_ensemble_common",
        "--bootstraps",
        0,
    )
    answer = json.loads(at(center, monkeypatch, cli, *words, *options, "--out", "rules", "--json"))

    # each site decides, and the disparity of all new people is what was agreed on
    for entry in answer["schemes"]:
        rule, decided = center / "rules" / f"rule_{entry['scheme']}.json", []
        for site in SITES:
            words = ("apply", rule, "new.csv", "--score", "risk", "--group", "sex")
            at(tmp_path / site, monkeypatch, cli, *words)
            decided.append(pd.read_csv(tmp_path / site / "decisions.csv"))
            assert len(decided[-1]) == (new["site"] == site).sum()
        chance = pd.concat(decided).groupby("sex")["chance"]
        rate, size = chance.mean(), chance.size()
        fitted = old.groupby("sex").size()
        error = np.sqrt((rate * (1 - rate) * (1 / size + 1 / fitted)).sum())
        assert abs(rate["Male"] - rate["Female"] - entry["rule"]["disparity"]) < 1.96 * error
