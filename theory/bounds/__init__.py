"""Bounds of the papers as functions of their constants, as printed and as repaired.

>>> from fairfl.theory.bounds import fedavg_convergence
>>> run = {"gap": 1.0, "rounds": 100, "eta": 0.1, "L": 1.0, "steps": [1, 1]}
>>> told = fedavg_convergence(**run, local=0.0, between=0.0)
>>> round(float(told.value), 12)  # 12 / (2 * 0.1) * 1 / 100
0.6
"""

from fairfl.theory.bounds._rounds import Convergence
from fairfl.theory.bounds.averaging import fedavg_convergence, fedavg_step_limit
from fairfl.theory.bounds.gaps import (
    first_order_benefits,
    gap_bounds,
    relative_gap_bounds,
    round_step,
)
from fairfl.theory.bounds.generalisation import generalisation_bound, uniform_generalisation_bound
from fairfl.theory.bounds.lipschitz import qffl_lipschitz, qffl_sublevel_lipschitz
from fairfl.theory.bounds.propfair import (
    PropFairConstants,
    propfair_constants,
    propfair_convergence,
)
from fairfl.theory.bounds.steps import gd_step_bounds, ngd_benefit_cap, ngd_step_bounds, step_bounds

__all__ = [
    "Convergence",
    "PropFairConstants",
    "fedavg_convergence",
    "fedavg_step_limit",
    "first_order_benefits",
    "gap_bounds",
    "gd_step_bounds",
    "generalisation_bound",
    "ngd_benefit_cap",
    "ngd_step_bounds",
    "propfair_constants",
    "propfair_convergence",
    "qffl_lipschitz",
    "qffl_sublevel_lipschitz",
    "relative_gap_bounds",
    "round_step",
    "step_bounds",
    "uniform_generalisation_bound",
]
