"""Rounds of the algorithms for dynamic participants, compared with FedAvg's, and five seeds of
MNIST's shape, compared with a plain torch loop.
"""

from collections.abc import Callable, Iterator

import numpy as np
import torch

from benchmarks.client_steps import in_a_loop
from benchmarks.simulator import CLASSES, FEATURES, HIDDEN, SAMPLES, simulated
from benchmarks.timing import Row, Sizes, interleaved, seconds
from fairfl.sims.algorithms.dynamic import (
    ClippingFedAvg,
    ModifiedNormalizedFedAvg,
    NormalizedFedAvg,
)
from fairfl.sims.algorithms.dynamic_qfedavg import DynamicQFedAvg
from fairfl.sims.algorithms.fedavg import FedAvg
from fairfl.sims.algorithms.qfedavg import QFedAvg
from fairfl.sims.engine import MLP, Joining, Replicate, Simulation

PIXELS, ROWS, BATCH, EPOCHS, CLIENTS, SEEDS = 784, 171, 32, 5, 10, 5
"""Two groups of five clients that share 2,000 rows, a seventh of them for tests."""
UNITS = (64, 200)
ABOVE = 1.4
"""Aim of the time of a round relative to that of its matrix products, where these alone take nearly
a quarter of the loop's time: .27 with 200 units, and .22 at the rate of a product of two 2048 x
2048 matrices, which smaller ones do not reach.
"""


def dynamic(sizes: Sizes) -> Iterator[Row]:
    """The rows of BENCHMARKS.md."""
    full = sizes.rounds > 1
    yield from algorithms(100 if full else 2, sizes.rounds)
    for units in UNITS if full else (4,):
        yield five_seeds(units, CLIENTS if full else 2, min(3, sizes.rounds))


def job(
    model: MLP, clients: int, rows: int, batch: int, epochs: int, replicates: list[Replicate]
) -> Simulation:
    """A simulation of the replicates on clients of noise, two groups of which have joined."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(clients * rows, model.widths[0])).astype(np.float32)
    y = rng.integers(0, CLASSES, clients * rows)
    data, joining = (x, y, np.arange(clients + 1) * rows), Joining((0, 1))
    training = {"lr": 0.01, "batch_size": batch, "epochs": epochs, "participation": joining}
    run = simulated(model, data, replicates=replicates, **training)
    for _ in range(3):  # until both groups have joined, and lengths are known
        run.step()
    return run


def algorithms(clients: int, rounds: int) -> Iterator[Row]:
    """One local epoch of an MLP: a rule's round, and FedAvg's."""
    rules = (NormalizedFedAvg(), ModifiedNormalizedFedAvg(), ClippingFedAvg())
    by_name = {rule.name: rule for rule in (*rules, QFedAvg())}
    merged = DynamicQFedAvg.name
    by_name |= {f"{merged} of {rule.name}": DynamicQFedAvg(rule=rule) for rule in rules}
    model = MLP((FEATURES, HIDDEN, CLASSES))
    for name, algorithm in by_name.items():
        run, fedavg = (
            job(model, clients, SAMPLES, 10, 1, [Replicate(rule)]) for rule in (algorithm, FedAvg())
        )
        ours, plain = interleaved(2 * rounds, run.step, fedavg.step)
        title = f"round of {name}, MLP, {clients} clients, one local epoch, CPU time"
        yield Row(title, ours, "FedAvg", plain, 1.5 * plain, f"{ours / plain:.3g} times FedAvg")


def five_seeds(units: int, clients: int, rounds: int) -> Row:
    """A round of FedAvg with a replicate per seed, and a loop over seeds, clients and steps."""
    widths = PIXELS, units, CLASSES
    run = job(MLP(widths), clients, ROWS, BATCH, EPOCHS, [Replicate(FedAvg(), s) for s in range(5)])
    rng = np.random.default_rng(3)
    x = rng.normal(size=(clients, ROWS, PIXELS)).astype(np.float32)
    y = rng.integers(0, CLASSES, (clients, ROWS))
    loop = in_a_loop(MLP(widths).sequential(), x, y, BATCH, EPOCHS)
    product = products(clients, units)
    our_time, loop_time, product_time = interleaved(rounds, run.step, loop, product)
    title = f"round of FedAvg, MNIST's shape, {units} units, {clients} clients, {SEEDS} seeds"
    steps = SEEDS * EPOCHS * -(-ROWS // BATCH)
    note = f"products of matrices alone, a seed at a time, take {seconds(steps * product_time)}"
    aim = max(SEEDS * loop_time / 4, ABOVE * steps * product_time)
    return Row(f"{title}, CPU time", our_time, "a torch loop", SEEDS * loop_time, aim, note)


def products(clients: int, units: int) -> Callable[[], object]:
    """The five products of a step of one seed's clients, full batches: every engine needs them."""
    x, first = torch.randn(clients, BATCH, PIXELS), torch.randn(clients, PIXELS, units)
    h, last = torch.randn(clients, BATCH, units), torch.randn(clients, units, CLASSES)
    z = torch.randn(clients, BATCH, CLASSES)
    pairs = (x, first), (h, last), (h.mT, z), (z, last.mT), (x.mT, h)
    outputs = [torch.bmm(left, right) for left, right in pairs]
    return lambda: [torch.bmm(*pair, out=out) for pair, out in zip(pairs, outputs, strict=True)]
