"""Of several optimal rules on a finite X the one nearest to a coin toss.

Where more cells have a score of zero than constraints bind, the rule with the least sup |f - 1/2|
over these is f = 1/2 + (h - 1/2)/ρ with a rule h and the largest ρ: maximise ρ over 0 <= h <= 1
subject to ρ low <= ρ w + V (h - 1/2) <= ρ high, where w are the constraints' values at a toss.
Cells whose price is not zero are settled; the others have the least that is left to them, and so
on: the rule is unique. Where each cell is in one equation at most, no programme is needed.
"""

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.numerics import highs
from fairfl.solvers.problem import Problem
from fairfl.solvers.tolerances import DETERMINED, PROGRAMME_TIED, SCORES_TIED, TOSS_MET

LARGEST = 1e4
"""Of ρ: a rule nearer to a toss is found in units of 1/LARGEST; with levels a toss is taken."""


def nearest_to_toss(problem: Problem, f: Array, lam: Array) -> Array:
    """The optimal rule (N,) nearest to a coin toss, from an optimal one and multipliers (K,); f
    where no other is optimal, or where double precision does not tell.
    """
    v, size = problem.v, np.abs(problem.u) + abs(problem.v).sum(axis=0)
    is_free = (size > 0) & tied(problem, lam)
    is_level = np.arange(f.size) >= f.size - problem.levels
    is_bounded = np.isfinite(problem.eps)
    low = np.where(lam < 0, problem.eps, -problem.eps)[is_bounded]
    high = np.where(lam > 0, -problem.eps, problem.eps)[is_bounded]
    g = f.copy()
    while True:
        table = highs.dense(v[is_bounded][:, is_free]) / size[is_free]
        is_free[is_free] = _open(table[low == high])
        if not (is_free & ~is_level).any():
            break
        table = highs.dense(v[is_bounded][:, is_free]) / size[is_free]
        toss = g.copy()
        toss[is_free] = np.where(is_level[is_free], 0.0, 0.5)
        w = problem.values(toss)[is_bounded]
        solution = _largest_rho(table, w - low, w - high, size[is_free], is_level[is_free])
        if solution is None:
            return f
        g[is_free], is_settled = solution
        is_free[is_free] = ~is_settled
    error = max(problem.violation(g), abs(float(problem.u @ (f - g))))
    return g if error <= TOSS_MET else f


def tied(problem: Problem, lam: Array) -> Array:
    """(N,) which cells have a score of zero, up to rounding."""
    terms = np.abs(problem.u) + np.abs(lam) @ abs(problem.v)
    return np.abs(problem.scores(lam)) <= SCORES_TIED * terms


def _open(equations: Array) -> Array:
    """(N,) which unknowns of so many equations (R, N) these leave open."""
    _, singular, rows = np.linalg.svd(equations, full_matrices=False)
    rounding = max(equations.shape) * np.finfo(float).eps * singular.max(initial=0.0)
    rows = rows[singular > rounding]
    return (rows**2).sum(axis=0) < 1.0 - DETERMINED


def _largest_rho(
    table: Array, over_low: Array, over_high: Array, size: Array, is_level: Array
) -> tuple[Array, Array] | None:
    """The rates (N,) of the free cells, and which (N,) are settled; None where HiGHS gives up or
    nothing is.

    Unknown are h times ``size`` of the cells, ρ times the rate at levels, and ρ itself;
    ``over_low`` and ``over_high`` (K,) are the values at a toss less their limits.
    """
    is_equation = over_low == over_high
    signs = np.sign(table[is_equation])
    if not len(table) or not is_level.any() and np.abs(signs).sum(axis=0).max() <= 1.0:
        # the cells of an equation move alike from a toss: nothing is nearer, where limits allow it
        norms = np.abs(table[is_equation]) @ size
        deviations = signs.T @ (-over_low[is_equation] / np.where(norms > 0.0, norms, 1.0))
        changes = table @ (size * deviations)
        if (np.minimum(changes + over_low, -over_high - changes)[~is_equation] >= 0.0).all():
            return np.where(is_level, 0.0, (0.5 + deviations).clip(0.0, 1.0)), ~is_level
    at_toss = table[:, ~is_level] @ size[~is_level] / 2.0
    above = np.column_stack([-table, -over_high])[~is_equation]
    levels = np.column_stack([-np.diag(1.0 / size)[is_level], np.ones(int(is_level.sum()))])
    rows = np.concatenate([np.column_stack([table, over_low]), above, levels])
    floors = np.concatenate([at_toss, -at_toss[~is_equation], np.zeros(int(is_level.sum()))])
    largest = np.append(np.where(is_level, LARGEST * size, size), LARGEST)
    ceilings = np.abs(rows) @ largest
    ceilings[: is_equation.size][is_equation] = at_toss[is_equation]
    gain = np.append(np.zeros(size.size), 1.0)
    solution = highs.Maximiser(gain, rows, largest).best(floors, ceilings)
    if solution is None or solution[0][-1] < 1.0 - PROGRAMME_TIED:
        return None
    x, prices = solution
    rho = max(x[-1], 1.0)
    if rho < LARGEST:
        cell_prices = np.abs(prices @ rows[:, :-1])
        is_settled = ~is_level & (cell_prices > PROGRAMME_TIED * cell_prices.max())
        h = np.where(is_settled, np.round(x[:-1] / size), x[:-1] / size)
        rates = np.where(is_level, h / rho, 0.5 + (h - 0.5) / rho)
        return (rates, is_settled) if is_settled.any() else None
    if not is_level.any() and max(-over_low.min(), over_high.max()) > TOSS_MET:
        # within 1/LARGEST of a toss: solved again for LARGEST times the distance from it
        bound = np.abs(table) @ size
        limits = np.minimum(LARGEST * over_low, bound), np.maximum(LARGEST * over_high, -bound)
        solution = _largest_rho(table, *limits, size, is_level)
        return None if solution is None else (0.5 + (solution[0] - 0.5) / LARGEST, solution[1])
    rates = np.where(is_level, 0.0, 0.5)  # a toss, levels in the middle of what limits leave
    for level in np.flatnonzero(is_level):
        is_of_level = table[:, level] != 0
        if is_of_level.any():  # else no budget speaks of it
            rates[level] = (over_high[is_of_level].max() + over_low[is_of_level].min()) / 2.0
    return rates, ~is_level
