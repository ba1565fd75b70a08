"""fairfl frontier, from a table of people."""

import json
import subprocess
import sys

import pandas as pd
import pytest

import fairfl as ff
import fairfl.reports.curves as curves
from fairfl.solvers.schemes import SCHEMES

COLUMNS = ("--score", "s", "--label", "y", "--group", "a", "--client", "site", "--bootstraps", "0")


def test_people_in_a_table_and_in_words(cli, quick, table, tmp_path):
    page = tmp_path / "new" / "page.html"
    options = ("--points", 8, "--out", tmp_path / "out", "--page", page)
    result = cli("frontier", table, *COLUMNS, *options)
    assert result.exit_code == 0
    assert f"written: {page}\n" in result.stdout and "240 people" in page.read_text("utf-8")
    assert result.stderr == ""
    text = result.stdout
    for part in (
        "clients: north (50 %), south (50 %)",
        "groups: old and young",
        "LFT+Ensemble",
        "240 people",
    ):
        assert part in text
    assert "y = 1 stands for y = 1" in text
    assert "Perfect fairness (disparity 0) costs" in text and "pooling all data reaches" in text
    assert {file.name for file in (tmp_path / "out").iterdir()} == {
        "frontier.csv",
        "frontier.svg",
        "frontier.png",
        "frontier.manifest.json",
        *(f"rule_{scheme}.json" for scheme in SCHEMES if not SCHEMES[scheme].is_local),
    }
    written = pd.read_csv(tmp_path / "out" / "frontier.csv")
    local = ("lft_fedavg", "lft_ensemble")
    assert set(written["scheme"]) == {"cfl", *local, *(f"{scheme}_common" for scheme in local)}
    assert (written["below_cfl"] >= -1e-12).all()


@pytest.mark.parametrize(("score", "levels"), [("s", 0), ("z", None)])
def test_json_is_what_the_library_says(cli, people, table, score, levels):
    extra = () if levels is None else ("--levels", levels)
    words = ("--score", score, *COLUMNS[2:], "--points", 8, "--at", 0.05, "--at", 0.2, *extra)
    answer = json.loads(cli("frontier", table, *words, "--json").stdout)
    rows = (people[column] for column in (score, "y", "a", "site"))
    fed = ff.Federation.from_samples(*rows, levels=levels)
    assert str(fed.merged) in answer["notes"][0]
    by_scheme = {scheme["scheme"]: scheme for scheme in answer["schemes"]}
    curve = ff.frontier(fed, "cfl", 8)
    assert by_scheme["cfl"]["frontier"]["accuracy"] == pytest.approx(curve.accuracy, abs=1e-12)
    assert [at["disparity"] for at in by_scheme["cfl"]["at"]] == [0.05, 0.2]
    assert by_scheme["cfl"]["at"][0]["accuracy"] == pytest.approx(
        float(curve.accuracy_at(0.05)), abs=1e-12
    )
    smallest = ff.min_disparity(fed, "lft_ensemble").disparity
    assert by_scheme["lft_ensemble"]["smallest_disparity"] == pytest.approx(smallest, abs=1e-12)
    low = by_scheme["lft_ensemble"]["at"][0]["accuracy"]
    assert (low is None) == (smallest > 0.05)
    assert answer["groups"] == ["old", "young"] and answer["files"] == []
    assert len(answer["in_words"]) == 11  # both disparities that were asked for, twice
    for scheme in ("lft_fedavg", "lft_ensemble"):
        common = by_scheme[f"{scheme}_common"]
        budgets = common["rule"]["budgets"]
        assert len(set(budgets)) == 1 and len(budgets) == 2
        s = ff.solve(fed, scheme, budgets)
        assert common["rule"]["disparity"] == s.disparity
        rates = list(common["rule"]["rates"]["everyone"].values())
        assert rates == pytest.approx(s.classifier.group_rates(fed), abs=1e-12)
        steps = common["rule"]["steps"]["old"]
        assert [step[2] for step in steps] == [p for *_, p in s.classifier.steps("old")]
        assert steps[0][0] is None and steps[-1][1] is None


def test_two_of_three_groups(cli, quick, people, tmp_path):
    frame = people
    frame.loc[::5, "a"] = "other, or none"
    file, words = tmp_path / "people.csv", (*COLUMNS, "--points", 4, "--schemes", "cfl")
    frame.to_csv(file, index=False)
    result = cli("frontier", file, *words)
    assert result.exit_code == 0 and "groups: old (43 %), other, or none (20 %)" in result.stdout
    good = cli("frontier", file, *words, "--group-pair", "young,other, or none")
    assert good.exit_code == 0
    assert "groups: other, or none and young" in good.stdout
    left_out = (frame["a"] == "old").sum()
    assert f"{left_out} people of other groups are left out" in good.stdout
    assert "mostly chance" not in result.stdout


def test_in_a_real_process_without_warnings(table):
    words = ("--levels", "5", "--points", "4", "--schemes", "lft_fedavg")
    words = ("frontier", str(table), *COLUMNS[:-1], "20", *words)
    line = [sys.executable, "-W", "error", "-m", "fairfl", *words]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert "Warning" not in done.stdout and "LFT+FedAvg" in done.stdout


@pytest.mark.parametrize("where", ["frontier", "points_at"])
def test_a_scheme_that_fails_is_a_note_and_the_others_are_written(
    cli, quick, table, tmp_path, monkeypatch, where
):
    """Its frontier is not certified, or a point between those of its frontier is not."""
    real = curves.frontier

    def failing(*_):
        raise ff.CertificationError("no solution certified")

    def frontier(fed, scheme, count, **options):
        if (scheme, options["budgets"]) != ("lft_ensemble", "common"):
            return real(fed, scheme, count, **options)
        if where == "frontier":
            failing()
        curve = real(fed, scheme, count, **options)
        object.__setattr__(curve, "points_at", failing)
        return curve

    monkeypatch.setattr(curves, "frontier", frontier)
    page, out = tmp_path / "page.html", tmp_path / "out"
    words = (*COLUMNS, "--points", 4, "--at", 0.1, "--by-client", "lft_ensemble_common")
    result = cli("frontier", table, *words, "--out", out, "--page", page)
    why = f"{SCHEMES['lft_ensemble_common'].label} failed: no solution certified"
    assert result.exit_code == 1 and result.stderr == f"fairfl: error: {why}\n"
    assert why in " ".join(result.stdout.split()) and why in page.read_text("utf-8")
    written = {name for name, scheme in SCHEMES.items() if not scheme.is_local}
    written.remove("lft_ensemble_common")
    assert set(pd.read_csv(out / "frontier.csv")["scheme"]) == written
    result = cli("frontier", table, *words, "--json")
    answer = json.loads(result.stdout)
    assert result.exit_code == 1 and why in answer["in_words"]
    assert answer["failures"] == {"lft_ensemble_common": "no solution certified"}
    assert "lft_ensemble" in [scheme["scheme"] for scheme in answer["schemes"]]


def test_intervals_and_people_held_out(cli, quick, table):
    options = "20 --levels 5 --points 3 --at 0.2 --at 0.3".split()
    words = ("frontier", table, *COLUMNS[:-1], *options)
    answer = json.loads(cli(*words, "--seed", 3, "--json").stdout)
    assert answer["intervals"] == {"bootstraps": 20, "seed": 3, "level": 0.95}
    assert answer["people"] == 240
    for scheme in answer["schemes"]:
        low, high = scheme["intervals"]["best_accuracy"]
        assert 0 <= low < high <= 1 and high - low < 0.3
        names = [row["rule"] for row in scheme["held_out"]]
        assert names == ["smallest disparity", 0.2, 0.3, "best accuracy"]
        assert scheme["held_out"][-1]["accuracy"] <= scheme["best_accuracy"]
    assert [at["reached"] for at in answer["schemes"][0]["at"]] == [1, 1]
    # CFL's is 0 whoever comes
    assert answer["schemes"][0]["intervals"]["smallest_disparity"] is None
    shown = cli(*words, "--seed", 3).stdout
    assert "20 bootstraps (seed 3)" in shown and "for these 240 people" in shown
    low, high = answer["schemes"][0]["intervals"]["best_accuracy"]
    assert f"{100 * low:.2f} to {100 * high:.2f}" in shown and "these people → held out" in shown
    assert json.loads(cli(*words, "--seed", 4, "--json").stdout)["schemes"] != answer["schemes"]


def test_intervals_are_the_default_and_say_what_these_people_cannot_tell(cli, table):
    shown = cli("frontier", table, *COLUMNS[:-2], "--points", 4, "--at", 0.2).stdout
    parts = "100 bootstraps (seed 0)", "points less (", "not distinguishable from pooling"
    parts += "% of samples such as this one reach it)", "these data do not suffice to tell"
    assert [part for part in parts if part not in shown] == []
