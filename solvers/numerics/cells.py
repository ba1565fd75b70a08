"""Multipliers from a linear programme on cells: one at each Chebyshev node, constraints added as
they are violated.

With many constraints Newton's method on the dual has to find out which gaps are open. The programme
tells at once, to the width of a cell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy

from fairfl._support.checks import Array

if TYPE_CHECKING:
    from fairfl.solvers.numerics.dual import Constraints

MET = 1e-9
"""Violation at which a constraint is left out of the programme."""
ADDED = 10
"""Constraints that are added at a time, at least; else half as many as there are."""
ROUNDS = 60


def multipliers(problem: Constraints, eps: Array) -> Array:
    """(K,) multipliers that are nearly optimal for budgets eps (K,); where the programme is not
    solved, those of the constraints before.
    """
    cells = [p.cells() for p in problem.profiles]
    gain = np.concatenate([c[0] for c in cells])
    v = np.concatenate(
        [rows @ c[1:] for rows, c in zip(problem.coefficients, cells, strict=True)], axis=1
    )
    lam, f, kept = np.zeros(eps.size), (gain > 0).astype(np.float64), np.zeros(0, np.int64)
    for _ in range(ROUNDS):
        beyond = np.abs(v @ f) - eps
        beyond[kept] = 0.0
        new = np.argsort(-beyond)[: max(ADDED, kept.size // 2)]
        new = new[beyond[new] > MET]
        if not new.size:
            break
        kept = np.append(kept, new)
        rows, limits = np.concatenate([v[kept], -v[kept]]), np.tile(eps[kept], 2)
        found = scipy.optimize.linprog(-gain, rows, limits, bounds=(0, 1), method="highs-ds")
        if not found.success:
            break
        f, marginals = found.x, found.ineqlin.marginals
        lam = np.zeros(eps.size)
        lam[kept] = marginals[: kept.size] - marginals[kept.size :]
        kept = kept[(lam[kept] != 0) | (np.abs(v[kept] @ f) > eps[kept] - MET)]
    return lam
