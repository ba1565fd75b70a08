"""Statistics rounded to b bits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairfl._support.checks import positive, whole
from fairfl.sims.engine.task import Floats


@dataclass(frozen=True)
class Quantiser:
    """2^b even levels from ``low`` to ``high``, both of them levels; a number goes to the nearest.

    |value - x| <= step / 2 for x within the range, step = (high - low) / (2^b - 1); so a sum over k
    clients is right within k step / 2. A number outside goes to the end, and is counted: see
    ``outside``.

    Errors: ValueError for bits not in 1..16, and for a range that is not one.
    Source: FedFB, section 4, "each loss value is uniformly quantized": the range is not given
    there.
    """

    bits: int
    low: float
    high: float

    def __post_init__(self) -> None:
        if whole("bits", self.bits, 1) > 16:
            raise ValueError(f"bits must be in 1..16, got {self.bits}")
        positive("high - low", self.high - self.low)

    @property
    def step(self) -> float:
        """The distance of two levels."""
        return (self.high - self.low) / (2**self.bits - 1)

    def encode(self, x: Floats) -> NDArray[np.int64]:
        """Codes 0..2^b - 1, what is sent."""
        return np.rint((np.clip(x, self.low, self.high) - self.low) / self.step).astype(np.int64)

    def decode(self, codes: Floats, terms: int = 1) -> Floats:
        """The numbers that codes stand for, or the sums of ``terms`` of them."""
        return terms * self.low + np.asarray(codes) * self.step

    def outside(self, x: Floats) -> int:
        """How many numbers are beyond the ends."""
        return int(((x < self.low) | (x > self.high)).sum())
