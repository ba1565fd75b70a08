"""PropFair: the geometric mean of the utilities M - f_i, proportional fairness."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fairfl._support.checks import Array, positive, single
from fairfl.theory.aggregation._base import Domain, NotAttained, Objective, Traits, mean, shared
from fairfl.theory.numerics.water_filling import water_level

LARGE = 1 / 16  # of f / M: from there on log(1 - f/M) is computed from M - f
NEARLY_LINEAR = 1e-2  # where |log(G / M)| is below this, it is taken through log1p(-f / M)


@dataclass(frozen=True, repr=False)
class PropFair(Objective):
    """A(f) = M - G, G = prod_i (M - f_i)^(1/n), on f <= M, for M > 0.

    Dual weights: G / (n (M - f_i)). At f_i = M the value is M (as in (13), by continuity); the dual
    weights are 1/n each if f = (M, ..., M) (of all w that meet the constraint), and else there are
    none (NotAttained): the supremum over w is approached as w_i -> inf.
    A*(w) = M (sum w - 1) where w > 0 and prod_i (n w_i) >= 1, else +inf. On 0 <= f <= M the
    supremum is finite for every w: M (sum v - 1) - 0.(v - w), v = w if prod_i (n w_i) >= 1, else v
    = max(w, c) with c such that prod_i (n v_i) = 1; the paper leaves this infimum (C.22)
    uncomputed.
    Eq. (6) is -log(M - A(f)).

    Errors: ValueError for M not positive and finite, and for a loss above M; NotAttained.
    Source: PropFair, eq. (6), (13), (17), (C.15)-(C.27).
    """

    M: float = 2.0
    name: ClassVar[str] = "propfair"

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("M", single("M", self.M))

    @classmethod
    def examples(cls) -> Iterable[Objective]:
        return [cls(M) for M in (1.0, 2.0, 50.0)]

    @property
    def domain(self) -> Domain:
        return Domain(-np.inf, self.M, f"f_i <= M = {self.M:g}")

    @property
    def traits(self) -> Traits:
        return self._traits_of_mean(translation_equivariant=False, positively_homogeneous=False)

    def _compute(self, f: Array, p: Array | None, *, weights: bool) -> tuple[Array, Array | None]:
        M = self.M
        g = M - f
        log = self._log(f, g, p)
        value = -M * np.expm1(log)
        if not weights:
            return value, None
        touched = g == 0
        row = touched.any(-1)
        if (row & ~touched.all(-1)).any():
            raise NotAttained(
                f"losses must be < M = {M:g} for dual weights (or all equal to M), got a loss "
                "vector with some f_i = M: the supremum over w is approached as w_i -> inf, and "
                "not attained"
            )
        g, log = np.where(touched, 1.0, g), np.where(row, -math.log(M), log)
        return value, shared((np.exp(log) * M)[:, None] / g, p)

    def _log(self, f: Array, g: Array, p: Array | None) -> Array:
        """log(G / M), all its digits kept also where f is small beside M."""
        x = f / self.M
        large = x > LARGE  # log1p(-f/M) for small f, and log(g/M) where M - f is the exact one
        exact = np.where(large, np.log(g / self.M), np.log1p(-np.where(large, 0.0, x)))
        log = mean(np.log(g), p) - math.log(self.M)
        return np.where(np.abs(log) < NEARLY_LINEAR, mean(exact, p), log)

    def _conjugate(self, w: Array, lower: Array | None, p: Array, tolerance: float) -> Array:
        M, positive = self.M, np.where(w > 0, w, 0.0)
        logs = np.log(positive / p)  # -inf where w <= 0
        reached = (
            logs @ p if (w > 0).all() else np.where((w > 0).all(-1), _finite(logs) @ p, -np.inf)
        ) >= -tolerance
        if lower is None:
            return np.where(reached, M * (w.sum(-1) - 1), np.inf)
        h = np.log(1 / (M - lower))
        # log c, with v = p max(w/p, c / (M - lower))
        level = water_level(logs - h, p * (logs - h), p, float(-(p @ h)))
        v = np.where(reached[:, None], w, np.maximum(w, p * np.exp(level + h)))
        return M * (v.sum(-1) - 1) - (v - w) @ lower


def _finite(x: Array) -> Array:
    return np.where(np.isfinite(x), x, 0.0)
