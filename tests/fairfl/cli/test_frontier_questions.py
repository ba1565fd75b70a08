"""fairfl frontier of every question: notions, costs, sight, combined groups, clients' rules."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fairfl as ff
from fairfl.studies.user_runs.federation_file import read_federation

# few people, every score kept
pytestmark = pytest.mark.filterwarnings(
    "ignore::fairfl.theory.populations.calibration.ScoreWarning"
)
COLUMNS = ("--score", "s", "--label", "y", "--client", "site", "--bootstraps", "0", "--levels", "0")
FEW = (*COLUMNS, "--points", "4")


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


def test_monotone_rules_and_what_they_cost(cli, quick, table, people):
    words = ("--group", "a", "--monotone")
    by_scheme = schemes(cli("frontier", table, *FEW, *words, "--json"))
    columns = (people[name] for name in ("s", "y", "a", "site"))
    fed = ff.Federation.from_samples(*columns, levels=0)
    curve = ff.frontier(fed, "lft_ensemble", 4, monotone=True)
    accuracy = by_scheme["lft_ensemble"]["frontier"]["accuracy"]
    assert accuracy == pytest.approx(curve.accuracy, abs=1e-12)
    text = cli("frontier", table, *FEW, *words).stdout
    assert "rules are monotone: within a group" in text and "(monotone rules: " in text


def test_everybody_is_accepted_where_a_wrong_positive_is_free(cli, quick, table, tmp_path):
    words = ("--group", "a", "--costs", "1:0", "--out", tmp_path / "out")
    text = cli("frontier", table, *FEW, *words).stdout
    assert "the utility for these 240 people is 0" in text and "a disparity of 0." in text


@pytest.mark.slow
def test_intervals_and_held_out_people_of_another_question(cli, quick, table, monkeypatch):
    monkeypatch.setattr("fairfl.reports.comparison.GRID", 3)
    words = ("--score", "s", "--label", "y", "--client", "site", "--group", "a", "--levels", "4")
    words = (*words, "--bootstraps", 20, "--points", 3, "--at", 0.2, "--notion", "eodds")
    words = (*words, "--costs", "3:1", "--local-eps", "0.3")
    words = (*words, "--schemes", "cfl_local,lft_ensemble_common")
    result = cli("frontier", table, *words, "--json")
    by_scheme = schemes(result)
    assert "cfl_local" in by_scheme
    for scheme in by_scheme.values():
        low, high = scheme["intervals"]["best_utility"]
        assert low < scheme["best_utility"] < high < 0 and high - low < 0.5
        rules = [row["rule"] for row in scheme["held_out"]]
        assert rules == ["smallest disparity", 0.2, "best utility"]
        assert -3 < scheme["held_out"][-1]["utility"] < 0
    words = json.loads(result.stdout)["in_words"]
    assert any("judged on the others, pooling's rule" in line for line in words)


def test_local_budgets_that_no_useful_rule_keeps_leave_a_constant_one(cli, quick, tmp_path):
    """The sites favour opposite groups: at local budgets of 0 all people are accepted alike."""
    laws = tmp_path / "laws.toml"
    laws.write_text("[[clients]]\nmean = [3, -3]\n[[clients]]\nmean = [-3, 3]\n")
    words = ("--local-eps", "0", "--points", "3", "--schemes", "cfl_local")
    answer = schemes(cli("frontier", laws, *words, "--json"))["cfl_local"]
    assert answer["smallest_disparity"] == pytest.approx(0.0, abs=1e-9)
    assert 0.45 < answer["accuracy_at_smallest"] <= answer["best_accuracy"] < 1.0


def test_questions_about_laws(cli, tmp_path):
    """Three groups, equal opportunity, client-aware rules: what the numbers are is the solvers'."""
    rows = "[[clients]]\nmean = [3, 5, 4]\nq = [0.5, 0.3, 0.2]\n[[clients]]\nmean = [1, 0, 2]\n"
    (tmp_path / "laws.toml").write_text(rows)
    words = ("--notion", "eo", "--local-eps", "inf", "--costs", "2:1", "--points", "2")
    schemes = ("--schemes", "client_aware,lft_ensemble")
    result = cli("frontier", tmp_path / "laws.toml", *words, *schemes)
    assert result.exit_code == 0, result.stderr
    assert "Client-aware" in result.stdout and "true-positive rates" in result.stdout
    assert "utilities are the best of a search" in result.stdout
    assert "ensemble of locally fair models was found no fairer than" in result.stdout
    free = ff.solve(read_federation(tmp_path / "laws.toml"), "cfl", 1.0, notion="eo", costs=(2, 1))
    assert f"{free.utility:.4f}"[1:] in result.stdout


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


def test_rules_of_two_numbers_are_solved_kept_and_decide(cli, quick, tmp_path):
    """The price of fairness without seeing the group: less where P(a | x) is a number too."""
    rng = np.random.default_rng(0)
    eta, chance = rng.choice([0.2, 0.4, 0.6, 0.8], 3000), rng.choice([0.2, 0.8], 3000)
    chance = np.where(rng.random(3000) < 0.5, eta, chance)
    y, a = rng.random(3000) < eta, np.where(rng.random(3000) < chance, "m", "f")
    columns = {"eta": eta, "of_m": chance, "y": y.astype(int), "a": a, "site": y * 0}
    people = pd.DataFrame(columns)
    people.to_csv(tmp_path / "p.csv", index=False)
    words = ("--label", "y", "--group", "a", "--client", "site", "--sees", "x", "--at", 0)
    words += ("--points", 4, "--bootstraps", 0, "--schemes", "cfl")
    costs = []
    for scores in (("--score", "eta"), ("--score", "eta", "--score", "of_m")):
        out = tmp_path / f"out{len(scores)}"
        answer = cli("frontier", tmp_path / "p.csv", *scores, *words, "--json", "--out", out)
        (cfl,) = json.loads(answer.stdout)["schemes"]
        costs.append(cfl["best_accuracy"] - cfl["at"][0]["accuracy"])
        one_score = "rules that do not see the group can be better" in answer.stdout
        assert one_score == (len(scores) == 2)
    assert costs[1] < costs[0] / 2
    decided = tmp_path / "d.csv"
    roles = ("--group", "a", "--out", decided)
    rule = out / "rule_cfl.json"
    assert cli("apply", rule, tmp_path / "p.csv", *scores, *roles).exit_code == 0
    chances = pd.read_csv(decided).groupby("a")["chance"].mean()
    assert np.ptp(chances) == pytest.approx(0, abs=1e-9)  # what is promised of these people
    refused = cli("apply", rule, tmp_path / "p.csv", "--score", "eta", *roles)
    assert refused.exit_code == 2
    assert (
        "--score must have 2 numbers of a person, as the rule (eta, of_m), got eta"
        in refused.stderr
    )


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
