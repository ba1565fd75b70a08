"""Clients with least squares losses: losses, gradients and curvature in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairfl._support.checks import Array
from fairfl.sims import engine
from fairfl.studies.crosscheck.practice import Run


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

    def run(
        self, algorithms: Sequence[engine.Algorithm], seed: int, training: engine.Training
    ) -> Run:
        """The algorithms on these clients, not begun; models start at 0."""
        parts = engine.Parts(engine.ClientData.from_clients([*zip(self.x, self.y, strict=True)]))
        replicates = [engine.Replicate(algorithm, seed) for algorithm in algorithms]
        model = engine.LeastSquares(self.x.shape[2], bias=False)
        computing = engine.Computing("cpu", "float64")
        return Run(engine.Simulation(model, parts, replicates, training, computing))

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
