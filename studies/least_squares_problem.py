"""Least squares of a few clients with different optima: for the engine, and in plain numpy."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch

from fairfl._support.checks import Array
from fairfl.sims.engine import ClientData, LeastSquares, Parts


@dataclass(frozen=True, eq=False)
class Problem:
    """Clients alike in size, F_k(w) = mean over rows of (x.w - y)² / 2.

    Attributes
    ----------
    data : Parts
        For the engine's ``model``.
    x, y : arrays (K, n, d), (K, n)
    """

    data: Parts
    x: Array = field(init=False)
    y: Array = field(init=False)
    rate = 0.1
    """A step."""

    def __post_init__(self) -> None:
        clients = self.data.train.clients
        x, y = self.data.train.x.numpy(), self.data.train.y.numpy()
        object.__setattr__(self, "x", x.reshape(clients, -1, x.shape[1]))
        object.__setattr__(self, "y", y.reshape(clients, -1))

    @classmethod
    def make(cls, seed: int = 2, clients: int = 4, samples: int = 24, features: int = 3) -> Problem:
        """Every client with a truth, a noise and scales of its own; the same numbers for the same
        seed.
        """
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(clients, samples, features)) * rng.uniform(
            0.6, 1.4, (clients, 1, features)
        )
        truth = rng.normal(size=(clients, 1, features)) * 0.8
        noise = rng.normal(size=(clients, samples)) * rng.uniform(0.5, 1.3, (clients, 1))
        y = (x * truth).sum(2) + noise
        return cls.of(x, y)

    @classmethod
    def of(cls, x: Array, y: Array) -> Problem:
        """These rows (K, n, d) and targets (K, n)."""
        parts = [(torch.from_numpy(x[k]), torch.from_numpy(y[k])) for k in range(len(x))]
        return cls(Parts(ClientData.from_clients(parts)))

    @property
    def model(self) -> LeastSquares:
        """The engine's."""
        return LeastSquares(self.x.shape[2], bias=False)

    def scaled(self, largest: float) -> Problem:
        """The same with targets scaled, so that the largest loss of w = 0 is ``largest``."""
        return Problem.of(
            self.x, self.y * np.sqrt(largest / self.losses(np.zeros(self.x.shape[2])).max())
        )

    def losses(self, w: Array, tilt: float = 0.0) -> Array:
        """F_k(w), or (1/tilt) log mean exp(tilt loss), (K,)."""
        each = 0.5 * (self.x @ w - self.y) ** 2
        return np.log(np.exp(tilt * each).mean(1)) / tilt if tilt else each.mean(1)

    def gradients(self, w: Array, tilt: float = 0.0) -> Array:
        """Their gradients (K, d)."""
        residual = self.x @ w - self.y
        share = np.exp(0.5 * tilt * residual**2)
        share = share / share.sum(1, keepdims=True)
        return np.einsum("kn,kn,knd->kd", share, residual, self.x)
