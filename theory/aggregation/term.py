"""TERM: the exponential mean of the losses (tilted empirical risk)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fairfl._support.checks import Array, positive, single
from fairfl.theory.aggregation._base import Objective, Traits, mean, shared
from fairfl.theory.numerics.water_filling import water_level

# where the mean of exp(alpha (f - max f)) exceeds this, its logarithm is taken through expm1
NEARLY_LINEAR = 0.99


@dataclass(frozen=True, repr=False)
class TERM(Objective):
    """A(f) = (1/alpha) log((1/n) sum_i exp(alpha f_i)), on R^n, for alpha > 0.

    Dual weights: exp(alpha f_i) / sum_j exp(alpha f_j). A*(w) = (1/alpha) sum_i w_i log(n w_i) on
    the simplex (0 log 0 = 0), else +inf: a Kullback-Leibler divergence from the client weights. On
    f >= 0, for
    sum_i max(w_i, 0) <= 1: the same at v = max(w, c), c >= 0 such that v sums to one; else +inf.
    The supremum of the conjugate is attained only for w > 0; (C.12) says "always".

    Errors: ValueError for alpha <= 0 or infinite: alpha -> 0 is FedAvg, alpha -> inf is AFL, alpha
    < 0 is concave. Source: PropFair, eq. (12), (16), (C.9)-(C.14).
    """

    alpha: float = 1.0
    name: ClassVar[str] = "term"

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("alpha", single("alpha", self.alpha))

    @classmethod
    def examples(cls) -> Iterable[Objective]:
        return [cls(alpha) for alpha in (0.01, 1.0, 5.0, 200.0)]

    @property
    def traits(self) -> Traits:
        return self._traits_of_mean(translation_equivariant=True, positively_homogeneous=False)

    def _compute(self, f: Array, p: Array | None, *, weights: bool) -> tuple[Array, Array | None]:
        largest = f.max(-1)
        gap = self.alpha * (f - largest[:, None])  # <= 0: no exponential overflows
        tilted = np.exp(gap)
        average = mean(tilted, p)
        # log loses digits near 1, and 1/alpha magnifies the loss
        is_near_one = average > NEARLY_LINEAR
        log = np.where(is_near_one, np.log1p(mean(np.expm1(gap), p)), np.log(average))
        value = largest + log / self.alpha
        if not weights:
            return value, None
        return value, shared(tilted, p) / average[:, None]

    def _conjugate(self, w: Array, lower: Array | None, p: Array, tolerance: float) -> Array:
        """For rows w (r, n) of dual weights, lower bounds of the losses (n,), client weights p."""
        positive_part = np.maximum(w, 0.0)
        room = 1.0 - positive_part.sum(-1)
        if lower is None:
            return np.where(
                (np.abs(room) <= tolerance) & (w >= -tolerance).all(-1),
                self._relative(positive_part, p),
                np.inf,
            )
        # the best f is at its bound where v = c tilted_weights
        tilted_weights = p * np.exp(self.alpha * (lower - lower.max()))
        with np.errstate(divide="ignore", invalid="ignore"):
            log_ratios = np.log(positive_part) - np.log(tilted_weights)
        level = water_level(
            np.where(np.isnan(log_ratios), -np.inf, log_ratios), positive_part, tilted_weights, 1.0
        )
        v = np.maximum(positive_part, np.maximum(level, 0.0) * tilted_weights)
        return np.where(room >= -tolerance, self._relative(v, p) - (v - w) @ lower, np.inf)

    def _relative(self, v: Array, p: Array) -> Array:
        """(1/alpha) sum_i v_i log(v_i / p_i), for v and p of sum one: less v_i - p_i, so that
        1/alpha magnifies no rounding where v is near p.
        """
        far = v < p / 2
        log = np.where(far, np.log(np.where(v > 0, v / p, 1.0)), np.log1p((v - p) / p))
        return (v * log - (v - p)).sum(-1) / self.alpha
