"""Experiments take the paper's data where at hand, else what stands in."""

import shutil
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from fairfl.sims.data.federated import load_federated
from fairfl.sims.data.fetch import at_hand
from fairfl.sims.models import CharLSTM, ResNet18GN
from fairfl.studies.beside_published import compare
from fairfl.studies.execute import run_units
from fairfl.studies.experiment import Scale
from fairfl.studies.papers.all_experiments import find
from fairfl.studies.papers.pffl import table_1 as pffl_table_1
from fairfl.studies.papers.propfair import propfair_runs
from fairfl.studies.papers.propfair.tables_6_7_8 import EVERY
from fairfl.studies.papers.qffl import against_afl, qffl_runs
from fairfl.studies.row_subset import some_clients

QUICK = Scale("quick", 1)


@pytest.fixture
def all_there(tiny, others, monkeypatch):
    """Tiny networks, few clients and rounds."""
    for module in (propfair_runs, qffl_runs):
        monkeypatch.setattr(module, "CharLSTM", partial(CharLSTM, hidden=4))
    monkeypatch.setattr(propfair_runs, "ResNet18GN", partial(ResNet18GN, width=2))
    monkeypatch.setattr(propfair_runs, "ROLE", 30)
    monkeypatch.setattr(qffl_runs, "LINES", (120, 0))
    monkeypatch.setattr(qffl_runs, "ROUNDS", dict.fromkeys(qffl_runs.ROUNDS, (1, 1)))
    tasks = propfair_runs.TASKS.items()
    few = {name: replace(task, clients=4, rounds=(1, 1), rows=(80, 80)) for name, task in tasks}
    monkeypatch.setattr(propfair_runs, "TASKS", few)
    return others


def measured(name, units=None):
    """The table of an experiment's units beside the published numbers, and what differs."""
    experiment = find(name)
    clients = run_units(experiment.units(QUICK) if units is None else units)
    table = compare(experiment.values(clients), experiment.published)
    assert np.isfinite(table["mean"]).all()
    return table, " ".join(experiment.differences(clients))


@pytest.mark.slow
def test_propfair_runs_on_its_data(all_there):
    table, notes = measured("propfair-table-6")
    assert set(table["dataset"]) == set(EVERY)
    assert table["published"].notna().all()
    assert "stand in" not in notes and "Not at hand" not in notes


@pytest.mark.parametrize(
    "name, values",
    [("table-7", (0.4, 0.5, 0.6, 0.7)), ("table-8", (32, 64, 128, 256)), ("figure-3", ())],
)
@pytest.mark.every(3)
def test_propfair_varies_cifar_100(all_there, name, values):
    units = find(f"propfair-{name}").units(QUICK)
    kind = {"table-7": "ratio", "table-8": "batch"}.get(name)
    assert [u.dataset for u in units] == [f"CIFAR-100, {kind} {v}" for v in values] or kind is None
    table, notes = measured(f"propfair-{name}", units[:1])
    assert table["published"].notna().all() == (kind is not None) and "Not at hand" not in notes
    shares = [u.make().parts.train.sizes.sum() / 80 for u in units]
    assert shares == pytest.approx(values if kind == "ratio" else [0.6] * len(units), abs=0.02)


def test_some_are_at_hand(all_there):
    """CIFAR-10 alone: the others of table 6 are told, and table 7 has what stands in."""
    for name in ("cifar-100", "cinic-10", "shakespeare"):
        shutil.rmtree(all_there / name)
    (all_there / "cinic-10").mkdir()
    assert at_hand("cifar-10") and not at_hand("cinic-10") and not at_hand("cifar-100")
    _, notes = measured("propfair-table-6")
    assert "Not at hand: CIFAR-100, CINIC-10, Shakespeare." in notes and "stand in" not in notes
    units = find("propfair-table-7").units(QUICK)
    assert {u.dataset.partition(",")[0] for u in units} == set(propfair_runs.STAND_INS)


def test_propfairs_settings_are_those_of_its_tables(all_there):
    """Tables 3 to 5: q, alpha and M, and each algorithm's learning rate."""
    replicates = {u.dataset: u.make().replicates for u in find("propfair-table-6").units(QUICK)}
    _, q, _, term, propfair = replicates["Shakespeare"]
    assert (q.algorithm.q, term.algorithm.alpha, propfair.algorithm.M) == (1.0, 0.1, 2.0)
    assert [r.lr for r in replicates["Shakespeare"]] == [1.0, 0.5, 1.0, 0.1, 2.0]
    assert [r.lr for r in replicates["CIFAR-10"]] == [5e-3, 2e-3, 2e-3, 1e-2, 1e-2]
    assert not propfair.algorithm.rescale


@pytest.mark.parametrize("name", ["qffl-table-1", "qffl-table-8", "qffl-table-10"])
@pytest.mark.every(2)
def test_qffls_shakespeare(all_there, name):
    units = [u for u in find(name).units(QUICK) if u.dataset != "Synthetic"]
    table, notes = measured(name, units)
    rows = table[table["dataset"].str.startswith("Shakespeare")].set_index("objective")
    assert rows["published"].notna().any() and "Not at hand" not in notes
    assert {"q = 0.001"} <= set(rows.index)


def test_qffls_sizes_and_curves_of_shakespeare(all_there):
    table, _ = measured("qffl-table-3")
    by_measure = table.set_index(["dataset", "measure"])
    sizes = np.array([10 + 3 * k for k in range(12)])  # of the fixture's Vehicle
    assert by_measure["mean"]["Vehicle", "samples"] == sizes.sum()
    assert by_measure["mean"]["Vehicle", "samples a device"] == pytest.approx(sizes.mean())
    assert by_measure["sd"]["Vehicle", "samples a device"] == pytest.approx(sizes.std(ddof=1))
    assert by_measure["published"]["Shakespeare", "devices"] == 31
    units = find("qffl-figure-3").units(QUICK)
    assert {u.dataset for u in units} == {"Synthetic", "Vehicle", "Shakespeare"}


def test_the_whole_vehicle_has_the_papers_rounds(files, monkeypatch):
    paper = Scale("paper", 1)
    assert qffl_runs.rounds_of("Vehicle", paper) == 460
    assert "Vehicle: 318 of 43695 rows." in " ".join(qffl_runs.differences())
    monkeypatch.setattr(qffl_runs, "FULL_ROWS", len(load_federated("vehicle")))
    assert qffl_runs.rounds_of("Vehicle", paper) == 20
    assert any("vehicle-ranks-20" in u.name for u in pffl_table_1.units(paper))
    assert not any(" rows. " in note for note in qffl_runs.differences())


@pytest.mark.parametrize("name", ["qffl-table-2", "qffl-figure-8", "pffl-table-1"])
def test_fashion_mnist_takes_the_place_of_digits(all_there, name):
    units = [u for u in find(name).units(QUICK) if u.dataset not in ("Adult", "Synthetic")]
    table, notes = measured(name, units)
    rows = table[table["dataset"].str.startswith("Fashion-MNIST")]
    assert len(rows) and "MNIST 4, 7, 9" not in set(table["dataset"])
    assert rows["published"].notna().any() == (name != "qffl-figure-8")
    assert "digits" not in notes


def test_figure_8_compares_the_worst_devices(files):
    """The first is worst first, the second last; q-FFL reaches AFL's end in round 4."""
    import pandas as pd

    rows = [
        {"dataset": "D", "objective": name, "seed": 0, "round": t, "part": "test", "client": k}
        | {"samples": 5, "accuracy": a}
        for name, course in (
            ("q = 5", ((2, (0.1, 0.9)), (4, (0.8, 0.6)), (6, (0.8, 0.7)))),
            (against_afl.AFL_LAST, ((2, (0.1, 0.3)), (4, (0.2, 0.3)), (6, (0.6, 0.9)))),
        )
        for t, both in course
        for k, a in enumerate(both)
    ]
    tested = pd.DataFrame(rows)
    clients = pd.concat([tested, tested.assign(part="train", accuracy=1.0)], ignore_index=True)
    worst = against_afl.worst_devices(clients)
    assert worst["client"].tolist() == [0, 1, 1, 0, 0, 0]
    values = against_afl.worst_values(clients)
    test_rows = values[values["dataset"] == "D, test"]
    assert set(values["dataset"]) == {"D, test", "D, training"}
    by_measure = test_rows.set_index(["objective", "measure"])["value"]
    assert by_measure["q = 5", "worst"] == pytest.approx(70) and by_measure["q = 5", "rounds"] == 4
    assert by_measure[against_afl.AFL_LAST, "rounds"] == 6
    slow = clients.assign(accuracy=clients["accuracy"].where(clients["objective"] != "q = 5", 0.1))
    slow_values = against_afl.worst_values(slow).set_index(["dataset", "objective", "measure"])[
        "value"
    ]
    assert ("D, test", "q = 5", "rounds") not in slow_values


def test_some_clients_are_large_and_keep_their_rows(files):
    whole = load_federated("vehicle")
    subset = some_clients(whole, 5, 25, 3)
    assert subset.n_clients == 5 and (subset.sizes("all") >= 25).all()
    for k, name in enumerate(subset.client_names):
        old = whole.client_names.index(name)
        assert (subset.x[subset.owner == k] == whole.x[whole.owner == old]).all()
    assert some_clients(whole, 5, 25, 4).client_names != subset.client_names
    with pytest.raises(ValueError, match="clients must be at most 7, .* with 25 rows, got 8"):
        some_clients(whole, 8, 25, 0)
