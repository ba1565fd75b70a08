"""The least disparate of several rules that are optimal for one budget vector on a finite X, by
linear programmes.

Optimal are the rules that agree with the sign of s = u + λV, keep MD_i where λ_i is not zero, and
|MD_i| <= eps_i elsewhere, for any one optimal λ (complementary slackness). More undecided cells
than binding constraints, as where η is 1/2 or the same at several points, leave a choice; its
accuracy is one, its MD is not.
"""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.numerics import highs
from fairfl.solvers.numerics.box_lp import BoxSolution
from fairfl.solvers.numerics.vertices import undecided
from fairfl.solvers.problem import Problem

EXACT = 1e-14
"""What a rule may miss of the MD_i that bind, or of the accuracy."""


def least_disparate(problem: Problem, everybody: Problem, found: BoxSolution) -> Array:
    """The optimal rule f (N,) with the smallest pooled disparity, as far as rounding tells;
    ``found`` where it is the one.

    Parameters
    ----------
    problem : whose solution is ``found``.  everybody : the pooled constraints, its budget one.
    """
    u, v, eps = problem.u, problem.v, problem.eps
    lam = found.multipliers
    s = problem.scores(lam)
    # cells, levels of the clients, and beyond them levels of everybody
    cells = u.size - problem.levels
    known = np.isfinite(everybody.eps)
    apart = np.insert(everybody.v[known], [cells] * problem.levels, 0.0, axis=1)
    pooled, level, half = apart[:, : u.size], apart[:, u.size :], everybody.eps[known, None]
    binds = lam != 0
    tied = np.flatnonzero(undecided(u, v, lam, s))
    rows = v[:, tied]
    # what may move: a level of a client that nothing binds gives way, and is no choice
    matters = np.concatenate([rows[binds], pooled[:, tied]]).any(axis=0)
    if matters.sum() <= (np.linalg.matrix_rank(rows[binds]) if binds.any() else 0):
        return found.f
    f = np.where(s > 0, 1.0, 0.0)
    f[tied] = 0.0
    held, md = problem.values(f), pooled @ f + everybody.b[known]
    goal = -np.sign(lam[binds]) * eps[binds] - held[binds]
    free, loose = level.shape[1], ~binds & np.isfinite(eps)
    rows = np.pad(rows, ((0, 0), (0, free)))
    shared, k = np.concatenate([pooled[:, tied], level], axis=1), tied.size + free
    # one column more, t, the largest difference, to be minimised
    some = binds | loose
    table = np.concatenate(
        [
            np.pad(rows[some], ((0, 0), (0, 1))),
            np.concatenate([shared, half], axis=1),
            np.concatenate([shared, -half], axis=1),
        ]
    )
    limit = np.where(binds, 0.0, eps)
    centre = np.where(binds, -np.sign(lam) * np.where(binds, eps, 0.0), 0.0) - held
    none = np.full(len(md), np.inf)
    least = highs.Programme(table).best(
        np.append(np.zeros(k), -1.0),
        np.zeros(k + 1),
        np.append(np.ones(k), np.inf),
        np.concatenate([(centre - limit)[some], -md, -none]),
        np.concatenate([(centre + limit)[some], none, -md]),
    )
    if least is None:  # by rounding: what was found is optimal anyhow
        return found.f
    x, between = highs.rounded(least.x[:k])
    reached, t = held + rows @ x, float(least.x[k])
    stopped = loose & (np.abs(np.abs(reached) - np.where(loose, eps, 0.0)) <= highs.WHOLE)

    def largest(rule: Array) -> float:
        """The disparity, its level in the middle."""
        values = (pooled @ rule + everybody.b[known]) / half[:, 0]
        if not free:
            return float(np.abs(values).max())
        by_level = [values[column != 0] for column in level.T]
        return max(float(np.ptp(one)) / 2.0 for one in by_level)

    exact = np.concatenate([rows[binds], rows[stopped]])
    target = np.append(goal, np.sign(reached[stopped]) * eps[stopped] - held[stopped])
    choices = [(exact, target)]
    if t <= highs.WHOLE:  # 0 may be met exactly, or be 1e-11 away
        choices.append((np.concatenate([exact, shared]), np.append(target, -md)))
    best = found.f
    for wanted, values in choices:
        f[tied] = np.clip(highs.solve_again(x, between, wanted, values), 0.0, 1.0)[: tied.size]
        kept = problem.violation(f) <= max(EXACT, found.violation)
        if kept and abs(float(u @ f) - found.primal) <= EXACT and largest(f) < largest(best):
            best = f.copy()
    return best
