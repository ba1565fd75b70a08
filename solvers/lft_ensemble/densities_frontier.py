"""LFT+Ensemble's frontier and smallest disparity over all budgets on densities.

The budgets of a point are the local |MD_j| of its rules. Where a client's own law has a gap, all
multipliers in the gap give it the same MD_j and the same accuracy: its local problem has several
solutions, which differ on people that it never saw, and so on the pooled law. A point may rest on
one of them that ``solve`` at those budgets does not choose: its multipliers say which.
"""

from __future__ import annotations

import numpy as np

from fairfl.solvers.frontier import Frontier, Points, build
from fairfl.solvers.lft_ensemble.densities_curve import EnsembleCurve, Multipliers
from fairfl.solvers.lft_ensemble.densities_polish import best_multipliers, most_accurate
from fairfl.solvers.lft_ensemble.densities_segments import SegmentSearch
from fairfl.solvers.problem import Task
from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.federation import Federation

MANY = 50
"""With more clients of different q the fair ensemble is sought on a straight line of multipliers,
not by tables.
"""
ZERO = 1e-12
"""An |MD| up to this is rounding: goals are met within it."""


def ensemble_frontier(fed: Federation, task: Task, model: ContinuousModel, points: int) -> Frontier:
    """LFT+Ensemble's frontier over all eps: evenly spread disparities, every point evaluated
    exactly.
    """
    if not task.plain:
        return SegmentSearch(fed, task).frontier(points)
    curve = EnsembleCurve(fed, model)
    low, high = curve.rules.reachable
    peak = most_accurate(curve)
    bottom, top = max(0.0, low, -high), _attained(curve, peak).disparity[0]
    first = [fairest(curve)] if bottom > 0.0 else []
    wanted = np.linspace(bottom, top, points)[len(first) : -1]
    parts = *first, best_multipliers(curve, wanted), peak
    lam = Multipliers(*(np.concatenate(own, axis=1) for own in zip(*parts, strict=True)))
    found = _attained(curve, lam)
    return build(
        "lft_ensemble",
        found,
        lambda d: _attained(curve, best_multipliers(curve, d)),
        exact=curve.common,
    )


def ensemble_minimum(fed: Federation, task: Task, model: ContinuousModel) -> Points:
    """The least disparate ensemble: the frontier's first point."""
    if not task.plain:
        return SegmentSearch(fed, task).minimum()
    curve = EnsembleCurve(fed, model)
    return _attained(curve, fairest(curve))


def fairest(curve: EnsembleCurve) -> Multipliers:
    """λ (J, 1) of the least disparate ensemble; where several reach MD = 0, of an accurate one."""
    low, high = curve.rules.reachable
    if not low <= 0.0 <= high:
        return curve.multipliers(curve.ends[0][:, None])
    if curve.common or curve.far.size <= MANY:
        return best_multipliers(curve, np.zeros(1))
    return curve.multipliers(curve.meet(np.zeros((curve.far.size, 1)), np.zeros(1)))


def _attained(curve: EnsembleCurve, lam: Multipliers) -> Points:
    md, accuracy = curve.at(lam)
    disparity = np.abs(np.where(np.abs(md) <= ZERO, 0.0, md))
    return Points(disparity, accuracy, curve.budgets(lam), curve.all_multipliers(lam))
