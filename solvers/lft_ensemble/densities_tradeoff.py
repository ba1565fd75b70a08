"""What each client of an ensemble adds to the pooled MD and accuracy, tabulated along its interval
of multipliers; the best splits of a total between clients, and Newton's method on these tables.

Where q_j is the pooled q, a client's exchange rate |dA_j/dMD_j| is |λ| itself, and the trade-off is
concave. Elsewhere it is a weighted mean of |λ|·M_a/m_a, pooled and own masses, whose weights depend
on λ, and the trade-off may be convex in parts.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from fairfl._support.checks import Array

NODES = 513  # nodes of a client's table
ROUNDS = 3  # times that the nodes are moved to where the trade-off moves
STEPS = 6  # Newton steps
STILL = 1e-9  # a client that moves by no more than this, of its interval, has arrived
CELLS = 4000  # cells of the total, at least...
CELLS_PER_CLIENT = 40  # ... and for each client on average.


@dataclass(frozen=True)
class Knapsack:
    """Curves of J clients, whose best splits are found for any totals by max-plus convolution.

    MD and accuracy are sums over clients: with curves cut into cells of one width, the best total
    accuracy at each total is a chain of convolutions, of (cells of the total)², however many
    clients there are. It is right up to a cell: a start for a local method, in the right basin.
    ``shares`` are J increasing arrays, at which the curves have values ``worth``; ``weight`` (J,)
    is positive.
    """

    shares: list[Array]
    worth: list[Array]
    weight: Array

    @cached_property
    def _cells(self) -> Array:
        """(J,) how much of each client's curve is one cell of the total."""
        spans = np.array([curve[-1] - curve[0] for curve in self.shares])
        total = max(self.weight @ spans, 1e-300)
        return total / max(CELLS, CELLS_PER_CLIENT * spans.size) / self.weight

    @cached_property
    def _chain(self) -> tuple[list[Array], list[Array]]:
        """The curves in cells, and the best worth of each total of the first j clients, j from 0 to
        J; all but the last in single precision, which chooses as well.
        """
        cells, best, chain = [], np.zeros(1), []
        curves = zip(self.shares, self.worth, self.weight, self._cells, strict=True)
        for shares, worth, weight, cell in curves:
            count = (shares[-1] - shares[0]) / cell
            at = np.arange(round(count) + 1.0)
            values = np.interp(shares[0] + at * cell, shares, worth)
            if at.size > 1:  # straight to a whole cell: the curve ends up to half a cell from there
                values[-1] = values[-2] + (worth[-1] - values[-2]) / (count - at[-2])
            cells.append(weight * values)
            chain.append(best.astype(np.float32))
            best = _convolve(best, cells[-1])
        return cells, [*chain, best]

    def split(self, goals: Array) -> Array:
        """(J, P) each client's part in a best split of a total in a range (P, 2), up to a cell."""
        cells, chain = self._chain
        place = (
            (goals - self.weight @ [g[0] for g in self.shares]) / self.weight[0] / self._cells[0]
        )
        ends = np.rint(place).clip(0, chain[-1].size - 1).astype(int)
        at = np.array([first + chain[-1][first : last + 1].argmax() for first, last in ends])
        out = np.empty((len(cells), at.size))
        for j, shares in reversed([*enumerate(self.shares)]):
            size = cells[j].size
            # row n holds the others' best totals of n - (size - 1) to n cells
            others = np.pad(chain[j], size, constant_values=-np.inf)
            rows = np.lib.stride_tricks.sliding_window_view(others, size)[at + 1]
            taken = size - 1 - (rows + cells[j][::-1]).argmax(axis=1)
            out[j] = np.where(taken < size - 1, shares[0] + taken * self._cells[j], shares[-1])
            at = at - taken
        return out


@dataclass(frozen=True)
class Tradeoffs:
    """The trade-offs of J clients at coordinates ``u`` (J, N) of their multipliers, increasing,
    with ``md`` and ``accuracy`` (J, N) of the pooled law under client j's rule; MD increases along
    each row.
    """

    u: Array
    md: Array
    accuracy: Array
    weight: Array

    @cached_property
    def _splines(self) -> list[scipy.interpolate.CubicSpline]:
        """The cubic splines of each client's MD and accuracy in u."""
        rows = zip(self.u, np.stack([self.md, self.accuracy], axis=2), strict=True)
        return [scipy.interpolate.CubicSpline(u, values) for u, values in rows]

    @cached_property
    def knapsack(self) -> Knapsack:
        """The best splits of MD between the clients."""
        return Knapsack(list(self.md), list(self.accuracy), self.weight)

    def split(self, goals: Array) -> Array:
        """Coordinates (J, P) of the knapsack's split of a total in each range (P, 2)."""
        rows = zip(self.knapsack.split(goals), self.md, self.u, strict=True)
        return np.stack([np.interp(share, md, u) for share, md, u in rows])

    def slopes(self, u: Array) -> Array:
        """(2, 2, J, P) first and second derivatives in u (J, P), of MD and of accuracy."""
        pairs = zip(self._splines, u, strict=True)
        derivatives = np.array([[spline(at, k) for k in (1, 2)] for spline, at in pairs])
        return np.moveaxis(derivatives, (1, 3), (0, 1))

    def polished(
        self, total: Callable[[Array], Array], start: Array, goal: Array, is_fixed: Array
    ) -> Array:
        """Local optima of Σ_j w_j A_j(u_j) by Newton's method from coordinates ``start`` (J, P),
        between the tables' ends, with Σ_j w_j MD_j(u_j) near the goal (P,) where it ``is_fixed``;
        ``total`` gives the exact MD (P,). At an optimum A_j' + μ MD_j' = 0 for every client inside
        its interval, also where one client's trade-off is convex.
        """
        low, high = self.u[:, :1], self.u[:, -1:]
        w, u, unfinished = self.weight[:, None], start.copy(), np.arange(goal.size)
        for _ in range(STEPS):
            at, has_goal = u[:, unfinished], is_fixed[unfinished]
            md_missing = goal[unfinished] - total(at)
            (md1, gain1), (md2, gain2) = self.slopes(at)  # derivatives of MD and accuracy
            is_inside = (at > low) & (at < high)
            # μ that fits A' + μ MD' = 0 best over the clients inside their intervals
            fit = np.where(is_inside | ~is_inside.any(axis=0), w * md1, 0.0)
            mu = -(fit * gain1).sum(axis=0) / np.maximum((fit * md1).sum(axis=0), 1e-300)
            mu = np.where(has_goal, mu, 0.0)
            gradient, curvature = (gain1 + mu * md1, gain2 + mu * md2)
            # inside, or drawn in from an end
            may_move = ((at > low) | (gradient > 0)) & ((at < high) | (gradient < 0))
            may_move &= np.where(has_goal, np.abs(curvature) > 1e-300, curvature < -1e-300)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                inverse = np.where(may_move, 1.0 / curvature, 0.0)
                mu_slope, md_drift = (w * md1 * np.stack([md1, gain1]) * inverse).sum(axis=1)
                mu = np.where(has_goal, -(md_missing + md_drift) / mu_slope, 0.0)
                step = -(gain1 + mu * md1) * inverse
            # a maximum along the constraint has no convex client, or one whom the others outweigh;
            # elsewhere no step
            convex = (may_move & (curvature > 0)).sum(axis=0)
            good = ~has_goal | ((convex == 0) & (mu_slope < 0)) | ((convex == 1) & (mu_slope > 0))
            good &= np.isfinite(step).all(axis=0)
            u[:, unfinished] = stepped = np.clip(at + np.where(good, step, 0.0), low, high)
            unfinished = unfinished[(np.abs(stepped - at) > STILL * (high - low)).any(axis=0)]
            if not unfinished.size:
                break
        return u


def spread_nodes(
    values_at: Callable[[Array], tuple[Array, Array]], low: Array, high: Array
) -> Array:
    """(J, NODES) for each client coordinates from ``low`` (J,) to ``high`` (J,), between which the
    values of ``values_at`` and the coordinates move about evenly: nodes go where something changes.
    """
    u = np.linspace(low, high, NODES, axis=1)
    for _ in range(ROUNDS):
        share = np.zeros((low.size, NODES - 1))
        for v in (u, *values_at(u)):
            share += np.abs(np.diff(v)) / np.maximum(np.ptp(v, axis=1, keepdims=True), 1e-300)
        wide = np.pad(share, ((0, 0), (2, 2)), mode="edge")  # gradual: for the spline
        share = np.lib.stride_tricks.sliding_window_view(wide, 5, axis=1).mean(axis=2)
        along = np.pad(np.cumsum(share, axis=1), ((0, 0), (1, 0)))
        for j, to in enumerate(along):
            u[j] = np.interp(np.linspace(0.0, to[-1], NODES), to, u[j])
    u[:, -1] = high
    return u


def _convolve(first: Array, second: Array) -> Array:
    """max_k first[n - k] + second[k] for every n."""
    best = np.full(first.size + second.size - 1, -np.inf)
    shorter, longer = sorted((first, second), key=len)
    tried = np.empty(longer.size)
    for k, value in enumerate(shorter):
        window = best[k : k + longer.size]
        np.maximum(window, np.add(longer, value, out=tried), out=window)
    return best
