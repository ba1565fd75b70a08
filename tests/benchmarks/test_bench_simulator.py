"""The simulator's timings: every row is there, and what is compared does the same work."""

import numpy as np
import pytest

from benchmarks import simulator as bench_simulator
from benchmarks import timing


def test_the_loop_that_we_are_compared_with_does_the_same():
    from fairfl.sims.engine import Softmax

    model = Softmax(bench_simulator.FEATURES, bench_simulator.CLASSES)
    sizes = np.full(3, bench_simulator.SAMPLES)
    ours, loop = (
        bench_simulator.simulation(model, sizes, backend) for backend in ("batched", "loop")
    )
    (mine,), (other,) = ours.step(), loop.step()
    assert mine["steps"] == other["steps"] == 36
    np.testing.assert_allclose(
        ours.params.numpy(), loop.params.detach().numpy(), rtol=1e-4, atol=1e-5
    )


def test_the_least_cpu_time_counts():
    calls = []
    best = timing.cpu_interleaved(1, [lambda: calls.append(0), lambda: sum(range(100_000))])
    assert best[0] < best[1] and len(calls) == 2


def test_without_torch_there_is_no_row(monkeypatch):
    monkeypatch.setattr(bench_simulator, "find_spec", lambda name: None)
    with pytest.raises(StopIteration):
        next(iter(bench_simulator.simulator(timing.QUICK)))
