"""LFT+FedAvg's smallest disparity on densities where several differences of rates have to vanish
together: sequential linear programming in the budgets, with trust regions.

Changes dε of the budgets that bind change the values by dy = -sign(λ) dε, hence the multipliers by
dλ = J⁻¹ dy and the pooled differences by W dλ (``densities_sqp.derivatives``). The steps of λ in
``densities_sqp`` fail next to narrow gaps, whose widths are roots of changes of λ. As functions of
the budgets rates are smooth there, and Newton's method in cuts and λ finds the rule.
"""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.density_rules import TIED, RuleFamily, Rules, largest
from fairfl.solvers.frontier import SLACK_BUDGET
from fairfl.solvers.lft_fedavg.densities_sqp import GAIN, derivatives, plain_score
from fairfl.solvers.numerics.interior_point import maximise

ROUNDS = 30
"""Steps at most."""
FIRST, SMALLEST = 0.2, 1e-4
"""Radii, as shares of the budgets: the first, and the one at which a rule stops."""
LEAST = 0.05
"""Budgets below this change by shares of it."""


def least_disparate(family: RuleFamily, start: Rules) -> Rules:
    """The rules with smaller disparities that steps of budgets lead to from B rules ``start``."""
    best, k, eye = start, start.lam.shape[1], np.eye(start.lam.shape[1])
    radius, alive = np.full(len(start.lam), FIRST), np.arange(len(start.lam))
    whose = family.client[:, None] == np.arange(start.local.shape[1])
    for _ in range(ROUNDS):
        here = best.take(alive)
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
        step, promise = _step(here, rates, low, high)
        eps = np.where(bound | (step < -TIED), eps + step, SLACK_BUDGET)
        found, met = family.follow(here, eps)
        gain = here.disparity - found.disparity
        met &= (gain > 0.1 * promise) & found.sound
        best = best.replaced(alive[met], found.take(np.flatnonzero(met)))
        radius[alive] *= np.where(met, 2.0, 0.25)
        alive = alive[(promise > GAIN) & (radius[alive] > SMALLEST)]
        if not alive.size:
            break
    return best


def _step(here: Rules, rates: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Changes of the budgets (B, I) between ``low`` and ``high`` with the least max |w| where the
    pooled differences w change by ``rates`` (B, M, I), and how much that lowers it (B,).
    """
    last = (0, 0), (0, 0), (0, 1)  # one more unknown, max |w|
    table = np.pad(np.concatenate([rates, -rates], axis=1), last, constant_values=-1.0)
    limits = np.concatenate([-here.pooled, here.pooled], axis=1)
    below, above = np.pad(low, last[1:]), np.pad(high, last[1:], constant_values=2.0)
    gain = np.pad(0.0 * low, last[1:], constant_values=-1.0)
    step = maximise(gain, table, limits, below, above)[0][:, :-1].clip(low, high)
    after = here.pooled + (rates @ step[..., None])[..., 0]
    return step, here.disparity - np.abs(after).max(axis=1)
