"""Checks that every frontier of LFT+FedAvg and LFT+Ensemble must pass, a second search where points
are far apart, and upper bounds on what any budgets attain: CFL's frontier, and closer ones where
there are some.
"""

import dataclasses
from functools import partial

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.cfl.frontier import cfl_frontier
from fairfl.solvers.frontier import Frontier, Points, build
from fairfl.solvers.lft_ensemble.finite_branch_and_bound import Segments
from fairfl.solvers.lft_fedavg.multiplier_boxes import closer_bounds
from fairfl.solvers.schemes import LFT_FEDAVG
from fairfl.solvers.solution import CertificationError, tolerance
from fairfl.solvers.task import Task
from fairfl.solvers.tolerances import BOUND_CLOSE, MET
from fairfl.theory.populations.federation import Federation

ROUNDINGS = 10  # tolerances of ``solve`` that two accuracies may differ by


def checked(fed: Federation, task: Task, frontier: Frontier, ends: Points) -> Frontier:
    """The frontier, after two checks, the first of which stays on its ``evaluate``: no rule of
    local training is above CFL's frontier; and ``ends``, the solutions without budgets and with all
    of them zero, are not above this one, nor less disparate. Else the search is wrong:
    CertificationError.
    """
    rounding = ROUNDINGS * tolerance(fed)
    cfl = cfl_frontier(fed, 2, task)
    below = partial(_below_cfl, cfl, frontier.scheme, rounding)
    below(frontier.points)
    room = max(rounding, MET)
    for disparity, worth, eps, over in zip(*ends[:3], _above(frontier, ends, room), strict=True):
        reach = f"budgets {eps[0]:g} reach"
        if disparity < frontier.disparity[0] - room:
            message = f"it starts at {frontier.disparity[0]:.12g}, {reach} {disparity:.12g}"
            _refuse(frontier.scheme, message)
        if over:
            _refuse(frontier.scheme, f"at {disparity:.6g} it is below {worth:.12g}, which {reach}")
    return dataclasses.replace(frontier, evaluate=lambda d: below(frontier.evaluate(d)))


def _below_cfl(cfl: Frontier, scheme: str, rounding: float, points: Points) -> Points:
    """The points of a scheme, which must not be above CFL's frontier."""
    over = points.worth - cfl.accuracy_at(points.disparity)
    k = int(over.argmax())
    if over[k] > rounding:
        point = f"accuracy {points.worth[k]:.12g} at disparity {points.disparity[k]:.6g}"
        _refuse(scheme, f"{point} is {over[k]:.3g} above CFL's")
    return points


def _refuse(scheme: str, reason: str) -> None:
    raise CertificationError(
        f"the frontier of {scheme} is wrong: {reason}; please report this federation"
    )


def _above(frontier: Frontier, ends: Points, room: float) -> Array:
    """(P,) which of the ``ends`` are above the frontier by more than ``room``."""
    at = np.maximum(ends.disparity + room, frontier.disparity[0])
    worth = frontier.points.worth[np.searchsorted(frontier.disparity, at, side="right") - 1]
    is_above = ends.worth > worth + room
    if is_above.any():
        is_above[is_above] = ends.worth[is_above] > frontier.accuracy_at(at[is_above]) + room
    return is_above


def filled(frontier: Frontier, ends: Points) -> Frontier:
    """A searched frontier with the ``ends`` above it, and with new points where it has gaps."""
    is_missing = (ends.disparity < frontier.disparity[0] - MET) | _above(frontier, ends, MET)
    points = frontier.points.join(ends.take(is_missing))
    frontier = build(frontier.scheme, points, frontier.evaluate, frontier.exact)
    unfilled = frontier.unfilled
    if not unfilled.size:
        return frontier
    even = (frontier.disparity[-1] - frontier.disparity[0]) / (frontier.disparity.size - 1)
    inside = [np.linspace(a, b, int((b - a) / even) + 2)[1:-1] for a, b in unfilled]
    targets: Array = np.concatenate(inside)
    points = frontier.evaluate(targets)
    points = points.take(np.flatnonzero(points.disparity <= targets))
    return build(frontier.scheme, frontier.points.join(points), frontier.evaluate, frontier.exact)


def upper_bound(fed: Federation, task: Task, disparity: Array, worth: Array) -> Array:
    """(P,) worths that no solution with at most the disparities (P,), increasing, is above; the
    worths (P,) are attained: closer bounds are sought where CFL's frontier is above.
    """
    bound = cfl_frontier(fed, 2, task).accuracy_at(disparity)
    far = np.flatnonzero(bound - worth > BOUND_CLOSE)
    if far.size:
        closer = _closer(fed, task, disparity[far], worth[far], bound[far])
        if closer is not None:
            bound[far] = np.minimum(bound[far], closer)
    return bound


def _closer(
    fed: Federation, task: Task, disparity: Array, worth: Array, cfl: Array
) -> Array | None:
    if task.scheme == LFT_FEDAVG and not fed.is_finite:
        return closer_bounds(fed, task, disparity, worth, cfl)
    if task.scheme.is_averaged and fed.is_finite and not task.several:
        return Segments.of(fed, task).bound(disparity)
    return None
