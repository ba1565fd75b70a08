"""CFL(eps) on a finite X, certified: a knapsack for demographic parity of two groups, else a linear
programme.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.cfl.finite_path import FlipPath, flip_path
from fairfl.solvers.numerics.box_lp import solve_box
from fairfl.solvers.numerics.certify import certify_finite
from fairfl.solvers.solution import Solution
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel
from fairfl.theory.populations.notions import pair_rows


def pooled_path(fed: Federation, model: FiniteModel) -> FlipPath:
    """The whole CFL path for demographic parity and two groups."""
    joint = np.einsum("ia,ian->an", fed.mass, model.conditional)
    gain = model.gain(fed.mass)
    if model.shared:
        margin = 2.0 * model.eta[0] - 1.0
    else:
        margin = np.divide(gain, joint, out=np.zeros_like(gain), where=joint > 0)
    return flip_path(margin, fed.group_mass, joint / fed.group_mass[:, None])


def solve_cfl_finite(
    fed: Federation, model: FiniteModel, eps: Array, notion: str = "dp"
) -> Solution:
    """Certified CFL(eps) for a notion; demographic parity of two groups by one sort, else by a
    linear programme.
    """
    v = pair_rows(fed, notion)
    if notion == "dp" and fed.n_groups == 2:
        f, lam = pooled_path(fed, model).classifier(float(eps[0]))
        return certify_finite(fed, model, "cfl", eps, f, v, eps, np.array([lam]))
    budgets = np.full(v.shape[0], eps[0])
    found = solve_box(model.gain(fed.mass).ravel(), v, budgets)
    f = found.f.reshape(fed.n_groups, -1)
    solution = certify_finite(fed, model, "cfl", eps, f, v, budgets, found.multipliers, found.dual)
    worst = float(np.abs(v @ found.f).max(initial=0.0))
    return solution if notion == "dp" else dataclasses.replace(solution, disparity=worst)
