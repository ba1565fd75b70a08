"""FairThresholds, rules as files, and ``fairfl apply``."""

import json
import os

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import check_estimator

import fairfl as ff
from fairfl.sims.data.tables import load
from fairfl.theory.populations.finite import FiniteModel

pytestmark = [
    pytest.mark.filterwarnings("ignore::fairfl.theory.populations.calibration.ScoreWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning"),
]


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(3)
    site, group = rng.choice(["north", "south"], 2000), rng.choice(["f", "m"], 2000)
    x = rng.normal(np.where(group == "m", 0.5, -0.5) * np.where(site == "north", 1, 2))
    y = np.where(rng.random(2000) < 1 / (1 + np.exp(-x)), "yes", "no")
    return pd.DataFrame({"s": x.round(3), "y": y, "a": group, "site": site})


@pytest.fixture(scope="module")
def fitted(people):
    model = ff.FairThresholds("lft_fedavg", 0.02, estimator="passthrough", random_state=0)
    return model.fit(people[["s"]], people["y"], sensitive_features=people["a"], client=people.site)


def test_scikit_learns_own_checks():
    check_estimator(ff.FairThresholds(estimator=GaussianNB()), on_skip=None)


@pytest.mark.parametrize("data", ["adult", "compas", "bank"])
@pytest.mark.parametrize("scheme", ["cfl", "lft_ensemble"])
def test_held_out_disparity_is_within_its_band(fairfl_data, data, scheme):
    """eps limits the pooled disparity of CFL; of one client, so does it of its own in an ensemble.
    The band: 1.96 standard errors of the rates of those fitted to, and of the others.
    """
    table = load(data, fairfl_data)
    rng = np.random.default_rng(0)
    inside = rng.random(len(table)) < 0.5
    model = ff.FairThresholds(scheme, 0.02)
    model.fit(table.features[inside], table.label[inside], sensitive_features=table.group[inside])
    assert model.solution_.disparity == pytest.approx(0.02, abs=1e-9)
    chance = model.predict_proba(table.features[~inside], sensitive_features=table.group[~inside])
    p = [chance[table.group[~inside] == a, 1] for a in np.unique(table.group)]
    fit = [(table.group[inside] == a).sum() for a in np.unique(table.group)]
    rate = [c.mean() for c in p]
    error = sum(r * (1 - r) * (1 / len(o) + 1 / n) for r, o, n in zip(rate, p, fit, strict=True))
    assert abs(rate[0] - rate[1]) < 0.02 + 1.96 * error**0.5


def test_it_is_the_solution_of_the_same_people(people, fitted):
    columns = (people[name] for name in ("s", "y", "a", "site"))
    solution = ff.solve(ff.Federation.from_samples(*columns, pos_label="yes"), "lft_fedavg", 0.02)
    assert fitted.solution_.accuracy == solution.accuracy
    chance = fitted.predict_proba(people[["s"]], sensitive_features=people["a"])[:, 1]
    # each person has the chance of the level that their score was merged into
    rates = [chance[(people["a"] == a) & (people.site == "north")].mean() for a in ("f", "m")]
    assert rates == pytest.approx(solution.classifier.rates(fitted.federation_)[0], abs=1e-12)
    assert list(fitted.classes_) == ["no", "yes"] and solution.classifier.groups == ("f", "m")
    decisions = [
        fitted.predict(people[["s"]], sensitive_features=people["a"], random_state=seed) == "yes"
        for seed in range(40)
    ]
    sure = (chance == 0) | (chance == 1)
    assert (np.array(decisions)[:, sure] == chance[sure]).all() and not sure.all()
    assert np.mean(decisions) == pytest.approx(chance.mean(), abs=5e-3)


def test_costs_and_notions_count_from_pos_label(people):
    """Whatever it is called; a missed "yes" costs five times a wrong one."""
    words = {"notion": "eo", "costs": (5, 1), "estimator": "passthrough"}
    roles = {"sensitive_features": people["a"], "client": people.site}
    by_truth = ff.FairThresholds(**words).fit(people[["s"]], people["y"] == "yes", **roles)
    named = people["y"].map({"yes": "ja", "no": "nein"})
    by_name = ff.FairThresholds(**words, pos_label="ja").fit(people[["s"]], named, **roles)
    chances, again = (
        m.predict_proba(people[["s"]], sensitive_features=people["a"]) for m in (by_truth, by_name)
    )
    assert (again[:, ::-1] == chances).all() and list(by_name.classes_) == ["ja", "nein"]
    decisions = [
        m.predict(people[["s"]], sensitive_features=people["a"], random_state=0)
        for m in (by_truth, by_name)
    ]
    sure = np.isin(chances[:, 1], (0, 1))
    assert ((decisions[1] == "ja") == decisions[0])[sure].all()
    with pytest.raises(ValueError, match="pos_label must be one of the values of y, 'ja' and 'nei"):
        ff.FairThresholds(pos_label="yes").fit(people[["s"]], named, **roles)


def test_one_group_and_blind_rules_need_no_groups(people):
    alone = ff.FairThresholds(estimator="passthrough").fit(people[["s"]], people["y"])
    accepted = alone.predict_proba(people[["s"]])[:, 1]
    model = alone.federation_.model
    assert isinstance(model, FiniteModel) and model.cuts is not None
    eta, level = model.eta[0, 0], np.searchsorted(model.cuts, people["s"])
    assert (accepted[eta[level] > 0.5] == 1).all() and (accepted[eta[level] < 0.5] == 0).all()
    blind = ff.FairThresholds("cfl", 0.1, estimator="passthrough", sees="x")
    blind.fit(people[["s"]], people["y"], sensitive_features=people["a"])
    assert blind.predict_proba(people[["s"]]).shape == (2000, 2)


def test_a_rule_of_several_columns_is_kept_as_json(people):
    groups = people[["a", "site"]]
    model = ff.FairThresholds("cfl", 0.01, estimator="passthrough")
    model.fit(people[["s"]], people["y"], sensitive_features=groups)
    again = ff.Classifier.from_json(model.rule_.to_json())
    assert again.groups == model.rule_.groups and ("f", "north") in again.groups
    group_rows = groups.to_numpy()
    assert (again(people["s"], group_rows) == model.rule_(people["s"], group_rows)).all()
    assert str(again) == str(model.rule_) and "f & north: above " in str(again)
    assert len(again.plot().get_yticklabels()) == 4


def test_people_from_a_pipe_are_decided_on(cli, tmp_path):
    rule = ff.Classifier([[0.5], [0.25]], [[0, 1], [0, 1]], ["f", "m"])
    (tmp_path / "rule.json").write_text(rule.to_json())
    (tmp_path / "new.csv").write_text("id,s,a\n007,0.3,f\n8,0.3,m\n")
    out, into = os.pipe()
    with open(into, "wb") as stream:
        stream.write((tmp_path / "new.csv").read_bytes())
    written = []
    for file in (tmp_path / "new.csv", f"/dev/fd/{out}"):
        words = ("--score", "s", "--group", "a", "--out", tmp_path / "d.csv")
        done = cli("apply", tmp_path / "rule.json", file, *words)
        assert (done.exit_code, done.stderr) == (0, "")
        written.append((tmp_path / "d.csv").read_text())
    os.close(out)
    assert written == ["id,s,a,chance,decision\n007,0.3,f,0,0\n8,0.3,m,1,1\n"] * 2


def test_columns_of_groups_are_those_of_fit(people):
    """By name and in order, as scikit-learn has it of features; lists have no names."""
    groups, x = people[["a", "site"]], people[["s"]]
    model = ff.FairThresholds("cfl", 0.01, estimator="passthrough")
    model.fit(x, people["y"], sensitive_features=groups)
    chance = model.predict_proba(x, sensitive_features=groups)
    for same in (groups.to_numpy(), groups.to_numpy().tolist()):
        assert (model.predict_proba(x, sensitive_features=same) == chance).all()
    message = r"must have the columns of fit in order, \['a', 'site'\], got \['site', 'a'\]"
    with pytest.raises(ValueError, match=message):
        model.predict(x, sensitive_features=groups[["site", "a"]])
    lists = groups.to_numpy().tolist()
    again = ff.FairThresholds("cfl", 0.01, estimator="passthrough")
    again.fit(x, people["y"], sensitive_features=lists)
    assert (again.predict_proba(x, sensitive_features=lists) == chance).all()


def test_one_column_of_groups_is_their_names(people, fitted):
    model = ff.FairThresholds("lft_fedavg", 0.02, estimator="passthrough")
    roles = {"sensitive_features": people[["a"]], "client": people.site}
    model.fit(people[["s"]], people["y"], **roles)
    chance = model.predict_proba(people[["s"]], sensitive_features=people[["a"]])
    expected = fitted.predict_proba(people[["s"]], sensitive_features=people["a"])
    assert model.rule_.groups == ("f", "m") and (chance == expected).all()


def test_decisions_on_new_people(cli, fitted, tmp_path):
    """``fairfl apply`` of a rule from a file; cells are as they were, text for text."""
    (tmp_path / "rule.json").write_text(fitted.rule_.to_json())
    new = pd.DataFrame({"id": ["007", "08", "9"], "s": [-0.5, 0.49, 7.25], "a": ["f", "m", "m"]})
    new.to_csv(tmp_path / "new.csv", index=False)
    columns, out = ("--score", "s", "--group", "a"), tmp_path / "decisions.csv"
    done = cli("apply", tmp_path / "rule.json", tmp_path / "new.csv", *columns, "--out", out)
    assert (done.exit_code, done.stderr) == (0, "")
    written, rule = pd.read_csv(out, dtype={"id": str}), fitted.rule_
    assert written[["id", "s", "a"]].equals(new)
    assert written["chance"].tolist() == pytest.approx(rule(new["s"], new["a"]).tolist())
    assert ((written["chance"] % 1 > 0) | (written["chance"] == written["decision"])).all()
    line = f"m: {written['decision'][1:].sum()} of 2 accepted; {rule.accepted('m')}"
    assert line in done.stdout


@pytest.mark.parametrize(
    ("options", "fit", "message"),
    [
        ({"estimator": "score"}, {}, "estimator must be a classifier, None or 'passthrough'"),
        ({"scheme": "CFL"}, {}, "scheme must be one of"),
        ({"eps": -0.1}, {}, "eps must be non-negative, got -0.1"),
        ({"notion": "parity"}, {}, "notion must be one of"),
        ({"levels": -1}, {}, "levels must be"),
        ({}, {"sensitive_features": ["f"] * 2000}, "group must hold at least two groups"),
        ({}, {"sensitive_features": ["f", "m"]}, "sensitive_features must have shape (2000,)"),
        ({}, {"client": [0]}, "client must have shape"),
        ({"scheme": "client_aware"}, {}, "scheme must be one of cfl, lft_fedavg, lft_ensemble"),
    ],
)
def test_a_wrong_parameter_is_named(people, options, fit, message):
    arguments = {"estimator": "passthrough"} | options
    groups = {"sensitive_features": people["a"]} | fit
    with pytest.raises(ValueError, match=message.replace("(", r"\(").replace(")", r"\)")):
        ff.FairThresholds(**arguments).fit(people[["s"]], people["y"], **groups)


def test_a_group_without_one_label_is_warned_of(people):
    labels = np.where(people["a"] == "f", "no", people["y"])
    model = ff.FairThresholds("cfl", 0.05, "eo", estimator="passthrough")
    with pytest.warns(ff.ScoreWarning, match="nobody of group f has y = 1: rates of such people"):
        model.fit(people[["s"]], labels, sensitive_features=people["a"])


def test_unknown_groups_and_no_groups_are_refused(people, fitted):
    x = people[["s"]]
    with pytest.raises(ValueError, match="sensitive_features must be given"):
        fitted.predict(x)
    with pytest.raises(ValueError, match="a must be one of the groups 'f', 'm', got 'x'"):
        fitted.predict(x, sensitive_features=["x"] * len(x))
    with pytest.raises(ValueError, match=r"sensitive_features must have shape \(2000,\)"):
        fitted.predict(x, sensitive_features="f")


def test_json_holds_every_double():
    rng = np.random.default_rng(0)
    rule = ff.Classifier([np.sort(rng.random(9)), []], [rng.random(10), [1.0]], [1, "x"])
    again = ff.Classifier.from_json(rule.to_json())
    assert json.loads(rule.to_json()) == json.loads(again.to_json())
    assert all((a == b).all() for a, b in zip(rule.edges, again.edges, strict=True))
