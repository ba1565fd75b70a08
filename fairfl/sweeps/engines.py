"""Where the units of a sweep run: processes of this machine, a Ray cluster, or any Executor."""

import os
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from multiprocessing import active_children, get_context
from typing import ParamSpec, Protocol, TypeVar

from fairfl._support.extras import extras_named
from fairfl._support.own_parts import named_modules
from fairfl._support.processes import begin, deaf, job_count

P = ParamSpec("P")
T = TypeVar("T")
LOST = 3
"""Number of times that Ray repeats a task whose process or machine was lost."""


class Engine(Protocol):
    """Runs functions; ``slots``: how many at a time."""

    slots: int

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """A future whose exception, if any, is a lost process: functions here raise none."""
        ...

    def close(self, stop: bool) -> None:
        """Free what it holds; ``stop``: without waiting for what runs."""
        ...


class Local:
    """Processes of this machine."""

    def __init__(self, jobs: int) -> None:
        self.slots = job_count(jobs)
        self.pool = self._pool()

    def _pool(self) -> ProcessPoolExecutor:
        """A pool whose processes are started, here alone: Ctrl-C is lost in these moments."""
        pool = ProcessPoolExecutor(self.slots, get_context("spawn"), begin)
        with deaf():
            for _ in range(self.slots):
                pool.submit(int)
        return pool

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """See ``Engine``."""
        try:
            return self.pool.submit(function, *args, **kwargs)
        except BrokenExecutor:  # a process was lost, and with it the pool
            self.pool = self._pool()
            return self.pool.submit(function, *args, **kwargs)

    def close(self, stop: bool) -> None:
        """See ``Engine``."""
        if stop:
            for child in active_children():
                child.terminate()
        self.pool.shutdown(cancel_futures=stop)


class CallerExecutor:
    """An Executor of the caller's, who closes it."""

    def __init__(self, executor: Executor, jobs: int) -> None:
        self.executor, self.slots = executor, jobs or os.cpu_count() or 1
        self.submit = executor.submit

    def close(self, stop: bool) -> None:
        """Nothing."""


class Ray:
    """A Ray cluster: the one at ``address``, or one of this machine.

    A task takes ``cpus`` and ``gpus``, in fractions, and ``memory`` bytes. What --import named goes
    along as source text; fairfl itself must be installed on every machine.
    """

    def __init__(self, address: str | None, cpus: float, gpus: float, memory: int | None) -> None:
        with extras_named():
            import ray
        self.ray, self.joined = ray, ray.is_initialized()
        if not self.joined:
            ray.init(address=address, log_to_driver=False)
        limits = {"num_cpus": cpus, "num_gpus": gpus, "memory": memory}
        # made once: Ray sends each remote function to the cluster
        self.call = ray.remote(max_retries=LOST, **limits)(_called)
        for module in named_modules():
            ray.cloudpickle.register_pickle_by_value(module)
        total = ray.cluster_resources()
        capacities = [total.get(name, 0) / n for name, n in (("CPU", cpus), ("GPU", gpus)) if n]
        self.slots = max(1, int(min(capacities, default=1)))

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """See ``Engine``."""
        return self.call.remote(function, *args, **kwargs).future()

    def close(self, stop: bool) -> None:
        """See ``Engine``."""
        if not self.joined:
            self.ray.shutdown()


def _called(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    return function(*args, **kwargs)
