"""The arena's scores against plain loops, linear programmes and other minimisers."""

from itertools import combinations

import arena_file
import numpy as np
import pandas as pd
import pytest
from scipy import integrate, optimize, special, stats

import fairfl as ff
from fairfl.sims.engine.algorithm import ALGORITHMS
from fairfl.sims.engine.secure_sums import SUM_ONLY
from fairfl.studies.arena import predictions, published, scores, standings
from fairfl.studies.arena.entrants import Entrant, entrant_of, entrants
from fairfl.studies.arena.published import federations
from fairfl.studies.arena.unit import STEPS, people_of, unit
from fairfl.studies.crosscheck.population.learned_rules import Performance, learned
from fairfl.theory.aggregation import AFL, QFFL, FedAvg
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.client_classifiers import ClientClassifiers

TABLE, LAWS = federations()["table-2"], federations()["figure-5d"]
RNG = np.random.default_rng(0)


def test_file_has_the_drawn_federations_and_their_frontiers():
    """Its tables are drawn anew, and points of its frontiers solved anew."""
    drawn = arena_file.tables()
    assert drawn == {name: (place.note, place.table) for name, place in federations().items()}
    for place in federations().values():
        curve = place.frontiers["cfl"]
        for k in (0, 7, -1):
            best = ff.solve(place.federation, "cfl", curve["disparity"][k])
            assert abs(best.accuracy - curve["accuracy"][k]) < 1e-9
    solved = arena_file.curves(TABLE.table)
    for scheme, curve in TABLE.frontiers.items():
        for key, values in curve.items():
            np.testing.assert_allclose(solved[scheme][key], values, atol=1e-9)


def test_an_altered_file_is_refused(tmp_path, monkeypatch):
    text = published.FILE.read_text("utf-8")
    (tmp_path / "arena.json").write_text(text.replace('"q": 0.2', '"q": 0.3', 1), "utf-8")
    monkeypatch.setattr(published, "FILE", tmp_path / "arena.json")
    with pytest.raises(ValueError, match="altered"):
        published.federations.__wrapped__()


def joint():
    """P(x, a, i) and η of the table, by plain loops over its TOML form."""
    mass, eta = np.zeros((2, 2, 8)), np.zeros((2, 2, 8))
    for i, client in enumerate(TABLE.table["clients"]):
        for a, law in enumerate(client["laws"]):
            share = client["q"] if a else 1 - client["q"]
            for k, (x, p) in enumerate(zip(law["points"], law["masses"], strict=True)):
                mass[i, a, k] = share * p / 2
                eta[i, a, k] = 1 / (1 + np.exp(-x - client["eta"]["intercept"]))
    return mass, eta


def accuracy_and_gap(rule, mass, eta):
    right = sum(
        mass[i, a, k] * (f * eta[i, a, k] + (1 - f) * (1 - eta[i, a, k]))
        for (a, k), f in np.ndenumerate(rule)
        for i in range(len(mass))
    )
    rates = [(mass[:, a] * rule[a]).sum() / mass[:, a].sum() for a in range(2)]
    return right / mass.sum(), rates[0] - rates[1]


def best_within(disparities, mass, eta, places):
    """The largest accuracy of f(x, a) with |MD| of each set of clients within its budget, by a
    linear programme.
    """
    gain = (mass * (2 * eta - 1)).sum(axis=0).ravel()
    rows = []
    for part in places:
        rates = mass[part].sum(axis=0) / mass[part].sum(axis=(0, 2))[:, None]
        rows.append(np.concatenate([rates[0], -rates[1]]))
    bounds = np.concatenate([disparities, disparities])
    lp = optimize.linprog(-gain, np.concatenate([rows, np.negative(rows)]), bounds, bounds=(0, 1))
    return -lp.fun + (mass * (1 - eta)).sum()


def test_rules_are_scored_as_a_linear_programme_does():
    mass, eta = joint()
    for _ in range(4):
        rule, other = RNG.integers(0, 2, (2, 2, 8)).astype(float)
        classifier = Classifier.on_points(TABLE.points, rule)
        row = scores.rule_scores(TABLE, "lft_fedavg", classifier)
        accuracy, difference = accuracy_and_gap(rule, mass, eta)
        local = [abs(accuracy_and_gap(rule, mass[[i]], eta[[i]])[1]) for i in range(2)]
        assert row["accuracy"] == pytest.approx(accuracy, abs=1e-12)
        assert row["disparity"] == pytest.approx(abs(difference), abs=1e-12)
        assert row["limited"] == pytest.approx(max(local), abs=1e-12)
        pooled = best_within([abs(difference)], mass, eta, [[0, 1]])
        assert row["below_cfl"] == pytest.approx(pooled - accuracy, abs=1e-9)
        own = best_within(local, mass, eta, [[0], [1]])
        assert row["below_scheme"] == pytest.approx(own - accuracy, abs=1e-6)
        members = [classifier, Classifier.on_points(TABLE.points, other)]
        row = scores.rule_scores(
            TABLE, "lft_ensemble", Classifier.average(members, [0.5, 0.5]), members
        )
        short = []
        for i, table in enumerate((rule, other)):
            part = mass[[i]] / mass[i].sum(), eta[[i]]
            value, gap = accuracy_and_gap(table, *part)
            short.append(best_within([abs(gap)], *part, [[0]]) - value)
        assert row["below_scheme"] == pytest.approx(np.mean(short), abs=1e-9)
        told = scores.rule_scores(TABLE, "client_aware", ClientClassifiers(members))
        best = ff.frontier(TABLE.federation, "client_aware", 5).accuracy_at(told["disparity"])
        assert told["below_cfl"] == pytest.approx(best - told["accuracy"], abs=1e-9)


def test_what_is_better_than_the_optimum_is_an_error(monkeypatch):
    rule = ff.solve(LAWS.federation, "cfl", 0.1).classifier
    assert abs(scores.rule_scores(LAWS, "cfl", rule)["below_cfl"]) < 1e-9
    true = Performance.of(rule, LAWS.federation)
    better = Performance(true.accuracy + 1e-6, *list(vars(true).values())[1:])
    monkeypatch.setattr(scores.Performance, "of", lambda *_: better)
    with pytest.raises(scores.AboveOptimum, match="better than a certified optimum"):
        scores.rule_scores(LAWS, "cfl", rule)
    monkeypatch.setattr(scores, "minimum", lambda *_: 10.0)
    with pytest.raises(scores.AboveOptimum):
        scores.gap(TABLE, FedAvg(), np.zeros(4))


@pytest.mark.parametrize("name", ["labels-differ", "table-2"])
def test_losses_and_minima(name):
    """The losses by adaptive quadrature or sums, the minima by scipy's SLSQP."""
    place = federations()[name]
    losses, theta = scores.LogLosses.of(place), RNG.normal(size=(2, 4))
    values, slopes = losses(theta)
    for i, client in enumerate(place.table["clients"]):
        expected = 0.0
        for a in range(2):

            def loss(x, a=a, i=i, client=client):
                score = float(place.basis(np.array([x]), np.array([a]))[0] @ theta[i])
                eta = special.expit(x + client["eta"]["intercept"])
                return np.logaddexp(0, score) - eta * score

            share = client["q"] if a else 1 - client["q"]
            if "laws" in client:
                law = client["laws"][a]
                pairs = zip(law["points"], law["masses"], strict=True)
                expected += share * sum(p * loss(x) for x, p in pairs)
            else:
                density = stats.norm(client["mean"][a], client["sd"][a]).pdf
                ends = client["mean"][a] - 9, client["mean"][a] + 9
                expected += share * integrate.quad(lambda x, p=density: p(x) * loss(x), *ends)[0]
        assert values[i] == pytest.approx(expected, abs=1e-7)
    model, step = theta[0], 1e-6 * RNG.normal(size=4)
    change = (losses(model + step)[0] - losses(model - step)[0]) / 2
    np.testing.assert_allclose(losses(model)[1] @ step, change, atol=1e-12)
    f = losses(model)[0]
    for aim, value in ((FedAvg(), np.mean), (QFFL(1.0), lambda f: np.sqrt(np.mean(f**2)))):
        least = optimize.minimize(lambda t, v=value: v(losses(t)[0]), np.zeros(4), tol=1e-12).fun
        assert scores.gap(place, aim, model) == pytest.approx(value(f) - least, abs=1e-6)

    def worst(shift):
        limits = {"type": "ineq", "fun": lambda t: t[4] + shift - losses(t[:4])[0]}
        start = np.append(model, 5.0)
        options = {"ftol": 1e-14, "maxiter": 500}
        return optimize.minimize(
            lambda t: t[4], start, constraints=limits, method="SLSQP", options=options
        ).fun

    assert scores.gap(place, AFL(), model) == pytest.approx(max(f) - worst(0.0), abs=1e-6)
    assert scores.gap(place, "pareto", model) == pytest.approx(-worst(f), abs=1e-6)
    least = [
        optimize.minimize(lambda t, i=i: losses(t)[0][i], model, tol=1e-12).fun for i in (0, 1)
    ]
    lead = np.mean(values - least)
    assert scores.gap(place, "personal", theta) == pytest.approx(lead, abs=1e-6)


def test_a_unit_is_the_plain_loop_of_fedavg():
    people, rate, rounds = people_of(TABLE, 3), 0.3, 10
    x = TABLE.basis(people.x[:, 0], people.group)
    w, expected = np.zeros(4), {}
    for t in range(1, rounds + 1):
        total = np.zeros(4)
        for i in range(2):
            rows = people.owner == i
            v = w.copy()
            for _ in range(STEPS):
                residual = special.expit(x[rows] @ v) - people.y[rows]
                v -= rate * x[rows].T @ residual / rows.sum()
            total += rows.mean() * v
        w = total
        expected[t] = w
    table = pd.DataFrame(unit("table-2", "FedAvg, an end", 3, "lr = 0.3", rounds))
    assert table["round"].tolist() == [1, 2, 5, 10]
    assert table["bytes"].tolist() == [2 * 2 * 8 * 4 * t for t in table["round"]]
    for t, accuracy in zip(table["round"], table["accuracy"], strict=True):
        assert accuracy == learned(TABLE.basis, expected[t]).accuracy(TABLE.federation)
    table = pd.DataFrame(unit("table-2", "FedAvg", 3, "lr = 0.3", rounds))
    gaps = [scores.gap(TABLE, FedAvg(), expected[t]) for t in table["round"]]
    np.testing.assert_allclose(table["score"], gaps, atol=1e-10)


LFT, DITTO = ({"name": name, "grid": {"lr": [0.1, 0.2, 0.3, 0.4]}} for name in ("lft", "ditto"))


@pytest.mark.parametrize("aim", ["cfl", {"name": "FedAvg"}])
def test_of_ditto_the_global_model_is_scored_but_for_its_own_aim(monkeypatch, aim):
    """It is FedAvg's, since the personal models do not change it."""
    plain = {"name": "fedavg", "grid": {"lr": [0.1, 0.2, 0.3, 0.4]}}
    tables = ({"label": a["name"], "aim": aim, "algorithm": a} for a in (plain, DITTO))
    made = {table["label"]: entrant_of(table, "") for table in tables}
    monkeypatch.setattr("fairfl.studies.arena.unit.entrants", lambda: made)
    rows = [unit("table-2", label, 0, "lr = 0.2", 5) for label in made]
    for expected, row in zip(*rows, strict=True):
        assert row["score"] == pytest.approx(expected["score"], abs=1e-12)


def test_all_algorithms_compete_with_as_many_settings():
    names = {e.settings[next(iter(e.settings))]["name"] for e in entrants().values()}
    assert names == {*ALGORITHMS.parts(), *SUM_ONLY.parts(), "agnosticfair"} - {"my_median"}
    own = {"label": "mine", "algorithm": {"name": "fedavg", "grid": {"lr": [0.1, 0.2, 0.3, 0.4]}}}
    assert [*entrant_of(own, "").settings] == ["lr = 0.1", "lr = 0.2", "lr = 0.3", "lr = 0.4"]
    for change, message in (
        ({"algorithm": {"name": "fedavg", "grid": {"lr": [0.1]}}}, "must have 4 combinations"),
        ({"aim": "fairness"}, "aim must be"),
        ({"colour": 1}, "colour"),
        ({"algorithm": {"name": "fedavg", "grid": {"lr": [-1.0, 1.0, 2.0, 3.0]}}}, "lr must be"),
        ({"aim": "personal"}, "trains no models of the clients' own"),
        ({"aim": "client_aware"}, "trains no models of the clients' own"),
        ({"algorithm": DITTO, "aim": "lft_ensemble"}, "trains no ensemble"),
        ({"algorithm": LFT, "aim": "lft_ensemble", "pooled": True}, "trains no ensemble"),
        ({"algorithm": LFT, "aim": {"name": "FedAvg"}}, "trains no global model"),
        ({"algorithm": LFT, "joining": True}, "joining must be false"),
    ):
        with pytest.raises(ValueError, match=message):
            entrant_of(own | change, "ENTRANTS[0] of mine")


def planted(means):
    """Rows of four entrants on two federations and ten samples, with common noise."""
    rows = []
    for k, (place, seed) in enumerate((p, s) for p in ("table-2", "figure-5d") for s in range(10)):
        common, lonely = RNG.normal(0, 0.02), RNG.normal(0, 0.001, len(means))
        for j, (label, mean) in enumerate(means.items()):
            for t in (1, 10):
                score = mean + common + lonely[j] + 0.1 * (t == 1)
                row = {"federation": place, "entrant": label, "seed": seed, "round": t}
                rows.append(row | {"setting": f"lr = {k}", "score": score, "bytes": 1000.0 * t})
    blank = dict.fromkeys(standings.MEASURES[1:], np.nan)
    return pd.DataFrame(rows).assign(**blank)


def test_ranks_are_those_of_paired_differences():
    rows = planted({"a": 0.10, "b": 0.10, "c": 0.12, "end": 0.01})
    competitors = {label: Entrant(label, "cfl", is_end=label == "end") for label in "abc"}
    competitors["end"] = Entrant("end", "cfl", is_end=True)
    table = standings.standings(rows, competitors).set_index("entrant")
    assert table["rank"].to_dict() == {"a": "1 to 2", "b": "1 to 2", "c": "3", "end": ""}
    assert table.index[-1] == "end" and (table["samples"] == 10).all()
    last, pairs = rows[rows["round"] == 10], standings.differences(rows, competitors)
    assert [*zip(pairs["first"], pairs["second"], strict=True)] == list(combinations("abc", 2))
    for row in pairs.itertuples():
        leads = []
        for seed in range(10):
            means = [
                last[(last["seed"] == seed) & (last["entrant"] == label)]["score"].mean()
                for label in (row.first, row.second)
            ]
            leads.append(means[0] - means[1])
        half = stats.t.ppf(1 - 0.05 / 2 / 3, 9) * np.std(leads, ddof=1) / np.sqrt(10)
        assert row.difference == pytest.approx(np.mean(leads))
        assert pairs["±"][row.Index] == pytest.approx(half)


def test_who_shares_no_sample_has_no_rank():
    rows = planted({"a": 0.10, "b": 0.12, "elsewhere": 0.5})
    is_there = (rows["entrant"] == "elsewhere") == (rows["federation"] == "table-2")
    competitors = {label: Entrant(label, "cfl") for label in ("a", "b", "elsewhere")}
    ranks = standings.standings(rows[is_there], competitors).set_index("entrant")["rank"]
    assert ranks.to_dict() == {"a": "1", "b": "2", "elsewhere": ""}


def test_settings_are_tuned_and_failed_ones_left_out():
    row = {"federation": "table-2", "entrant": "a", "round": 10.0, "setting": "good", "score": 0.2}
    rows = [row, row | {"score": 0.4}, row | {"setting": "bad", "score": 0.25}]
    failed = row | {"setting": "bad", "round": np.nan, "score": np.nan}
    early = row | {"round": 1.0, "setting": "early", "score": 0.0}
    assert standings.tuned(pd.DataFrame([*rows, failed, early])) == {("table-2", "a"): ["good"]}
    assert standings.tuned(pd.DataFrame([failed])) == {("table-2", "a"): []}


def written(path, place, rule, **columns):
    """A file of predictions: a rule (A, n) at the published points."""
    groups, points = rule.shape
    table = {"federation": place.name, "seed": 0, "group": np.repeat(np.arange(groups), points)}
    table |= {"x": np.tile(place.points, groups), "prediction": rule.ravel()} | columns
    frame = pd.DataFrame(table)
    frame.to_csv(path, index=False)
    return frame


def test_predictions_are_scored_as_rules(tmp_path):
    best = ff.solve(LAWS.federation, "cfl", 0.05)
    written(tmp_path / "best.csv", LAWS, best.classifier.on(LAWS.points))
    entrant, table = predictions.predicted(tmp_path / "best.csv", range(1), [LAWS.name])
    assert entrant == Entrant("best", "cfl") and 0 <= table["below_cfl"][0] < 1e-4
    members = [np.zeros((2, 8)), np.ones((2, 8))]
    frames = [written(tmp_path / "c.csv", TABLE, m, client=i) for i, m in enumerate(members)]
    pd.concat(frames).to_csv(tmp_path / "told.csv", index=False)
    entrant, table = predictions.predicted(tmp_path / "told.csv", range(1), [TABLE.name])
    mass, eta = joint()
    right = (mass[0] * (1 - eta[0])).sum() + (mass[1] * eta[1]).sum()
    assert entrant.aim == "client_aware" and table["accuracy"][0] == pytest.approx(right)


def test_what_is_no_rule_is_refused(tmp_path):
    """A planted file that is better than possible: predictions beyond one, two of a point (one for
    each label), points of one's own; and points that are missing.
    """
    file, rule = tmp_path / "planted.csv", np.ones((2, 8))
    frame = written(file, TABLE, rule)
    beyond = frame.assign(prediction=np.where(frame["x"] > 0, 1.5, -0.5))
    for table, message in (
        (beyond, r"in \[0, 1\], got"),
        (pd.concat([frame, frame.assign(prediction=0.0)]), "must be there once"),
        (frame.assign(x=frame["x"] + 1e-3), "those of a point"),
        (frame.assign(client=3), "those of a point"),
        (frame[1:], "must be there once"),
    ):
        table.to_csv(file, index=False)
        with pytest.raises(ValueError, match="not a rule of the published points of table-2"):
            predictions.predicted(file, range(1), [TABLE.name])
        with pytest.raises(ValueError, match=message):
            predictions.predicted(file, range(1), [TABLE.name])
    frame.assign(federation="atlantis").to_csv(file, index=False)
    with pytest.raises(ValueError, match="federation of planted.csv must be"):
        predictions.predicted(file, range(1), [TABLE.name])
    frame.to_csv(file, index=False)
    with pytest.raises(ValueError, match=r"must be of this run, figure-5d, got table-2"):
        predictions.predicted(file, range(1), [LAWS.name])
    frame.assign(seed=1).to_csv(file, index=False)
    with pytest.raises(ValueError, match="seed of planted.csv must be below 1, got 1"):
        predictions.predicted(file, range(1), [TABLE.name])
