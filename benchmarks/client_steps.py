"""Client steps per CPU second: the engine, numpy, and a plain torch loop, on one thread."""

from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch.nn import Module

from benchmarks.simulator import BATCH, CLASSES, FEATURES, HIDDEN, SAMPLES, simulation
from benchmarks.timing import Row, Sizes, interleaved
from fairfl.sims import engine

LR = 0.1
LOOP_CLIENTS = 100
"""Largest number of clients for which the torch loop is timed; more take minutes."""
AIMS = {"softmax": (1.5, 1.0), "MLP": (None, 1 / 1.3)}
"""Aims relative to numpy's time, for few clients, where a round's fixed cost dominates, and many.
"""


def in_numpy(
    layers: list[list[np.ndarray]], x: np.ndarray, y: np.ndarray, batch: int = BATCH
) -> Callable[[], None]:
    """A round of FedAvg on (clients, samples, features) and labels; changes ``layers``, (W, b)."""
    clients, samples = y.shape
    rows, columns, rng = np.arange(clients)[:, None], np.arange(batch), np.random.default_rng(0)

    def one_round() -> None:
        models = [[np.repeat(part[None], clients, 0) for part in layer] for layer in layers]
        order = rng.permuted(np.broadcast_to(np.arange(samples), y.shape), axis=1)
        for first in range(0, samples, batch):
            rows_in_batch = order[:, first : first + batch]
            # forward: activations, then the slope of the cross entropy in the logits
            values = [x[rows, rows_in_batch]]
            for weight, bias in models[:-1]:
                values.append(np.maximum(values[-1] @ weight + bias, 0))
            z = values[-1] @ models[-1][0] + models[-1][1]
            z = np.exp(z - z.max(2, keepdims=True))
            z /= z.sum(2, keepdims=True)
            z[rows, columns, y[rows, rows_in_batch]] -= 1
            z *= LR / batch
            # backward, with a step of gradient descent in each layer
            for k in range(len(models) - 1, -1, -1):
                weight, bias = models[k]
                back = (z @ weight.transpose(0, 2, 1)) * (values[k] > 0) if k else z
                weight -= values[k].transpose(0, 2, 1) @ z
                bias -= z.sum(1, keepdims=True)
                z = back
        for layer, model in zip(layers, models, strict=True):
            for part, copies in zip(layer, model, strict=True):
                part[:] = copies.mean(0)

    return one_round


def in_a_loop(
    network: Module, inputs: np.ndarray, labels: np.ndarray, batch: int = BATCH, epochs: int = 1
) -> Callable[[], None]:
    """A round with torch's optimiser, one client after the other."""
    x, y = torch.from_numpy(inputs), torch.from_numpy(labels)
    shared = [part.detach().clone() for part in network.parameters()]
    clients, samples = y.shape

    def one_round() -> None:
        optimiser = torch.optim.SGD(network.parameters(), LR)
        sums = [torch.zeros_like(part) for part in shared]
        for k in range(clients):
            with torch.no_grad():
                for part, start in zip(network.parameters(), shared, strict=True):
                    part.copy_(start)
            for rows in (s for _ in range(epochs) for s in torch.randperm(samples).split(batch)):
                optimiser.zero_grad()
                torch.nn.functional.cross_entropy(network(x[k, rows]), y[k, rows]).backward()
                optimiser.step()
            with torch.no_grad():
                for total, part in zip(sums, network.parameters(), strict=True):
                    total.add_(part, alpha=1 / clients)
        shared[:] = sums

    return one_round


def start(widths: tuple[int, ...]) -> list[list[np.ndarray]]:
    """Layers of zeros, or of small numbers where there are several."""
    rng, small = np.random.default_rng(1), 0.1 * (len(widths) > 2)
    return [
        [(small * rng.normal(size=shape)).astype(np.float32) for shape in ((i, o), (1, o))]
        for i, o in zip(widths[:-1], widths[1:], strict=True)
    ]


def client_steps(sizes: Sizes) -> Iterator[Row]:
    """A row per model and number of clients: seconds per round of the engine and of numpy."""
    full = sizes.rounds > 1
    linear, deep = (FEATURES, CLASSES), (FEATURES, HIDDEN, CLASSES)
    mlp = engine.MLP(deep)
    kinds: tuple[tuple[str, engine.Model, tuple[int, ...], Callable[[], torch.nn.Module]], ...] = (
        ("softmax", engine.Softmax(*linear), linear, lambda: torch.nn.Linear(*linear)),
        ("MLP", mlp, deep, mlp.sequential),
        ("MLP by torch.func", engine.Module(mlp.sequential), deep, mlp.sequential),
    )
    for name, model, widths, make in kinds:
        for clients in (10, 100, 1_000, 10_000) if full else (3,):
            run = simulation(model, np.full(clients, SAMPLES))
            data = run.source.train
            arrays = (
                data.x.numpy().reshape(clients, SAMPLES, -1),
                data.y.numpy().reshape(clients, -1),
            )
            functions = [run.step, in_numpy(start(widths), *arrays)]
            functions += [in_a_loop(make(), *arrays)] if clients <= LOOP_CLIENTS else []
            rounds = max(3, min(30, 2000 // clients)) if full else 1
            best = interleaved(rounds, *functions)
            steps = clients * SAMPLES // BATCH
            times = zip(("engine", "numpy", "torch loop"), best, strict=False)
            figures = ", ".join(f"{title} {steps / time:,.0f}" for title, time in times)
            factor = AIMS.get(name, (None, None))[clients >= 100]
            title = f"round of FedAvg, {name}, {clients:,} clients, CPU time"
            rival, note = "numpy, clients as an axis", f"client steps a CPU second: {figures}"
            yield Row(title, best[0], rival, best[1], factor and factor * best[1], note)
