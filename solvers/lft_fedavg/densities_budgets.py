"""More useful rules of LFT+FedAvg on densities by steps of the budgets: sequential linear
programming with trust regions, for many target disparities at once.

Changes dε of the budgets that bind change the values by dy = -sign(λ) dε, hence the multipliers by
dλ = J⁻¹ dy (``densities_sqp.derivatives``) and the accuracy by |λ| dε. Steps of λ fail next to
narrow gaps, and where a λ is within rounding of its end; as functions of the budgets rates are
smooth there.
"""

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.densities.rules import RuleFamily, Rules, largest
from fairfl.solvers.frontier import SLACK_BUDGET
from fairfl.solvers.lft_fedavg.densities_sqp import best_step, derivatives, merit, plain_score
from fairfl.solvers.tolerances import BUDGET_TIED, GAINED

ROUNDS = 30  # steps at most
FIRST, SMALLEST = 0.2, 1e-4
"""Radii, as shares of the budgets: the first, and the one at which a rule stops."""
LEAST = 0.05  # budgets below this change by shares of it


def step_budgets(family: RuleFamily, start: Rules, target: Array) -> Rules:
    """The rules of more ``merit`` for targets (B,), -inf: the smallest disparity."""
    best, k, eye = start, start.lam.shape[1], np.eye(start.lam.shape[1])
    radius, unfinished = np.full(len(start.lam), FIRST), np.flatnonzero(start.sound)
    is_owner = family.client[:, None] == np.arange(start.local.shape[1])
    for _ in range(ROUNDS if unfinished.size else 0):
        rules, goal = best.take(unfinished), target[unfinished]
        eps, size, active = rules.local, np.abs(rules.values), rules.lam != 0
        free = active | (family.bound & (size >= eps[:, family.client] - BUDGET_TIED))
        sign = np.where(active, np.sign(rules.lam), -np.sign(rules.values))
        slopes = derivatives(family, rules, plain_score(rules))[0]
        jacobian = np.where(free[:, None] & free[..., None], slopes[:, :k], ~free[..., None] * eye)
        pooled_slopes = (
            slopes[:, k:] @ np.linalg.pinv(jacobian) @ ((free * -sign)[..., None] * is_owner)
        )
        # a client whom nothing binds may be bound: its budget can only fall
        is_bound = largest(active * 1.0, family.client) > 0
        box = radius[unfinished, None] * np.maximum(eps, LEAST)
        low, high = -np.minimum(box, eps), np.where(is_bound, box, 0.0)
        gain_slope = np.abs(rules.lam) @ is_owner
        rows = np.concatenate([pooled_slopes, -pooled_slopes], axis=1)
        slack = np.concatenate([-rules.pooled, rules.pooled], axis=1)
        slack += np.where(np.isinf(goal), 0.0, goal)[:, None]
        curvature = np.zeros((*gain_slope.shape, gain_slope.shape[1]))
        step, _, promise = best_step(rules, goal, gain_slope, curvature, rows, slack, low, high)
        eps = np.where(is_bound | (step < -BUDGET_TIED), eps + step, SLACK_BUDGET)
        followed, is_better = family.follow(rules, eps)
        gain = merit(followed, goal) - merit(rules, goal)
        is_better &= (gain > 0.1 * promise) & followed.sound
        best = best.replaced(unfinished[is_better], followed.take(np.flatnonzero(is_better)))
        radius[unfinished] *= np.where(is_better, 2.0, 0.25)
        unfinished = unfinished[(promise > GAINED) & (radius[unfinished] > SMALLEST)]
        if not unfinished.size:
            break
    return best
