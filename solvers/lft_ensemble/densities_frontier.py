"""LFT+Ensemble's frontier and smallest disparity over all budgets on densities.

The budgets of a point are the local |MD_j| of its rules. Where a client's own law has a gap, all
multipliers in the gap give it the same MD_j and the same accuracy: its local problem has several
solutions, which differ on people that it never saw, and so on the pooled law. A point may rest on
one of them that ``solve`` at those budgets does not choose: its multipliers say which.
"""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.frontier import Frontier, Points, build
from fairfl.solvers.lft_ensemble.densities_curve import EnsembleCurve, Multipliers
from fairfl.solvers.lft_ensemble.densities_dual import DualCurve
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


def several(task: Task) -> bool:
    """Whether a client's own problem has several constraints, or one that rules obey in no
    order.
    """
    return task.several or task.affine or task.sees == "x"


def curve_of(fed: Federation, task: Task, model: ContinuousModel) -> EnsembleCurve:
    """The task's ensembles: by thresholds for FedFB's question, else by the dual."""
    return EnsembleCurve(fed, model) if task.plain else DualCurve(fed, model, task)


def ensemble_frontier(fed: Federation, task: Task, model: ContinuousModel, points: int) -> Frontier:
    """LFT+Ensemble's frontier over all eps: evenly spread disparities, every point evaluated
    exactly.
    """
    if several(task):
        return SegmentSearch(fed, model, task).frontier(points)
    curve = curve_of(fed, task, model)
    first, peak = fairest(curve), most_accurate(curve)
    bottom, top = (_attained(curve, lam).disparity[0] for lam in (first, peak))
    wanted = np.linspace(bottom, top, points)[int(curve.common) : -1]
    # evenly spread disparities need not be met exactly where one multiplier moves all clients:
    # rates are interpolated
    inner = _spread(curve, wanted) if curve.common else best_multipliers(curve, wanted)
    lam = Multipliers(
        *(np.concatenate(parts, axis=1) for parts in zip(first, inner, peak, strict=True))
    )
    found = _attained(curve, lam)
    return build(
        "lft_ensemble",
        found,
        lambda d: _attained(curve, best_multipliers(curve, d)),
        exact=curve.common,
    )


def ensemble_minimum(fed: Federation, task: Task, model: ContinuousModel) -> Points:
    """The least disparate ensemble: the frontier's first point."""
    if several(task):
        return SegmentSearch(fed, model, task).minimum()
    curve = curve_of(fed, task, model)
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


def _spread(curve: EnsembleCurve, disparity: Array) -> Multipliers:
    """Multipliers (J, P) with |MD| near each disparity: rates read from a table."""
    grid = curve.top * np.linspace(0.0, 1.0, 4 * disparity.size + 9)
    md = curve.sign * curve.difference(curve.at_rate(grid))
    return curve.at_rate(np.interp(disparity, md[::-1], grid[::-1]))
