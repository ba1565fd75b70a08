"""FairBatch's step of λ for demographic parity and two groups, many clients at once, in numpy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfl._support.checks import Array, in_range, one_of, positive
from fairfl.theory.numerics.projections import soft_threshold

ROUNDING = 1e-12
"""A multiplier nearer to 0 than this is 0."""


@dataclass(frozen=True)
class Ascent:
    r"""λ^(i) of each client, λ^(i)_a in [0, 2 m_a], from the mean differences MD_i; m_a = P(a | i).

    δ = λ_1 - m_1 is the multiplier of F = -MD; it moves by a_t = α / (√2 (t + 1)^decay) where |F|
    is not what its budget allows, up where F is above the end of [-ε, ε] that δ stands for, down
    below it, and stops at 0 where it would change its sign for no reason; λ_0 moves by the
    opposite. With "box" both are clipped, each for itself: a λ that met an edge of the box has left
    the line λ_0 + λ_1 = 1. "sum" keeps it on the line.

    Parameters
    ----------
    alpha, decay : α_t = alpha / (t + 1)^decay; theorem 24 asks for decay in (0, 1].
    projection : "box" or "sum".

    Source: FedFB, eqs. (8)-(9), (85); the budget as ``fairfl.sims.group_fairness.FairBatch``, whose
    twin this is.
    """

    alpha: float = 0.3
    decay: float = 1.0
    projection: str = "box"

    def __post_init__(self) -> None:
        positive("alpha", self.alpha)
        in_range("decay", self.decay, 0.0, 1e300)
        one_of("projection", self.projection, ("box", "sum"))

    def length(self, number: int) -> float:
        """a_t, what one λ_a moves by, after ``number`` steps."""
        return self.alpha / (number + 1) ** self.decay / 2**0.5

    def step(
        self, lam: Array, difference: Array, share: Array, budget: Array, number: int
    ) -> Array:
        """The next λ (I, 2), from λ (I, 2), MD (I,), the groups' shares (I, 2), and ε (I,) >= 0."""
        gap = -difference
        offset = lam[:, 1] - share[:, 1]
        offset = np.where(np.abs(offset) < ROUNDING, 0.0, offset)
        pressing = np.where(
            offset == 0, soft_threshold(gap, budget), gap - np.sign(offset) * budget
        )
        size = np.abs(pressing)
        rate = self.length(number) / np.where(size > 0, size, np.inf)
        moved = np.where(
            budget == 0, offset + rate * gap, soft_threshold(offset + rate * gap, rate * budget)
        )
        change = np.where(size > 0, moved - offset, 0.0)
        if self.projection == "sum":
            one = np.clip(
                lam[:, 1] + change,
                np.maximum(0.0, 1 - 2 * share[:, 0]),
                np.minimum(1.0, 2 * share[:, 1]),
            )
            return np.stack([1 - one, one], axis=1)
        return np.clip(lam + np.stack([-change, change], axis=1), 0.0, 2 * share)
