"""LFT+FedAvg(eps) on densities, by Newton's method on the dual and column generation (FedFB, lemma
18).
"""

from __future__ import annotations

from fairfl._support.checks import Array
from fairfl.solvers.numerics.certify import solve_by_dual
from fairfl.solvers.numerics.dual import fedavg_constraints
from fairfl.solvers.solution import Solution
from fairfl.theory.populations.federation import Federation


def solve_fedavg(fed: Federation, eps: Array, start: Array | None = None) -> Solution:
    """Certified LFT+FedAvg(eps), eps (I,); ``start`` (I,) multipliers to begin with."""
    return solve_by_dual(fed, "lft_fedavg", fedavg_constraints(fed), eps, start)
