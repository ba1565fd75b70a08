"""An algorithm, a model, a data set, a schedule and a participation that are not of the package."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from fairfl.sims.data.federated.data import FederatedData
from fairfl.sims.data.federated.sources import register
from fairfl.sims.engine import Aggregate, Algorithm, Module, Participation, Schedule
from fairfl.sims.models.builders import register_model


@dataclass(frozen=True)
class Median(Algorithm):
    """The clients' median update, entry by entry, times ``shrink``."""

    shrink: float = 1.0
    name: ClassVar[str] = "median"

    def server(self, received):
        step = self.shrink * received.updates.median(0).values
        return Aggregate(received.p, received.state, step)


@register_model("tanh")
def tanh(shape, classes, *, width=8):
    """One hidden layer."""
    nn = torch.nn
    layers = lambda: (nn.Linear(shape[0], width), nn.Tanh(), nn.Linear(width, classes))  # noqa: E731
    return Module(lambda: nn.Sequential(*layers()), name="tanh")


@register("blobs", "Two blobs, four clients")
def blobs(folder, progress):
    """400 rows of three features."""
    rng, y = np.random.default_rng(0), np.arange(400) % 2
    x = rng.normal(size=(400, 3)) + y[:, None]
    return FederatedData("blobs", x, y, np.arange(400) // 100, 4)


@dataclass(frozen=True)
class Warmup(Schedule):
    """Rates that rise over the first rounds."""

    over: int = 5
    name: ClassVar[str] = "warmup"

    def __call__(self, round, rounds):
        return min(1.0, (round + 1) / self.over)


@dataclass(frozen=True)
class Odd(Participation):
    """Clients of even and of odd ids in turn."""

    name: ClassVar[str] = "odd"

    def choose(self, seed, round, ids, p):
        chosen = np.flatnonzero(ids % 2 == round % 2)
        return chosen, p[chosen] / p[chosen].sum()
