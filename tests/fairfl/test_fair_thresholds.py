"""FairThresholds, rules as files, and ``fairfl apply``."""

import os
import re

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import fairfl as ff

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
    """A weight of 2 is not a row twice: its copies would be in several of the score's folds."""
    weights = {"check_sample_weight_equivalence_on_dense_data": "the score is cross-fitted"}
    model = ff.FairThresholds(estimator=GaussianNB())
    check_estimator(model, on_skip=None, expected_failed_checks=weights)


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
        assert f"m: 1 of 1 accepted; {rule.accepted('m')}" in done.stdout
        written.append((tmp_path / "d.csv").read_text())
    os.close(out)
    assert written == ["id,s,a,chance,decision\n007,0.3,f,0,0\n8,0.3,m,1,1\n"] * 2


def test_columns_of_groups_are_those_of_fit(people, fitted):
    """By name and in order, as scikit-learn has it of features; lists have no names, and one column
    is its names.
    """
    groups, x = people[["a", "site"]], people[["s"]]
    model = ff.FairThresholds("cfl", 0.01, estimator="passthrough")
    model.fit(x, people["y"], sensitive_features=groups)
    chance = model.predict_proba(x, sensitive_features=groups)
    for same in (groups.to_numpy(), groups.to_numpy().tolist()):
        assert (model.predict_proba(x, sensitive_features=same) == chance).all()
    kept = ff.Classifier.from_json(model.rule_.to_json())
    assert kept.groups == model.rule_.groups and ("f", "north") in kept.groups
    assert (kept(people["s"], groups.to_numpy()) == chance[:, 1]).all()
    assert str(kept) == str(model.rule_) and "f & north: above " in str(kept)
    assert len(kept.plot().get_yticklabels()) == 4
    message = r"must have the columns of fit in order, \['a', 'site'\], got \['site', 'a'\]"
    with pytest.raises(ValueError, match=message):
        model.predict(x, sensitive_features=groups[["site", "a"]])
    lists = groups.to_numpy().tolist()
    again = ff.FairThresholds("cfl", 0.01, estimator="passthrough")
    again.fit(x, people["y"], sensitive_features=lists)
    assert (again.predict_proba(x, sensitive_features=lists) == chance).all()
    column = {"sensitive_features": people[["a"]]}
    single = clone(fitted).fit(x, people["y"], **column, client=people.site)
    expected = fitted.predict_proba(x, sensitive_features=people["a"])
    assert (
        single.rule_.groups == ("f", "m") and (single.predict_proba(x, **column) == expected).all()
    )


@pytest.mark.parametrize(
    ("options", "fit", "message"),
    [
        ({"estimator": "score"}, {}, "estimator must be a classifier, None or 'passthrough'"),
        ({"scheme": "CFL"}, {}, "scheme must be one of 'cfl', 'lft_fedavg', 'lft_ensemble', 'cl"),
        ({"eps": -0.1}, {}, "eps must be non-negative, got -0.1"),
        ({"notion": "parity"}, {}, "notion must be one of"),
        ({"levels": -1}, {}, "levels must be"),
        ({}, {"sensitive_features": ["f"] * 2000}, "group must hold at least two groups"),
        ({}, {"sensitive_features": ["f", "m"]}, "sensitive_features must have shape (2000,)"),
        ({}, {"client": [0]}, "client must have shape"),
        ({"scheme": "lft_fedavg", "local_eps": 0.1}, {}, "local_eps goes with"),
        ({"guarantee": 2}, {}, "guarantee must be"),
        ({"guarantee": 0.95, "eps": 0}, {}, "eps must be above 0, one number, with guarantee"),
        ({"guarantee": 0.95}, {"sensitive_features": None}, "guarantee needs sensitive_features"),
        ({"guarantee": 0.95, "local_eps": 0.1}, {}, "local_eps must be None"),
        ({"guarantee": 0.95, "scheme": "client_aware"}, {}, "one rule for all clients"),
        ({}, {"sample_weight": [1.0, 2.0]}, "sample_weight must have shape (2000,)"),
        ({}, {"sample_weight": [-1.0] * 2000}, "sample_weight must be in [0, inf), got -1"),
        ({}, {"sample_weight": np.ones(2000), "client": [0]}, "inconsistent numbers of samples"),
    ],
)
def test_a_wrong_parameter_is_named(people, options, fit, message):
    arguments = {"estimator": "passthrough"} | options
    groups = {"sensitive_features": people["a"]} | fit
    with pytest.raises(ValueError, match=re.escape(message)):
        ff.FairThresholds(**arguments).fit(people[["s"]], people["y"], **groups)


def test_the_estimator_is_given_the_frame_as_it_is(people):
    """With texts and missing values, and columns by their names."""
    frame = people[["s", "site"]].assign(s=people["s"].where(people["s"] < 1))
    columns = make_column_transformer((OrdinalEncoder(), ["site"]), remainder="passthrough")
    estimator = make_pipeline(columns, HistGradientBoostingClassifier(max_iter=5))
    model = ff.FairThresholds("cfl", 0.02, estimator=estimator)
    model.fit(frame, people["y"], sensitive_features=people["a"])
    score = clone(estimator).fit(frame, people["y"] == "yes").predict_proba(frame)[:, 1]
    chance = model.predict_proba(frame, sensitive_features=people["a"])[:, 1]
    assert (chance == model.rule_(score, people["a"])).all()
    assert list(model.feature_names_in_) == ["s", "site"]


def decided_rightly(model, rows):
    """The mean chance of each person's label, person by person."""
    roles = {"sensitive_features": rows["a"], "client": rows["site"]}
    chances = model.predict_proba(rows[["s"]], **roles)
    place = [list(model.classes_).index(label) for label in rows["y"]]
    return np.mean([chance[k] for chance, k in zip(chances, place, strict=True)])


def test_cross_validation_deals_out_groups_and_clients(people):
    """Of each split, the same as by hand; several budgets are compared by ``score``."""
    roles = {"sensitive_features": people["a"], "client": people["site"]}
    requested = dict.fromkeys(roles, True)
    with sklearn.config_context(enable_metadata_routing=True):
        model = ff.FairThresholds("client_aware", local_eps=0.1, estimator=GaussianNB())
        model.set_fit_request(**requested).set_score_request(**requested)
        folds, columns = KFold(3), (people[["s"]], people["y"])
        scores = cross_validate(model, *columns, params=roles, cv=folds, error_score="raise")
        grid = GridSearchCV(model, {"eps": [0.3, 0.0]}, cv=folds, error_score="raise")
        grid.fit(*columns, **roles)
        best = grid.score(*columns, **roles)
    means = {}
    for eps in (0.0, 0.05, 0.3):
        by_fold = []
        for inside, outside in folds.split(people):
            rows = people.iloc[inside]
            twin = clone(model).set_params(eps=eps)
            twin.fit(rows[["s"]], rows["y"], sensitive_features=rows["a"], client=rows["site"])
            by_fold.append(decided_rightly(twin, people.iloc[outside]))
        means[eps] = by_fold
    assert scores["test_score"] == pytest.approx(np.array(means[0.05]), abs=1e-12)
    expected = np.mean([means[0.3], means[0.0]], axis=1)
    assert grid.cv_results_["mean_test_score"] == pytest.approx(expected, abs=1e-12)
    assert best == pytest.approx(decided_rightly(grid.best_estimator_, people), abs=1e-12)


@pytest.mark.parametrize("scheme", ["cfl", "client_aware"])
def test_local_budgets_hold_at_each_client(people, scheme):
    """Counted on the people by client and group; a rule that is told the client is not worse."""
    model = ff.FairThresholds(scheme, 0.05, local_eps=0.02, estimator="passthrough")
    roles = {"sensitive_features": people["a"], "client": people["site"]}
    model.fit(people[["s"]], people["y"], **roles)
    chance = model.predict_proba(people[["s"]], **roles)[:, 1]
    rates = people.assign(p=chance).groupby(["site", "a"])["p"].mean().unstack()
    assert (rates["f"] - rates["m"]).abs().max() <= 0.02 + 1e-9
    if scheme == "client_aware":
        with pytest.raises(ValueError, match="client must not be missing, got None"):
            model.predict(people[["s"]], sensitive_features=people["a"])
        with pytest.raises(ValueError, match="one of the clients 'north', 'south', got 'east'"):
            model.predict(people[["s"]], **(roles | {"client": ["east"] * 2000}))
        shared = ff.FairThresholds("cfl", 0.05, local_eps=0.02, estimator="passthrough")
        shared.fit(people[["s"]], people["y"], **roles)
        assert model.solution_.accuracy >= shared.solution_.accuracy


def test_weights_go_to_the_estimator(people):
    """All of 2: a penalty of a half."""
    x, roles = people[["s"]], {"sensitive_features": people["a"]}
    weight = np.full(2000, 2.0)
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(C=1e-3))
    twin = make_pipeline(StandardScaler(), LogisticRegression(C=2e-3)).fit(x, people["y"] == "yes")
    for estimator in (pipeline, make_pipeline(pipeline)):
        model = ff.FairThresholds(estimator=estimator)
        model.fit(x, people["y"], sample_weight=weight, **roles)
        chance = model.estimator_.predict_proba(x)
        assert chance == pytest.approx(twin.predict_proba(x), abs=1e-4)
    with pytest.warns(UserWarning, match="not taken by the fit of KNeighborsClass"):
        ff.FairThresholds(estimator=KNeighborsClassifier(100)).fit(
            x, people["y"], sample_weight=weight, **roles
        )
    is_north = (people["site"] == "north").to_numpy()
    assert model.score(x, people["y"], sample_weight=is_north, **roles) == pytest.approx(
        model.score(x[is_north], people["y"][is_north], sensitive_features=people["a"][is_north])
    )


@pytest.mark.parametrize("groups", ["a", None])
def test_whole_weights_are_rows_again(people, groups):
    """A row of weight 0 is no row; with a ready score nothing is cross-fitted."""
    times, ready = np.random.default_rng(0).integers(0, 4, 2000), {"estimator": "passthrough"}
    rows = people.loc[people.index.repeat(times)]
    models = [
        ff.FairThresholds("lft_fedavg", 0.05, levels=0, calibrate="group", **ready).fit(
            table[["s"]].round(1),
            table["y"],
            weight,
            sensitive_features=groups and table[groups],
            client=table["site"],
        )
        for table, weight in ((people, times), (rows, None))
    ]
    one, twin = (model.solution_.classifier.of_number for model in models)
    points = np.repeat(models[0].federation_.model.points, 2)
    group = np.tile([0, 1], len(points) // 2)
    assert one(points, group) == pytest.approx(twin(points, group), abs=1e-9)
    assert models[0].solution_.accuracy == pytest.approx(models[1].solution_.accuracy, abs=1e-9)


def test_intervals_as_groups_and_a_generator(people):
    """As pandas.cut gives them; the rule of a file takes them, and their texts, as a table has."""
    bins = pd.cut(people["s"].abs(), [-1, 0.5, 1, 100])
    model = ff.FairThresholds("cfl", 0.02, estimator="passthrough")
    model.fit(people[["s"]], people["y"], sensitive_features=bins)
    again = ff.Classifier.from_json(model.rule_.to_json())
    assert again.groups == ("(-1.0, 0.5]", "(0.5, 1.0]", "(1.0, 100.0]")
    chance = model.predict_proba(people[["s"]], sensitive_features=bins)[:, 1]
    assert (again(people["s"], bins) == chance).all()
    assert (again(people["s"], bins.astype(str)) == chance).all()
    with pytest.raises(ValueError, match="a must be one of the groups"):
        again(people["s"], pd.cut(people["s"].abs(), [-1, 100]))
    draws = [
        model.predict(people[["s"]], sensitive_features=bins, random_state=np.random.default_rng(3))
        for _ in range(2)
    ]
    accepted = np.random.default_rng(3).random(2000) < chance
    assert all(((yes == "yes") == accepted).all() for yes in draws)


def test_unknown_groups_and_no_groups_are_refused(people, fitted):
    x = people[["s"]]
    with pytest.raises(ValueError, match="sensitive_features must be given"):
        fitted.predict(x)
    with pytest.raises(ValueError, match="a must be one of the groups 'f', 'm', got 'x'"):
        fitted.predict(x, sensitive_features=["x"] * len(x))
    with pytest.raises(ValueError, match=r"sensitive_features must have shape \(2000,\)"):
        fitted.predict(x, sensitive_features="f")


def test_blind_rules_learn_the_chances_of_the_groups():
    """The group is hard to see in y alone: one number loses, the estimator's two do not."""
    rng, n = np.random.default_rng(0), 4000
    x = rng.normal(size=(n, 2))
    sex = rng.random(n) < 1 / (1 + np.exp(-2 * x[:, 0]))
    y = rng.random(n) < 1 / (1 + np.exp(-1.5 * x[:, 0] - x[:, 1]))
    blind = ff.FairThresholds("cfl", 0.0, sees="x").fit(x, y, sensitive_features=sex)
    assert len(blind.estimators_) == 2 and blind.estimator_ is blind.estimators_[0]
    score = blind.estimator_.predict_proba(x)[:, 1:]
    one = ff.FairThresholds("cfl", 0.0, sees="x", estimator="passthrough")
    one.fit(score, y, sensitive_features=sex)
    assert blind.score(x, y) > one.score(score, y) + 0.02
    chance = blind.predict_proba(x)[:, 1]
    assert abs(chance[sex].mean() - chance[~sex].mean()) < 0.03
    numbers = np.stack([fitted.predict_proba(x)[:, 1] for fitted in blind.estimators_], axis=1)
    both = ff.FairThresholds("cfl", 0.0, sees="x", estimator="passthrough")
    both.fit(numbers, y, sensitive_features=sex)
    assert both.score(numbers, y) > one.score(score, y) + 0.02
    labels = ff.FairThresholds("cfl", 0.05, "eo", sees="x").fit(x, y, sensitive_features=sex)
    assert len(labels.estimators_) == 3
    groups = pd.DataFrame({"sex": np.where(sex, "m", "f"), "half": np.where(y, "a", "b")})
    crossed = ff.FairThresholds("cfl", 0.05, sees="x").fit(x, y, sensitive_features=groups)
    assert len(crossed.estimators_) == 4  # y, and three of four groups
    # a monotone rule is of P(y = 1 | x) alone, and several numbers have no order
    ordered = ff.FairThresholds("cfl", 0.0, sees="x", monotone=True)
    ordered.fit(x, y, sensitive_features=sex)
    score = ordered.estimator_.predict_proba(x)[:, 1]
    assert len(ordered.estimators_) == 1
    assert (np.diff(ordered.predict_proba(x)[np.argsort(score), 1]) >= 0).all()
    with pytest.raises(ValueError, match="monotone=True needs one score, .* got X of 2 columns"):
        ordered.set_params(estimator="passthrough").fit(numbers, y, sensitive_features=sex)
