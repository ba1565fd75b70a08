"""fairfl frontier, from a table of people."""

import json

import pandas as pd
import pytest

import fairfl as ff
import fairfl.reports.curves as curves
from fairfl.solvers.schemes import SCHEMES

COLUMNS = ("--score", "s", "--label", "y", "--group", "a", "--client", "site", "--bootstraps", "0")


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
    frame.loc[frame.index[::5][2:], "a"] = "old"
    frame.to_csv(file, index=False)
    result = cli("frontier", file, *words)
    assert "the number of people in group other, or none is 2: their rates" in result.stdout


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
