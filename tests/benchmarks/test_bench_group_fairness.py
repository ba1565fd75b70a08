"""Group fairness's timings: the table's run is timed; missing packages are told."""

import re
from types import SimpleNamespace

import pytest

from benchmarks import group_fairness as bench_group_fairness
from benchmarks import timing


def test_rows_at_sizes_that_take_a_moment():
    table, duel = bench_group_fairness.group_fairness(timing.QUICK)
    assert table.ours > 0
    assert "2 methods, 1 seeds, quick" in table.what
    accuracy, disparity = (
        float(v) for v in re.findall(r"FedAvg ([0-9.]+)/([0-9.]+)", table.note)[0]
    )
    # the run that is timed learns: constants have at most .6 and 0
    assert accuracy > 0.8 and disparity > 0.3
    assert duel.ours > 0
    assert "3 clients" in duel.what


@pytest.mark.slow
def test_it_is_the_tables_run():
    """The row's measures are those of the experiment's units, run together."""
    from fairfl.studies.execute import run_units
    from fairfl.studies.experiment import Scale
    from fairfl.studies.frames import among, floats
    from fairfl.studies.papers.fedfb import runs as fedfb_runs

    note = bench_group_fairness.table_row(timing.QUICK).note
    timed = (fedfb_runs.FEDAVG, fedfb_runs.FEDFB_PLAIN)
    rows = run_units(fedfb_runs.family(Scale("quick", 1), ("Synthetic",), only=timed))
    test = among(among(rows, "part", ["test"]), "objective", [fedfb_runs.FEDAVG])
    assert f"FedAvg {floats(test, 'accuracy')[0]:.3f}/{floats(test, 'dp')[0]:.3f};" in note


def test_without_torch_there_is_no_row(monkeypatch):
    monkeypatch.setattr(bench_group_fairness, "find_spec", lambda name: None)
    assert list(bench_group_fairness.group_fairness(timing.QUICK)) == []


def test_without_declearn_the_row_says_so(monkeypatch):
    find = bench_group_fairness.find_spec
    monkeypatch.setattr(
        bench_group_fairness, "find_spec", lambda name: None if name == "declearn" else find(name)
    )
    row = bench_group_fairness.against_declearn(timing.QUICK)
    assert row.note.startswith("declearn is not installed")
    assert row.alternative is None
    assert row.ours > 0


def test_somebody_elses_fault_is_a_note(monkeypatch):
    def broken(*arguments, **options):
        raise RuntimeError("no such thing")

    monkeypatch.setattr(
        bench_group_fairness, "find_spec", lambda name: SimpleNamespace(origin="here")
    )
    monkeypatch.setattr(bench_group_fairness, "theirs", broken)
    row = bench_group_fairness.against_declearn(timing.QUICK)
    assert row.note == "declearn did not run: no such thing"
    assert row.alternative is None


def test_the_comparison_undoes_one_change_after_the_other(monkeypatch):
    """Accuracies .7 and .8, disparities .1 and .3: means .75 and .2, sd .071 and .141."""
    lines, asked = [], []

    def found(rounds, epochs, seed, dataset, **kwargs):
        asked.append((rounds, epochs, seed, dataset, kwargs))
        return 2.0 + seed, 0.7 + 0.1 * seed, 0.1 + 0.2 * seed

    monkeypatch.setattr(bench_group_fairness, "COMPARED", {"Synthetic": (1, 1)})
    monkeypatch.setattr(bench_group_fairness, "SEEDS", 2)
    monkeypatch.setattr(bench_group_fairness, "theirs", found)
    bench_group_fairness.compared("Synthetic", lines.append)
    assert lines[0].startswith("Synthetic, 1 rounds of 1 epochs, 2 seeds") and lines[1].startswith(
        "ours: 0."
    )
    names = ("declearn", "the updates' mean", "and λ_1 turned", "and no step untrained")
    assert lines[2:] == [f"{name}: 0.750 ± 0.071, 0.200 ± 0.141, 2.5 s" for name in names]
    assert [each[2] for each in asked] == [0, 1] * 4 and asked[0][4] == {}
    assert asked[-1][4] == {"server_lr": 1 / 3, "turned": True, "untrained": False}


@pytest.mark.slow
def test_against_declearn_where_it_is_installed():
    pytest.importorskip("declearn")
    row = bench_group_fairness.against_declearn(timing.QUICK)
    assert row.alternative is not None and row.alternative > row.ours
    assert "accuracy/disparity: ours" in row.note
