"""Where the units of a sweep run: processes of this machine, a Ray cluster, or any Executor."""

from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from multiprocessing import active_children, get_context
from typing import TypeVar

from fairfl._support.extras import extras_named
from fairfl._support.own_parts import named_modules
from fairfl._support.processes import begin, deaf, job_count

T = TypeVar("T")
LOST = 3
"""Number of times that Ray repeats a task whose process or machine was lost."""


class Engine:
    """An Executor of the caller's, who closes it; ``slots``: how many tasks run at a time."""

    def __init__(self, executor: Executor, slots: int) -> None:
        self.executor, self.slots = executor, slots

    def submit(self, function: Callable[..., T], *arguments: object) -> Future[T]:
        """A future whose exception, if any, is a lost process: functions here raise none."""
        return self.executor.submit(function, *arguments)

    def close(self, stop: bool) -> None:
        """Free what it holds; ``stop``: without waiting for what runs."""


class Local(Engine):
    """Processes of this machine."""

    def __init__(self, jobs: int) -> None:
        slots = job_count(jobs)
        super().__init__(_pool(slots), slots)

    def submit(self, function: Callable[..., T], *arguments: object) -> Future[T]:
        try:
            return self.executor.submit(function, *arguments)
        except BrokenExecutor:  # a process was lost, and with it the pool
            self.executor = _pool(self.slots)
            return self.executor.submit(function, *arguments)

    def close(self, stop: bool) -> None:
        if stop:
            for child in active_children():
                child.terminate()
        self.executor.shutdown(cancel_futures=stop)


def _pool(slots: int) -> ProcessPoolExecutor:
    """A pool whose processes are started, here alone: Ctrl-C is lost in these moments."""
    pool = ProcessPoolExecutor(slots, get_context("spawn"), begin)
    with deaf():
        for _ in range(slots):
            pool.submit(int)
    return pool


class Ray(Engine):
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

    def submit(self, function: Callable[..., T], *arguments: object) -> Future[T]:
        return self.call.remote(function, *arguments).future()

    def close(self, stop: bool) -> None:
        if not self.joined:
            self.ray.shutdown()


def _called(function: Callable[..., T], *arguments: object) -> T:
    return function(*arguments)
