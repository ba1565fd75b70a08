"""Rounds of models whose clients run sequentially on a CPU, compared with a plain torch loop."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from torch import Tensor, nn

from benchmarks.client_steps import LR, in_a_loop
from benchmarks.simulator import BATCH, CLASSES, SAMPLES, simulated
from benchmarks.timing import Row, Sizes, interleaved
from fairfl.sims import models
from fairfl.sims.engine import Module, Simulation

LETTERS, LENGTH = 80, 20
SAME = 1.03
"""Ratio below which two times count as equal: one loop timed twice in a run differs by this."""


def in_turn(sizes: Sizes) -> Iterator[Row]:
    """The rows of BENCHMARKS.md: a local epoch of FedAvg, and the same with torch's optimiser."""
    for name, make, x, y in jobs(*(3, SAMPLES) if sizes.rounds > 1 else (2, BATCH)):
        run, (clients, samples) = simulation(name, make, x, y), y.shape
        ours, plain = interleaved(min(3, sizes.rounds), run.step, in_a_loop(make(), x, y))
        note = f"{clients * samples / BATCH / ours:,.0f} client steps a CPU second"
        title = f"round of FedAvg, {name}, {clients} clients in turn, CPU time"
        yield Row(title, ours, "a torch loop", plain, SAME * plain, note)


def jobs(clients: int, samples: int) -> Iterator[tuple[str, Any, np.ndarray, np.ndarray]]:
    """Name, factory, inputs (clients, samples, ...) and labels, of noise."""

    class Gated(nn.Module):
        """The next character by torch's own GRU."""

        def __init__(self) -> None:
            super().__init__()
            self.letters, self.layers = nn.Embedding(LETTERS, 8), nn.GRU(8, 256, batch_first=True)
            self.last = nn.Linear(256, LETTERS)

        def forward(self, x: Tensor) -> Tensor:
            return self.last(self.layers(self.letters(x))[0][:, -1])

    rng, people = np.random.default_rng(3), (clients, samples)
    text, after = rng.integers(0, LETTERS, (*people, LENGTH)), rng.integers(0, LETTERS, people)
    pixels = rng.normal(size=(*people, 1, 28, 28)).astype(np.float32)
    yield "char-LSTM, 2 layers of 256", lambda: models.CharLSTM(LETTERS), text, after
    yield "torch's GRU of 256", Gated, text, after
    yield "LeNet", models.LeNet, pixels, rng.integers(0, CLASSES, people)


def simulation(name: str, make: Any, x: np.ndarray, y: np.ndarray) -> Simulation:
    """The engine's simulation of one client after the other."""
    clients, samples = y.shape
    rows = x.reshape(-1, *x.shape[2:]), y.ravel(), np.arange(clients + 1) * samples
    return simulated(Module(make, name=name), rows, lr=LR, batch_size=BATCH)
