"""Convex sets of attainable utilities, from cvxpy expressions or as the convex hull of points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np

from fairfl._support.checks import Array, finite
from fairfl.solvers.minimax import conic

ADVICE = "rescale the utilities to about 1"


@dataclass(frozen=True, eq=False)
class UtilitySet:
    """U = {u <= utilities(x) : x meets the constraints}: what n clients can have at once, with free
    disposal.

    Every rule here increases in each utility, so that disposal changes no solution and no test; it
    makes U convex where the utilities are concave, not linear, in x (u = M - f(θ) with convex
    losses f).

    Attributes
    ----------
    utilities : (n,) a concave expression of cvxpy; a list of n scalars is stacked.
    constraints : convex constraints of cvxpy.
    vertices : (K, n) or None: points of which U is the hull (with disposal); made by
        ``from_vertices``.

    Errors: ValueError for utilities that are not concave, or constraints that are not convex, by
    cvxpy's rules.
    """

    utilities: Any
    constraints: Sequence[Any] = ()
    vertices: Array | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "utilities", conic.stacked("utilities", self.utilities, "concave"))
        object.__setattr__(self, "constraints", tuple(conic.checked(self.constraints)))

    @classmethod
    def from_vertices(cls, vertices: Any) -> UtilitySet:
        """The convex hull of points (K, n). Errors: ValueError unless they are finite, K and n >=
        1.
        """
        points = finite("vertices", vertices)
        if points.ndim != 2 or points.size == 0:
            raise ValueError(f"vertices must have shape (K, n), K and n >= 1, got {points.shape}")
        mix = cp.Variable(len(points), nonneg=True)
        return cls(mix @ points, (cp.sum(mix) == 1,), points)

    @property
    def n(self) -> int:
        """Number of clients."""
        return self.utilities.size

    def above(self, floor: Any) -> UtilitySet:
        """The utilities less ``floor`` (n,), such as those of the disagreement point."""
        return UtilitySet(
            self.utilities - floor,
            self.constraints,
            None if self.vertices is None else self.vertices - floor,
        )

    def point(self) -> Array:
        """(n,) the utilities at the variables' present values."""
        return np.asarray(self.utilities.value, dtype=np.float64)

    def maximise(self, cost: Any, limits: Sequence[Any], what: str) -> tuple[float, float]:
        """(value, upper bound) of max cost over U and ``limits``, left in the variables.

        Errors: CertificationError where there is no point, no maximum, or the code fails.
        """
        found = conic.minimise(
            -cost,
            [*self.constraints, *limits],
            what,
            unbounded="the set of utilities must be bounded above",
        )
        return -found.value, -min(found.value, found.dual)

    def support(self, weights: Array) -> tuple[float, Array]:
        """max over v in U of weights.v (weights >= 0), an upper bound on it, and a v that attains
        it.

        Exact for a hull of points; else from the multipliers of the convex programme.
        """
        if self.vertices is not None:
            values = self.vertices @ weights
            return float(values.max()), self.vertices[int(np.argmax(values))].copy()
        kept = weights > 0
        _, upper = self.maximise(
            weights[kept] @ self.utilities[kept], (), "the largest weighted total of utilities"
        )
        return upper, self.point()
