"""min_disparity(federation, scheme): the smallest disparity that a scheme reaches over all budgets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfl.solvers.api import SCHEMES, solve
from fairfl.solvers.ensemble_curve import EnsembleCurve
from fairfl.solvers.fedavg_frontier import fedavg_minimum
from fairfl.solvers.finite_fedavg_frontier import fedavg_minimum_finite
from fairfl.solvers.finite_frontier import ensemble_minimum_finite
from fairfl.theory.checks import Array, one_of
from fairfl.theory.federation import Federation
from fairfl.theory.finite import FiniteModel


@dataclass(frozen=True)
class MinDisparity:
    """The smallest reachable disparity, budgets that reach it, and the accuracy there.

    ``lower`` and ``upper`` enclose the disparity rigorously where ``certify=True`` was asked for, else are None.
    """

    scheme: str
    disparity: float
    eps: Array
    accuracy: float
    lower: float | None = None
    upper: float | None = None


def min_disparity(federation: Federation, scheme: str, *, certify: bool = False) -> MinDisparity:
    """The smallest |MD| that a scheme reaches over all eps in [0, 1] (in [0, 1]^I), and the eps that reaches it.

    Parameters
    ----------
    federation : laws or samples, two groups.
    scheme : "cfl" (always 0), "lft_ensemble" (exact: MD ranges over an interval whose ends are known) or
        "lft_fedavg" (exact where q is common to all clients, and on a finite X as :func:`frontier` is; else the best
        that a search over multipliers found).
    certify : add a rigorous enclosure by interval arithmetic; "lft_ensemble" with normal laws and logistic η only.

    Notes
    -----
    Where several eps reach the smallest disparity, one of (nearly) the highest accuracy is reported. A budget of 1
    stands for "no constraint".
    """
    if not isinstance(federation, Federation):
        raise ValueError(f"federation must be a Federation, got {type(federation).__name__}")
    one_of("scheme", scheme, SCHEMES)
    if federation.n_groups != 2:
        raise ValueError(f"min_disparity takes two groups, this federation has {federation.n_groups}")
    if certify and scheme != "lft_ensemble":
        raise ValueError(f"certify is available for 'lft_ensemble', got {scheme!r}")
    if scheme == "cfl":
        found = solve(federation, "cfl", 0.0)
        return MinDisparity(scheme, 0.0, np.zeros(1), found.accuracy)
    model = federation.model
    if isinstance(model, FiniteModel):
        if certify:
            raise ValueError("certify takes normal laws and logistic eta, this federation has a finite X")
        chosen = ensemble_minimum_finite if scheme == "lft_ensemble" else fedavg_minimum_finite
        disparity, accuracy, eps = chosen(federation, model)
        return MinDisparity(scheme, disparity, eps, accuracy)
    if scheme == "lft_fedavg":
        disparity, accuracy, eps = fedavg_minimum(federation)
        return MinDisparity(scheme, disparity, eps, accuracy)
    curve = EnsembleCurve(federation, model)
    low, high = curve.rules.reachable
    crosses = low <= 0.0 <= high
    lam = curve.fairest()
    md, accuracy = curve.at(lam)
    disparity = 0.0 if crosses else abs(float(md[0]))
    if not certify:
        return MinDisparity(scheme, disparity, curve.budgets(lam)[0], float(accuracy[0]))
    from fairfl.solvers.enclosure import enclose_min_disparity  # python-flint, for this alone

    box = enclose_min_disparity(federation)
    return MinDisparity(scheme, disparity, curve.budgets(lam)[0], float(accuracy[0]), box.lower, box.upper)
