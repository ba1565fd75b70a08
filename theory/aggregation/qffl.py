"""q-FFL: the power mean of order q + 1, α-fairness of losses."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fairfl._support.checks import Array, in_range, single
from fairfl.theory.aggregation._base import Domain, Objective, Traits, mean, shared
from fairfl.theory.numerics.water_filling import water_level


@dataclass(frozen=True, repr=False)
class QFFL(Objective):
    """A(f) = ((1/n) sum_i f_i^(q+1))^(1/(q+1)), on f >= 0, for q >= 0.

    Dual weights: (1/n) (f_i / A(f))^q; at f = 0 canonically 1/n each, of all w >= 0 that meet the
    constraint. With r = (q+1)/q and w+ = max(w, 0), A*(w) = 0 where ((1/n) sum_i (n w+_i)^r)^(1/r)
    <= 1, that is ||w+||_r <= n^(-1/(q+1)), else +inf; q = 0 reads w_i <= 1/n. The native domain is
    f >= 0: the two conjugates agree. q-FFL's own eq. (2) is A(f)^(q+1) / (q+1).

    Errors: ValueError for q < 0 or infinite (that is AFL), and for losses below 0.
    Source: PropFair, eq. after (10), (15), (C.4)-(C.7); q-FFL, eq. (2), (22)-(23).
    """

    q: float = 1.0
    name: ClassVar[str] = "qffl"

    def __post_init__(self) -> None:
        super().__post_init__()
        in_range("q", single("q", self.q), 0.0, np.inf, open_high=True)

    @classmethod
    def examples(cls) -> Iterable[Objective]:
        return [cls(q) for q in (0.0, 0.3, 1.0, 2.5, 20.0)]

    @property
    def domain(self) -> Domain:
        return Domain(0.0, np.inf, "f_i >= 0")

    @property
    def traits(self) -> Traits:
        return self._traits_of_mean(
            translation_equivariant=self.q == 0, positively_homogeneous=True
        )

    def _compute(self, f: Array, p: Array | None, *, weights: bool) -> tuple[Array, Array | None]:
        q, largest = self.q, f.max(-1)
        zero = largest == 0
        x = f / np.where(zero, 1.0, largest)[:, None]  # in [0, 1]: no power overflows
        total = mean(x ** (q + 1), p)
        value = largest * total ** (1 / (q + 1))
        if not weights:
            return value, None
        raised, total = np.where(zero[:, None], 1.0, x**q), np.where(zero, 1.0, total)
        return value, shared(raised, p) / (total ** (q / (q + 1)))[:, None]

    def _conjugate(self, w: Array, lower: Array | None, p: Array, tolerance: float) -> Array:
        """For rows w (r, n) of dual weights, lower bounds of the losses (n,), client weights p."""
        assert lower is not None  # the native domain is bounded below
        q, relative_weights = self.q, np.maximum(w, 0.0) / p
        largest = relative_weights.max(-1, keepdims=True)
        if q == 0:
            return np.where(largest[:, 0] <= 1 + tolerance, (w - p) @ lower, np.inf)
        r = (q + 1) / q
        scaled = relative_weights / np.where(largest > 0, largest, 1.0)  # no power overflows
        norm = largest[:, 0] * (scaled**r @ p) ** (1 / r)
        value = np.zeros(len(w))
        if lower.any():  # after a translation: f stays away from 0
            largest_bound = lower.max()
            bound_power = (lower / largest_bound) ** q
            with np.errstate(divide="ignore", invalid="ignore"):
                breakpoints = np.where(bound_power > 0, relative_weights / bound_power, np.inf)
            # the water level is below 0 where the norm exceeds 1; the value is then infinite
            powers = p * relative_weights**r, p * bound_power**r
            level = np.maximum(water_level(breakpoints, *powers, 1.0), 0.0) ** (1 / r)
            level = np.where(np.isfinite(level), level, 0.0)
            value = -(np.maximum(w, level * p * bound_power) - w) @ lower
        return np.where(norm <= 1 + tolerance, value, np.inf)
