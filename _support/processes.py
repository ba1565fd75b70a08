"""Work in several processes, stopped cleanly: results as they come, and none left after Ctrl-C."""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process
from threading import Thread, current_thread, main_thread
from typing import Any, TypeVar

T = TypeVar("T")
MOST_JOBS = 4
_around: list[ProcessPoolExecutor] = []


def job_count(jobs: int, tasks: int = 10**9) -> int:
    """``jobs``, or for 0 one a core, four at most; never more than tasks, and at least one."""
    return max(1, min(jobs or min(os.cpu_count() or 1, MOST_JOBS), tasks))


def as_done(function: Callable[..., T], tasks: Sequence[tuple[Any, ...]], jobs: int) -> Iterator[T]:
    """``function(*task)`` of each task as it is done; in this process where ``jobs`` is 1."""
    if jobs <= 1:
        for task in tasks:
            yield function(*task)
        return
    from fairfl._support.own_parts import placed  # numpy: help does without

    with pool_of(jobs) as pool:
        with deaf():
            futures = [pool.submit(placed, function, *task) for task in tasks]
        for future in as_completed(futures):
            yield future.result()


@contextmanager
def pool_of(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Processes: those of a ``pool_of`` around this one, where there is one."""
    if _around:
        yield _around[-1]
        return
    with ProcessPoolExecutor(jobs, get_context("spawn"), initializer=begin) as pool:
        _around.append(pool)
        try:
            yield pool
        except BaseException:  # Ctrl-C above all: nobody waits for what remains
            for child in active_children():
                child.terminate()
            # waits for the pool's own thread: Python's exit would write to the pipe it closes
            pool.shutdown(cancel_futures=True)
            raise
        finally:
            _around.clear()


def begin() -> None:
    """A process ignores Ctrl-C, ends with its parent, and imports what ``--import`` named."""
    from fairfl._support.own_parts import named_modules

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_follow, daemon=True).start()
    named_modules()


def _follow() -> None:
    if (parent := parent_process()) is not None:
        parent.join()
        os._exit(1)


@contextmanager
def deaf() -> Iterator[None]:
    """Processes born here inherit that Ctrl-C is ignored: the parent hears it, and ends them."""
    if current_thread() is not main_thread():  # where Python allows no handler of signals
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
