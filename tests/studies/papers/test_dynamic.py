"""The dynamic paper's experiments: measures by hand, and runs on tiny data in the real formats."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from fairfl.figures.lib import dynamic as curves
from fairfl.sims.models import ResNet18GN
from fairfl.studies import group_benefit as measures
from fairfl.studies.beside_published import compare
from fairfl.studies.execute import run_unit, run_units
from fairfl.studies.experiment import Scale
from fairfl.studies.papers.all_experiments import find
from fairfl.studies.papers.dynamic import dynamic_runs

NAMES = ("dynamic-mnist", "dynamic-fashion-mnist", "dynamic-cifar-10")


def table(objective, losses, seed=0):
    """Four clients, two a group, the second joins in round 2; (T, 4) test losses, half in train."""
    rows = [
        (t, part, k, k // 2, (0, 2)[k // 2], (10, 30, 20, 20)[k], value * share, 0.25 * k)
        for part, share in (("train", 0.5), ("test", 1))
        for t, row in enumerate(losses)
        for k, value in enumerate(row)
    ]
    columns = "round part client group join samples loss accuracy".split()
    return pd.DataFrame(rows, columns=columns).assign(dataset="D", objective=objective, seed=seed)


PLAIN = [[4, 4, 8, 8], [3, 3, 8, 8], [2, 2, 7, 9], [2, 2, 4, 6], [2, 2, 1, 1]]
SLOWER = [[4, 4, 8, 8], [3, 3, 8, 8], [2, 2, 7, 9], [2, 2, 6, 8], [1, 1, 6, 6]]


def test_measures_by_hand():
    """Group 1 gains 4 - 2 = 2, 2 gains 8 - 5 = 3, then 8 - 1 = 7; then 2 and 1, 3 and 2."""
    clients = pd.concat([table("FedAvg", PLAIN), table("slower", SLOWER)], ignore_index=True)
    rounds = measures.by_round(clients)
    fedavg = rounds[(rounds["part"] == "test") & (rounds["objective"] == "FedAvg")]
    assert fedavg["GB (9)"].tolist() == pytest.approx([0, 0, *np.expm1([6, 3, -1])])
    assert fedavg["GB (20)"].tolist() == pytest.approx([0, 0, *np.expm1([2 - 0, 2 - 3, 2 - 7])])
    assert fedavg["least gap"].tolist()[3:] == pytest.approx([-1, -5])
    assert fedavg["LS"].tolist() == pytest.approx([0, 0, 0.5, 0.5, 0])
    assert fedavg["loss"].tolist()[-1] == pytest.approx(1.5)
    assert fedavg["accuracy"].tolist() == pytest.approx([100 * (30 + 2 * 20 + 3 * 20) / 320] * 5)
    ends = measures.values(clients).set_index(["objective", "measure"])["value"]
    assert ends["FedAvg", "fair rounds"] == 0 and ends["slower", "fair rounds"] == 100
    assert ends["slower", "above FedAvg"] == pytest.approx((3 - 2) - (2 - 7))
    assert ends["slower", "fairer rounds"] == 100 and ("FedAvg", "above FedAvg") not in ends
    assert ends["FedAvg", "training loss"] == pytest.approx(0.75)


def test_the_rounds_that_were_measured_count():
    """Every second one: the joining is the row of its round."""
    clients = table("FedAvg", PLAIN)
    even_rounds = clients[clients["round"] % 2 == 0]
    assert measures.by_round(even_rounds)["least gap"].tolist()[-1] == pytest.approx(-5)


def test_groups_hold_nine_tenths_of_their_classes(files):
    """Of ten groups too; and the clients of a group are alike in size."""
    for scene, groups in (
        (dynamic_runs.Scene("MNIST", dynamic_runs.LINEAR, rows=600), 2),
        (TEN, 10),
    ):
        _, parts = dynamic_runs.data_of(scene)
        y, owner = (np.concatenate([p.y.numpy() for p in parts.parts.values()]), [])
        for part in parts.parts.values():
            owner.append(np.repeat(np.arange(part.clients), part.sizes) // scene.clients)
        home = y // (10 // groups)
        assert np.mean(home == np.concatenate(owner)) == pytest.approx(0.9, abs=0.03)
        assert np.ptp(parts.train.sizes) <= 6


RULE = dynamic_runs.MAIN["Algorithm 2"]
TEN = dynamic_runs.Scene("MNIST", dynamic_runs.LINEAR, tuple(range(10)), rounds=12, rows=600)


def test_from_data_to_a_table(files):
    experiment = find("dynamic-mnist")
    units = [u for u in experiment.units(Scale("quick", 2)) if "linear" in u.name]
    tens = [TEN.unit(name, rule, 2) for name, rule in dynamic_runs.MAIN.items()]
    clients = run_units([*units, *tens])
    assert sorted(set(clients["round"])) == list(range(15))  # the first models are round 0
    values = experiment.values(clients)
    assert list(values.columns) == ["dataset", "objective", "seed", "measure", "value"]
    assert np.isfinite(values["value"]).all()
    table = compare(values, experiment.published).set_index(["objective", "measure", "dataset"])
    assert (table["seeds"] == 2).all()
    two = units[0].dataset
    assert table["mean"]["FedAvg", "accuracy", two] > 60  # the bright rows are easily told apart
    # what normalises moves by 0.01 a round, and leaves the newcomers' loss above
    assert table["mean"]["Algorithm 1", "GB (9)", two] > table["mean"]["FedAvg", "GB (9)", two]
    notes = experiment.differences(clients)
    assert all(note.endswith(".") and "\n" not in note for note in notes)


def test_figures_read_the_curves_of_runs(files, tmp_path, monkeypatch):
    """What the command writes, in place of the kept curves: mean, least and most of the seeds."""
    folder = tmp_path / "dynamic-mnist"
    folder.mkdir()
    scene = dynamic_runs.Scene("MNIST", dynamic_runs.LINEAR, (0, 1), 2, 300)
    units = [scene.unit("Algorithm 2", RULE, 2)]
    clients = run_units(units)
    table = measures.curves(clients).to_csv(float_format="%.3g", lineterminator="\n")
    (folder / "curves.csv").write_text(table, "utf-8")
    row = curves.Row("mine", units[0].dataset, ("Algorithm 2",))
    published = curves.Row("kept", "MNIST, two groups, two layers, α = 0.9, 2,000 rows")
    monkeypatch.delenv(curves.RUNS, raising=False)
    assert set(curves.curves((published,), (row,))["row"]) == {"kept"}
    monkeypatch.setenv(curves.RUNS, str(tmp_path))
    points = curves.curves((), (row,))
    assert set(points["row"]) == {"mine"} and len(points) == 3 * len(row.measures)
    assert points["groups"].tolist()[:3] == [1, 2, 2] and set(points["seeds"]) == {2}
    rounds = measures.by_round(clients)
    gb = rounds[rounds["part"] == "test"].groupby("round")["GB (9)"]
    benefit = points[points["measure"] == "GB (9)"]
    for kind in ("mean", "min", "max"):
        assert benefit[kind].tolist() == pytest.approx(gb.agg(kind).tolist(), rel=6e-3)


@pytest.mark.parametrize(
    "data, model", [("Fashion-MNIST", dynamic_runs.LENET), ("CIFAR-10", dynamic_runs.RESNET)]
)
def test_other_data_run_as_soon_as_they_are_there(others, data, model, monkeypatch):
    monkeypatch.setattr(dynamic_runs, "ResNet18GN", partial(ResNet18GN, width=2))
    monkeypatch.setattr(dynamic_runs, "EPOCHS", 1)
    scene = dynamic_runs.Scene(data, model, (0, 1), rounds=2, rows=60)
    clients = run_unit(scene.unit("Algorithm 1", dynamic_runs.NORMALISED, 1))
    assert set(clients["dataset"]) == {f"{data}, two groups, {model}, α = 0.9, 60 rows"}
    assert np.isfinite(measures.values(clients)["value"]).all()
