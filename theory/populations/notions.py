"""Demographic parity, equal opportunity and equalised odds as linear functionals of f, and the
disparity of rates.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from fairfl._support.checks import Array
from fairfl.theory.populations.finite import FiniteModel

if TYPE_CHECKING:
    from fairfl.theory.populations.federation import Federation

NOTIONS = {
    "dp": "demographic parity: P(ŷ=1 | a) equal over groups",
    "eo": "equal opportunity: P(ŷ=1 | a, y=1) equal over groups",
    "eodds": "equalised odds: P(ŷ=1 | a, y) equal over groups, for y = 0 and 1",
}


def largest_difference(rates: Array) -> float:
    """The disparity of groups with these rates: the largest difference between two of them, |MD| of
    two groups.

    All of fairfl means this by disparity, but for FedFB's published tables, which go by max_a
    |rate_a - overall rate|. Rates of nobody (NaN) are left out; NaN if there are no others.
    """
    known = rates[~np.isnan(rates)]
    return float(np.ptp(known)) if known.size else float("nan")


def rate_rows(fed: Federation, notion: str) -> list[Array]:
    """Tables R (A, n) with Σ_x f(x, a) R[a, x] the acceptance rate of group a given the notion's
    event.

    A group without the event (nobody with y = 1, say) has an undefined rate: its row is NaN and
    binds nobody.
    """
    model = fed.model
    if not isinstance(model, FiniteModel):
        raise ValueError(f"notion {notion!r} needs a finite X, this federation's is continuous")
    joint = np.einsum("ia,ian->an", fed.mass, model.conditional)
    positive = np.einsum("ia,ian,ian->an", fed.mass, model.conditional, model.eta)
    tables = {"dp": [joint], "eo": [positive], "eodds": [positive, joint - positive]}[notion]
    out = []
    for table in tables:
        total = table.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            out.append(np.where(total > 0, table / total, np.nan))
    return out


def pair_rows(fed: Federation, notion: str) -> Array:
    """(K, A·n) one row per pair of groups (and per y): the difference of their rates as a
    functional of f.
    """
    rows = []
    for table in rate_rows(fed, notion):
        for a, b in combinations(range(fed.n_groups), 2):
            if np.isnan(table[a]).any() or np.isnan(table[b]).any():
                continue
            row = np.zeros(table.shape)
            row[a], row[b] = table[a], -table[b]
            rows.append(row.ravel())
    return np.stack(rows) if rows else np.zeros((0, fed.n_groups * fed.model.points.size))  # type: ignore[union-attr]
