"""HiGHS meets bounds and constraints to 1e-10 only: here its basic solution is solved again to full
precision.
"""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array

OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
WHOLE = 1e-9
"""Cells this near to 0 or 1 are there."""


def rounded(x: Array, whole: float = WHOLE) -> tuple[Array, Array]:
    """x (n,) with the entries within ``whole`` of 0 or 1 put there, and the positions of the
    others.
    """
    x = np.where(x >= 1.0 - whole, 1.0, np.where(x <= whole, 0.0, x))
    return x, np.flatnonzero((x > 0.0) & (x < 1.0))


def solve_again(
    x: Array,
    basic: Array,
    rows: Array,
    target: Array,
    *,
    rounds: int = 1,
    rcond: float | None = None,
) -> Array:
    """x (n,) with the least change of its ``basic`` entries after which rows @ x = target, by least
    squares.
    """
    x = x.copy()
    for _ in range(rounds if basic.size and len(rows) else 0):
        x[basic] += np.linalg.lstsq(rows[:, basic], target - rows @ x, rcond=rcond)[0]
    return x
