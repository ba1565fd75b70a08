"""FedAvg: the arithmetic mean of the losses, the utilitarian objective (PropFair, table 1)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fairfl._support.checks import Array
from fairfl.theory.aggregation._base import Objective, Traits, mean, shared


@dataclass(frozen=True, repr=False)
class FedAvg(Objective):
    """A(f) = (1/n) sum_i f_i, on R^n. Dual weights: 1/n each (under client weights: p).

    A*(w) = 0 where w = p, else +inf; on f >= 0: 0 where w <= p, else +inf.
    Source: PropFair, eq. (10), (C.1)-(C.3), Table 1. (10) writes sum_i f_i, n times this mean.
    """

    name: ClassVar[str] = "fedavg"

    @property
    def traits(self) -> Traits:
        return self._traits_of_mean(translation_equivariant=True, positively_homogeneous=True)

    def _compute(self, f: Array, p: Array | None, *, weights: bool) -> tuple[Array, Array | None]:
        return mean(f, p), shared(np.ones_like(f), p) if weights else None

    def _conjugate(self, w: Array, lower: Array | None, p: Array, tolerance: float) -> Array:
        if lower is None:
            return np.where((np.abs(w - p) <= tolerance * p).all(-1), 0.0, np.inf)
        return np.where((w <= p * (1 + tolerance)).all(-1), (w - p) @ lower, np.inf)
