"""The jobs of fairfl bench: every line names what it runs and on what, and is timed."""

import math

import pytest

from benchmarks import jobs
from fairfl.sims.data.fetch import DataUnavailable


def test_every_job_and_every_entry_is_used():
    assert {run for run, *_ in jobs.JOBS} == set(jobs.RUNS)
    assert {on for _, on, *_ in jobs.JOBS} == set(jobs.PROBLEMS)
    assert len({job[:2] for job in jobs.JOBS}) == len(jobs.JOBS)


def test_a_short_job_is_run_again(monkeypatch):
    runs = []
    monkeypatch.setitem(jobs.RUNS, "r", lambda count: runs.append(sum(range(count))))
    monkeypatch.setitem(jobs.PROBLEMS, "o", lambda: 100_000)
    monkeypatch.setattr(jobs, "REPEATED", 0.02)
    row = jobs.timed("r", "o", 1.0)
    assert len(runs) > 1 and 0 < row.ours < 0.02
    assert row.cells()[0] == "r: o, CPU time"
    assert row.cells()[4:6] == ("≤ 1 s", "yes")


def test_data_that_are_not_here_and_faults_are_told(monkeypatch):
    def missing():
        raise DataUnavailable("no adult.data")

    monkeypatch.setitem(jobs.PROBLEMS, "Adult by work class", missing)
    row = jobs.timed("fairfl frontier by race, 4 points", "Adult by work class", 10.0)
    assert math.isnan(row.ours) and row.note == "DataUnavailable: no adult.data"
    monkeypatch.setitem(jobs.RUNS, "fairfl reproduce", lambda count: 1 / 0)  # a fault of ours
    assert "ZeroDivisionError" in jobs.timed("fairfl reproduce", "an empty folder", 1).note


def test_the_time_of_a_command_is_that_of_its_process():
    before = jobs.cpu()
    jobs.command("--version")
    assert jobs.cpu() - before > 0.02
    with pytest.raises(RuntimeError, match="fairfl nothing ended with 2") as raised:
        jobs.command("nothing")
    assert "\n" not in str(raised.value)  # a row of a table
