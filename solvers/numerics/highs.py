"""HiGHS meets bounds and constraints to 1e-10 only: here what it leaves is solved again, to full
precision.
"""

from __future__ import annotations

import numpy as np
import scipy

from fairfl._support.checks import Array

OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
WHOLE = 1e-9
"""Cells this near to 0 or 1 are there."""
FINE = 1.0, 1e5, 1e8, 1e8
"""How much larger each next programme is."""
TRIES = OPTIONS | {"maxiter": 3_000}, {}
"""HiGHS may go in circles where it is asked for 1e-10; with its own 1e-7 it is robust."""
MET, BEST = 1e-15, 2e-13
"""What a solution may miss of its rows, and of the best value."""


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


def maximise(
    gain: Array, table: Array, low: Array, high: Array, most: Array, turns: int = len(FINE)
) -> tuple[Array, Array] | None:
    """The best x (n,) and prices y (K,) of: maximise gain·x, low <= table x <= high,
    0 <= x <= most, in at most so many ``turns``. None where HiGHS gives up.

    Each next programme is about what the last left of rows and of prices, magnified (iterative
    refinement: Gleixner, Steffy and Wolter, 2016). gain - y·table are the prices of x, y those of
    the rows' values.
    """
    rows = len(table)
    equal = np.concatenate([table, -np.eye(rows)], axis=1)  # the rows' values are unknowns too
    below, above = np.append(np.zeros(most.size), low), np.append(most, high)
    cost, y = np.append(gain, np.zeros(rows)), np.zeros(rows)
    x = np.clip(np.zeros(below.size), below, above)
    for turn, fine in enumerate(FINE[:turns]):
        missed, slope = -(equal @ x), cost - y @ equal
        left = float(np.where(slope > 0, slope * (above - x), slope * (below - x)).sum())
        if turn and np.abs(missed).max(initial=0.0) <= MET and left <= BEST:
            break
        for options in TRIES:
            found = scipy.optimize.linprog(
                -fine * slope,
                A_eq=equal,
                b_eq=fine * missed,
                bounds=np.stack([fine * (below - x), fine * (above - x)], axis=1),
                method="highs-ds",
                options=options,
            )
            if found.success:
                x = np.clip(x + found.x / fine, below, above)
                y = y - found.eqlin.marginals / fine
                break
        else:
            if not turn:
                return None
    return x[: most.size], y
