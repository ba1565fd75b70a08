"""A lemma of one's own: ``fairfl claims check mine/mean --import my_lemma.py``, or pytest."""

from hypothesis import strategies as st

import fairfl as ff


@ff.lemma("mine/mean", st.lists(st.floats(0.1, 9), min_size=1), mutants={"1 %": {"factor": 1.01}})
def mean_above_minimum(u, factor=1.0):
    """The mean is at least the minimum."""
    return sum(u) / len(u) - factor * min(u)


def test_the_mean_is_at_least_the_minimum():
    assert ff.check_lemma(mean_above_minimum)
