"""More useful rules of LFT+FedAvg on densities by steps of the budgets: sequential linear
programming with trust regions, for many target disparities at once.

Changes dε of the budgets that bind change the values by dy = -sign(λ) dε, hence the multipliers by
dλ = J⁻¹ dy, the pooled differences by W dλ (``densities_sqp.derivatives``) and the accuracy by
|λ| dε. The steps of λ in ``densities_sqp`` fail next to narrow gaps, whose widths are roots of
changes of λ, and where a λ is within rounding of its end. As functions of the budgets rates are
smooth there, and Newton's method in cuts and λ finds the rule.
"""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.density_rules import TIED, RuleFamily, Rules, largest
from fairfl.solvers.frontier import SLACK_BUDGET
from fairfl.solvers.lft_fedavg.densities_sqp import RATE, derivatives, merit, plain_score
from fairfl.solvers.numerics.interior_point import maximise

ROUNDS = 30
"""Steps at most."""
FIRST, SMALLEST = 0.2, 1e-4
"""Radii, as shares of the budgets: the first, and the one at which a rule stops."""
LEAST = 0.05
"""Budgets below this change by shares of it."""
GAIN = 1e-9
"""Steps that promise less are not taken."""


def step_budgets(family: RuleFamily, start: Rules, target: Array) -> Rules:
    """The rules of more ``merit`` for targets (B,), -inf to look for the smallest disparity, that
    steps of budgets lead to from B rules ``start``.
    """
    best, k, eye = start, start.lam.shape[1], np.eye(start.lam.shape[1])
    radius, alive = np.full(len(start.lam), FIRST), np.flatnonzero(start.sound)
    whose = family.client[:, None] == np.arange(start.local.shape[1])
    for _ in range(ROUNDS if alive.size else 0):
        here, goal = best.take(alive), target[alive]
        eps, size, active = here.local, np.abs(here.values), here.lam != 0
        free = active | (family.bound & (size >= eps[:, family.client] - TIED))
        side = np.where(active, np.sign(here.lam), -np.sign(here.values))
        first = derivatives(family, here, plain_score(here))[0]
        both = np.where(free[:, None] & free[..., None], first[:, :k], ~free[..., None] * eye)
        rates = first[:, k:] @ np.linalg.pinv(both) @ ((free * -side)[..., None] * whose)
        # a client whom nothing binds may be bound: its budget can only fall
        bound = largest(active * 1.0, family.client) > 0
        box = radius[alive, None] * np.maximum(eps, LEAST)
        low, high = -np.minimum(box, eps), np.where(bound, box, 0.0)
        step, promise = _step(here, goal, np.abs(here.lam) @ whose, rates, low, high)
        eps = np.where(bound | (step < -TIED), eps + step, SLACK_BUDGET)
        found, met = family.follow(here, eps)
        gain = merit(found, goal) - merit(here, goal)
        met &= (gain > 0.1 * promise) & found.sound
        best = best.replaced(alive[met], found.take(np.flatnonzero(met)))
        radius[alive] *= np.where(met, 2.0, 0.25)
        alive = alive[(promise > GAIN) & (radius[alive] > SMALLEST)]
        if not alive.size:
            break
    return best


def _step(
    here: Rules, target: Array, gain: Array, rates: Array, low: Array, high: Array
) -> tuple[Array, Array]:
    """Changes of the budgets (B, I) between ``low`` and ``high``, and the merit (B,) that they
    promise, where accuracies change by ``gain`` (B, I) and pooled differences by ``rates`` (B, M,
    I).
    """
    seeks, last = np.isinf(target), ((0, 0), (0, 0), (0, 1))
    # one more unknown: what disparities are beyond the target
    gain = np.column_stack([np.where(seeks[:, None], 0.0, gain), np.where(seeks, -1.0, -RATE)])
    table = np.pad(np.concatenate([rates, -rates], axis=1), last, constant_values=-1.0)
    goal = np.where(seeks, 0.0, target)[:, None]
    limits = goal + np.concatenate([-here.pooled, here.pooled], axis=1)
    below, above = np.pad(low, last[1:]), np.pad(high, last[1:], constant_values=2.0)
    step = maximise(gain, table, limits, below, above)[0][:, :-1].clip(low, high)
    after = np.abs(here.pooled + (rates @ step[..., None])[..., 0]).max(axis=1, initial=0.0)
    beyond = np.maximum(np.column_stack([after, here.disparity]) - goal, 0.0)
    promise = (gain[:, :-1] * step).sum(axis=1) + gain[:, -1] * (beyond[:, 0] - beyond[:, 1])
    return step, promise
