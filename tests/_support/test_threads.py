"""One thread of BLAS inside, the user's setting outside."""

from dataclasses import replace

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import fairfl as ff
from fairfl._support.threads import one_thread

FOLLOWS: set[str] = set()
"""Libraries that two threads can be asked of: others may have been built for one."""


def blas() -> set[int]:
    return {
        library["num_threads"] for library in threadpool_info() if library["filepath"] in FOLLOWS
    }


@pytest.fixture(autouse=True)
def two():
    """What a user may have set."""
    with threadpool_limits(2, user_api="blas"):
        libraries = [library for library in threadpool_info() if library["user_api"] == "blas"]
        FOLLOWS.update(library["filepath"] for library in libraries if library["num_threads"] == 2)
        assert FOLLOWS
        yield
        FOLLOWS.clear()


def test_one_within_and_the_users_own_after():
    assert blas() == {2}
    with one_thread():
        assert blas() == {1}
        with one_thread():
            assert blas() == {1}
        assert blas() == {1}
    assert blas() == {2}
    with pytest.raises(KeyError), one_thread():
        raise KeyError
    assert blas() == {2}


def test_answers_are_found_in_one_thread():
    seen = []

    class Watched(ff.Federation):
        @property
        def n_groups(self):
            seen.append(blas())
            return 2

    federation = ff.Federation.finite([0.0, 1.0], [[[0.3, 0.1], [0.2, 0.4]]], [0.3, 0.8])
    federation.__class__ = Watched
    calls = (
        (ff.solve, "lft_ensemble", 0.1),
        (ff.frontier, "lft_ensemble", 5),
        (ff.min_disparity, "lft_ensemble"),
    )
    for call, *arguments in calls:
        seen.clear()
        call(federation, *arguments)
        assert seen and all(counts == {1} for counts in seen), call
    curve = ff.frontier(federation, "cfl", 5)
    watched = replace(curve, evaluate=lambda d: seen.append(blas()) or curve.evaluate(d))
    seen.clear()
    watched.accuracy_at(curve.disparity[0])
    assert seen == [{1}] and blas() == {2}
