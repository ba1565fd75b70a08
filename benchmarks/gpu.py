"""Timings of the simulator on a GPU: many small clients, a few networks, as a share of the device's
speed.

The device's speed is measured too: the bandwidth of a copy, and the rate of a product of large
matrices in the same dtype. Everything also runs on a CPU, for tests.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from benchmarks.device_speed import (
    NUMBER,
    bandwidth,
    has_gpu,
    name_of,
    precision,
    product_rate,
    resnet_operations,
    room,
    timed,
)
from benchmarks.simulator import simulated, simulation
from benchmarks.timing import Row, Sizes
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.algorithms.qfedavg import QFedAvg
from fairfl.sims.engine import MLP, Computing, Everyone, Logistic, Model, Module, Softmax, Uniform
from fairfl.sims.group_fairness import FedFB
from fairfl.sims.models import ResNet18GN

SAMPLES, FEATURES, CLASSES, BATCH = 120, 60, 10, 10


@dataclass(frozen=True)
class Work:
    """The work for a GPU: clients of softmax regression; clients, images per client, their side and
    the network's width for ResNet-18; numbers copied, and the side of the multiplied matrices.
    """

    clients: tuple[int, ...] = (100, 1_000, 10_000, 100_000)
    networks: int = 16
    images: int = 64
    side: int = 32
    width: int = 64
    copied: int = 1 << 28
    square: int = 8192
    rounds: int = 5


FEW = Work(clients=(3,), networks=2, images=3, side=8, width=4, copied=1 << 12, square=32, rounds=1)


def gpu(sizes: Sizes) -> Iterator[Row]:
    """The rows of a GPU, or one that says that there is none."""
    if not has_gpu():
        title = "the same on a GPU, 100,000 clients, ResNet-18-GN"
        yield Row(title, float("nan"), note="no CUDA device here: docs/gpu.md has figures of one")
        return
    yield from rows("cuda", FEW if sizes.rounds == 1 else Work())


def rows(device: str, work: Work) -> Iterator[Row]:
    """FedAvg on ``device``, wall time: softmax by clients, other rounds, then ResNet-18-GN."""
    name, speed = name_of(device), bandwidth(device, work.copied, 2 * work.rounds)
    softmax = Softmax(FEATURES, CLASSES)
    for clients in work.clients:
        yield one_round(
            device, name, speed, work.rounds, GpuRound("softmax regression", softmax, clients)
        )
    for case in cases(work.clients[-2:][0]):
        yield one_round(device, name, speed, work.rounds, case)
    yield networks(device, name, work)


@dataclass(frozen=True)
class GpuRound:
    """A round: clients, the ``spread`` of their sizes, the number ``present``, other arguments."""

    title: str
    model: Model
    clients: int
    spread: float = 0.0
    present: int | None = None
    training: dict[str, Any] = field(default_factory=dict)

    def sizes(self) -> np.ndarray:
        """Samples of each client."""
        factors = np.exp(self.spread * np.random.default_rng(4).normal(size=self.clients))
        return np.maximum(4, np.rint(SAMPLES * factors / factors.mean())).astype(np.int64)

    def step(self, device: str) -> Callable[[], object]:
        """A round on ``device``."""
        participation = Everyone() if self.present is None else Uniform(self.present)
        return simulation(
            self.model, self.sizes(), device=device, participation=participation, **self.training
        ).step


def cases(clients: int) -> Iterator[GpuRound]:
    """An MLP, a sweep, unequal sizes, partial participation, and FedFB."""
    softmax, mlp = Softmax(FEATURES, CLASSES), MLP((FEATURES, 64, CLASSES))
    sweep = [FedAvg(), *(QFedAvg(q) for q in (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0))]
    fair = {"algorithms": [FedFB()], "groups": 2}
    yield GpuRound("MLP 60-64-10", mlp, clients)
    yield GpuRound("a sweep of 8", softmax, clients, training={"algorithms": sweep})
    yield GpuRound("unequal sizes", softmax, clients, spread=1.0)
    yield GpuRound("a tenth takes part", softmax, clients, present=-(-clients // 10))
    # each pair of clients has a mask
    yield GpuRound("FedFB", Logistic(FEATURES), min(clients, 1_000), training=fair)


def one_round(device: str, name: str, speed: float, rounds: int, case: GpuRound) -> Row:
    """A round of one epoch in batches of 10, compared with one CPU thread."""
    gpu_time, cpu_time = timed(case.step(device), device, rounds), None
    if device.startswith("cuda") and case.clients <= 10_000:  # more clients take minutes on a CPU
        cpu_time = timed(case.step("cpu"), "cpu", min(2, rounds))
    sizes, replicates = case.sizes(), len(case.training.get("algorithms", [0]))
    part = 1.0 if case.present is None else case.present / case.clients
    steps = replicates * part * (-(-sizes // BATCH)).sum()
    share = minimal_bytes(round(part * sizes.sum()), replicates, case.model.size) / gpu_time / speed
    title, rival = (
        f"round, {case.title}, {case.clients:,} clients",
        "one CPU thread" if cpu_time else "",
    )
    reached = f"{100 * share:.2g} % of a copy's {speed / 1e9:,.0f} GB/s"
    note = f"{steps / gpu_time:,.0f} client steps a second; {reached}"
    return Row(f"{title}, on {name}", gpu_time, rival, cpu_time, None, note)


def minimal_bytes(samples: int, replicates: int, parameters: int) -> float:
    """Lower bound of a round's memory traffic: samples read once, models read and written once."""
    return NUMBER * (samples * (FEATURES + 1) + 2 * replicates * parameters)


def networks(device: str, name: str, work: Work) -> Row:
    """ResNet-18-GN, full batches, compared with a loop over the clients on the same device."""
    rng = np.random.default_rng(3)
    total = work.networks * work.images
    x = rng.normal(size=(total, 3, work.side, work.side)).astype(np.float32)
    data = x, rng.integers(0, 10, total), np.arange(work.networks + 1) * work.images
    model = Module(lambda: ResNet18GN(width=work.width), name="resnet18gn")
    computing = Computing(
        device="auto" if device == "cuda" else device, backend="batched", memory_limit=room(device)
    )
    batched, loop = (
        timed(simulated(model, data, computed, lr=1e-3, batch_size=None).step, device, work.rounds)
        for computed in (computing, replace(computing, backend="loop"))
    )
    rate = resnet_operations(work.width, work.side) * total / batched
    peak = product_rate(device, work.square, 2 * work.rounds)
    images = f"{work.images} images of {work.side} x {work.side} each"
    title = f"round of FedAvg, ResNet-18-GN, {work.networks} clients, {images}"
    note = (
        f"{total / batched:,.0f} images a second; {rate / 1e12:.3g} TFLOP/s, "
        f"{100 * rate / peak:.2g} % of the {peak / 1e12:.3g} of a product of matrices "
        f"in {precision()}"
    )
    return Row(f"{title}, on {name}", batched, "a loop over clients, autograd", loop, None, note)
