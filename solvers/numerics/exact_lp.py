"""max u·f subject to |V f + b| <= eps, 0 <= f <= 1 in exact rationals: dual simplex method.

Doubles are fractions, and so are f and the multipliers. Where masses of 1e-11 make multipliers of
1e8, no multipliers in double precision prove an optimum to 1e-12. The activities V f are variables
too, each between ±eps - b: every variable has two bounds, so that every basis is dual feasible once
the others stand on the side of their reduced costs, and the method may start from any. Ties go to
the first variable, and in the end the first variable leaves too (Bland), which ends the method.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.solution import ADVICE, CertificationError

WORK = 1_000_000
"""Entries of the table that may change, in all: seconds. The fractions grow with each pivot."""
QUICK = 10
"""Pivots for each constraint in which the variable farthest outside leaves the basis; then the
first (Bland).
"""


def solve_exactly(u: Array, v: Array, b: Array, eps: Array, f: Array) -> tuple[Array, Array, float]:
    """Solve one linear programme.

    Parameters
    ----------
    u : (N,) gains.  v : (K, N) constraint rows.  b : (K,) constants.
    eps : (K,) finite, non-negative.
    f : (N,) a solution up to rounding: its fractional cells start in the basis.

    Returns
    -------
    f (N,), the multipliers (K,) of the Lagrangian u·f + λ·Vf and their dual value, each rounded
    once, at the end.

    Raises
    ------
    CertificationError : that would be more than ``WORK``; or no f meets the budgets.
    """
    k, n = v.shape
    rational = np.vectorize(Fraction, otypes=[object])
    one = rational(np.eye(k))
    # rows: the basic variables by the others; last the reduced costs. Basic are first V f
    table: Any = np.concatenate(
        [
            np.concatenate([-rational(v), one], axis=1),
            np.append(rational(u), np.zeros(k, object))[None],
        ]
    )
    low, high = (
        np.concatenate([rational(cell), rational(row) - rational(b)])
        for cell, row in ((np.zeros(n), -eps), (np.ones(n), eps))
    )
    basis = np.arange(n, n + k)
    at_high = np.append(f > 0.5, v @ f + b > 0)

    left = WORK

    def pivot(row: int, column: int) -> None:
        nonlocal left
        left -= table.size
        if left < 0:
            raise CertificationError(
                f"{k} constraints on {n} cells that double precision does not decide are too many "
                f"for rationals; {ADVICE}"
            )
        table[row] = table[row] / table[row, column]
        for other in np.flatnonzero(table[:, column]):
            if other != row:
                table[other] = table[other] - table[other, column] * table[row]
        basis[row] = column

    for cell in np.flatnonzero((f > 0) & (f < 1)):
        rows = np.flatnonzero((basis >= n) & (table[:k, cell] != 0))
        if rows.size:
            pivot(int(rows[np.abs(table[rows, cell]).argmax()]), int(cell))
    pivots = 0
    while True:
        cost = table[k]
        at_high = np.where(cost == 0, at_high, cost > 0)
        x = np.where(at_high, high, low)
        x[basis] = 0
        x[basis] = -(table[:k] @ x)
        outside = basis[(x[basis] < low[basis]) | (x[basis] > high[basis])]
        if not outside.size:
            break
        far = np.maximum(x[outside] - high[outside], low[outside] - x[outside])
        leaves = int(outside.min() if pivots > QUICK * k else outside[far.argmax()])
        row = int(np.flatnonzero(basis == leaves)[0])
        above = bool(x[leaves] > high[leaves])
        slope = -table[row] if above else table[row]
        # whose reduced cost reaches zero first; a variable that cannot move needs no sign
        meets = (np.where(at_high, slope > 0, slope < 0)) & (low < high)
        meets[basis] = False
        candidates = np.flatnonzero(meets)
        if not candidates.size:
            raise CertificationError(
                f"no rule meets budgets down to {eps.min():g}: the rates of the data, rounded to "
                f"doubles, exclude each other; {ADVICE}, or larger budgets"
            )
        pivot(row, int(candidates[np.argmin(cost[candidates] / slope[candidates])]))
        at_high[leaves] = above
        pivots += 1
    # weak duality on the given numbers, not on the table: a wrong pivot would leave a gap
    lam = -cost[n:]
    gains = np.maximum(rational(u) + lam @ rational(v), 0)
    dual = gains.sum() + lam @ rational(b) + np.abs(lam) @ rational(eps)
    return x[:n].astype(np.float64), lam.astype(np.float64), float(dual)
