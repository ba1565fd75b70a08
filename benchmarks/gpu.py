"""Timings of the simulator on a GPU: many small clients, and a few networks. On a CPU in tests."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch

from benchmarks.simulator import BATCH, CLASSES, FEATURES, SAMPLES, simulated, simulation
from benchmarks.timing import Row, Sizes
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.algorithms.qfedavg import QFedAvg
from fairfl.sims.engine import MLP, Computing, Logistic, Module, Softmax, Uniform
from fairfl.sims.group_fairness import FedFB
from fairfl.sims.models import ResNet18GN


@dataclass(frozen=True)
class Work:
    """Clients of softmax regression; ResNet-18's clients, images of each, their side, its width."""

    clients: tuple[int, ...] = (100, 1_000, 10_000, 100_000)
    networks: int = 16
    images: int = 64
    side: int = 32
    width: int = 64
    rounds: int = 5


FEW = Work(clients=(3,), networks=2, images=3, side=8, width=4, rounds=1)


def gpu(sizes: Sizes) -> Iterator[Row]:
    """The rows of a GPU, or one that says that there is none."""
    if torch.cuda.is_available():
        yield from rows("cuda", FEW if sizes.rounds == 1 else Work())
        return
    title = "the same on a GPU, 100,000 clients, ResNet-18-GN"
    yield Row(title, float("nan"), note="no CUDA device here: docs/gpu.md has figures of one")


def rows(device: str, work: Work) -> Iterator[Row]:
    """FedAvg on ``device``, wall time: softmax by clients, other rounds, then ResNet-18-GN."""
    softmax, mlp = Softmax(FEATURES, CLASSES), MLP((FEATURES, 64, CLASSES))
    for clients in work.clients:
        sizes = np.full(clients, SAMPLES)
        yield one_round("softmax regression", partial(simulation, softmax, sizes), device, work)
    clients = work.clients[-2:][0]
    equal = np.full(clients, SAMPLES)
    factors = np.exp(np.random.default_rng(4).normal(size=clients))
    unequal = np.maximum(4, np.rint(SAMPLES * factors / factors.mean())).astype(np.int64)
    sweep = [FedAvg(), *(QFedAvg(q) for q in (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0))]
    tenth = Uniform(-(-clients // 10))
    few = equal[:1_000]  # each pair of clients has a mask
    fair = partial(simulation, Logistic(FEATURES), few, algorithms=[FedFB()], groups=2)
    for title, make in (
        ("MLP 60-64-10", partial(simulation, mlp, equal)),
        ("a sweep of 8", partial(simulation, softmax, equal, algorithms=sweep)),
        ("unequal sizes", partial(simulation, softmax, unequal)),
        ("a tenth takes part", partial(simulation, softmax, equal, participation=tenth)),
        ("FedFB", fair),
    ):
        yield one_round(title, make, device, work)
    yield networks(device, work)


def one_round(title: str, make: Callable[..., Any], device: str, work: Work) -> Row:
    """A round of one epoch in batches of 10, compared with one CPU thread."""
    run = make(device=device)
    gpu_time, cpu_time = timed(run.step, device, work.rounds), None
    clients, samples = run.source.train.clients, len(run.source.train.x)
    if device.startswith("cuda") and clients <= 10_000:  # more clients take minutes on a CPU
        cpu_time = timed(make(device="cpu").step, "cpu", min(2, work.rounds))
    rival = "one CPU thread" if cpu_time else ""
    note = f"{samples:,} samples in batches of {BATCH}"
    title = f"round, {title}, {clients:,} clients, on {name_of(device)}"
    return Row(title, gpu_time, rival, cpu_time, None, note)


def networks(device: str, work: Work) -> Row:
    """ResNet-18-GN, full batches, compared with a loop over the clients on the same device."""
    rng = np.random.default_rng(3)
    total = work.networks * work.images
    x = rng.normal(size=(total, 3, work.side, work.side)).astype(np.float32)
    data = x, rng.integers(0, 10, total), np.arange(work.networks + 1) * work.images
    model = Module(lambda: ResNet18GN(width=work.width), name="resnet18gn")
    limit = "auto" if device == "cuda" else 1 << 30
    computing = Computing(device, backend="batched", memory_limit=limit)
    batched, loop = (
        timed(simulated(model, data, computed, lr=1e-3, batch_size=None).step, device, work.rounds)
        for computed in (computing, replace(computing, backend="loop"))
    )
    images = f"{work.images} images of {work.side} x {work.side} each"
    title = f"round of FedAvg, ResNet-18-GN, {work.networks} clients, {images}, on "
    note = f"{total / batched:,.0f} images a second"
    rival = "a loop over clients, autograd"
    return Row(title + name_of(device), batched, rival, loop, None, note)


def name_of(device: str) -> str:
    """A GPU's product name, else the name of the device."""
    return torch.cuda.get_device_name() if device.startswith("cuda") else device


def timed(function: Callable[[], object], device: str, rounds: int) -> float:
    """The shortest wall time of ``rounds`` runs after two, each synchronised with the device."""
    best = np.inf
    for k in range(rounds + 2):
        _wait(device)
        begin = time.perf_counter()
        function()
        _wait(device)
        best = min(best, time.perf_counter() - begin) if k >= 2 else best
    return float(best)


def _wait(device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize()
