"""LFT+FedAvg's rules on densities under penalties in place of budgets: starts near CFL's frontier
(exact ℓ1 penalty; Nocedal and Wright, *Numerical Optimization*, chapter 17).

The rules that maximise accuracy - Σ_k c_k max(σ v_k, 0), v_k the clients' differences of rates,
have the dual min D(λ) over multipliers λ_k between 0 and -σ c_k: convex, and without budgets. A
solution also solves LFT+FedAvg for budgets of its own: where λ_k is inside, v_k = 0, and where it
is at -σ c_k, v_k has the sign of σ. Let c = t·w with Σ w_k v_k the pooled difference. While no v_k
has changed its sign the rule is CFL's with multiplier -σ t, so that few clients are bound and the
path in t stays close to CFL's frontier.
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
    side = np.sign(free.md[0]) or 1.0
    pooled = np.hstack(family.pooled)[0]
    weights = np.linalg.lstsq(np.hstack(family.problem.coefficients).T, pooled, rcond=None)[0]
    weights = -side * np.where(family.bound, weights, 0.0)
    rng = np.random.default_rng(0)  # part of the algorithm: the same answer each time
    scales = np.exp(SPREAD * rng.normal(size=(count, STRENGTHS.size, weights.size)))
    scales[0] = 1.0
    penalties = STRENGTHS[:, None] * scales * weights
    on_path = _penalised(family, penalties.reshape(-1, weights.size))
    t = np.interp(disparities, side * on_path.md[: STRENGTHS.size], STRENGTHS)
    candidates = on_path.join(_penalised(family, np.outer(t, weights)))
    inside = largest(candidates.excess, family.client) > 0  # up to rounding: exactly fair, then
    followed, met = family.follow(candidates, np.where(inside, 0.0, candidates.budgets))
    return candidates.replaced(np.flatnonzero(met), followed.take(np.flatnonzero(met)))


def _penalised(family: RuleFamily, penalties: Array) -> Rules:
    """The rules with the least D(λ) for λ between 0 and ``penalties`` (B, K), by Newton's method
    with trust regions.
    """
    span, best, k = np.abs(penalties), family.at(penalties), penalties.shape[1]
    low, high = np.minimum(penalties, 0.0), np.maximum(penalties, 0.0)
    radius, alive = np.ones((len(penalties), 1)), np.arange(len(penalties))
    for _ in range(STEPS):
        rules, unit, box = best.take(alive), span[alive], radius[alive]
        slope = -rules.values * unit
        bent = derivatives(family, rules, plain_score(rules))[0][:, :k]
        bent = bent * unit[:, None] * unit[:, :, None]
        inside = np.where(unit > 0, unit, np.inf)
        below = np.maximum((low[alive] - rules.lam) / inside, -box)
        above = np.minimum((high[alive] - rules.lam) / inside, box)
        none = np.zeros((alive.size, 0))
        step = maximise(slope, none[..., None].repeat(k, 2), none, below, above, bent)[0]
        step = step.clip(below, above)
        promise = (slope * step).sum(1) - 0.5 * np.einsum("bk,bkl,bl->b", step, bent, step)
        # what comes within rounding of a bound is there
        lam = rules.lam + unit * step
        lam = np.where(np.abs(lam) <= NEARLY * unit, 0.0, lam)
        moved = family.at(lam)
        gain = rules.dual(0.0 * lam) - moved.dual(0.0 * lam)
        is_good = gain > 0.1 * promise - NOISE
        best = best.replaced(alive[is_good], moved.take(np.flatnonzero(is_good)))
        radius[alive] = np.where(is_good[:, None], 2.0, 0.25) * box
        alive = alive[(promise > GAIN) & (radius[alive, 0] > 1e-6)]
        if not alive.size:
            break
    return best
