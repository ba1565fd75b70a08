"""AFL: the maximum of the losses, the egalitarian objective (PropFair, table 1)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fairfl._support.checks import Array
from fairfl.theory.aggregation._base import Objective, Traits


@dataclass(frozen=True, repr=False)
class AFL(Objective):
    """A(f) = max_i f_i, on R^n.

    Dual weights: any probability vector on the clients with the largest loss; the canonical one
    spreads evenly over them (under client weights: in proportion to p, the limit q -> inf of q-FFL;
    the value does not depend on p > 0). A*(w) = 0 on the simplex {w >= 0, sum w = 1}, else +inf; on
    f >= 0: 0 where sum_i max(w_i, 0) <= 1, else +inf. Source: PropFair, eq. (11), (C.8), Table 1.
    """

    name: ClassVar[str] = "afl"

    @property
    def traits(self) -> Traits:
        return Traits(
            convex=True,
            symmetric=True,
            translation_equivariant=True,
            positively_homogeneous=True,
            smooth=False,
            schur_convex=True,
        )

    def _compute(self, f: Array, p: Array | None, *, weights: bool) -> tuple[Array, Array | None]:
        largest = f.max(-1)
        if not weights:
            return largest, None
        share = (f == largest[:, None]) * (np.ones(1) if p is None else p)
        return largest, share / share.sum(-1)[:, None]

    def _conjugate(self, w: Array, lower: Array | None, p: Array, tolerance: float) -> Array:
        above, below = np.maximum(w, 0.0), np.minimum(w, 0.0)
        room = 1.0 - above.sum(-1)
        if lower is None:
            return np.where(
                (np.abs(room) <= tolerance) & (below >= -tolerance).all(-1), 0.0, np.inf
            )
        # f_i = t where w_i > 0, else lower_i, with t >= max lower: the slope in t is -room.
        return np.where(
            room >= -tolerance, -np.maximum(room, 0.0) * lower.max() + below @ lower, np.inf
        )
