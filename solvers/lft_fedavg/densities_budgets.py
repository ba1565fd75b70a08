"""More useful rules of LFT+FedAvg on densities by steps of the budgets: sequential linear
programming with trust regions, for many target disparities at once.

Changes dε of the budgets that bind change the values by dy = -sign(λ) dε, hence the multipliers by
dλ = J⁻¹ dy, the pooled differences by W dλ (``densities_sqp.derivatives``) and the accuracy by
|λ| dε. The steps of λ in ``densities_sqp`` fail next to narrow gaps, whose widths are roots of
changes of λ, and where a λ is within rounding of its end. As functions of the budgets rates are
smooth there, and Newton's method in cuts and λ finds the rule.
"""

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.densities.rules import RuleFamily, Rules, largest
from fairfl.solvers.frontier import SLACK_BUDGET
from fairfl.solvers.lft_fedavg.densities_sqp import best_step, derivatives, merit, plain_score
from fairfl.solvers.tolerances import BUDGET_TIED, BUDGETS_GAIN

ROUNDS = 30
"""Steps at most."""
FIRST, SMALLEST = 0.2, 1e-4
"""Radii, as shares of the budgets: the first, and the one at which a rule stops."""
LEAST = 0.05
"""Budgets below this change by shares of it."""


def step_budgets(family: RuleFamily, start: Rules, target: Array) -> Rules:
    """The rules of more ``merit`` for targets (B,), -inf to look for the smallest disparity, that
    steps of budgets lead to from B rules ``start``.
    """
    best, k, eye = start, start.lam.shape[1], np.eye(start.lam.shape[1])
    radius, alive = np.full(len(start.lam), FIRST), np.flatnonzero(start.sound)
    whose = family.client[:, None] == np.arange(start.local.shape[1])
    for _ in range(ROUNDS if alive.size else 0):
        rules, goal = best.take(alive), target[alive]
        eps, size, active = rules.local, np.abs(rules.values), rules.lam != 0
        free = active | (family.bound & (size >= eps[:, family.client] - BUDGET_TIED))
        side = np.where(active, np.sign(rules.lam), -np.sign(rules.values))
        first = derivatives(family, rules, plain_score(rules))[0]
        both = np.where(free[:, None] & free[..., None], first[:, :k], ~free[..., None] * eye)
        rates = first[:, k:] @ np.linalg.pinv(both) @ ((free * -side)[..., None] * whose)
        # a client whom nothing binds may be bound: its budget can only fall
        bound = largest(active * 1.0, family.client) > 0
        box = radius[alive, None] * np.maximum(eps, LEAST)
        low, high = -np.minimum(box, eps), np.where(bound, box, 0.0)
        slope, rows = np.abs(rules.lam) @ whose, np.concatenate([rates, -rates], axis=1)
        left = np.concatenate([-rules.pooled, rules.pooled], axis=1)
        left += np.where(np.isinf(goal), 0.0, goal)[:, None]
        linear = np.zeros((*slope.shape, slope.shape[1]))
        step, _, promise = best_step(rules, goal, slope, linear, rows, left, low, high)
        eps = np.where(bound | (step < -BUDGET_TIED), eps + step, SLACK_BUDGET)
        followed, met = family.follow(rules, eps)
        gain = merit(followed, goal) - merit(rules, goal)
        met &= (gain > 0.1 * promise) & followed.sound
        best = best.replaced(alive[met], followed.take(np.flatnonzero(met)))
        radius[alive] *= np.where(met, 2.0, 0.25)
        alive = alive[(promise > BUDGETS_GAIN) & (radius[alive] > SMALLEST)]
        if not alive.size:
            break
    return best
