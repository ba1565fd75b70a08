"""One thread of linear algebra for as long as this program computes: its matrices are small.

A second thread would only wait.
"""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS to one thread, then restore what the user had set; also a decorator."""
    from threadpoolctl import get_cached_controller  # not when fairfl is imported

    # threadpoolctl's own limit takes 40 µs, as long as a small solve
    blas = [lib for lib in get_cached_controller().lib_controllers if lib.user_api == "blas"]
    counts = [(lib, count) for lib in blas if (count := lib.num_threads) != 1]
    for lib, _ in counts:
        lib.set_num_threads(1)
    try:
        yield
    finally:
        for lib, count in counts:
            lib.set_num_threads(count)
