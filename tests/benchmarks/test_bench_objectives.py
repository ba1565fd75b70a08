"""fairfl bench's rows of objectives at a size that takes a moment."""

import pytest

from benchmarks import objectives as bench_objectives
from benchmarks import timing
from fairfl.theory.aggregation import objectives as families


def test_a_row_each_against_a_sum():
    rows = list(bench_objectives.objectives(timing.QUICK))
    assert len(rows) == len(bench_objectives.OBJECTIVES) + 1
    assert all(row.ours > 0 and row.alternative > 0 and row.other == "a plain sum" for row in rows)
    for row, objective in zip(rows, bench_objectives.OBJECTIVES, strict=False):
        assert repr(objective) in row.what and f"{timing.QUICK.vectors} vectors of 100" in row.what
        assert float(row.note.split()[0]) == pytest.approx(row.ours / row.alternative, rel=1e-2)


def test_every_family_is_timed():
    timed = {objective.name for objective in bench_objectives.OBJECTIVES}
    # that one is as fast as the function it is given
    assert timed == set(families()) - {"kolmogorov"}
