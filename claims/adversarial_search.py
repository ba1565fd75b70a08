"""Adversarial search: minimises a statement's margin over a family of instances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Instance = dict[str, Any]
MARGINLESS = 1e3
"""Margin used where an instance breaks a premise, since no violation can be found there."""
METHODS: tuple[tuple[str, dict[str, float]], ...] = (
    ("L-BFGS-B", {"ftol": 1e-15, "gtol": 1e-12}),
    ("Nelder-Mead", {"xatol": 1e-12, "fatol": 1e-15, "adaptive": True}),
    ("Powell", {"xtol": 1e-10, "ftol": 1e-14}),
)


class _Found(Exception):
    """A violation, which ends the search."""


@dataclass(frozen=True)
class Attack:
    """A family of instances: a box of parameters, and how a point of it makes an instance.

    Attributes
    ----------
    box : (low, high) of each parameter.
    build : point (a list of floats in the box) -> instance.
    steps : evaluations a start may take, at most.
    starts : points to begin with, before random ones.
    """

    box: Sequence[tuple[float, float]]
    build: Callable[[list[float]], Instance]
    steps: int = 400
    starts: Sequence[Sequence[float]] = ()

    def __post_init__(self) -> None:
        if not self.box or any(not low < high for low, high in self.box):
            raise ValueError(f"box must be pairs low < high, got {self.box!r}")


def attack(
    family: Attack,
    margin: Callable[[Instance], float | None],
    restarts: int,
    seed: int,
    tolerance: float,
) -> int:
    """Minimise the margin over the family from several starts, and stop at the first violation.

    The starts take turns: L-BFGS-B, the best in many dimensions; Nelder-Mead and Powell's
    directions, as margins have kinks, being minima of several. Premises that fail are a plateau.

    Returns
    -------
    How often the margin was evaluated; what was found is for ``margin`` to keep.
    """
    from scipy.optimize import minimize

    rng = np.random.default_rng(seed)
    low, high = np.array(family.box, dtype=float).T
    count = 0

    def value(point: np.ndarray) -> float:
        nonlocal count
        count += 1
        found = margin(family.build([float(v) for v in np.clip(point, low, high)]))
        if found is not None and found < -tolerance:
            raise _Found
        return MARGINLESS if found is None else min(found, MARGINLESS)

    for k in range(restarts):
        start = (
            family.starts[k]
            if k < len(family.starts)
            else low + (high - low) * rng.random(len(low))
        )
        method, options = METHODS[k % len(METHODS)]
        count_key = "maxfun" if method == "L-BFGS-B" else "maxfev"
        try:
            settings = {**options, count_key: family.steps}
            minimize(
                value, np.asarray(start, float), method=method, bounds=family.box, options=settings
            )
        except _Found:
            break
    return count
