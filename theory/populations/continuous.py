"""A federation of densities: tail probabilities, the gain u_a(x), and a notion's rates."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from fairfl._support.checks import Array
from fairfl.theory.numerics.piecewise_chebyshev import Piecewise, build
from fairfl.theory.populations.eta import Eta
from fairfl.theory.populations.laws import Law, Normal
from fairfl.theory.populations.notions import ACCEPTANCE, NOTIONS, Rate, Rates

RAREST = 1e-6
"""Where P(y = 0) of a group is less, the digits that 1 - η(x) lacks by cancellation count."""


class ContinuousModel:
    """Laws x | a, i with densities p_a^(i) and regression functions η_a^(i): I tuples of A each,
    for client masses ``weight`` (I,) of sum one and shares P(a | i) (I, A).
    """

    def __init__(
        self,
        laws: Sequence[tuple[Law, ...]],
        etas: Sequence[tuple[Eta, ...]],
        weight: Array,
        share: Array,
    ) -> None:
        self.laws, self.etas = tuple(laws), tuple(etas)
        self.share, self.mass = share, weight[:, None] * share
        # one η in a group: the pooled gain then changes sign once, and thresholds solve CFL
        self.shared_within_group = all(
            len(set(map(id, group_etas))) == 1 or len(set(group_etas)) == 1
            for group_etas in zip(*self.etas, strict=True)
        )
        self._expanded: dict[Hashable, Piecewise] = {}

    def sf(self, a: int, t: Array) -> Array:
        """P(X > t | a, i) for every client: shape (I, *t.shape)."""
        return np.stack([laws[a].sf(t) for laws in self.laws])

    def sf_of(self, a: int, t: Array, client: Array) -> Array:
        """P(X > t_b | a, client_b): t (B,), client (B,) -> (B,)."""
        tails = np.empty(t.shape)
        for i, rows in _by_client(client):
            tails[rows] = self.laws[i][a].sf(t[rows])
        return tails

    def log_tails_of(self, a: int, t: Array, client: Array) -> Array:
        """log P(X > t_b) and log P(X <= t_b) in group a of client_b: (2, B)."""
        tails = np.empty((2, *t.shape))
        with np.errstate(divide="ignore"):
            for i, rows in _by_client(client):
                law = self.laws[i][a]
                tails[:, rows] = law.logsf(t[rows]), law.logcdf(t[rows])
        return tails

    def own_log_tails(self, a: int, t: Array) -> Array:
        """``log_tails_of`` with each client at its own points: t (I, ...) -> (2, I, ...)."""
        client = np.repeat(np.arange(len(t)), t[0].size)
        return self.log_tails_of(a, t.ravel(), client).reshape(2, *t.shape)

    def pdf(self, a: int, x: Array) -> Array:
        """Densities p_a^(i)(x): shape (I, *x.shape)."""
        return np.stack([laws[a].pdf(x) for laws in self.laws])

    def interval_masses(self, a: int, low: Array, high: Array) -> Array:
        """P(low < X <= high | a, i): shape (I, *low.shape), relative accuracy in both tails."""
        return np.stack([_interval_mass(laws[a], low, high) for laws in self.laws])

    def eta(
        self, a: int, x: Array, clients: Sequence[int] | None = None, *, negative: bool = False
    ) -> Array:
        """η_a^(i)(x) of the clients, or of all: shape (I, *x.shape); if ``negative`` 1 - η."""
        chosen = self.etas if clients is None else [self.etas[i] for i in clients]
        count = 1 if self.shared_within_group else len(chosen)
        values = [eta[a].negative(x) if negative else eta[a](x) for eta in chosen[:count]]
        return np.broadcast_to(np.stack(values), (len(chosen), *x.shape))

    @cached_property
    def rounding(self) -> tuple[float, float, float]:
        """(mass, x, step): the most that a law passes within one rounding of x, where, and how wide
        it is. No answer that depends on thresholds can be more exact than ``mass``.
        """
        worst = (0.0, 0.0, 0.0)
        for law in dict.fromkeys(law for client_laws in self.laws for law in client_laws):
            # inside: a density may have poles at its breaks
            x = (law.breaks[1:] + law.breaks[:-1]) / 2
            step = np.spacing(np.abs(x))
            passed = np.asarray(law.pdf(x)) * step
            k = int(passed.argmax())
            worst = max(worst, (float(passed[k]), float(x[k]), float(step[k])))
        return worst

    def gain(self, a: int) -> Piecewise:
        """The gain u_a(x) = Σ_i P(a, i) p_a^(i)(x) (2η_a^(i)(x) - 1) and the mass Σ_i P(a, i)
        p_a^(i)(x), expanded.
        """
        if a not in self._expanded:
            weights = self.mass[:, a]

            def combine(x: Array, p: Array) -> Array:
                weighted = weights[:, None, None] * p
                margin = 2.0 * self.eta(a, x) - 1.0
                return np.stack([(weighted * margin).sum(axis=0), weighted.sum(axis=0)])

            self._expanded[a] = self._build(None, (a,), combine)
        return self._expanded[a]

    def profile(
        self,
        groups: Sequence[int],
        clients: Sequence[int] | None = None,
        costs: Array | None = None,
        rates: Sequence[Rate] = (ACCEPTANCE,),
    ) -> Piecewise:
        """The gain of the clients (all, unless some are named) and groups together, and of every
        rate the densities p_a^(i) (c + d η_a^(i)), by rate, group and client: 1 + E·A·I functions,
        expanded on common panels.

        The gain is Σ P(a, i) p (c_fn η - c_fp (1 - η)), for ``costs`` (2, A) = (c_fn, c_fp); by
        default 1. Where the clients and groups have no people, each client and group weighs 1.
        """
        table = np.ones((2, self.mass.shape[1])) if costs is None else costs
        chosen = None if clients is None else tuple(clients)
        key = (tuple(groups), chosen, table.tobytes(), tuple(rates))
        if key not in self._expanded:
            indices = range(len(self.laws)) if chosen is None else chosen
            mass = self.mass[np.ix_(indices, groups)].T  # (A, I)
            weights = (mass if mass.any() else np.ones_like(mass)).ravel()
            linear = [rate.linear for rate in rates]
            if any(c + d == 0.0 for c, d in linear):
                self._check_negatives(groups, indices)

            def combine(x: Array, p: Array) -> Array:
                eta = np.concatenate([self.eta(a, x, chosen) for a in groups])
                c_fn, c_fp = np.repeat(table[:, list(groups)], len(indices), axis=1)
                margin = (c_fn + c_fp)[:, None, None] * eta - c_fp[:, None, None]
                gain = np.einsum("i,ipn,ipn->pn", weights, p, margin)
                # without cancellation where η is nearly 1
                complement = np.concatenate([self.eta(a, x, chosen, negative=True) for a in groups])
                densities = [
                    p if d == 0.0 else p * ((c + d) * eta + c * complement) for c, d in linear
                ]
                return np.concatenate([gain[None], *densities])

            self._expanded[key] = self._build(chosen, groups, combine)
        return self._expanded[key]

    def _check_negatives(self, groups: Sequence[int], clients: Sequence[int]) -> None:
        """ValueError where 1 - η by cancellation is too inexact to integrate."""
        for i, a in itertools.product(clients, groups):
            if not self.etas[i][a].has_negative:
                margin = self.profile((a,), (i,), rates=()).totals[0] / (self.mass[i, a] or 1.0)
                if 1.0 - margin < 2.0 * RAREST:
                    raise ValueError(
                        "eta must have negative=, a function for 1 - eta without cancellation, "
                        f"for rates of people with y = 0: in group {a} of a client P(y = 0) is "
                        f"{(1.0 - margin) / 2.0:.2g}"
                    )

    def _build(
        self,
        clients: Sequence[int] | None,
        groups: Sequence[int],
        combine: Callable[[Array, Array], Array],
    ) -> Piecewise:
        """``combine`` takes the densities by group and client."""
        chosen = range(len(self.laws)) if clients is None else clients
        laws = [self.laws[i][a] for a in groups for i in chosen]
        etas = dict.fromkeys(self.etas[i][a] for a in groups for i in chosen)
        low, high = min(law.low for law in laws), max(law.high for law in laws)
        if len(laws) <= 8:
            starts = [law.breaks for law in laws]
        else:  # hundreds of clients: common panels, their masses checked by ``build`` all the same
            ends = [v for w in laws for v in (w.low, w.high) if not isinstance(w, Normal)]
            starts = [np.linspace(low, high, 33), np.array(ends)]
        points = np.concatenate([*starts, *(eta.breaks for eta in etas), [low, high]])
        points = np.unique(np.clip(points, low, high))
        is_distinct = np.append(True, np.diff(points) > 1e-12 * np.abs(points[1:]))
        points = points[is_distinct | (points == high)]

        def densities(x: Array) -> Array:
            return np.stack([law.pdf(x) for law in laws])

        def masses(left: Array, right: Array) -> Array:
            return np.stack([_interval_mass(law, left, right) for law in laws])

        return build(densities, masses, combine, points)

    def part(self, clients: Sequence[int], weight: Array) -> ContinuousModel:
        """The ``clients``, in this order, of masses ``weight``."""
        laws, etas = [self.laws[i] for i in clients], [self.etas[i] for i in clients]
        return ContinuousModel(laws, etas, weight, self.share[list(clients)])

    def integrals(self, rate: Rate, a: int, edges: Array, values: Array) -> Array:
        """(I,) ∫ f p_a^(i) (c + d η) of a step function f, for the linear part (c, d) of a rate; of
        B functions with ``values`` (m + 1, B) it is (I, B).
        """
        if rate.linear == (1.0, 0.0):  # exactly
            return values[0] + self.sf(a, edges) @ np.diff(values, axis=0)
        return self._stepped(self.profile((a,), rates=(rate,)), edges, values)[1:]

    def utility(
        self, costs: Array, a: int, edges: Array, values: Array, client: int | None = None
    ) -> Any:
        """Σ_i P(a, i) ∫ (f (c_fn η - c_fp (1 - η)) - c_fn η) p_a^(i), over all clients or one; of B
        functions with ``values`` (m + 1, B) it is (B,).
        """
        rows = slice(None) if client is None else slice(client, client + 1)
        mass = float(self.mass[rows, a].sum())
        if mass == 0.0:
            return 0.0
        if client is None and (costs[:, a] == 1.0).all():
            gain = self.gain(a)
        else:
            gain = self.profile((a,), None if client is None else (client,), costs, ())
        c_fn, c_fp = costs[:, a]
        if c_fn + c_fp == 0.0:
            return 0.0
        positive = (gain.totals[0] + c_fp * mass) / (c_fn + c_fp)
        utility = self._stepped(gain, edges, values)[0] - c_fn * positive
        return utility if utility.ndim else float(utility)

    @staticmethod
    def _stepped(functions: Piecewise, edges: Array, values: Array) -> Array:
        """(J,) ∫ f F_j of a step function f, or (J, B) of B functions."""
        whole = np.multiply.outer(functions.totals, values[0])
        return whole + functions.above(edges) @ np.diff(values, axis=0)

    def rates(self, notion: str) -> Rates:
        """The constants and the masses of a notion's rates, (E, I, A)."""
        parts = []
        for rate in NOTIONS[notion].rates:
            mass, constant = self.mass, np.zeros_like(self.mass)
            if rate.linear != (1.0, 0.0):
                groups = range(mass.shape[1])
                total = np.stack([self.profile((a,), rates=(rate,)).totals[1:] for a in groups], 1)
                (c, d), (k, m) = rate.linear, rate.constant
                if rate.mass == rate.linear:
                    mass = self.mass * total
                constant = self.mass * (k + m * (total - c) / d)
            parts.append((mass, constant))
        mass, constant = (np.stack(part) for part in zip(*parts, strict=True))
        return Rates(np.empty((*mass.shape, 0)), constant, mass)


def _by_client(client: Array) -> Iterator[tuple[int, Array]]:
    """Each of the clients (B,), with its rows."""
    order = np.argsort(client, kind="stable")
    clients, starts = np.unique(client[order], return_index=True)
    return zip(clients.tolist(), np.split(order, starts[1:]), strict=True)


def _interval_mass(law: Law, low: Array, high: Array) -> Array:
    """P(low < X <= high), of survival functions in the upper tail."""
    lower = law.cdf(low)
    return np.where(lower > 0.5, law.sf(low) - law.sf(high), law.cdf(high) - lower)
