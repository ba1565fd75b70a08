"""Group fairness's timings: what is timed is the table's run, and a package that is missing or fails is told."""

from types import SimpleNamespace

import pytest

from fairfl import bench, bench_group_fairness


def test_rows_at_sizes_that_take_a_moment():
    table, duel = bench_group_fairness.group_fairness(bench.QUICK)
    assert table.ours > 0
    assert "2 methods, 1 seeds, quick" in table.what
    assert "FedAvg 0.8" in table.note  # the run that is timed learns
    assert duel.ours > 0
    assert "3 clients" in duel.what


@pytest.mark.slow
def test_it_is_the_tables_run():
    """The measures that the row tells are those of the experiment's own units."""
    from fairfl.sims.experiments import fedfb_runs
    from fairfl.sims.experiments.execute import run_units
    from fairfl.sims.experiments.experiment import Scale
    from fairfl.sims.experiments.frames import among, floats

    note = bench_group_fairness.table_row(bench.QUICK).note
    rows = run_units(fedfb_runs.family(Scale("quick", 1), ("Synthetic",), only=(fedfb_runs.FEDAVG,)))
    test = among(among(rows, "part", ["test"]), "objective", [fedfb_runs.FEDAVG])
    assert f"FedAvg {floats(test, 'accuracy')[0]:.3f}/{floats(test, 'dp')[0]:.3f};" in note


def test_without_torch_there_is_no_row(monkeypatch):
    monkeypatch.setattr(bench_group_fairness, "find_spec", lambda name: None)
    assert list(bench_group_fairness.group_fairness(bench.QUICK)) == []


def test_without_declearn_the_row_says_so(monkeypatch):
    find = bench_group_fairness.find_spec
    monkeypatch.setattr(bench_group_fairness, "find_spec", lambda name: None if name == "declearn" else find(name))
    row = bench_group_fairness.against_declearn(bench.QUICK)
    assert row.note.startswith("declearn is not installed")
    assert row.alternative is None
    assert row.ours > 0


def test_somebody_elses_fault_is_a_note(monkeypatch):
    def broken(*arguments, **options):
        raise RuntimeError("no such thing")

    monkeypatch.setattr(bench_group_fairness, "find_spec", lambda name: SimpleNamespace(origin="here"))
    monkeypatch.setattr(bench_group_fairness, "theirs", broken)
    row = bench_group_fairness.against_declearn(bench.QUICK)
    assert row.note == "declearn did not run: no such thing"
    assert row.alternative is None


@pytest.mark.slow
def test_against_declearn_where_it_is_installed():
    pytest.importorskip("declearn")
    row = bench_group_fairness.against_declearn(bench.QUICK)
    assert row.alternative is not None and row.alternative > row.ours
    assert "accuracy/disparity: ours" in row.note
