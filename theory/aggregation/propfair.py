"""PropFair: the geometric mean of the utilities M - f_i, proportional fairness."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fairfl.theory.aggregation._arrays import (
    like,
    mean,
    mean_log,
    mean_log1m,
    namespace,
    over,
    times,
)
from fairfl.theory.aggregation._base import Objective
from fairfl.theory.aggregation._checks import NotAttained, as_array, number
from fairfl.theory.aggregation._describe import Domain, DualConstraint, Traits
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
    ``objective_value`` is eq. (6), -(1/n) sum_i log(M - f_i), +inf at f_i = M.

    Errors: ValueError for M not positive and finite, and for a loss above M; NotAttained.
    Source: PropFair, eq. (6), (13), (17), (C.15)-(C.27).
    """

    M: float = 2.0
    name: ClassVar[str] = "propfair"

    def __post_init__(self) -> None:
        super().__post_init__()
        number("M", self.M, "a finite number > 0", lambda m: 0 < m < np.inf)

    @classmethod
    def examples(cls) -> Iterable[Objective]:
        return [cls(M) for M in (1.0, 2.0, 50.0)]

    @property
    def domain(self) -> Domain:
        return Domain(-np.inf, self.M, f"f_i <= M = {self.M:g}")

    @property
    def traits(self) -> Traits:
        return Traits(
            convex=True,
            symmetric=self._uniform,
            translation_equivariant=False,
            positively_homogeneous=False,
            smooth=True,
            schur_convex=self._uniform,
        )

    @property
    def dual_constraint(self) -> DualConstraint:
        # Table 1 prints what the maximiser fulfils. The set where A* is finite is (C.21)'s, with
        # >=.
        return DualConstraint(
            self,
            "w > 0, prod_i (n w_i) >= 1",
            "none: finite for every w",
            "λ_i ∝ 1/(M - f_i), Π_i (nλ_i) = 1",
        )

    def objective_value(self, losses: Any) -> Any:
        self.value(losses)  # for its checks
        f = as_array("losses", losses)
        rows = f.reshape(-1, f.shape[-1])
        with np.errstate(divide="ignore"):
            result = -mean_log(
                self.M - rows,
                None if self.client_weights is None else like(self.client_weights, rows),
            )
        result = result.reshape(tuple(f.shape[:-1]))
        return result[()] if isinstance(result, np.ndarray) else result

    def _compute(self, f: Any, p: Any, weights: bool, out: Any = None) -> tuple[Any, Any]:
        xp, M = namespace(f), self.M
        g = M - f
        log = self._log(f, g, p)
        value = -M * xp.expm1(log)
        if not weights:
            return value, None
        touched = g == 0 if bool((g.min() if len(g) else 1) == 0) else None
        if touched is not None:
            row = touched.any(-1)
            if bool((row & ~touched.all(-1)).any()):
                raise NotAttained(
                    f"losses must be < M = {M:g} for dual weights (or all equal to M), got a "
                    "loss vector with some "
                    "f_i = M: the supremum over w is approached as w_i -> inf, and not attained"
                )
            g, log = xp.where(row[:, None], 1.0, g), xp.where(row, -float(np.log(M)), log)
        geometric = xp.exp(log) * M
        if p is None:
            return value, over((geometric / f.shape[-1])[:, None], g, out)
        return value, times(geometric[:, None] / g, p, out)

    def _log(self, f: Any, g: Any, p: Any) -> Any:
        """log(G / M), all its digits kept also where f is small beside M."""
        xp, M = namespace(f), self.M
        if xp is np and p is None and f.size and f.max() <= LARGE * M and f.min() >= -LARGE * M:
            return mean_log1m(f / M)
        log = mean_log(g, p) - float(np.log(M))
        near = abs(log) < NEARLY_LINEAR
        if bool(near.any()):  # log1p(-f/M) for small f, and log(g/M) where M - f is the exact one
            x = f / M
            large = x > LARGE
            exact = mean(xp.where(large, xp.log(g / M), xp.log1p(-xp.where(large, 0.0, x))), p)
            log = xp.where(near, exact, log)
        return log

    def _conjugate(
        self, w: np.ndarray, lower: np.ndarray | None, p: np.ndarray, tolerance: float
    ) -> np.ndarray:
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

    def _unique(self, f: np.ndarray) -> bool:
        return f.size == 1 or bool((f < self.M).any())

    def _set_words(self, f: np.ndarray) -> str:
        return (
            super()._set_words(f) if self._unique(f) else "every w that meets the dual constraint"
        )


def _finite(x: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(x), x, 0.0)
