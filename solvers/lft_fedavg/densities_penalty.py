"""LFT+FedAvg's rules on densities under penalties in place of budgets: starts near CFL's frontier
(exact ℓ1 penalty; Nocedal and Wright, *Numerical Optimization*, chapter 17).

The rules that maximise accuracy - Σ_k c_k max(σ v_k, 0), v_k the clients' differences of rates,
have the dual min D(λ) over multipliers λ_k between 0 and -σ c_k: convex, and without budgets. A
solution also solves LFT+FedAvg for budgets of its own: where λ_k is inside, v_k = 0, and where it
is at -σ c_k, v_k has the sign of σ. Let c = t·w with Σ w_k v_k the pooled difference. While no v_k
has changed its sign the rule is CFL's with multiplier -σ t, so that few clients are bound and the
path in t stays close to CFL's frontier. From common budgets instead nine clients lose up to 0.04.
"""

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.densities.rules import RuleFamily, Rules, largest
from fairfl.solvers.lft_fedavg.densities_sqp import derivatives, plain_score
from fairfl.solvers.numerics.interior_point import maximise

STEPS = 20
"""Of Newton's method in a box, at most: starts need not be exact."""
STRENGTHS = 0.5 ** np.arange(-2.0, 9.0)
"""The first t, decreasing: CFL's multipliers are at most the larger group's mass."""
SPREAD = 1.5
"""Standard deviation of the logarithm of a random weight."""
NEARLY = 1e-6
"""Multipliers no larger than this share of the penalty are zero."""
GAIN, NOISE = 1e-20, 1e-14
"""Steps that promise less are not taken; and the rounding of D."""


def penalised(family: RuleFamily, free: Rules, disparities: Array, count: int) -> Rules:
    """Rules on the path from the ``free`` one to pooled disparities near those wanted (P,), and at
    ``STRENGTHS`` of ``count`` sets of weights, all but the first random.
    """
    sign = np.sign(free.md[0]) or 1.0
    pooled = np.hstack(family.pooled)[0]
    weights = np.linalg.lstsq(np.hstack(family.problem.coefficients).T, pooled, rcond=None)[0]
    weights = -sign * np.where(family.bound, weights, 0.0)
    rng = np.random.default_rng(0)  # part of the algorithm: the same answer each time
    scales = np.exp(SPREAD * rng.normal(size=(count, STRENGTHS.size, weights.size)))
    scales[0] = 1.0
    penalties = STRENGTHS[:, None] * scales * weights
    on_path = _penalised(family, penalties.reshape(-1, weights.size))
    t = np.interp(disparities, sign * on_path.md[: STRENGTHS.size], STRENGTHS)
    candidates = on_path.join(_penalised(family, np.outer(t, weights)))
    # where λ is inside its interval the client is exactly fair: its budget is 0 but for rounding
    is_inside = largest(candidates.excess, family.client) > 0
    followed, is_solved = family.follow(candidates, np.where(is_inside, 0.0, candidates.budgets))
    rows = np.flatnonzero(is_solved)
    return candidates.replaced(rows, followed.take(rows))


def _penalised(family: RuleFamily, penalties: Array) -> Rules:
    """The rules with the least D(λ), λ between 0 and ``penalties`` (B, K), by Newton's method."""
    scales, best, k = np.abs(penalties), family.at(penalties), penalties.shape[1]
    low, high = np.minimum(penalties, 0.0), np.maximum(penalties, 0.0)
    radius, unfinished = np.ones((len(penalties), 1)), np.arange(len(penalties))
    for _ in range(STEPS):
        rules, scale, trust_radius = best.take(unfinished), scales[unfinished], radius[unfinished]
        gradient = -rules.values * scale
        hessian = derivatives(family, rules, plain_score(rules))[0][:, :k]
        hessian = hessian * scale[:, None] * scale[:, :, None]
        divisor = np.where(scale > 0, scale, np.inf)
        below = np.maximum((low[unfinished] - rules.lam) / divisor, -trust_radius)
        above = np.minimum((high[unfinished] - rules.lam) / divisor, trust_radius)
        no_rows = np.zeros((unfinished.size, 0))
        no_table = no_rows[..., None].repeat(k, 2)
        step, *_ = maximise(gradient, no_table, no_rows, below, above, hessian)
        step = step.clip(below, above)
        curvature = np.einsum("bk,bkl,bl->b", step, hessian, step)
        predicted_gain = (gradient * step).sum(1) - 0.5 * curvature
        # a multiplier that is 0 up to rounding is 0: its constraint does not bind
        lam = rules.lam + scale * step
        lam = np.where(np.abs(lam) <= NEARLY * scale, 0.0, lam)
        candidates = family.at(lam)
        gain = rules.dual(0.0 * lam) - candidates.dual(0.0 * lam)
        is_good = gain > 0.1 * predicted_gain - NOISE
        best = best.replaced(unfinished[is_good], candidates.take(np.flatnonzero(is_good)))
        radius[unfinished] = np.where(is_good[:, None], 2.0, 0.25) * trust_radius
        unfinished = unfinished[(predicted_gain > GAIN) & (radius[unfinished, 0] > 1e-6)]
        if not unfinished.size:
            break
    return best
