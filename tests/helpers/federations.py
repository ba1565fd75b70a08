"""Small federations for the simulator's tests."""

import numpy as np
import torch
from torch.profiler import ProfilerActivity, profile

from fairfl.sims.engine import (
    ClientData,
    Computing,
    Participation,
    Parts,
    Received,
    Replicate,
    Simulation,
    Training,
)

EXACT = Computing(device="cpu", dtype="float64")


def two_quadratics(weights=(2 / 3, 1 / 3)):
    """F_A = (w1 - 1)² + w2², F_B = w1² + 4 (w2 - 2)², mean least squares of two samples."""
    x, y = np.array([[2.0, 0], [0, 2], [2, 0], [0, 4]]), np.array([2.0, 0, 0, 8])
    return Parts(ClientData(x, y, [0, 2, 4]), weights=np.array(weights))


def classified(sizes, features=4, classes=3, seed=0, test=0):
    """Clients of given sizes, whose inputs and labels lean different ways."""
    rng = np.random.default_rng(seed)
    parts, tests = [], []
    for k, size in enumerate(sizes):
        shift = rng.normal(size=features)
        truth = rng.normal(size=(features, classes))
        x = rng.normal(size=(size + test, features)) + shift
        y = (x @ truth + 0.5 * k % classes + rng.gumbel(size=(size + test, classes))).argmax(1)
        parts.append((torch.from_numpy(x[:size]), torch.from_numpy(y[:size])))
        tests.append((torch.from_numpy(x[size:]), torch.from_numpy(y[size:])))
    return Parts(ClientData.from_clients(parts), ClientData.from_clients(tests) if test else None)


class Masks(Participation):
    """Row t of ``masks`` (T, K) says who takes part in round t; rows come round."""

    def __init__(self, *masks):
        self.masks = masks

    def choose(self, seed, round, ids, p):
        chosen = np.flatnonzero(self.masks[round % len(self.masks)])
        return chosen, p[chosen] / p[chosen].sum()


def trained(model, data, algorithms, training, computing=EXACT, rounds=None, seeds=None):
    """The simulation after its rounds."""
    seeds = [0] * len(algorithms) if seeds is None else seeds
    replicates = [
        Replicate(algorithm, seed) for algorithm, seed in zip(algorithms, seeds, strict=True)
    ]
    simulation = Simulation(model, data, replicates, training, computing)
    for _ in range(training.rounds if rounds is None else rounds):
        simulation.step()
    return simulation


def begun(model, data, algorithms, training, computing=EXACT):
    """The simulation before its first round."""
    return trained(model, data, algorithms, training, computing, rounds=0)


def received(rows, cuts, losses, p=None, params=None, lr=0.1, **args):
    """What comes back of clients with these updates, in parts of ``cuts`` rows."""
    n = len(rows)
    p = np.full(n, 1 / n) if p is None else p
    params = rows[0] * 0 if params is None else params
    once = np.ones(n, int)
    args |= {"draws": once, "steps": once, "arrivals": lambda: [(cut,) for cut in rows.split(cuts)]}
    return Received(0, np.arange(n), p, p, params, lr, losses, {}, **args)


def quick(**changes):
    """Settings of a short run."""
    return Training(**({"rounds": 20, "lr": 0.1, "batch_size": 4} | changes))


def allocated(function):
    """The most bytes that torch's allocator had given out at a time while ``function`` ran."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        function()
    assert seen.profiler is not None
    events = sorted(seen.profiler.kineto_results.events(), key=lambda event: event.start_ns())
    return int(np.cumsum([event.nbytes() for event in events if event.name() == "[memory]"]).max())
