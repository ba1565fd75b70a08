"""Rounds of the algorithms for dynamic participants, beside FedAvg's, and five seeds of MNIST's
shape beside a plain torch loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.client_steps import in_a_loop
from benchmarks.simulator import CLASSES, FEATURES, HIDDEN, SAMPLES, simulated
from benchmarks.timing import Row, Sizes, interleaved, seconds

PIXELS, ROWS, BATCH, EPOCHS, CLIENTS, SEEDS = 784, 171, 32, 5, 10, 5
"""Two groups of five clients that share 2,000 rows, a seventh of them for tests."""
UNITS = (64, 200)
ABOVE = 1.4
"""Aim of the time of a round over that of its products of matrices, where these alone take nearly a
quarter of the loop's: with 200 units they take .27 of it, and at the rate of one product of two
2048 x 2048 matrices, which no smaller one reaches, still .22.
"""


def dynamic(sizes: Sizes) -> Iterator[Row]:
    """The rows of BENCHMARKS.md."""
    full = sizes.rounds > 1
    yield from algorithms(100 if full else 2, sizes.rounds)
    for units in UNITS if full else (4,):
        yield five_seeds(units, CLIENTS if full else 2, min(3, sizes.rounds))


def job(model: Any, clients: int, rows: int, batch: int, epochs: int, every: list[Any]) -> Any:
    """Clients of noise, two groups of which have joined; the replicates' simulation."""
    from fairfl.sims.engine import Joining

    rng = np.random.default_rng(3)
    x = rng.normal(size=(clients * rows, model.widths[0])).astype(np.float32)
    y = rng.integers(0, CLASSES, clients * rows)
    data, when = (x, y, np.arange(clients + 1) * rows), Joining((0, 1))
    how = {"lr": 0.01, "batch_size": batch, "epochs": epochs, "participation": when}
    found = simulated(model, data, replicates=every, **how)
    for _ in range(3):  # until both groups are there, and lengths are known
        found.step()
    return found


def algorithms(clients: int, rounds: int) -> Iterator[Row]:
    """One local epoch of an MLP: a rule's round, and FedAvg's."""
    from fairfl.sims.algorithms.dynamic import (
        ClippingFedAvg,
        ModifiedNormalizedFedAvg,
        NormalizedFedAvg,
    )
    from fairfl.sims.algorithms.dynamic_qfedavg import DynamicQFedAvg
    from fairfl.sims.algorithms.fedavg import FedAvg
    from fairfl.sims.algorithms.qfedavg import QFedAvg
    from fairfl.sims.engine import MLP, Replicate

    rules = (NormalizedFedAvg(), ModifiedNormalizedFedAvg(), ClippingFedAvg())
    named = {one.name: one for one in (*rules, QFedAvg())}
    named |= {f"{DynamicQFedAvg.name} of {rule.name}": DynamicQFedAvg(rule=rule) for rule in rules}
    model = MLP((FEATURES, HIDDEN, CLASSES))

    def step(algorithm: Any) -> Callable[[], Any]:
        return job(model, clients, SAMPLES, 10, 1, [Replicate(algorithm)]).step

    for name, algorithm in named.items():
        ours, plain = interleaved(2 * rounds, step(algorithm), step(FedAvg()))
        what = f"round of {name}, MLP, {clients} clients, one local epoch, CPU time"
        yield Row(what, ours, "FedAvg", plain, 1.5 * plain, f"{ours / plain:.3g} times FedAvg")


def five_seeds(units: int, clients: int, rounds: int) -> Row:
    """A round of FedAvg with as many replicates as seeds, and a loop over seeds, clients, steps."""
    from fairfl.sims.algorithms.fedavg import FedAvg
    from fairfl.sims.engine import MLP, Replicate

    widths = PIXELS, units, CLASSES
    run = job(MLP(widths), clients, ROWS, BATCH, EPOCHS, [Replicate(FedAvg(), s) for s in range(5)])
    rng = np.random.default_rng(3)
    x = rng.normal(size=(clients, ROWS, PIXELS)).astype(np.float32)
    y = rng.integers(0, CLASSES, (clients, ROWS))
    loop = in_a_loop(MLP(widths).sequential(), x, y, BATCH, EPOCHS)
    ours, plain, alone = interleaved(rounds, run.step, loop, products(clients, units))
    what = f"round of FedAvg, MNIST's shape, {units} units, {clients} clients, {SEEDS} seeds"
    steps = SEEDS * EPOCHS * -(-ROWS // BATCH)
    told = f"products of matrices alone, a seed at a time, take {seconds(steps * alone)}"
    aim = max(SEEDS * plain / 4, ABOVE * steps * alone)
    return Row(f"{what}, CPU time", ours, "a torch loop", SEEDS * plain, aim, told)


def products(clients: int, units: int) -> Callable[[], None]:
    """The five products of a step of one seed's clients, full batches: no engine does without."""
    import torch

    x, first = torch.randn(clients, BATCH, PIXELS), torch.randn(clients, PIXELS, units)
    h, last = torch.randn(clients, BATCH, units), torch.randn(clients, units, CLASSES)
    z = torch.randn(clients, BATCH, CLASSES)
    pairs = (x, first), (h, last), (h.mT, z), (z, last.mT), (x.mT, h)
    found = [torch.bmm(one, other) for one, other in pairs]

    def step() -> None:
        for (one, other), out in zip(pairs, found, strict=True):
            torch.bmm(one, other, out=out)

    return step
