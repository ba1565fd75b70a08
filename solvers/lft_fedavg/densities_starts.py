"""CFL's rules that are LFT+FedAvg's on densities: nothing is better at their disparities.

CFL's rule at a disparity is often optimal for the budgets that it keeps, of many clients nearly
always. Whether it is shows in a linear programme: multipliers whose scores have the sign of CFL's
in each cell of a fine partition, whose ends include CFL's cuts. Newton's method then solves for
these budgets. Other starts lead to the same, in up to five times the time.
"""

from __future__ import annotations

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.densities.rules import Rules, largest
from fairfl.solvers.lft_fedavg.finite_faces import Faces
from fairfl.solvers.lft_fedavg.law_cells import LawCells
from fairfl.solvers.tolerances import PROGRAMME_TIED

EVEN, BESIDE = 1000, 1e-6
"""Even cells of a place, and the width of those beside CFL's cuts, over the line's: there scores
are about zero.
"""
SMALLEST = 1e-6
"""Multipliers and budgets up to this are zero: rounding, and the cells' widths."""


def rules_of_cfl(cells: LawCells, disparities: Array) -> Rules:
    """The rules at the budgets that CFL's rules keep at the disparities (P,), where optimal."""
    family, cfl, lam, eps = cells.family, cells.cfl_rules(disparities), [], []
    for j in range(disparities.size):
        edges = []
        for sets, ends in zip(cfl.sets, cells.ends(EVEN), strict=True):
            beside = BESIDE * (ends[-1] - ends[0]) * np.array([[-1.0], [0.0], [1.0]])
            edges.append(np.union1d(ends, np.clip(sets.line(j)[0] + beside, ends[0], ends[-1])))
        integrals = cells.integrals(edges)
        faces, f = cells.faces(integrals), cells.reduced(cfl.lam[j], integrals) > 0
        values = faces.local.values(f * 1.0)
        multipliers = _multipliers(faces, f, values)
        if multipliers is not None:
            is_bound = largest((multipliers != 0)[None] * 1.0, family.client) > 0
            local = largest(np.abs(values)[None], family.client)
            lam.append(multipliers)
            eps.append(np.where(is_bound & (local > SMALLEST), local, 1.0 - is_bound)[0])
    start = family.at(np.reshape(lam, (-1, family.client.size)))
    return family.follow(start, np.reshape(eps, (len(eps), -1)))[0] if eps else start


def _multipliers(faces: Faces, f: Array, values: Array) -> Array | None:
    """The smallest multipliers (K,) that a rule (N,) of 0 and 1 is complementary to at the budgets
    that its ``values`` (K,) keep; None where there are none.
    """
    programme, rows, gain = faces.dual
    owner = faces.local.owner
    room = largest(np.abs(values)[None], owner)[0, owner] + np.stack([values, -values])
    low = np.where((room <= PROGRAMME_TIED) & (faces.scale > 0), -1.0, -np.inf).ravel()
    below, above = np.where(f, -np.inf, 0.0), np.where(f, 0.0, np.inf)
    # the multipliers are the prices of the dual programme, which has fewer rows
    solved = programme.refined(gain, below, above, low, np.full(low.size, np.inf))
    lam = None if solved is None else np.subtract(*np.split(-solved.y, 2))
    return None if lam is None else np.where(np.abs(lam) <= SMALLEST, 0.0, lam)
