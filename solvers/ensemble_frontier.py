"""LFT+Ensemble's frontier over all eps in [0, 1]^I.

The budgets of a point are the local |MD_j| of its rules. Where a client's own law has a gap, all multipliers in the gap
give it the same MD_j and the same accuracy: its local problem has several solutions, which differ on people that it
never saw, and so on the pooled law. A point may rest on one of them that ``solve`` at those budgets does not choose.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fairfl.solvers.ensemble_curve import EnsembleCurve, Multipliers
from fairfl.solvers.ensemble_polish import best_multipliers, most_accurate
from fairfl.solvers.frontier import Frontier, build
from fairfl.theory.checks import Array
from fairfl.theory.continuous import ContinuousModel
from fairfl.theory.federation import Federation

ZERO = 1e-15
"""An |MD| below this is rounding."""


def ensemble_frontier(fed: Federation, model: ContinuousModel, points: int) -> Frontier:
    """LFT+Ensemble's frontier over all eps: evenly spread disparities, every point evaluated exactly."""
    curve = EnsembleCurve(fed, model)
    peak = most_accurate(curve)
    top, best = curve.at(peak)
    if curve.far.size == 0 or curve.top == 0.0:
        return build("lft_ensemble", np.abs(top), best, curve.budgets(peak), _constant(float(best[0])), True)
    fair = curve.at_rate(np.array([curve.top]))
    bottom = curve.sign * float(curve.difference(fair)[0])
    wanted = np.linspace(max(bottom, 0.0), abs(float(top[0])), points)
    # evenly spread disparities need not be met exactly where one multiplier moves all clients: rates are interpolated
    inner = _spread(curve, wanted[1:-1]) if curve.common else best_multipliers(curve, wanted[1:-1])
    first = fair if bottom >= 0.0 else best_multipliers(curve, np.zeros(1))
    lam = Multipliers(*(np.concatenate(parts, axis=1) for parts in zip(first, inner, peak, strict=True)))
    found, accuracy = curve.at(lam)
    disparity = np.abs(np.where(np.abs(found) < ZERO, 0.0, found))

    def evaluate(d: Array) -> Array:
        return curve.at(best_multipliers(curve, d))[1]

    return build("lft_ensemble", disparity, accuracy, curve.budgets(lam), evaluate, exact=curve.common)


def _spread(curve: EnsembleCurve, disparity: Array) -> Multipliers:
    """Multipliers (J, P) with |MD| near each disparity: rates read from a table."""
    grid = curve.top * np.linspace(0.0, 1.0, 4 * disparity.size + 9)
    md = curve.sign * curve.difference(curve.at_rate(grid))
    return curve.at_rate(np.interp(disparity, md[::-1], grid[::-1]))


def _constant(value: float) -> Callable[[Array], Array]:
    return lambda d: np.full(d.shape, value)
