"""LFT+FedAvg(eps) on a finite X, by a certified linear programme; of several optima the least
disparate.
"""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.lft_fedavg.finite_ties import least_disparate
from fairfl.solvers.numerics.box_lp import solve_box
from fairfl.solvers.numerics.certify import certify_finite
from fairfl.solvers.solution import Solution
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel


def solve_fedavg_finite(
    fed: Federation, model: FiniteModel, eps: Array, start: Array | None = None
) -> Solution:
    """Certified LFT+FedAvg(eps): the linear programme's optimum, with randomised ties; of several
    the fairest.
    """
    v, gain = local_rows(fed, model), model.gain(fed.mass).ravel()
    found = solve_box(gain, v, eps, start)
    f = least_disparate(gain, v, pooled_row(fed, model), eps, found)
    return certify_finite(
        fed, model, "lft_fedavg", eps, f.reshape(2, -1), v, eps, found.multipliers, found.dual
    )


def pooled_row(fed: Federation, model: FiniteModel) -> Array:
    """(2n,) row of the pooled MD."""
    rates = np.einsum("ia,ian->an", fed.within, model.conditional)
    return np.concatenate([rates[0], -rates[1]])


def local_rows(fed: Federation, model: FiniteModel) -> Array:
    """(I, 2n) rows of MD_i; zero for clients without both groups, which no constraint binds."""
    v = np.stack([model.conditional[:, 0], -model.conditional[:, 1]], axis=1)
    v[~fed.defined] = 0.0
    return v.reshape(fed.n_clients, -1)
