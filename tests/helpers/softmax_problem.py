"""Softmax regression of a few clients with different truths: for the engine, and in plain numpy."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import special

from fairfl._support.checks import Array
from fairfl.sims.engine import ClientData, Parts, Softmax

SHARP = 1.5
"""Of the truths: scores' standard deviation over one feature."""


@dataclass(frozen=True, eq=False)
class SoftmaxProblem:
    """Clients alike in size, F_k(w) = mean over rows of the cross entropy of C classes, no bias.

    Labels are drawn, so that no client is separable and every mean of the losses has a minimiser;
    w and w + a constant vector for all classes are one model.

    Attributes
    ----------
    data : Parts
        For the engine's ``model``.
    x : array (K, n, d)
    y : array (K, n), whole numbers in 0..C-1
    classes : C.
    """

    data: Parts
    classes: int
    x: Array = field(init=False)
    y: NDArray[np.int64] = field(init=False)
    rate = 0.5
    """A step: the losses' gradients are 1.5-Lipschitz or less with high probability."""

    def __post_init__(self) -> None:
        clients = self.data.train.clients
        x, y = self.data.train.x.numpy(), self.data.train.y.numpy()
        object.__setattr__(self, "x", x.reshape(clients, -1, x.shape[1]))
        object.__setattr__(self, "y", y.reshape(clients, -1))

    @classmethod
    def make(
        cls, seed: int = 2, clients: int = 4, samples: int = 24, features: int = 3, classes: int = 3
    ) -> SoftmaxProblem:
        """Every client with a truth and scales of its own; the same numbers for the same seed."""
        rng = np.random.default_rng([seed, 3])
        scale = rng.uniform(0.6, 1.4, (clients, 1, features))
        x = rng.normal(size=(clients, samples, features)) * scale
        truth = rng.normal(size=(clients, classes, features)) * SHARP
        noise = rng.gumbel(size=(clients, samples, classes))  # the largest sum is a draw of softmax
        y = (np.einsum("kcd,knd->knc", truth, x) + noise).argmax(2)
        return cls.of(x, y, classes)

    @classmethod
    def of(cls, x: Array, y: NDArray[np.int64], classes: int) -> SoftmaxProblem:
        """These rows (K, n, d) and labels (K, n)."""
        parts = [(torch.from_numpy(x[k]), torch.from_numpy(y[k])) for k in range(len(x))]
        return cls(Parts(ClientData.from_clients(parts)), classes)

    @property
    def model(self) -> Softmax:
        """The engine's."""
        return Softmax(self.x.shape[2], self.classes, bias=False)

    def losses(self, w: Array) -> Array:
        """F_k(w), (K,)."""
        return self.each(w).mean(1)

    def gradients(self, w: Array) -> Array:
        """Their gradients (K, C d)."""
        slopes = special.softmax(self._scores(w), axis=2) - self._hit
        mean = np.einsum("knc,knd->kcd", slopes, self.x) / self.x.shape[1]
        return mean.reshape(len(self.x), -1)

    def each(self, w: Array) -> Array:
        """The losses of the rows (K, n)."""
        z = self._scores(w)
        return special.logsumexp(z, axis=2) - z[self._hit].reshape(self.y.shape)

    def _scores(self, w: Array) -> Array:
        return self.x @ w.reshape(self.classes, -1).T

    @property
    def _hit(self) -> NDArray[np.bool_]:
        return self.y[..., None] == np.arange(self.classes)
