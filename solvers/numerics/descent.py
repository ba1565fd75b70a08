"""The dual function of λ on densities minimised: by Newton's method in cuts and multipliers, from a
linear programme on cells, and where that fails by one on refined cells.
"""

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.numerics.dual import Constraints, DualPoint, dual_point, kkt_residual
from fairfl.solvers.numerics.highs import Programme, scale
from fairfl.solvers.numerics.newton import settled
from fairfl.solvers.numerics.refined_cells import refine
from fairfl.solvers.tolerances import DESCENT_SLACK, ENOUGH, KKT_TOLERANCE

MOST = 20
"""Times that Newton's method goes on from where it ended."""


def minimise_dual(problem: Constraints, eps: Array) -> DualPoint:
    """Minimise D for one budget vector eps (K,)."""
    visited = descend(problem, eps)
    if _residual(visited[-1], eps) <= ENOUGH:
        return visited[-1]
    return refine(problem, eps, visited)[1]


def descend(problem: Constraints, eps: Array, start: Array | None = None) -> list[DualPoint]:
    """The points that Newton's method visits, from ``start`` and the programme; the best last."""
    ends: list[list[DualPoint]] = []
    for first in (start, None)[start is None :]:
        lam = on_cells(problem, eps[None])[0] if first is None else first
        visited = [dual_point(problem, lam[None])]
        while len(visited) <= MOST and _residual(visited[-1], eps) > KKT_TOLERANCE:
            next_point, is_better = settled(problem, visited[-1], eps[None])
            if not is_better[0]:
                break
            visited.append(next_point)
        ends.append(visited)
        if _residual(visited[-1], eps) <= ENOUGH:
            break
    ends.sort(key=lambda visited: -_residual(visited[-1], eps))
    return [point for visited in ends for point in visited]


def on_cells(problem: Constraints, budgets: Array) -> Array:
    """(B, K) multipliers that are nearly optimal for budgets (B, K); 0 where HiGHS gives up."""
    cells = [p.cells() for p in problem.profiles]
    v = [rows @ c[1:] for rows, c in zip(problem.coefficients, cells, strict=True)]
    v, gain = np.concatenate(v, axis=1), np.concatenate([c[0] for c in cells])
    limits, out = budgets + DESCENT_SLACK, np.zeros(budgets.shape)
    binds = np.flatnonzero((np.abs(v @ (gain > 0) + problem.b) > limits).any(axis=1))
    if binds.size:
        size = scale(gain, v)
        programme, objective = Programme(v / size), (gain / size, np.zeros(size.size), size)
        for k in binds:
            programme.forget()  # what was solved before changes no answer
            optimum = programme.best(*objective, -limits[k] - problem.b, limits[k] - problem.b)
            out[k] = 0.0 if optimum is None else -optimum.y
    return out


def _residual(point: DualPoint, eps: Array) -> float:
    return float(kkt_residual(point.lam, point.values, eps[None])[0])
