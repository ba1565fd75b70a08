"""Rules with a guarantee: by ``fairfl frontier --guarantee`` and by ``FairThresholds``."""

import numpy as np
import pandas as pd
import pytest

import fairfl as ff

WORDS = ("--score", "s", "--label", "y", "--group", "sex")
QUIET = ("--schemes", "cfl", "--points", 4, "--bootstraps", 0)
pytestmark = pytest.mark.filterwarnings(
    "ignore::fairfl.theory.populations.calibration.ScoreWarning"
)


def drawn(n, seed):
    """People whose P(y = 1 | x) depends on their group."""
    rng = np.random.default_rng(seed)
    sex, site = rng.choice(["f", "m"], n), rng.choice(["north", "south"], n)
    z = rng.normal(np.where(sex == "m", 0.3, -0.1))
    y = rng.random(n) < 1 / (1 + np.exp(-1.5 * z - np.where(sex == "m", -0.9, 0.6)))
    s = (1 / (1 + np.exp(-z))).round(3)
    return pd.DataFrame({"s": s, "y": y.astype(int), "sex": sex, "site": site})


def disparity(rule, people, label=None):
    """Of a rule, or of its chances, on people; ``label``: of those with this y."""
    chance = rule(people["s"], people["sex"]) if callable(rule) else rule
    rates = pd.Series(chance)[people["y"].eq(label) if label is not None else slice(None)]
    return np.ptp(rates.groupby(people["sex"]).mean())


@pytest.fixture(scope="module")
def all_people():
    return drawn(300_000, 99)


@pytest.mark.parametrize("source", ["rows", "summaries"])
def test_the_rule_that_is_written_keeps_its_disparity(
    cli, summarized, tmp_path, all_people, source
):
    """In the table's population; the plain rule of these people does not."""
    files, people = [tmp_path / "people.csv"], drawn(6_000, 3)
    people.to_csv(files[0], index=False)
    words = (*WORDS, "--client", "site")
    if source == "summaries":
        files, words = summarized(people, "--levels", 12, group="sex"), ()
    found = {}
    for option in ((), ("--guarantee", 0.9)):
        out = tmp_path / f"out{len(option)}"
        done = cli("frontier", *files, *words, *QUIET, "--at", 0.04, "--out", out, *option)
        assert done.exit_code == 0, done.stderr
        text = " ".join(done.stdout.split())
        assert ("--guarantee 0.95 writes rules that keep to it" in text) == (not option)
        assert ("with a probability of 90 % for each rule" in text) == bool(option)
        rule = ff.Classifier.from_json((out / "rule_cfl.json").read_text())
        assert rule.groups == ("f", "m")
        found[bool(option)] = disparity(rule, all_people)
    assert found[True] < 0.04
    assert found[True] < found[False]


@pytest.mark.parametrize("options", [("--at", 0.01), ("--at", 0.03, "--notion", "eo")])
def test_what_is_not_found_is_not_written(cli, tmp_path, options):
    drawn(1_500, 0).to_csv(tmp_path / "people.csv", index=False)
    options = (*QUIET, *options, "--guarantee", 0.95, "--out", tmp_path / "out")
    done = cli("frontier", tmp_path / "people.csv", *WORDS, *options)
    assert done.exit_code == 0
    text = " ".join(done.stdout.split())
    assert "no rule with the guarantee was found, and none is written; about" in text
    assert "people would do" in text
    assert not (tmp_path / "out" / "rule_cfl.json").exists()
    never = cli("frontier", tmp_path / "people.csv", *WORDS, *QUIET, "--at", 0, "--guarantee", 0.95)
    assert never.exit_code == 2 and "guarantee needs disparities above 0" in never.stderr


@pytest.mark.parametrize(
    ("scheme", "notion", "eps"), [("cfl", "eo", 0.06), ("lft_fedavg", "dp", 0.1)]
)
def test_fair_thresholds_keep_eps(all_people, scheme, notion, eps):
    people = drawn(8_000, 4)
    model = ff.FairThresholds(scheme, eps, notion, guarantee=0.95)
    given = {"sensitive_features": people["sex"], "client": people["site"]}
    model.fit(people[["s"]], people["y"], **given)
    assert 5_000 < model.guarantee_.people < 7_500
    chance = model.predict_proba(all_people[["s"]], sensitive_features=all_people["sex"])[:, 1]
    sites = all_people.groupby("site") if scheme == "lft_fedavg" else [("", all_people)]
    for _, rows in sites:
        mine = pd.Series(chance)[rows.index]
        assert disparity(mine, rows, 1 if notion == "eo" else None) <= eps


def test_fair_thresholds_say_what_is_missing():
    people = drawn(500, 0)
    model = ff.FairThresholds(eps=0.02, guarantee=0.95)
    with pytest.raises(RuntimeError, match=r"about [0-9,]+ people would do, got 500"):
        model.fit(people[["s"]], people["y"], sensitive_features=people["sex"])


def test_rules_of_cells_are_tested_and_counted_on_the_people_themselves(cli, tmp_path):
    """A blind rule of two numbers: what is printed is what ``apply`` decides on the same people."""
    rng, n = np.random.default_rng(0), 12000
    x = rng.normal(size=(n, 2))
    p, q = 1 / (1 + np.exp(-1.5 * x[:, 0] - x[:, 1])), 1 / (1 + np.exp(-2 * x[:, 0]))
    sex, y = np.where(rng.random(n) < q, "m", "f"), (rng.random(n) < p).astype(int)
    columns = {"p": p, "q": q, "y": y, "a": sex, "s": np.arange(n) % 2}
    pd.DataFrame(columns).to_csv(tmp_path / "p.csv", index=False)
    scores, file = ("--score", "p", "--score", "q"), tmp_path / "p.csv"
    words = ("--label", "y", "--group", "a", "--client", "s", "--sees", "x", "--at", 0.1)
    words += ("--points", 4, "--bootstraps", 0, "--schemes", "cfl", "--guarantee", 0.95)
    shown = cli("frontier", file, *scores, *words, "--out", tmp_path / "out").stdout
    shown = " ".join(shown.split())
    out = tmp_path / "d.csv"
    cli("apply", tmp_path / "out" / "rule_cfl.json", file, *scores, "--group", "a", "--out", out)
    decided = pd.read_csv(out)
    gap = np.ptp(decided.groupby("a")["chance"].mean())
    right = np.where(y == 1, decided["chance"], 1 - decided["chance"]).mean()
    assert f"its disparity is {gap:.3g}, its accuracy {100 * right:.2f} %" in shown
    assert gap < 0.1
    model = ff.FairThresholds("cfl", 0.1, sees="x", guarantee=0.95)
    model.fit(x, y, sensitive_features=sex)
    chance = model.predict_proba(x)[:, 1]
    assert abs(chance[sex == "m"].mean() - chance[sex == "f"].mean()) < 0.1
