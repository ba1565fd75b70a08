"""Timings of the simulator on a GPU: many small clients, a few networks, and their share of what it can do.

What the device can do is measured beside it: the bandwidth of a copy, and the rate of a product of large matrices in
the same dtype. Everything runs on a CPU too, which is how it is tested.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from fairfl.bench import Row, Sizes

SAMPLES, FEATURES, CLASSES, BATCH = 120, 60, 10, 10
NUMBER = 4  # bytes of a float32


@dataclass(frozen=True)
class Work:
    """How much a GPU is given: clients of softmax regression; clients, images of each, their side and the network's
    width for ResNet-18; numbers copied, and the side of the matrices that are multiplied."""

    clients: tuple[int, ...] = (100, 1_000, 10_000, 100_000)
    networks: int = 16
    images: int = 64
    side: int = 32
    width: int = 64
    copied: int = 1 << 28
    square: int = 8192
    rounds: int = 5


FEW = Work(clients=(3,), networks=2, images=3, side=8, width=4, copied=1 << 12, square=32, rounds=1)


def on_gpu(sizes: Sizes) -> Iterator[Row]:
    """The rows of a GPU; where there is none, one that says so."""
    if find_spec("torch") is None:
        return
    import torch

    if not torch.cuda.is_available():
        yield Row("the same on a GPU, 100,000 clients, ResNet-18-GN", float("nan"), note="no CUDA device here: skipped")
        return
    yield from rows("cuda", FEW if sizes.rounds == 1 else Work())


def rows(device: str, work: Work) -> Iterator[Row]:
    """Rounds of FedAvg on ``device``, wall time: softmax regression by number of clients, then ResNet-18-GN."""
    import torch

    name = torch.cuda.get_device_name() if device.startswith("cuda") else device
    speed = bandwidth(device, work)
    for clients in work.clients:
        yield many_clients(device, clients, name, speed, work.rounds)
    yield networks(device, name, work)


def many_clients(device: str, clients: int, name: str, speed: float, rounds: int) -> Row:
    """A round with one epoch in batches of 10, as ``bench_simulator`` has it on the CPU; the same there beside it."""
    from fairfl.bench_simulator import simulation
    from fairfl.sims.engine import Softmax

    model, sizes = Softmax(FEATURES, CLASSES), np.full(clients, SAMPLES)
    took = timed(simulation(model, sizes, device=device).step, device, rounds)
    there = None
    if device.startswith("cuda") and clients <= 10_000:  # more take minutes to compare
        there = timed(simulation(model, sizes).step, "cpu", min(2, rounds))
    steps = clients * SAMPLES // BATCH
    share = least_bytes(clients, model.size) / took / speed
    return Row(
        f"round of FedAvg, softmax regression, {clients:,} clients, on {name}", took,
        "one CPU thread" if there else "", there, None,
        f"{steps / took:,.0f} client steps a second; {100 * share:.2g} % of a copy's {speed / 1e9:,.0f} GB/s",
    )  # fmt: skip


def least_bytes(clients: int, parameters: int) -> float:
    """What a round must move at least: every sample read once, every client's parameters read and written each step."""
    steps = SAMPLES // BATCH
    return NUMBER * clients * (SAMPLES * (FEATURES + 1) + 2 * steps * parameters)


def networks(device: str, name: str, work: Work) -> Row:
    """A round of ResNet-18 with group norm, full batches, against a loop over the clients on the same device."""
    import torch

    from fairfl.sims.algorithms.fedavg import FedAvg
    from fairfl.sims.engine import ClientData, Computing, Module, Parts, Replicate, Simulation, Training
    from fairfl.sims.models import ResNet18GN

    rng = np.random.default_rng(3)
    total = work.networks * work.images
    x = rng.normal(size=(total, 3, work.side, work.side)).astype(np.float32)
    data = ClientData.of_arrays(x, rng.integers(0, 10, total), np.arange(work.networks + 1) * work.images)
    model = Module(lambda: ResNet18GN(width=work.width), name="resnet18gn")
    limit = 1 << 30
    if device.startswith("cuda"):  # half of what is free
        limit = torch.cuda.mem_get_info()[0] // 2

    def step(backend: Any) -> Callable[[], Any]:
        computing = Computing(device="auto" if device == "cuda" else device, backend=backend, memory_limit=limit)
        training = Training(rounds=10**9, lr=1e-3, batch_size=None)
        return Simulation(model, Parts(data), [Replicate(FedAvg())], training, computing).step

    took, loop = (timed(step(backend), device, work.rounds) for backend in ("batched", "loop"))
    done, reached = flops(work) * total, matmul_rate(device, work)
    images = f"{work.images} images of {work.side} x {work.side}"
    return Row(
        f"round of FedAvg, ResNet-18-GN, {work.networks} clients, {images} each, on {name}", took, "a loop over clients, autograd", loop, None,
        f"{total / took:,.0f} images a second; {done / took / 1e12:.3g} TFLOP/s, {100 * done / took / reached:.2g} % of "
        f"the {reached / 1e12:.3g} of a product of matrices",
    )  # fmt: skip


def flops(work: Work) -> float:
    """Floating-point operations of one image's forward and backward pass, as torch counts its convolutions."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    from fairfl.sims.models import ResNet18GN

    module = ResNet18GN(width=work.width)
    with FlopCounterMode(display=False) as counter:
        module(torch.zeros(1, 3, work.side, work.side)).sum().backward()
    return float(counter.get_total_flops())


def bandwidth(device: str, work: Work) -> float:
    """Bytes a second that a copy reads and writes."""
    import torch

    source = torch.zeros(work.copied, dtype=torch.float32, device=device)
    target = torch.empty_like(source)
    return 2 * NUMBER * work.copied / timed(lambda: target.copy_(source), device, 2 * work.rounds)


def matmul_rate(device: str, work: Work) -> float:
    """Floating-point operations a second of a product of two large square matrices in float32."""
    import torch

    a = torch.ones(work.square, work.square, device=device)
    return 2 * work.square**3 / timed(lambda: a @ a, device, 2 * work.rounds)


def timed(function: Callable[[], Any], device: str, rounds: int) -> float:
    """The shortest wall time of some runs, after two that are not counted; the device is done when the clock stops."""
    import torch

    def wait() -> None:
        if device.startswith("cuda"):
            torch.cuda.synchronize()

    best = np.inf
    for k in range(rounds + 2):
        wait()
        begin = time.perf_counter()
        function()
        wait()
        best = min(best, time.perf_counter() - begin) if k >= 2 else best
    return float(best)
