"""Small federations of people with groups, for the tests of group-fair algorithms."""

from itertools import pairwise

import numpy as np
import torch
from federations import EXACT as EXACT

from fairfl.sims.engine import ClientData, Logistic, Parts, Replicate, Simulation, Training


def people(sizes=(7, 11, 5), groups=2, seed=0, features=2):
    """Clients with different shares of groups and labels; each has all of them."""
    rng = np.random.default_rng(seed)
    parts, group = [], []
    for size in sizes:
        y = np.append([0, 1] * groups, rng.integers(0, 2, size))
        a = np.append(np.repeat(np.arange(groups), 2), rng.integers(0, groups, size))
        x = rng.normal(size=(len(y), features)) + y[:, None] + a[:, None]
        parts.append((torch.from_numpy(x), torch.from_numpy(y)))
        group.append(a)
    plain = ClientData.from_clients(parts)
    return Parts(ClientData(plain.x, plain.y, plain.offsets, group=np.concatenate(group)))


def pooled(parts):
    """All people as one client's."""
    data = parts.train
    return Parts(ClientData(data.x, data.y, np.array([0, len(data.x)]), group=data.group))


def table(parts):
    """Inputs with a column of ones, labels, groups and offsets."""
    data = parts.train
    x = np.column_stack([data.x, np.ones(len(data.x))])
    return x, data.y.numpy(), data.group, data.offsets


def by_person(parts, w, weights, lr, epochs):
    """The clients' models after full steps of logistic regression, one person after the other."""
    (x, y, _, offsets), models = table(parts), []
    for first, last in pairwise(offsets):
        v = w.copy()
        for _ in range(epochs):
            slope = np.zeros(len(w))
            for i in range(first, last):
                slope += weights[i] * (1 / (1 + np.exp(-x[i] @ v)) - y[i]) * x[i]
            v = v - lr * slope / (last - first)
        models.append(v)
    return models


def run(parts, algorithm, rounds=4, computing=EXACT, **training):
    """The simulation after its rounds, and their rows."""
    settings = Training(rounds=rounds, **({"lr": 0.3, "batch_size": None, "epochs": 1} | training))
    simulation = Simulation(Logistic(2), parts, [Replicate(algorithm)], settings, computing)
    rows = [simulation.step()[0] for _ in range(rounds)]
    return simulation, rows
