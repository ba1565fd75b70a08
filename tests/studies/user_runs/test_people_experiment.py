"""People of one's own: what is trained, kept budgets, and the table and picture."""

import numpy as np
import pandas as pd
import pytest

from fairfl import ScoreWarning
from fairfl.sims.group_fairness import FairBatch
from fairfl.studies.execute import run_units
from fairfl.studies.experiment import Scale
from fairfl.studies.user_runs.people_experiment import behind, people_experiment
from fairfl.studies.user_runs.people_runs import Request, methods, read

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
def run(file):
    people = request(file, budgets=(0.0, 0.1))
    return people, people_experiment(people), run_units(people_experiment(people).units(QUICK))


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
    assert cfl["disparity"].tolist() == [
        table["CFL, ε = 0", "disparity"],
        table["CFL, ε = 0.1", "disparity"],
    ]
    x, y = behind(people)
    curve = points.loc["frontier", "frontier of a score"]
    assert np.array_equal(curve["disparity"], x) and np.array_equal(curve["accuracy"], y)
    assert points.loc[[("constant", "all 0")], "disparity"].tolist() == [0.0]


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
        experiment = people_experiment(
            request(tmp_path / "band.csv", hidden=hidden, budgets=(1.0,))
        )
        rows = run_units([unit for unit in experiment.units(QUICK) if "central" in unit.name])
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
