"""Clients with quadratic losses F_k(w) = (w - c_k)' A_k (w - c_k) / 2 + b_k: known optima."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfl._support.checks import finite


@dataclass(frozen=True, eq=False)
class Quadratics:
    """K quadratic losses on R^d.

    Parameters
    ----------
    curvature : (K, d, d) symmetric positive semidefinite matrices A_k.
    centre : (K, d) minimisers c_k.
    offset : (K,) least losses b_k; default 0.

    Raises
    ------
    ValueError
        If shapes do not match, a value is not finite, or some A_k is not symmetric positive
        semidefinite.
    """

    curvature: NDArray[np.float64]
    centre: NDArray[np.float64]
    offset: NDArray[np.float64]

    def __init__(
        self, curvature: ArrayLike, centre: ArrayLike, offset: ArrayLike | None = None
    ) -> None:
        A, c = finite("curvature", curvature), finite("centre", centre)
        if c.ndim != 2 or c.size == 0:
            raise ValueError(f"centre must have shape (K, d), got {c.shape}")
        K, d = c.shape
        if A.shape != (K, d, d):
            raise ValueError(f"curvature must have shape ({K}, {d}, {d}), got {A.shape}")
        if not np.array_equal(A, A.transpose(0, 2, 1)):
            raise ValueError("curvature must be symmetric for every client")
        least = np.linalg.eigvalsh(A)[:, 0]
        if (least < -1e-12 * np.abs(A).max()).any():
            k = int(least.argmin())
            raise ValueError(
                f"curvature must be positive semidefinite, got eigenvalue {least[k]:g} for "
                f"client {k}"
            )
        b = np.zeros(K) if offset is None else finite("offset", offset)
        if b.shape != (K,):
            raise ValueError(f"offset must have shape ({K},), got {b.shape}")
        for field, value in (("curvature", A), ("centre", c), ("offset", b)):
            object.__setattr__(self, field, value)

    def losses(self, w: ArrayLike) -> NDArray[np.float64]:
        """F_k(w), shape (..., K) for w of shape (..., d)."""
        gap = np.asarray(w, dtype=np.float64)[..., None, :] - self.centre
        return 0.5 * np.einsum("...kd,kde,...ke->...k", gap, self.curvature, gap) + self.offset

    def gradients(self, w: ArrayLike) -> NDArray[np.float64]:
        """Gradients of F_k at w, shape (..., K, d)."""
        gap = np.asarray(w, dtype=np.float64)[..., None, :] - self.centre
        return np.einsum("kde,...ke->...kd", self.curvature, gap)

    def minimiser(self, weights: ArrayLike) -> NDArray[np.float64]:
        """The minimiser (sum w_k A_k)^-1 sum w_k A_k c_k; ValueError where it is not unique."""
        w = finite("weights", weights)
        if w.shape != self.offset.shape or (w < 0).any():
            raise ValueError(f"weights must be {self.offset.size} numbers >= 0, got {w}")
        H = np.einsum("k,kde->de", w, self.curvature)
        eigenvalues = np.linalg.eigvalsh(H)
        if eigenvalues[0] <= 1e-12 * max(eigenvalues[-1], 0.0):
            raise ValueError(
                f"weights must leave one minimiser: sum_k weights_k A_k is singular for {w}"
            )
        return np.linalg.solve(H, np.einsum("k,kde,ke->d", w, self.curvature, self.centre))
