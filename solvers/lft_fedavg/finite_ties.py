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

EXACT = 1e-14
"""What a rule may miss of the MD_i that bind, or of the accuracy."""


def least_disparate(u: Array, v: Array, pooled: Array, eps: Array, found: BoxSolution) -> Array:
    """The optimal rule f (N,) with the smallest |pooled·f|, as far as rounding tells; ``found``
    where it is the one.

    Parameters
    ----------
    u, v, eps : the linear programme max u·f, |v f| <= eps, 0 <= f <= 1, whose solution is
        ``found``.
    pooled : (N,) row of the MD.
    """
    lam = found.multipliers
    s = u + lam @ v
    tied = np.flatnonzero(undecided(u, v, lam, s))
    tied = tied[(np.abs(v[:, tied]).max(axis=0, initial=0.0) > 0) | (pooled[tied] != 0)]
    binds = lam != 0
    if tied.size <= binds.sum():
        return found.f
    f = np.where(s > 0, 1.0, 0.0)
    f[tied] = 0.0
    held, md = v @ f, float(pooled @ f)
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
    broken = float(np.maximum(np.abs(v @ f) - eps, 0.0).max(initial=0.0))
    if broken > max(EXACT, found.violation) or abs(float(u @ f) - found.primal) > EXACT:
        return found.f
    return f if abs(float(pooled @ f)) < abs(float(pooled @ found.f)) else found.f
