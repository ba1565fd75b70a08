"""One thread of linear algebra for as long as this program computes: its matrices are small.

A second thread would only wait.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS to one thread; also a decorator. What the user had set is in force again at the
    end.

    The limit is the process's: where calls in several threads overlap, the first one sets and lifts
    it. torch, which has threads of its own, is left alone.
    """
    from threadpoolctl import get_cached_controller  # not when fairfl is imported

    # threadpoolctl's own limit takes 40 µs, as long as a small solve
    several = [(one, one.num_threads) for one in get_cached_controller().lib_controllers]
    several = [(one, was) for one, was in several if one.user_api == "blas" and was != 1]
    for one, _ in several:
        one.set_num_threads(1)
    try:
        yield
    finally:
        for one, was in several:
            one.set_num_threads(was)
