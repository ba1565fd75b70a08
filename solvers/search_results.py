"""What becomes of searched points: a frontier that answers between them, and the smallest disparity."""

from __future__ import annotations

import numpy as np

from fairfl.solvers.budgets import SLACK_BUDGET
from fairfl.solvers.frontier import Frontier, build
from fairfl.solvers.search import Family, Points, attain
from fairfl.theory.checks import Array


def connect(family: Family, fair: Points, unfair: Points, target: float) -> Points:
    """An attained point with signed MD = target between two points: eps moves on a segment, MD is continuous."""
    ends = []
    for p in (fair, unfair):
        ends.append(np.where((p.lam[0] == 0) & (p.eps[0] >= SLACK_BUDGET), family.reach, p.eps[0]))
    slack = (unfair.eps[0] >= SLACK_BUDGET) & (fair.eps[0] >= SLACK_BUDGET)
    low, high, lam = 0.0, 1.0, fair.lam
    f_low, f_high = float(fair.md[0]) - target, float(unfair.md[0]) - target
    point = fair if abs(f_low) <= abs(f_high) else unfair
    for k in range(80):
        # regula falsi, with bisection every third step
        t = low + (high - low) * (0.5 if k % 3 == 2 else np.clip(-f_low / (f_high - f_low), 0.02, 0.98))
        eps = np.where(slack, SLACK_BUDGET, ends[0] + t * (ends[1] - ends[0]))
        trial = attain(family, eps[None], lam)
        f = float(trial.md[0]) - target
        if abs(f) <= abs(float(point.md[0]) - target):
            point = trial
        if abs(f) <= 1e-13 or high - low <= 1e-15:
            break
        lam = trial.lam
        if f < 0:
            low, f_low = t, f
        else:
            high, f_high = t, f
    return point


def frontier_of(family: Family, found: Points) -> Frontier:
    """A frontier from attained points; other disparities are attained on the segments of eps between them."""
    beyond = found.md < 0
    if beyond.any() and (~beyond).any():
        exact = connect(family, found.take(np.flatnonzero(beyond)[-1:]), found.take(np.flatnonzero(~beyond)[:1]), 0.0)
        found = exact.join(found.take(np.flatnonzero(~beyond)))

    def evaluate(d: Array) -> Array:
        out = []
        for value in d:
            k = int(np.searchsorted(found.md, value, side="right"))
            if k == found.md.size or k == 0 or found.md[k - 1] == value:
                out.append(float(found.accuracy[max(k - 1, 0)]))
            else:
                here = connect(family, found.take(np.array([k - 1])), found.take(np.array([k])), float(value))
                out.append(max(float(here.accuracy[0]), float(found.accuracy[k - 1])))
        return np.array(out)

    disparity = np.where(np.abs(found.md) <= 1e-12, 0.0, np.abs(found.md))
    return build("lft_fedavg", disparity, found.accuracy, found.eps, evaluate)


def minimum_of(family: Family, best: Points) -> tuple[float, float, Array]:
    """(disparity, accuracy, eps): zero where the search passed through it (MD is continuous in eps)."""
    if best.md[0] < -1e-12:
        slack = np.ones((1, family.reach.size))
        md, accuracy, lam = family.solve(slack, np.zeros_like(slack))
        best = connect(family, best, Points(family.sign * md, accuracy, slack, lam), 0.0)
    disparity = abs(float(best.md[0]))
    return (0.0 if disparity <= 1e-12 else disparity), float(best.accuracy[0]), best.eps[0]
