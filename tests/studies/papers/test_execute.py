"""Units run, resumed and spread over processes give the same tables."""

import pandas as pd
import pytest

from fairfl.studies.execute import last_round, run_units
from fairfl.studies.experiment import Scale
from fairfl.studies.papers.qffl import qffl_runs


class Stopped(Exception):
    """What a user's Ctrl-C stands for."""


def two(tiny):
    return qffl_runs.family(Scale("quick", 2), ("Synthetic",))


def test_a_stopped_run_goes_on_to_the_same_table(tiny, tmp_path):
    whole = run_units(two(tiny))

    def stop(unit, round, rounds):
        if unit.endswith("-1") and round == 3:
            raise Stopped

    with pytest.raises(Stopped):
        run_units(two(tiny), tmp_path / "runs", progress=stop)
    heard = []

    def progress(unit, t, rounds):
        heard.append((unit[-1], t))

    again = run_units(two(tiny), tmp_path / "runs", resume=True, progress=progress)
    pd.testing.assert_frame_equal(again, whole)
    # the first run was done, the second at round 2
    assert heard and all(unit == "1" and t >= 3 for unit, t in heard)


def test_the_order_is_that_of_the_units_whatever_ends_first(tiny, tmp_path):
    def backwards(function, tasks, jobs):
        for task in reversed(tasks):
            yield function(*task)

    heard = []
    spread = run_units(
        two(tiny), progress=lambda *event: heard.append(event), jobs=2, mapper=backwards
    )
    pd.testing.assert_frame_equal(spread, run_units(two(tiny)))
    assert [unit[-1] for unit, _, _ in heard] == ["1", "0"]


def test_names_must_differ(tiny):
    units = two(tiny)
    with pytest.raises(ValueError, match="names of their own"):
        run_units([units[0], units[0]])


def test_the_last_round_is_each_unit_s_own():
    rows = pd.DataFrame(
        {"unit": ["a", "a", "b"], "round": [1, 2, 1], "part": "test", "model": "global"}
    )
    assert last_round(rows, "test")[["unit", "round"]].values.tolist() == [["a", 2], ["b", 1]]
