"""The least disparate of several rules that are optimal for one budget vector on a finite X, by
linear programmes.

Optimal are the rules that agree with the sign of s = u + λV, keep MD_i where λ_i is not zero, and
|MD_i| <= eps_i elsewhere, for any one optimal λ (complementary slackness). More undecided cells
than binding constraints, as where η is 1/2 or the same at several points, leave a choice; its
accuracy is one, its MD is not.
"""

from __future__ import annotations

import numpy as np
import scipy

from fairfl._support.checks import Array
from fairfl.solvers.numerics import highs
from fairfl.solvers.numerics.box_lp import BoxSolution
from fairfl.solvers.numerics.vertices import undecided
from fairfl.solvers.problem import Problem

EXACT = 1e-14
"""What a rule may miss of the MD_i that bind, or of the accuracy."""


def least_disparate(problem: Problem, everybody: Problem, found: BoxSolution) -> Array:
    """The optimal rule f (N,) with the smallest pooled |MD|, as far as rounding tells; ``found``
    where it is the one.

    Parameters
    ----------
    problem : whose solution is ``found``.  everybody : whose one constraint is the pooled MD's.
    """
    u, v, eps = problem.u, problem.v, problem.eps
    pooled, lam = everybody.v[0], found.multipliers
    s = problem.scores(lam)
    tied = np.flatnonzero(undecided(u, v, lam, s))
    tied = tied[(np.abs(v[:, tied]).max(axis=0, initial=0.0) > 0) | (pooled[tied] != 0)]
    binds = lam != 0
    if tied.size <= binds.sum():
        return found.f
    f = np.where(s > 0, 1.0, 0.0)
    f[tied] = 0.0
    held, md = problem.values(f), float(everybody.values(f)[0])
    goal = -np.sign(lam[binds]) * eps[binds] - held[binds]
    rows, loose = v[:, tied], ~binds & np.isfinite(eps)
    k = tied.size
    # one column more, t >= |MD|, to be minimised
    least = scipy.optimize.linprog(
        np.append(np.zeros(k), 1.0),
        A_ub=np.block(
            [
                [rows[loose], np.zeros((int(loose.sum()), 1))],
                [-rows[loose], np.zeros((int(loose.sum()), 1))],
                [pooled[tied], -1.0],
                [-pooled[tied], -1.0],
            ]
        ),
        b_ub=np.concatenate([(eps - held)[loose], (eps + held)[loose], [-md, md]]),
        A_eq=np.concatenate([rows[binds], np.zeros((int(binds.sum()), 1))], axis=1),
        b_eq=goal,
        bounds=[(0.0, 1.0)] * k + [(0.0, None)],
        method="highs-ds",
        options=highs.OPTIONS,
    )
    if not least.success:  # by rounding: what was found is optimal anyhow
        return found.f
    x, between = highs.rounded(least.x[:k])
    reached = held + rows @ x
    stopped = loose & (np.abs(np.abs(reached) - np.where(loose, eps, 0.0)) <= highs.WHOLE)
    exact = np.concatenate([rows[binds], rows[stopped]])
    target = np.append(goal, np.sign(reached[stopped]) * eps[stopped] - held[stopped])
    if abs(md + float(pooled[tied] @ x)) <= highs.WHOLE:  # 0 can be met exactly
        exact, target = np.concatenate([exact, pooled[None, tied]]), np.append(target, -md)
    f[tied] = np.clip(highs.solve_again(x, between, exact, target), 0.0, 1.0)
    if problem.violation(f) > max(EXACT, found.violation):
        return found.f
    if abs(float(u @ f) - found.primal) > EXACT:
        return found.f
    before, after = (abs(float(everybody.values(rule)[0])) for rule in (found.f, f))
    return f if after < before else found.f
