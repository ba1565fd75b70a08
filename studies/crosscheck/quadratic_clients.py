"""Clients with least squares losses: losses, gradients and curvature in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from fairfl._support.checks import Array
from fairfl.sims.engine import ClientData, LeastSquares, Parts


@dataclass(frozen=True, eq=False)
class QuadraticClients:
    """F_k(w) = mean over rows of (x.w - y)² / 2, of x (K, n, d) and y (K, n)."""

    x: Array
    y: Array

    @classmethod
    def random(
        cls, seed: int, spread: Array, rows: int = 40, features: int = 4
    ) -> QuadraticClients:
        """Client k's truth is at the distance ``spread[k]`` (K,) from 0, K <= ``features``; random
        directions at right angles, noise 1/2.
        """
        rng = np.random.default_rng([seed, 733])
        x = rng.normal(size=(len(spread), rows, features))
        directions = np.linalg.qr(rng.normal(size=(features, len(spread))))[0].T
        truth, noise = spread[:, None] * directions, rng.normal(size=x.shape[:2]) / 2
        return cls(x, np.einsum("knd,kd->kn", x, truth) + noise)

    @property
    def model(self) -> LeastSquares:
        """The engine's."""
        return LeastSquares(self.x.shape[2], bias=False)

    @property
    def parts(self) -> Parts:
        """The engine's data."""
        pairs = zip(map(torch.from_numpy, self.x), map(torch.from_numpy, self.y), strict=True)
        return Parts(ClientData.from_clients(list(pairs)))

    def losses(self, w: Array) -> Array:
        """(K,) F_k(w)."""
        return ((self.x @ w - self.y) ** 2).mean(1) / 2

    def gradients(self, w: Array) -> Array:
        """(K, d)."""
        return np.einsum("kn,knd->kd", self.x @ w - self.y, self.x) / self.x.shape[1]

    @property
    def smoothness(self) -> float:
        """The largest eigenvalue of a client's Hessian."""
        hessians = np.einsum("kni,knj->kij", self.x, self.x) / self.x.shape[1]
        return float(np.linalg.eigvalsh(hessians).max())
