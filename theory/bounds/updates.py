"""Clients' updates with another length: interpolated and clipped.

An update w_t - w_{t+1}^k, or one of its layers, has shape (..., d).

Source: Fairness of Federated Learning with Dynamic Participants, eqs. (7), (8), algorithms 1 to 3.
"""

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


def clip_bound(update: ArrayLike, variant: str = "repaired") -> Array:
    """LM: the largest |coordinate|, shape (..., 1); algorithm 3, line 4.

    Variant "printed": the largest coordinate with its sign. It is negative where all coordinates
    are, and then bounds nothing.
    """
    checks.one_of("variant", variant, ("printed", "repaired"))
    step = checks.finite("update", update)
    if step.ndim == 0 or step.shape[-1] == 0:
        raise ValueError(f"update must have shape (..., d), d at least 1, got {step.shape}")
    return (step if variant == "printed" else np.abs(step)).max(axis=-1, keepdims=True)


def clipped_update(update: ArrayLike, bound: ArrayLike) -> Array:
    """The update with every coordinate limited to [-bound, bound], ``bound`` >= 0 of shape () or
    (..., 1); algorithm 3, line 8.
    """
    limit = checks.in_range("bound", bound, 0.0, np.finfo(float).max)
    return np.clip(checks.finite("update", update), -limit, limit)
