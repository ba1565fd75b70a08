"""Multipliers from a linear programme on cells, four on each panel.

With many constraints Newton's method on the dual has to find out which gaps are open. The programme
tells at once, to the width of a cell. The variables are the cells' rates f in [0, 1].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.numerics.highs import Programme

if TYPE_CHECKING:
    from fairfl.solvers.numerics.dual import Constraints

SLACK = 1e-9
"""Budgets are this much wider: with hundreds of clients constraints at zero depend on each other to
rounding, and their multipliers would be arbitrary.
"""


def multipliers(problem: Constraints, eps: Array) -> Array:
    """(K,) multipliers that are nearly optimal for budgets eps (K,); 0 where HiGHS gives up."""
    cells = [p.cells() for p in problem.profiles]
    v = [rows @ c[1:] for rows, c in zip(problem.coefficients, cells, strict=True)]
    v, gain, limit = np.concatenate(v, axis=1), np.concatenate([c[0] for c in cells]), eps + SLACK
    if (np.abs(v @ (gain > 0) + problem.b) <= limit).all():
        return np.zeros(eps.size)
    size = np.maximum(np.abs(gain), np.abs(v).max(axis=0)).clip(1e-300)
    low, high = -limit - problem.b, limit - problem.b
    found = Programme(v / size).best(gain / size, np.zeros(size.size), size, low, high)
    return np.zeros(eps.size) if found is None else -found.y
