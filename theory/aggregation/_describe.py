"""Domain and traits of an objective."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.checks import Array


@dataclass(frozen=True)
class Domain:
    """The box {f : lower <= f_i <= upper} on which an objective is defined; the bounds are numbers
    or (n,).
    """

    lower: Array | float = -np.inf
    upper: Array | float = np.inf
    words: str = "f in R^n"

    def contains(self, losses: ArrayLike) -> Array:
        """Whether each loss vector of shape (..., n) is finite and inside: booleans of shape
        (...).
        """
        f = np.asarray(losses, dtype=np.float64)
        return np.all(np.isfinite(f) & (f >= self.lower) & (f <= self.upper), axis=-1)


@dataclass(frozen=True, kw_only=True)
class Traits:
    """Properties on the native domain, for n >= 2 clients. None: not decided.

    convex, symmetric (under permutations), translation_equivariant (A(f + t1) = A(f) + t),
    positively_homogeneous (A(cf) = cA(f), c > 0), smooth (continuously differentiable inside the
    domain; *not* PropFair's "L-smooth", which also bounds the gradient's slope), schur_convex (A(f)
    <= A(g) where f is majorised by g).
    """

    convex: bool | None
    symmetric: bool | None
    translation_equivariant: bool | None
    positively_homogeneous: bool | None
    smooth: bool | None
    schur_convex: bool | None
