"""fairfl frontier: people, and every question: notions, costs, sight, groups, clients' rules."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fairfl as ff
import fairfl.reports.curves as curves
from fairfl.solvers.schemes import SCHEMES

pytestmark = pytest.mark.filterwarnings(  # few people, every score kept
    "ignore::fairfl.theory.populations.calibration.ScoreWarning"
)
COLUMNS = ("--score", "s", "--label", "y", "--group", "a", "--client", "site", "--bootstraps", "0")
FEW = (*COLUMNS[:4], *COLUMNS[6:], "--levels", "0", "--points", "4")


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


@pytest.fixture
def crossed(people, tmp_path):
    """People of four groups, from two columns, in a CSV; the score says something of them."""
    people["b"] = np.random.default_rng(1).choice(["f", "m"], len(people))
    file = tmp_path / "people.csv"
    people.to_csv(file, index=False)
    y = people["y"]
    return file, ff.Federation.from_samples(
        people["s"], y, people[["a", "b"]], people["site"], levels=0, calibrate="shared"
    )


def schemes(result):
    assert result.exit_code == 0, result.stderr
    return {scheme["scheme"]: scheme for scheme in json.loads(result.stdout)["schemes"]}


def test_groups_of_two_columns_and_utilities(cli, crossed, tmp_path):
    file, fed = crossed
    words = ("--group", "a", "--group", "b", "--notion", "eo", "--costs", "5:1", "--at", "0.1")
    words += ("--calibrate", "shared")
    question = {"notion": "eo", "costs": (5, 1)}
    result = cli("frontier", file, *FEW, *words, "--json")
    by_scheme, curve = schemes(result), ff.frontier(fed, "cfl", 4, **question)
    cfl = by_scheme["cfl"]
    assert cfl["frontier"]["utility"] == pytest.approx(curve.utility, abs=1e-12)
    assert cfl["best_utility"] == pytest.approx(curve.utility[-1], abs=1e-12)
    assert cfl["at"][0]["utility"] == pytest.approx(float(curve.utility_at(0.1)), abs=1e-12)
    everything = json.loads(result.stdout)
    assert everything["groups"] == ["old & f", "old & m", "young & f", "young & m"]
    assert everything["asked"]["costs"] == [5, 1]
    free = ff.solve(fed, "cfl", np.inf, **question)
    rates = everything["unconstrained_rates"]
    assert max(rates) - min(rates) == pytest.approx(free.disparity, abs=1e-12)
    for scheme in ("lft_fedavg", "lft_ensemble"):
        answer = by_scheme[scheme]
        assert not answer["exact"] and answer["largest_loss_against_cfl"] >= -1e-12
        points = answer["frontier"]
        for d, worth, eps in zip(
            *(points[k] for k in ("disparity", "utility", "eps")), strict=True
        ):
            s = ff.solve(fed, scheme, eps, **question)
            assert (s.disparity, s.utility) == pytest.approx((d, worth), abs=1e-7)
    text = cli("frontier", file, *FEW, *words, "--out", tmp_path / "out").stdout
    for part in (
        "old & f (",
        "largest difference of true-positive rates between two groups",
        "a missed positive costs 5, a wrong positive 1",
        "utility at disparity 0.1",
        "Its utilities are the best of a search, at most as much below the best.",
        "where y = 1, group",
    ):
        assert part in text
    written = pd.read_csv(tmp_path / "out" / "frontier.csv")
    below = written["below_cfl"] + written["utility"]
    assert below.to_numpy() == pytest.approx(curve.utility_at(written["disparity"]), abs=1e-9)
    svg = (tmp_path / "out" / "frontier.svg").read_text("utf-8")
    assert "minus expected cost" in svg


def test_balanced_accuracy_and_a_rule_for_each_client(cli, quick, crossed, tmp_path):
    file, fed = crossed
    words = ("--group", "b", "--difference", "overall", "--costs", "balanced", "--local-eps")
    by_scheme = schemes(cli("frontier", file, *FEW, *words, "0.02", "--json"))
    people = pd.read_csv(file)
    y = people["y"]
    fed = ff.Federation.from_samples(people["s"], y, people["b"], people["site"], levels=0)
    question = {"difference": "overall", "costs": "balanced"}
    curve = ff.frontier(fed, "client_aware", 4, local_eps=0.02, **question)
    answer = by_scheme["client_aware"]
    assert answer["frontier"]["balanced_accuracy"] == pytest.approx(1 + curve.utility, abs=1e-12)
    shared = ff.frontier(fed, "cfl", 4, local_eps=0.02, **question)
    worths = by_scheme["cfl_local"]["frontier"]["balanced_accuracy"]
    assert worths == pytest.approx(1 + shared.utility, abs=1e-12)
    local = {f"{name}{end}" for name in ("lft_fedavg", "lft_ensemble") for end in ("", "_common")}
    assert set(by_scheme) == {"client_aware", "cfl_local", "cfl"} | local
    text = cli("frontier", file, *FEW, *words, "inf", "--out", tmp_path / "out").stdout
    assert "whose own disparity is not limited" in text and "Client-aware" in text
    assert "one rule, each client's disparity not limited" in text
    assert "Pooling all data with each client's disparity limited too" in text
    assert (tmp_path / "out" / "rule_cfl_local.json").exists()
    assert "best balanced accuracy" in text and "the population of" in text
    assert "of the decisions are right" not in text
    written = pd.read_csv(tmp_path / "out" / "frontier.csv")
    shares = (1 + written["utility"]).to_numpy()
    assert written["balanced_accuracy"].to_numpy() == pytest.approx(shares)


def test_rules_that_do_not_see_the_group_and_costs_by_group(cli, quick, table, people):
    words = ("--group", "a", "--sees", "x", "--costs", "2,1:1", "--notion", "accuracy_parity")
    by_scheme = schemes(cli("frontier", table, *FEW, *words, "--json"))
    y = people["y"]
    fed = ff.Federation.from_samples(people["s"], y, people["a"], people["site"], levels=0)
    question = {"sees": "x", "costs": ([2, 1], 1), "notion": "accuracy_parity"}
    curve = ff.frontier(fed, "cfl", 4, **question)
    assert by_scheme["cfl"]["frontier"]["utility"] == pytest.approx(curve.utility, abs=1e-12)
    text = cli("frontier", table, *FEW, *words).stdout
    assert "a missed positive costs 2 and 1, a wrong positive 1, by group" in text
    assert "rules do not see the group" in text and "decided rightly" in text
    fit = ("--label", "y", "--feature", "z", "--bootstraps", 0, "--points", 4)
    assert "tells rules that do not see the group" in cli("frontier", table, *fit, *words).stdout
    blind = cli("frontier", table, *fit, *words, "--blind").stdout
    assert "tells rules that do not see the group" not in blind


def test_everybody_is_accepted_where_a_wrong_positive_is_free(cli, quick, table, tmp_path):
    words = ("--group", "a", "--costs", "1:0", "--out", tmp_path / "out")
    text = cli("frontier", table, *FEW, *words).stdout
    assert "the utility for these 240 people is 0" in text and "a disparity of 0." in text


@pytest.mark.deep
def test_adult_by_race_and_sex(fairfl_data, tmp_path):
    """The commands of docs/people.md print its table, and draw what they say."""
    page = (Path(__file__).parents[3] / "docs" / "people.md").read_text("utf-8")
    blocks = re.findall(r"```(?:text)?\n(.*?)```", page, re.DOTALL)
    commands, shown = next(k for k in zip(blocks, blocks[1:], strict=False) if "adult" in k[0])
    (tmp_path / "adult").symlink_to(fairfl_data.resolve() / "adult")
    line = commands.replace("fairfl frontier", f"{sys.executable} -m fairfl frontier")
    done = subprocess.run(
        ["bash", "-ec", line], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    output = done.stdout
    for row in shown.splitlines():
        assert row in output.splitlines()
    for part in ("32,561 people", "White & Male (59 %)", "Other & Female (0.33 %)", "9 in all"):
        assert part in output
    written = pd.read_csv(tmp_path / "out" / "frontier.csv")
    assert (written["below_cfl"] >= -1e-9).all()
    ends = written[written["scheme"] == "cfl"].iloc[[0, -1]]
    assert ends["disparity"].tolist() == pytest.approx([0, 0.217], abs=5e-4)
    assert ends["utility"].tolist() == pytest.approx([-0.33655, -0.31568], abs=5e-6)
    assert np.ptp(written.groupby("scheme")["utility"].last()) < 1e-9  # one rule, unconstrained
    assert (tmp_path / "out" / "frontier.png").stat().st_size > 10_000


@pytest.mark.parametrize("sees", ["x", "xa"])
def test_a_rule_of_features_decides_on_new_rows(cli, quick, people, tmp_path, sees):
    """Its numbers are those of scikit-learn's regressions on features coded by pandas."""
    linear_model = pytest.importorskip("sklearn.linear_model")
    people["colour"] = np.random.default_rng(2).choice(["red", "blue", "a=b"], len(people))
    people["z=1"] = np.random.default_rng(3).normal(size=len(people))  # a column of its own
    people.to_csv(tmp_path / "p.csv", index=False)
    words = "--label y --group a --client site --blind --points 4 --bootstraps 0 --sees".split()
    words += [sees, "--feature", "z", "--feature", "z=1", "--feature", "colour"]
    out = tmp_path / "out"
    assert cli("frontier", tmp_path / "p.csv", *words, "--out", out).exit_code == 0
    new = people.iloc[::-3]
    new.drop(columns=["y", "s"]).to_csv(tmp_path / "new.csv", index=False)
    words = ("apply", out / "rule_cfl.json", tmp_path / "new.csv", "--group", "a")
    model = ("--model", out / "score_model.json", "--out", tmp_path / "d.csv")
    assert cli(*words, *model).exit_code == 0, cli(*words, *model).stderr
    coded = pd.get_dummies(people[["z", "z=1", "colour"]], dtype=float)
    scaled = (coded - coded.mean()) / coded.std(ddof=0)
    fits = [
        linear_model.LogisticRegression(C=1, tol=1e-12, max_iter=10_000).fit(scaled, target)
        for target in (people["y"], people["a"] == "young")
    ]
    numbers = np.stack([fit.predict_proba(scaled)[::-3, 1] for fit in fits], axis=1)
    rule = ff.Classifier.from_json((out / "rule_cfl.json").read_text())
    expected = rule(numbers if sees == "x" else numbers[:, 0], new["a"])
    assert pd.read_csv(tmp_path / "d.csv")["chance"].to_numpy() == pytest.approx(expected, abs=1e-9)
    for args, message in (
        (("--score", "z", *model), "--score or --model must be given, and not both"),
        ((), "--score or --model must be given"),
    ):
        refused = cli(*words, *args)
        assert refused.exit_code == 2 and message in refused.stderr
    new.assign(colour="green").to_csv(tmp_path / "new.csv", index=False)
    refused = cli(*words, *model)
    assert refused.exit_code == 2 and "got 'green' in row 1" in refused.stderr
