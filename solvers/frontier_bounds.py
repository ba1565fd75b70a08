"""Upper bounds on what any budgets of local training attain: CFL's frontier, and closer ones where
there are some.
"""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.cfl.frontier import cfl_frontier
from fairfl.solvers.lft_ensemble.finite_frontier import FiniteEnsemble
from fairfl.solvers.lft_fedavg.densities_bound import CLOSE, highest_accuracy
from fairfl.solvers.problem import Task
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel


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
    model = fed.model
    if task.scheme == "lft_fedavg":
        known = task.plain and not isinstance(model, FiniteModel)
        return highest_accuracy(fed, disparity, worth) if known else None
    if not isinstance(model, FiniteModel) or task.several:
        return None
    found, missed = FiniteEnsemble(fed, model, task).best(disparity)
    return found.worth + missed
