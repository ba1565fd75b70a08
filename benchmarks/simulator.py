"""The simulator's timings: unequal clients compared with padding."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from benchmarks.timing import Row, Sizes, interleaved
from fairfl.sims import engine
from fairfl.sims.algorithms.fedavg import FedAvg

SAMPLES, FEATURES, CLASSES, BATCH, HIDDEN = 120, 60, 10, 10, 64


def simulator(sizes: Sizes) -> Iterator[Row]:
    """Rounds with clients of unequal size."""
    softmax = engine.Softmax(FEATURES, CLASSES)
    for clients in (100, 1_000) if sizes.rounds > 1 else (3,):
        yield _against_padding(softmax, clients, sizes.rounds)


def _against_padding(model: engine.Model, clients: int, rounds: int) -> Row:
    """Log-normal sizes (sd 1), compared with padding all to the largest (clients, samples)."""
    spread = np.exp(np.random.default_rng(4).normal(size=clients))
    sizes = np.maximum(1, np.rint(SAMPLES * spread / spread.mean())).astype(np.int64)
    unequal = simulation(model, sizes)
    padded = simulation(model, np.full(clients, sizes.max()))
    best = interleaved(rounds, unequal.step, padded.step)
    padding = sizes.max() / sizes.mean()
    mean = f"mean {sizes.mean():.0f}"
    note = f"sizes {sizes.min()} to {sizes.max()}, {mean}: {padding:.3g} times the work"
    title = f"round of FedAvg, softmax regression, {clients:,} clients of unequal size, CPU time"
    return Row(title, best[0], "all padded to the largest", best[1], best[1] / 3, note)


def simulation(
    model: engine.Model,
    sizes: np.ndarray,
    backend: Any = "batched",
    device: str = "cpu",
    algorithms: Sequence[Any] = (),
    groups: int = 0,
    **training: Any,
) -> engine.Simulation:
    """A simulation with batches of 10 and a replicate per algorithm; ``groups``: labels 0, 1."""
    rng, total = np.random.default_rng(3), int(sizes.sum())
    x = rng.normal(size=(total, FEATURES)).astype(np.float32)
    y = rng.integers(0, 2 if groups else CLASSES, total)
    return simulated(
        model,
        (x, y, np.append(0, np.cumsum(sizes))),
        engine.Computing(device=device, threads=1, backend=backend),
        [engine.Replicate(algorithm) for algorithm in algorithms],
        rng.integers(0, groups, total) if groups else None,
        **{"batch_size": BATCH, **training},
    )


def simulated(
    model: engine.Model,
    rows: tuple[np.ndarray, np.ndarray, np.ndarray],
    computing: engine.Computing | None = None,
    replicates: Sequence[engine.Replicate] = (),
    group: np.ndarray | None = None,
    **training: Any,
) -> engine.Simulation:
    """A simulation of FedAvg, or these replicates, on ``rows``: inputs, labels and offsets."""
    x, y, offsets = rows
    data = engine.ClientData(torch.from_numpy(x), torch.from_numpy(y), offsets, group=group)
    computing = computing or engine.Computing(device="cpu", threads=1)
    all_replicates = list(replicates) or [engine.Replicate(FedAvg())]
    return engine.Simulation(
        model, engine.Parts(data), all_replicates, engine.Training(10**9, **training), computing
    )
