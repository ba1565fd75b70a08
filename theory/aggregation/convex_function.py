"""Any convex function with a gradient as an objective; its conjugate is computed."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.checks import Array, single
from fairfl.theory.aggregation._base import Domain, Objective, Traits

FAR = (1e2, 1e4)
"""Half-widths of two boxes: a supremum that grows from one to the other counts as infinite."""
GROWS = 1e-3
"""Least growth, for each unit of the width, that counts."""
INSIDE = 1e-9
"""Relative distance from an upper bound, where a gradient may be infinite."""


@dataclass(frozen=True, repr=False)
class ConvexFunction(Objective):
    """A(f) = function(f), for a convex function of one's own that has a gradient.

    ``function`` takes losses (..., n) and gives (...), ``slope`` gives the gradient (..., n), both
    of arrays. Dual weights: the gradient. A*(w) is computed by L-BFGS-B, to about 1e-8, and
    is +inf where w.f - A(f) still grows far out; ``closed_conjugate`` is False.
    ``fairfl.check_objective`` tests whether all this is so.

    Errors: ValueError for what are no functions, or give other shapes.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfl.theory.aggregation import ConvexFunction
    >>> square = ConvexFunction(lambda f: (f**2).mean(-1) / 2, lambda f: f / f.shape[-1])
    >>> square.dual_weights([1.0, 3.0])
    array([0.5, 1.5])
    >>> round(float(square.conjugate([0.5, 1.5])), 6)  # (n/2) |w|^2
    2.5
    """

    function: Callable[[Array], ArrayLike] | None = None
    slope: Callable[[Array], ArrayLike] | None = None
    lower: float = -np.inf
    upper: float = np.inf
    own_traits: Traits | None = None
    closed_conjugate = False
    takes_client_weights = False

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("function", "slope"):
            if not callable(getattr(self, name)):
                raise ValueError(f"{name} must be a function, got {getattr(self, name)!r}")
        for name in ("lower", "upper"):
            single(name, getattr(self, name))
        if not -np.inf <= self.lower < self.upper <= np.inf:
            raise ValueError(f"lower must be below upper, got [{self.lower}, {self.upper}]")
        if self.client_weights is not None:
            raise ValueError("client_weights must be part of the function itself, got some")

    @property
    def domain(self) -> Domain:
        return Domain(self.lower, self.upper, f"{self.lower:g} <= f_i <= {self.upper:g}")

    @property
    def traits(self) -> Traits:
        none = dict.fromkeys(Traits.__dataclass_fields__)
        return self.own_traits or Traits(**{**none, "convex": True, "smooth": True})

    def _compute(self, f: Array, p: Array | None, *, weights: bool) -> tuple[Array, Array | None]:
        value = _shaped("function", self.function, f, f.shape[:1])
        if not weights:
            return value, None
        return value, _shaped("slope", self.slope, f, f.shape)

    def _conjugate(self, w: Array, lower: Array | None, p: Array, tolerance: float) -> Array:
        return computed_conjugate(self, w, lower)


def computed_conjugate(objective: Objective, w: Array, lower: Array | None) -> Array:
    """sup of w.f - A(f) for rows w, by L-BFGS-B on two boxes: +inf if it grows between them."""
    from scipy.optimize import minimize

    box = objective.domain
    lowest = box.lower if lower is None else lower
    highest = box.upper - INSIDE * np.abs(np.nan_to_num(box.upper, posinf=0.0))
    conjugates = np.empty(len(w))
    for k, row in enumerate(w):

        def cost(f: Array, row: Array = row) -> tuple[float, Array]:
            value, slope = objective.value_and_dual_weights(f)
            return float(value) - float(row @ f), slope - row

        tops = list[float]()
        for far in FAR:
            low = np.broadcast_to(np.maximum(lowest, -far), row.shape)
            high = np.broadcast_to(np.minimum(highest, np.maximum(low + far, far)), row.shape)
            start = np.clip(np.zeros_like(row), low, high)
            start = np.where(np.isclose(start, high), (low + high) / 2, start)
            top = -np.inf
            for _ in range(3):  # afresh, with another estimate of the curvature
                done = minimize(
                    cost,
                    start,
                    jac=True,
                    method="L-BFGS-B",
                    bounds=np.stack([low, high], -1),
                    options={"ftol": 1e-16, "gtol": 1e-12, "maxiter": 5000, "maxfun": 20000},
                )
                start, top = done.x, -float(done.fun)
            tops.append(top)
        grew = tops[1] - tops[0] > GROWS * (FAR[1] - FAR[0]) * max(1e-9, np.abs(row).max())
        conjugates[k] = np.inf if grew else max(tops)
    return conjugates


def _shaped(
    name: str, function: Callable[[Array], ArrayLike] | None, rows: Array, shape: tuple[int, ...]
) -> Array:
    assert function is not None
    values = np.asarray(function(rows), dtype=float)
    if values.shape != shape or not np.isfinite(values).all():
        raise ValueError(
            f"{name} must give finite numbers of shape {shape} for losses of shape {rows.shape}, "
            f"got shape {values.shape}"
        )
    return values
