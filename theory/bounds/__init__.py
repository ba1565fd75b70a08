"""Bounds of the papers as functions of their constants, as printed and as repaired.

>>> from fairfl.theory.bounds import fedavg_convergence
>>> run = {"gap": 1.0, "rounds": 100, "eta": 0.1, "L": 1.0, "steps": [1, 1]}
>>> told = fedavg_convergence(**run, local=0.0, between=0.0)
>>> round(float(told.value), 12)  # 12 / (2 * 0.1) * 1 / 100
0.6
"""

from fairfl.theory.bounds.averaging import Convergence, fedavg_convergence, fedavg_step_limit
from fairfl.theory.bounds.generalisation import generalisation_bound, uniform_generalisation_bound
from fairfl.theory.bounds.propfair import (
    PropFairConstants,
    propfair_constants,
    propfair_convergence,
)

__all__ = [
    "Convergence",
    "PropFairConstants",
    "fedavg_convergence",
    "fedavg_step_limit",
    "generalisation_bound",
    "propfair_constants",
    "propfair_convergence",
    "uniform_generalisation_bound",
]
