"""Timings of the simulator: local SGD against a loop over clients, and unequal clients against
padded ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.timing import Row, Sizes, cpu_interleaved

SAMPLES, FEATURES, CLASSES, BATCH, HIDDEN = 120, 60, 10, 10, 64
STEPS = SAMPLES // BATCH
SOFTMAX_STEP = 1 / 350_000
"""The aim: CPU seconds of one client's step of softmax regression."""


def simulator(sizes: Sizes) -> Iterator[Row]:
    """One round: every client one epoch of batches of 10 over 120 samples of 60 features in 10
    classes; CPU seconds.
    """
    if find_spec("torch") is None:
        return
    from fairfl.sims.engine import MLP, Softmax

    softmax, mlp = Softmax(FEATURES, CLASSES), MLP((FEATURES, HIDDEN, CLASSES))
    counts = (100, 1_000, 10_000) if sizes.rounds > 1 else (3,)
    for name, model in (
        ("softmax regression", softmax),
        (f"MLP {FEATURES}-{HIDDEN}-{CLASSES}", mlp),
    ):
        for clients in counts:
            yield _against_loop(name, model, clients, sizes.rounds, loop=clients == counts[0])
    yield _against_loop("the same MLP by torch.func", _module(), counts[0], sizes.rounds, loop=True)
    found = find_spec("pfl")
    if found is not None and found.origin is not None:  # a folder of that name is not the package
        yield from _against_pfl(counts[0], sizes.rounds)
    for clients in counts[:2]:
        yield _against_padding(softmax, clients, sizes.rounds)


def _against_loop(name: str, model: Any, clients: int, rounds: int, *, loop: bool) -> Row:
    batched = simulation(model, np.full(clients, SAMPLES))
    functions = [batched.step]
    if loop:
        functions.append(simulation(model, np.full(clients, SAMPLES), "loop").step)
    best = cpu_interleaved(rounds, functions)
    steps = clients * STEPS
    aim = SOFTMAX_STEP * steps if name.startswith("softmax") else best[1] / 6 if loop else None
    note = f"{steps / best[0]:,.0f} client steps a CPU second"
    what = f"round of FedAvg, {name}, {clients:,} clients, {steps:,} steps, CPU time"
    return Row(
        what,
        best[0],
        "a loop over clients, autograd" if loop else "",
        best[1] if loop else None,
        aim,
        note,
    )


def _against_pfl(clients: int, rounds: int) -> Iterator[Row]:
    """pfl-research on the same job; that it computes the same model is tested."""
    from benchmarks import pfl_twin
    from fairfl.sims import models
    from fairfl.sims.engine import MLP, Softmax

    rng = np.random.default_rng(3)
    x = rng.normal(size=(clients, SAMPLES, FEATURES)).astype(np.float32)
    y = rng.integers(0, CLASSES, (clients, SAMPLES))
    pairs: tuple[tuple[str, Any, Callable[[], Any]], ...] = (
        (
            "softmax regression",
            Softmax(FEATURES, CLASSES),
            lambda: pfl_twin.linear(FEATURES, CLASSES),
        ),
        (
            f"MLP {FEATURES}-{HIDDEN}-{CLASSES}",
            MLP((FEATURES, HIDDEN, CLASSES)),
            lambda: models.MLP(FEATURES, (HIDDEN,), CLASSES),
        ),
    )
    for name, model, make in pairs:
        batched = simulation(model, np.full(clients, SAMPLES))
        mine = theirs = np.inf
        what = f"round of FedAvg, {name}, {clients:,} clients, CPU time"
        try:
            for _ in range(rounds):
                mine = min(mine, cpu_interleaved(2, [batched.step])[0])
                theirs = min(theirs, *pfl_twin.rounds(make, x, y, 3, batch=BATCH)[0][1:])
        except Exception as error:
            # somebody else's code, and what it needs: the other rows are worth having
            yield Row(what, mine, note=f"pfl did not run: {' '.join(str(error).split())}")
            continue
        yield Row(
            what, mine, "pfl-research", theirs, theirs / 80 if name.startswith("softmax") else None
        )


def _against_padding(model: Any, clients: int, rounds: int) -> Row:
    """Sizes log-normal with sd 1, against all padded to the largest: what a mask over (clients,
    samples) computes.
    """
    spread = np.exp(np.random.default_rng(4).normal(size=clients))
    sizes = np.maximum(1, np.rint(SAMPLES * spread / spread.mean())).astype(np.int64)
    own = simulation(model, sizes)
    padded = simulation(model, np.full(clients, sizes.max()))
    best = cpu_interleaved(rounds, [own.step, padded.step])
    most = sizes.max() / sizes.mean()
    note = (
        f"sizes {sizes.min()} to {sizes.max()}, mean {sizes.mean():.0f}: {most:.3g} times the work"
    )
    what = f"round of FedAvg, softmax regression, {clients:,} clients of unequal size, CPU time"
    return Row(what, best[0], "all padded to the largest", best[1], best[1] / 3, note)


def simulation(
    model: Any,
    sizes: np.ndarray,
    backend: Any = "batched",
    device: str = "cpu",
    algorithms: Sequence[Any] = (),
    groups: int = 0,
    **training: Any,
) -> Any:
    """The job: clients of these sizes, batches of 10, FedAvg or a replicate of each algorithm; with
    ``groups`` of people labels are 0 and 1.
    """
    from fairfl.sims.algorithms.fedavg import FedAvg
    from fairfl.sims.engine import ClientData, Computing, Parts, Replicate, Simulation, Training

    rng = np.random.default_rng(3)
    total = int(sizes.sum())
    x = rng.normal(size=(total, FEATURES)).astype(np.float32)
    offsets = np.append(0, np.cumsum(sizes))
    # torch is for sims alone
    data = ClientData.of_arrays(x, rng.integers(0, 2 if groups else CLASSES, total), offsets)
    if groups:
        data = replace(data, group=rng.integers(0, groups, total))
    computing = Computing(device=device, threads=1, backend=backend)
    return Simulation(
        model,
        Parts(data),
        [Replicate(each) for each in algorithms or (FedAvg(),)],
        Training(rounds=10**9, batch_size=BATCH, **training),
        computing,
    )


def _module() -> Any:
    from fairfl.sims.engine import Module
    from fairfl.sims.models import MLP

    return Module(lambda: MLP(FEATURES, (HIDDEN,), CLASSES), name="MLP")
