"""People of one's own: what is trained, kept budgets, and the table and picture."""

import numpy as np
import pandas as pd
import pytest

import fairfl as ff
from fairfl import ScoreWarning
from fairfl.sims.data.score_model import ScoreModel
from fairfl.sims.group_fairness import FairBatch
from fairfl.studies.execute import run_units
from fairfl.studies.experiment import Scale
from fairfl.studies.user_runs.people_experiment import (
    Request,
    behind,
    methods,
    people_experiment,
    read,
)

QUICK = Scale("quick", 1)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Two sites that favour opposite groups."""
    rng, n = np.random.default_rng(0), 2000
    site = rng.integers(0, 2, n)
    group = (rng.random(n) < np.where(site == 0, 0.3, 0.7)).astype(int)
    skill = rng.normal(np.array([[0.8, 1.6], [-0.2, -1.2]])[site, group], 1.0)
    y = (rng.random(n) < 1 / (1 + np.exp(-skill))).astype(int)
    frame = pd.DataFrame(
        {"s": 1 / (1 + np.exp(-skill)), "y": y, "a": np.array(["f", "m"])[group], "site": site}
    )
    path = tmp_path_factory.mktemp("own") / "people.csv"
    frame.to_csv(path, index=False)
    return path


def request(file, **options):
    return Request(str(file), **{"label": "y", "group": "a", "client": "site"} | options)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def run(file, runs):
    people = request(file, budgets=(0.0, 0.1))
    experiment = people_experiment(people)
    return people, experiment, run_units(experiment.units(QUICK), runs)


def kept(runs):
    """By objective the model that was kept of it, and the rule."""
    files = runs.glob("*/models/*seed-0.json")
    models = [ScoreModel.from_json(file.read_text()) for file in files]
    (rule, *_) = runs.glob("*/models/rule.json")
    return {model.title.removesuffix(", seed 0"): model for model in models}, rule


def test_every_method_is_there_with_every_budget(run):
    _, experiment, rows = run
    names = set(rows["objective"])
    fair_ones = ("FedFB", "CFL", "LFT+Ensemble", "LFT+FedAvg")
    fair = {f"{name}, ε = {eps}" for name in fair_ones for eps in ("0", "0.1")}
    assert names == fair | {"FedAvg", "FairFed", "all 0", "all 1"}
    table = experiment.values(rows)
    shown = {"Acc.", "disparity", "accepted"}
    assert set(table["measure"]) == shown | {"validation Acc.", "validation disparity"}
    assert not table.duplicated(["objective", "seed", "measure"]).any()


def test_pooled_training_keeps_its_budget_and_local_training_cannot(run):
    """400 test people: sampling errors below sqrt(.25 / 200 * 2) = .05; two are allowed."""
    _, experiment, rows = run
    values = experiment.values(rows).set_index(["objective", "measure"])["value"]
    for eps in (0.0, 0.1):
        for name in ("CFL", "FedFB"):
            assert values[f"{name}, ε = {eps:g}", "disparity"] <= eps + 0.1
    assert values["FedAvg", "disparity"] > 0.2
    assert values["LFT+Ensemble, ε = 0", "disparity"] > values["CFL, ε = 0", "disparity"] + 0.1


def test_points_are_the_tables_and_the_frontier_is_behind(run):
    people, experiment, rows = run
    points = experiment.points(rows).set_index(["kind", "objective"]).sort_index()
    table = experiment.values(rows).set_index(["objective", "measure"])["value"]
    cfl = points.loc["ours", "CFL"].sort_values("setting")
    assert cfl["setting"].tolist() == [0.0, 0.1]
    expected = [table[f"CFL, ε = {eps}", "disparity"] for eps in ("0", "0.1")]
    assert cfl["disparity"].tolist() == expected
    x, y = behind(people)
    curve = points.loc["frontier", "frontier of a score"]
    assert np.array_equal(curve["disparity"], x) and np.array_equal(curve["accuracy"], y)
    assert points.loc[[("constant", "all 0")], "disparity"].tolist() == [0.0]


def decided_as_tested(people, rows, runs):
    """The models that were kept decide on the table's test rows as the table of results says."""
    models, rule = kept(runs)
    frame = pd.read_csv(people.path).iloc[read(people)[1].rows("test")]
    measures = people_experiment(people).values(rows).set_index(["objective", "measure"])["value"]
    for objective, model in models.items():
        decided = ff.apply(rule, frame, group="a", model=model)
        right = np.where(frame["y"] == 1, decided.chance, 1 - decided.chance).mean()
        assert right == pytest.approx(measures[objective, "Acc."], abs=1e-12), objective
        assert decided.chance.mean() == pytest.approx(measures[objective, "accepted"], abs=1e-12)
        assert decided.words[0].startswith(f"{objective}, seed 0")
    return models, rule, frame


def test_models_that_were_kept_decide_as_they_were_tested(run, runs):
    people, experiment, rows = run
    models, rule, frame = decided_as_tested(people, rows, runs)
    assert set(models) == set(rows["objective"]) - {"all 0", "all 1"}
    texts = {file: file.read_bytes() for file in runs.glob("*/models/*")}
    for file in texts:
        file.unlink()
    run_units(experiment.units(QUICK), runs, resume=True)
    assert texts == {file: file.read_bytes() for file in runs.glob("*/models/*")}
    ensemble = models["LFT+Ensemble, ε = 0"]
    assert ensemble.names == ("0", "1") and sum(ensemble.shares) == pytest.approx(1)
    decided = ff.apply(rule, frame, group="a", model=ensemble, client="site")
    assert decided.words[0] == "LFT+Ensemble, ε = 0, seed 0: by the model of each site."
    own = np.where(frame["site"] == 1, *ensemble_scores(ensemble, frame)[::-1])
    assert decided.chance.tolist() == (own > 0.5).tolist()
    with pytest.raises(ValueError, match="client must be one of '0', '1' of the model, got '2' in"):
        ff.apply(rule, frame.assign(site=2), group="a", model=ensemble, client="site")


def ensemble_scores(model, frame):
    x = np.column_stack([frame["s"], frame["a"] == "f", frame["a"] == "m"])
    return 1 / (1 + np.exp(-(model.coefficients @ x.T + model.intercepts[:, None])))


def test_notes_count_the_people(run):
    people, experiment, rows = run
    notes = experiment.differences(rows)
    assert notes[0].startswith("2,000 people, by group: f ")
    assert "y = 1 is y = 1. Features: s, a." in notes[0]
    assert f"With {len(read(people)[1].rows('test'))} test people" in notes[2]


def test_notions_and_groups(file, tmp_path):
    names = [name for name, *_ in methods(request(file, notion="eodds"), "federated", 2)]
    assert "FairFed" not in names  # it has no equalised odds
    frame = pd.read_csv(file)
    frame["a"] = np.where(np.arange(len(frame)) % 4 == 0, "x", frame["a"])
    frame.to_csv(tmp_path / "three.csv", index=False)
    three = request(tmp_path / "three.csv", notion="eo", budgets=(0.0,))
    assert [name for name, *_ in methods(three, "federated", 2)] == ["FedAvg", "FedFB"]
    assert methods(three, "central", 2)[0][2].rule == FairBatch(
        "eo", 0.3, 1.0, "zero_one", budget=0.0
    )
    experiment = people_experiment(three)
    rows = run_units([unit for unit in experiment.units(QUICK) if "central" in unit.name])
    assert {"disparity", "validation disparity"} <= set(experiment.values(rows)["measure"])
    assert not (experiment.points(rows)["kind"] == "frontier").any()


def test_a_network_learns_what_a_line_cannot(tmp_path):
    rng, n = np.random.default_rng(1), 1500
    x, a = rng.uniform(-1, 1, n), rng.integers(0, 2, n)
    frame = pd.DataFrame(
        {"x": x, "y": (np.abs(x) > 0.5).astype(int), "a": a, "site": rng.integers(0, 2, n)}
    )
    frame.to_csv(tmp_path / "band.csv", index=False)
    accuracy = {}
    for hidden in (0, 8):
        people = request(tmp_path / "band.csv", hidden=hidden, budgets=(1.0,))
        runs = tmp_path / str(hidden)
        experiment = people_experiment(people)
        units = [unit for unit in experiment.units(QUICK) if "central" in unit.name]
        rows = run_units(units, runs)
        decided_as_tested(people, rows, runs)
        values = experiment.values(rows).set_index(["objective", "measure"])["value"]
        accuracy[hidden] = values["CFL, ε = 1", "Acc."]
    assert accuracy[8] > 0.9 > 0.65 > accuracy[0]


def test_a_rate_of_nobody_is_said_before_anything_runs(file, tmp_path):
    frame = pd.read_csv(file)
    frame.loc[frame["a"] == "f", "y"] = 0
    frame.to_csv(tmp_path / "none.csv", index=False)
    with pytest.raises(
        ValueError, match="people of y = 1 in every group .* of a = f there are none for train"
    ):
        people_experiment(request(tmp_path / "none.csv", notion="eo"))
    # demographic parity does not ask; the people are warned of
    with pytest.warns(ScoreWarning, match="nobody of group . has y = 1"):
        assert people_experiment(request(tmp_path / "none.csv")).name == "none"
