"""Budgets solved again before they are returned: whether ``solve`` makes of them the point that they came with."""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.api import solve
from fairfl.solvers.frontier import REPRODUCED, Points
from fairfl.solvers.lft_ensemble.finite_frontier import ensembles_at
from fairfl.solvers.lft_ensemble.laws_curve import EnsembleCurve
from fairfl.solvers.solution import CertificationError
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel


def reproduced(fed: Federation, scheme: str, points: Points) -> Array:
    """(P,) whether the solutions at the points' budgets have their disparities and accuracies, to REPRODUCED."""
    disparity, accuracy = _solved(fed, scheme, points.eps)
    off = np.maximum(np.abs(disparity - points.disparity), np.abs(accuracy - points.accuracy))
    return off <= REPRODUCED


def _solved(fed: Federation, scheme: str, eps: Array) -> tuple[Array, Array]:
    """Disparities (P,) and accuracies (P,) of the solutions at budgets (P, K), NaN where none is certified."""
    if scheme == "lft_ensemble":
        model = fed.model
        finite = isinstance(model, FiniteModel)
        md, accuracy = ensembles_at(fed, model, eps) if finite else EnsembleCurve(fed, model).solved(eps)
        return np.abs(md), accuracy
    out = np.full((2, len(eps)), np.nan)
    for p, budgets in enumerate(eps):
        try:
            found = solve(fed, scheme, budgets)
        except CertificationError:
            continue
        out[:, p] = found.disparity, found.accuracy
    return out[0], out[1]
