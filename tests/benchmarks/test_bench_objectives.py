"""fairfl bench's rows of objectives at a size that takes a moment."""

from benchmarks import objectives as bench_objectives
from fairfl.theory.aggregation import objectives as families


def test_every_family_is_timed():
    timed = {objective.name for objective in bench_objectives.OBJECTIVES}
    # that one is as fast as the function it is given
    assert timed == set(families()) - {"kolmogorov"}
