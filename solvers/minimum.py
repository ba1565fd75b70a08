"""min_disparity(federation, scheme): the smallest disparity that a scheme reaches over all budgets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfl._support.checks import Array, flag, one_of
from fairfl._support.extras import extras_named
from fairfl._support.threads import one_thread
from fairfl.solvers.api import SCHEMES, solve
from fairfl.solvers.frontier_checks import corners
from fairfl.solvers.lft_ensemble.finite_frontier import ensemble_minimum_finite
from fairfl.solvers.lft_ensemble.laws_frontier import ensemble_minimum
from fairfl.solvers.lft_fedavg.finite_frontier import fedavg_minimum_finite
from fairfl.solvers.lft_fedavg.laws_frontier import fedavg_minimum
from fairfl.solvers.solve_again import reproduced
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel


@dataclass(frozen=True)
class MinDisparity:
    """The smallest reachable disparity, budgets that reach it, and the accuracy there.

    ``lower`` and ``upper`` enclose the disparity rigorously where ``certify=True`` was asked for, else are None.
    ``multipliers`` (I,) are the local λ of the solution, None where they are not kept; ``reproduced`` says whether
    ``solve`` at ``eps`` gives this point, to 1e-7. Where it does not, no double eps was found that does: the wanted
    |MD_i| is within a rounding of another, or the solution at eps is not unique. The multipliers then attain it.
    """

    scheme: str
    disparity: float
    eps: Array
    accuracy: float
    lower: float | None = None
    upper: float | None = None
    multipliers: Array | None = None
    reproduced: bool = True


@one_thread()
def min_disparity(federation: Federation, scheme: str, *, certify: bool = False) -> MinDisparity:
    """The smallest |MD| that a scheme reaches over all eps in [0, 1] (in [0, 1]^I), and the eps that reaches it.

    Parameters
    ----------
    federation : laws or samples, two groups.
    scheme : "cfl" (always 0), "lft_ensemble" (exact: MD ranges over an interval whose ends are known) or
        "lft_fedavg" (exact where q is common to all clients, and on a finite X as :func:`frontier` is; else the best
        that a search over multipliers found: how far random eps went below it is measured in :func:`frontier`).
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
    if flag("certify", certify) and scheme != "lft_ensemble":
        raise ValueError(f"certify is available for 'lft_ensemble', got {scheme!r}")
    if scheme == "cfl":
        found = solve(federation, "cfl", 0.0)
        return MinDisparity(scheme, 0.0, np.zeros(1), found.accuracy)
    model = federation.model
    finite = isinstance(model, FiniteModel)
    if finite and certify:
        raise ValueError("certify takes normal laws and logistic eta, this federation has a finite X")
    if scheme == "lft_ensemble":
        least = ensemble_minimum_finite(federation, model) if finite else ensemble_minimum(federation, model)
    else:
        least = fedavg_minimum_finite(federation, model) if finite else fedavg_minimum(federation)
    least = least.join(corners(federation, scheme)).least
    lam = None if least.multipliers is None else least.multipliers[0]
    again = bool(reproduced(federation, scheme, least)[0])
    box = None
    if certify:
        with extras_named():  # python-flint, for this alone
            from fairfl.solvers.lft_ensemble.enclosure import enclose_min_disparity

        box = enclose_min_disparity(federation)
    lower, upper = (None, None) if box is None else (box.lower, box.upper)
    disparity, accuracy = float(least.disparity[0]), float(least.accuracy[0])
    return MinDisparity(scheme, disparity, least.eps[0], accuracy, lower, upper, lam, again)
