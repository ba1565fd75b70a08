"""The weight of each client's gradient in a step of the server, measured from the step by least
squares.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfl._support.checks import Array, finite, positive

LEAST = 1e-10
"""Singular values of the gradients (scaled to length one) that are smaller, relative to the
largest, count as 0.
"""


@dataclass(frozen=True, eq=False)
class Effective:
    """step = -lr sum_k weights_k gradient_k + rest, the rest orthogonal to all gradients.

    Attributes
    ----------
    weights : array (K,)
        Of any sign and sum.
    outside : float
        ||rest|| / ||step||: the share of the step that no weighing of the gradients explains.
    """

    weights: Array
    outside: float


def effective_weights(step: Array, gradients: Array, lr: float) -> Effective:
    """The least-squares coefficients of a server's step w^(t+1) - w^t on the clients' full
    gradients at w^t.

    They are unique where the gradients are independent, and then linear in the step: the weights of
    a mean step are the mean of the weights.

    Parameters
    ----------
    step : (P,)
    gradients : (K, P), K <= P
    lr : > 0, the clients' rate.

    Raises
    ------
    ValueError : shapes that do not fit, gradients that are linearly dependent (also where one is
        0), a step of 0.
    """
    delta, slopes = finite("step", step), finite("gradients", gradients)
    rate = float(positive("lr", lr))
    if slopes.ndim != 2 or delta.shape != slopes.shape[1:]:
        raise ValueError(
            f"step must have shape (P,) and gradients (K, P), got {delta.shape} and {slopes.shape}"
        )
    length, sizes = float(np.linalg.norm(delta)), np.linalg.norm(slopes, axis=1)
    if not length:
        raise ValueError("step must not be 0: it weighs nobody")
    unit = slopes / np.where(sizes > 0, sizes, 1.0)[:, None]
    u, s, vt = np.linalg.svd(unit, full_matrices=False)
    if len(s) < len(slopes) or s[-1] <= LEAST * s[0]:
        raise ValueError(
            f"gradients must be linearly independent, got {len(slopes)} of them with singular "
            f"values from {s[0]:.2g} to {s[-1]:.2g} in {slopes.shape[1]} dimensions"
        )
    along = vt @ delta
    rest = float(np.linalg.norm(delta - vt.T @ along))
    return Effective(-(u @ (along / s)) / sizes / rate, rest / length)


def apart(weights: Array, others: Array) -> float:
    """Total variation of two weightings, each scaled to total mass one: (1/2) sum_k |a_k / ||a||_1
    - b_k / ||b||_1|.

    In [0, 1], and 0 where they are in proportion; of non-negative weights the share that is with
    the wrong clients. Errors: ValueError where all of them are 0.
    """
    return float(np.abs(scaled("weights", weights) - scaled("others", others)).sum() / 2)


def scaled(name: str, weights: Array) -> Array:
    """weights / sum |weights|; ValueError where all are 0."""
    found = finite(name, weights)
    total = float(np.abs(found).sum())
    if not total:
        raise ValueError(f"{name} must not all be 0, got {found}")
    return found / total


def in_their_span(step: Array, gradients: Array) -> tuple[Array, Array, float]:
    """Coordinates of step and gradients in an orthonormal basis of the gradients' span, and what of
    the step is left.

    (K,), (K, K) and the length of the rest: K² + K + 1 numbers that have the same effective weights
    as the K P + P.
    """
    q, r = np.linalg.qr(gradients.T)
    inside = q.T @ step
    return inside, r.T.copy(), float(np.linalg.norm(step - q @ inside))
