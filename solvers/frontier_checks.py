"""Checks that every frontier of LFT+FedAvg and LFT+Ensemble must pass, a second search where points
are far apart, and upper bounds on what any budgets attain: CFL's frontier, and closer ones where
there are some.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.cfl.frontier import cfl_frontier
from fairfl.solvers.frontier import MET, Frontier, Points, build
from fairfl.solvers.lft_ensemble.finite_branch_and_bound import Segments
from fairfl.solvers.lft_fedavg.densities_bound import CLOSE, highest_accuracy
from fairfl.solvers.problem import Task
from fairfl.solvers.solution import CertificationError, tolerance
from fairfl.theory.populations.federation import Federation

ROUNDINGS = 10
"""Tolerances of ``solve`` that two accuracies may differ by."""


def checked(fed: Federation, task: Task, found: Frontier, ends: Points) -> Frontier:
    """The frontier, after two checks, the first of which stays on its ``evaluate``.

    No classifier of local training is above CFL's frontier; ``ends``, the solutions without budgets
    and with all of them zero, are not above this one, nor less disparate.

    Raises
    ------
    CertificationError : one of them fails. Then the search is wrong, not the federation.
    """
    rounding = ROUNDINGS * tolerance(fed)
    cfl = cfl_frontier(fed, 2, task)

    def below(points: Points) -> Points:
        over = points.worth - cfl.accuracy_at(points.disparity)
        k = int(over.argmax())
        if over[k] > rounding:
            here = f"accuracy {points.worth[k]:.12g} at disparity {points.disparity[k]:.6g}"
            _refuse(found.scheme, f"{here} is {over[k]:.3g} above CFL's")
        return points

    below(found.points)
    room = max(rounding, MET)
    for disparity, worth, eps, over in zip(*ends[:3], _above(found, ends, room), strict=True):
        reach = f"budgets {eps[0]:g} reach"
        if disparity < found.disparity[0] - room:
            told = f"it starts at {found.disparity[0]:.12g}, {reach} {disparity:.12g}"
            _refuse(found.scheme, told)
        if over:
            _refuse(found.scheme, f"at {disparity:.6g} it is below {worth:.12g}, which {reach}")
    return dataclasses.replace(found, evaluate=lambda d: below(found.evaluate(d)))


def _refuse(scheme: str, what: str) -> None:
    raise CertificationError(
        f"the frontier of {scheme} is wrong: {what}; please report this federation"
    )


def _above(found: Frontier, ends: Points, room: float) -> Array:
    """(P,) which of the ``ends`` are above the frontier by more than ``room``."""
    at = np.maximum(ends.disparity + room, found.disparity[0])
    known = found.points.worth[np.searchsorted(found.disparity, at, side="right") - 1]
    over = ends.worth > known + room
    if over.any():
        over[over] = ends.worth[over] > found.accuracy_at(at[over]) + room
    return over


def filled(found: Frontier, ends: Points) -> Frontier:
    """A searched frontier with the ``ends`` above it, and with new points where it has gaps."""
    missed = (ends.disparity < found.disparity[0] - MET) | _above(found, ends, MET)
    found = build(found.scheme, found.points.join(ends.take(missed)), found.evaluate, found.exact)
    unfilled = found.unfilled
    if not unfilled.size:
        return found
    even = (found.disparity[-1] - found.disparity[0]) / (found.disparity.size - 1)
    inside = [np.linspace(a, b, int((b - a) / even) + 2)[1:-1] for a, b in unfilled]
    wanted: Array = np.concatenate(inside)
    more = found.evaluate(wanted)
    more = more.take(np.flatnonzero(more.disparity <= wanted))
    return build(found.scheme, found.points.join(more), found.evaluate, found.exact)


def upper_bound(fed: Federation, task: Task, disparity: Array, worth: Array) -> Array:
    """(P,) worths that no solution of the scheme with at most the disparities (P,), increasing, is
    above; the worths (P,) are attained: closer bounds are sought where CFL's frontier is above.
    """
    bound = cfl_frontier(fed, 2, task).accuracy_at(disparity)
    far = np.flatnonzero(bound - worth > CLOSE)
    if far.size:
        closer = _closer(fed, task, disparity[far], worth[far])
        if closer is not None:
            bound[far] = np.minimum(bound[far], closer)
    return bound


def _closer(fed: Federation, task: Task, disparity: Array, worth: Array) -> Array | None:
    if task.scheme == "lft_fedavg" and task.plain and not fed.is_finite:
        return highest_accuracy(fed, disparity, worth)
    if task.scheme == "lft_ensemble" and fed.is_finite and not task.several:
        return Segments.of(fed, task).bound(disparity)
    return None
