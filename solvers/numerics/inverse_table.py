"""Many roots of one increasing function, by inverse interpolation in a table and chord steps.

A thousand budgets of one problem need a thousand values of the inverse of one function. The table
costs one vectorised call, the cubic through four neighbouring nodes has an error of the fourth
power of the mesh, and its slope gives rounding accuracy in one or two chord steps. Roots that are
not found are returned as such, with a bracket.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fairfl._support.checks import Array

STEPS = 4
"""Evaluations after which a root is left to a bracketed method."""


@dataclass(frozen=True)
class TableRoots:
    """``x`` (B,), whether |f(x) - goal| <= f_tol there, and brackets from the table."""

    x: Array
    found: Array
    low: Array
    high: Array


def roots_from_table(
    function: Callable[[Array], Array],
    nodes: Array,
    goals: Array,
    f_tol: float,
    values: Array | None = None,
) -> TableRoots:
    """Solve f(x) = goal for every goal.

    Parameters
    ----------
    function : x -> f(x), increasing up to rounding; any 1-d shape.
    nodes : (N,) increasing, N >= 4.
    goals : (B,) within [f(nodes[0]), f(nodes[-1])].
    f_tol : largest residual of a root that counts as found.
    values : (N,) f(nodes), where known already.

    Notes
    -----
    Nothing is assumed of f between the nodes: a root is found only where f itself says so.
    """
    table = function(nodes) if values is None else values
    k = np.clip(np.searchsorted(table, goals, side="left"), 1, nodes.size - 1)
    # a node on either side keeps brackets valid where rounding makes the table locally not monotone
    low, high = nodes[np.maximum(k - 2, 0)], nodes[np.minimum(k + 1, nodes.size - 1)]
    x, slope = _inverse_cubic(nodes, table, np.clip(k - 2, 0, nodes.size - 4), goals)
    usable = np.isfinite(x) & np.isfinite(slope)
    x = np.clip(np.where(usable, x, low), low, high)
    found = np.zeros(goals.size, dtype=bool)
    live = np.flatnonzero(usable)
    for step in range(STEPS):
        if live.size == 0:
            break
        residual = function(x[live]) - goals[live]
        close = np.abs(residual) <= f_tol
        found[live[close]] = True
        live, residual = live[~close], residual[~close]
        if step < STEPS - 1:
            x[live] = np.clip(x[live] - residual * slope[live], low[live], high[live])
    return TableRoots(x, found, low, high)


def _inverse_cubic(nodes: Array, values: Array, first: Array, goals: Array) -> tuple[Array, Array]:
    """Value and slope at each goal of the cubic x(f) through the nodes first .. first + 3 (Newton's
    form).
    """
    y = [values[first + j] for j in range(4)]
    x = [nodes[first + j] for j in range(4)]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        d01, d12, d23 = ((x[j + 1] - x[j]) / (y[j + 1] - y[j]) for j in range(3))
        d012, d123 = (d12 - d01) / (y[2] - y[0]), (d23 - d12) / (y[3] - y[1])
        d0123 = (d123 - d012) / (y[3] - y[0])
        r0, r1, r2 = goals - y[0], goals - y[1], goals - y[2]
        inner = d012 + r2 * d0123
        at = x[0] + r0 * (d01 + r1 * inner)
        slope = d01 + (r0 + r1) * inner + r0 * r1 * d0123
    return at, slope
