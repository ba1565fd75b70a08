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

FAR = 10.0
"""No difference of rates, or sum of a few, is larger."""
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
    low = np.where(lam < 0, eps, -eps) - held
    high = np.where(lam > 0, -eps, eps) - held
    some = np.isfinite(eps)
    # unknown are the tied cells, everybody's levels, and the largest difference, to be minimised
    own = np.pad(rows[some], ((0, 0), (0, level.shape[1] + 1)))
    shared = np.concatenate([pooled[:, tied], level], axis=1)
    table = np.concatenate([own, np.hstack([shared, half]), np.hstack([shared, -half])])
    last, far = np.append(np.zeros(shared.shape[1]), 1.0), np.full(len(md), FAR)
    least = highs.maximise(
        -last,
        table,
        np.concatenate([low[some], -md, -far]),
        np.concatenate([high[some], far, -md]),
        np.ones(last.size),
    )
    if least is None:  # by rounding: what was found is optimal anyhow
        return found.f

    def largest(rule: Array) -> float:
        """The disparity, its level in the middle."""
        values = (pooled @ rule + everybody.b[known]) / half[:, 0]
        if not level.size:
            return float(np.abs(values).max())
        by_level = [values[column != 0] for column in level.T]
        return max(float(np.ptp(one)) / 2.0 for one in by_level)

    f[tied] = least[0][: tied.size]
    missed = max(problem.violation(f) - found.violation, abs(float(problem.u @ f) - found.primal))
    return f if missed <= EXACT and largest(f) < largest(found.f) else found.f
