"""Clients' updates with another length: interpolated and clipped, whole or by layer.

An update w_t - w_{t+1}^k has shape (..., d). ``layers`` are the sizes of consecutive layers, of sum
d; by default the update is one layer. What is said of a length is said of each layer's.

Source: Fairness of Federated Learning with Dynamic Participants, eqs. (7), (8), algorithms 1 to 3.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support import checks
from fairfl._support.checks import Array


def interpolated_length(norm: Any, beta: float, scale: Any, rounds: int) -> Any:
    """beta scale / (1 + rounds) + (1 - beta) norm: how far a client moves in (8); beta = 1 is (7),
    0 FedAvg.

    ``norm`` = ||w_t - w_{t+1}^k|| of the client's own update, ``scale`` = ||w_{t_2} - w_{t_2+1}||,
    ``rounds`` = t - t_2 >= 1. Arrays and tensors of norms and scales (a layer each, in algorithm 2)
    go through.
    """
    b = float(checks.in_range("beta", beta, 0.0, 1.0))
    return b * scale / (1 + checks.whole("rounds", rounds, 1)) + (1 - b) * norm


def clip_bound(
    update: ArrayLike, layers: Sequence[int] | None = None, variant: str = "repaired"
) -> Array:
    """LM: the largest |coordinate| of each layer, shape (..., layers); algorithm 3, line 4.

    Variant "printed": the largest coordinate with its sign. It is negative where all coordinates of
    a layer are, and then bounds nothing.
    """
    checks.one_of("variant", variant, ("printed", "repaired"))
    step, starts, _ = _parts(update, layers)
    return np.maximum.reduceat(step if variant == "printed" else np.abs(step), starts, axis=-1)


def clipped_update(
    update: ArrayLike, bound: ArrayLike, layers: Sequence[int] | None = None
) -> Array:
    """The update with every coordinate limited to [-bound, bound], ``bound`` >= 0 of shape () or
    (..., layers); algorithm 3, line 8.
    """
    step, starts, sizes = _parts(update, layers)
    bounds = checks.in_range("bound", bound, 0.0, np.finfo(float).max)
    shape = (*step.shape[:-1], len(starts))
    wide = checks.broadcast("bound", bounds, shape, f"() or {shape}, a layer each")
    limit = np.repeat(wide, sizes, axis=-1)
    return np.clip(step, -limit, limit)


def _parts(update: ArrayLike, layers: Sequence[int] | None) -> tuple[Array, Array, Array]:
    """The update, where its layers start, and their sizes."""
    step = checks.finite("update", update)
    if step.ndim == 0 or step.shape[-1] == 0:
        raise ValueError(f"update must have shape (..., d), d at least 1, got {step.shape}")
    sizes = np.asarray([step.shape[-1]] if layers is None else layers)
    if sizes.dtype.kind not in "iu" or sizes.ndim != 1 or (sizes < 1).any():
        raise ValueError(f"layers must be whole numbers of at least 1, got {checks.shown(layers)}")
    if sizes.sum() != step.shape[-1]:
        raise ValueError(f"layers must have the sum {step.shape[-1]}, got {sizes.sum()}")
    return step, np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes
