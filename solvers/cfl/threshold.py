"""One fairness constraint on densities: thresholds and multiplier, by root finding (FedFB, lemma
7).

Maximise P(ŷ = y) subject to |MD| <= eps. With group masses M_0 + M_1 = 1 and η increasing, the
solution accepts η > 1/2 - λ/(2 M_0) in group 0 and η > 1/2 + λ/(2 M_1) in group 1, with g(λ) = MD
increasing.

λ is carried as an unevaluated sum λ = anchor + offset, anchor in {0, ±M_0, ±M_1}: the levels are
then known to relative accuracy also close to 0 and 1, where thresholds go to ±inf and a single
double has too few digits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.numerics.roots import increasing_root
from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.eta import Eta

ROUNDING = 6e-16
"""Residual of MD at which a root counts as found."""
RESIDUAL = 1e-13
"""Residual of MD above which a root is refined around its anchor."""
ODDS_RESIDUAL = 4e-13
"""The same for a difference of log-odds: MD is a quarter of it, at most."""


@dataclass(frozen=True)
class ThresholdProblem:
    """B problems with one constraint each.

    Attributes
    ----------
    mass : (B, 2) group masses M_a, rows summing to one, all positive.
    etas : B pairs, or one pair for all.
    tail : (a, t (B,), index) -> P(X > t | a), relative accuracy where small.
    log_tails : (a, t (B,), index) -> log P(X > t), log P(X <= t).
    copies : whether all B problems are the same, but for eps.
    """

    mass: Array
    etas: Sequence[tuple[Eta, ...]]
    tail: Callable[[int, Array, Array], Array]
    log_tails: Callable[[int, Array, Array], tuple[Array, Array]]
    copies: bool = False

    def thresholds(self, anchor: Array, offset: Array, index: Array) -> tuple[Array, Array]:
        """The thresholds t_0, t_1 at λ = anchor + offset, for the problems ``index``."""
        far = np.flatnonzero(anchor)
        out = []
        for a, sign in ((0, -1.0), (1, 1.0)):
            m = self.mass[index, a]
            excess = sign * offset / (2 * m)
            t = self._inverse(
                a, index, lambda eta, k, excess=excess: eta.inverse_from_half(excess[k])
            )
            if far.size:
                m, z, rest = m[far], anchor[far], offset[far]
                level, complement = ((m + s * z) + s * rest for s in (sign, -sign))
                pair = (level / (2 * m), complement / (2 * m))
                t[far] = self._inverse(
                    a, index[far], lambda eta, k, pair=pair: eta.inverse(pair[0][k], pair[1][k])
                )
            out.append(t)
        return out[0], out[1]

    def _inverse(self, a: int, index: Array, inverse: Callable[[Eta, Any], Array]) -> Array:
        """The values of ``inverse(η of group a, rows)``, put together over the problems' η."""
        if len(self.etas) == 1:
            return inverse(self.etas[0][a], slice(None))
        out = np.empty(index.shape)
        kinds, kind_of = self._kinds[a]
        kind = kind_of[index]
        for k, eta in enumerate(kinds):
            rows = np.flatnonzero(kind == k)
            if rows.size:
                out[rows] = inverse(eta, rows)
        return out

    @cached_property
    def _kinds(self) -> list[tuple[list[Eta], Array]]:
        """For each group the different η, and which of them each problem has."""
        out = []
        for a in (0, 1):
            kinds = list(dict.fromkeys(pair[a] for pair in self.etas))
            place = {eta: k for k, eta in enumerate(kinds)}
            out.append((kinds, np.array([place[pair[a]] for pair in self.etas])))
        return out

    def mean_difference(self, t0: Array, t1: Array, index: Array) -> Array:
        """MD = P_0(X > t0) - P_1(X > t1)."""
        return self.tail(0, t0, index) - self.tail(1, t1, index)

    def log_odds_difference(self, t0: Array, t1: Array, index: Array) -> Array:
        """logit P_0(X > t0) - logit P_1(X > t1): the sign of MD, also where MD is below the
        smallest double.
        """
        above0, below0 = self.log_tails(0, t0, index)
        above1, below1 = self.log_tails(1, t1, index)
        with np.errstate(invalid="ignore"):
            difference = (above0 - below0) - (above1 - below1)
        return np.nan_to_num(difference, nan=0.0, posinf=1e300, neginf=-1e300)


@dataclass(frozen=True)
class ThresholdSolution:
    """λ = anchor + offset, the thresholds and MD of each problem, all (B,); ``erm`` is MD at λ = 0
    and its sign.
    """

    anchor: Array
    offset: Array
    t0: Array
    t1: Array
    mean_difference: Array
    erm: Array
    erm_sign: Array

    @property
    def multiplier(self) -> Array:
        """λ."""
        return self.anchor + self.offset


def pooled_problem(
    model: ContinuousModel, within: Array, group_mass: Array, count: int
) -> ThresholdProblem:
    """``count`` copies of the pooled problem (one per eps)."""

    def tail(a: int, t: Array, index: Array) -> Array:
        return within[:, a] @ model.sf(a, t)

    def log_tails(a: int, t: Array, index: Array) -> tuple[Array, Array]:
        above, below = model.own_log_tails(a, np.broadcast_to(t, (within.shape[0], *t.shape)))
        w = within[:, a][:, None]
        with np.errstate(divide="ignore"):
            return _log_sum(np.log(w) + above), _log_sum(np.log(w) + below)

    return ThresholdProblem(
        np.broadcast_to(group_mass, (count, 2)), [model.etas[0]], tail, log_tails, copies=True
    )


def local_problems(model: ContinuousModel, share: Array, clients: Array) -> ThresholdProblem:
    """The own problems of ``clients`` (positions), which must have people of both groups."""

    def tail(a: int, t: Array, index: Array) -> Array:
        return model.sf_of(a, t, clients[index])

    def log_tails(a: int, t: Array, index: Array) -> tuple[Array, Array]:
        return model.log_tails_of(a, t, clients[index])

    etas = [model.etas[i] for i in clients]
    same = len(set(etas)) == 1
    return ThresholdProblem(share[clients], etas[:1] if same else etas, tail, log_tails)


def _log_sum(parts: Array) -> Array:
    top = parts.max(axis=0)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(parts - safe).sum(axis=0)) + safe


def solve_thresholds(
    problem: ThresholdProblem, eps: Array, which: Array | None = None
) -> ThresholdSolution:
    """The solutions of one-constraint problems with budgets ``eps`` (B,), by the generalised
    inverse of g.

    ``which`` (B,) are the problems that the budgets belong to: by default each has one, in order.
    """
    everyone = np.arange(eps.size) if which is None else which
    zero = np.zeros(eps.size)
    own = everyone[:1] if problem.copies else everyone  # copies share their unconstrained rule
    t0, t1 = problem.thresholds(zero[: own.size], zero[: own.size], own)
    erm = problem.mean_difference(t0, t1, own)
    sign = np.sign(erm)
    faint = np.flatnonzero(np.abs(erm) < 1e-10)
    if faint.size:  # rounding, or underflow, may have decided the sign
        sign[faint] = np.sign(problem.log_odds_difference(t0[faint], t1[faint], own[faint]))
    if problem.copies:
        t0, t1, erm, sign = (np.repeat(v, eps.size) for v in (t0, t1, erm, sign))
    active = np.flatnonzero((eps < np.abs(erm)) | ((eps == 0) & (sign != 0)))
    anchor, offset = zero.copy(), zero.copy()
    if active.size:
        own = eps[active], sign[active], everyone[active]
        anchor[active], offset[active] = _roots(problem, *own)
        t0, t1 = problem.thresholds(anchor, offset, everyone)
    return ThresholdSolution(
        anchor, offset, t0, t1, problem.mean_difference(t0, t1, everyone), erm, sign
    )


def _residual(
    problem: ThresholdProblem, anchor: Array, offset: Array, eps: Array, sign: Array, index: Array
) -> Array:
    """sign·(MD - sign·eps) at λ = -sign·(anchor + offset): decreasing in |λ|; log-odds where
    eps = 0.
    """
    t0, t1 = problem.thresholds(-sign * anchor, -sign * offset, index)
    out = sign * problem.mean_difference(t0, t1, index) - eps
    exact = np.flatnonzero(eps == 0)
    if exact.size:
        out[exact] = sign[exact] * problem.log_odds_difference(t0[exact], t1[exact], index[exact])
    return out


def _roots(problem: ThresholdProblem, eps: Array, sign: Array, index: Array) -> tuple[Array, Array]:
    """(anchor, offset) of the multipliers of active constraints; λ has the sign opposite to MD."""
    top = problem.mass[index].max(axis=1)
    count = np.arange(eps.size)
    none = np.zeros(eps.size)

    def falling(size: Array, k: Array) -> Array:
        return -_residual(problem, none[k], size, eps[k], sign[k], index[k])

    ends = falling(none, count), falling(top, count)
    size = increasing_root(falling, none, top, *ends, ROUNDING)
    anchor, offset = none.copy(), -sign * size
    before = np.abs(falling(size, count))
    rows = np.flatnonzero(before > np.where(eps == 0, ODDS_RESIDUAL, RESIDUAL))
    if rows.size:
        here = (eps[rows], sign[rows], index[rows])
        at, far = _refine(problem, *here, _nearest_anchor(problem.mass[index[rows]], size[rows]))
        after = np.abs(_residual(problem, -sign[rows] * at, -sign[rows] * far, *here))
        # η bounded away from 0 and 1 has its steep ends elsewhere: then the root stays
        gained = after < before[rows]
        anchor[rows[gained]], offset[rows[gained]] = at[gained], far[gained]
    return anchor, offset


def _nearest_anchor(mass: Array, size: Array) -> Array:
    anchors = np.stack([np.zeros(size.size), mass[:, 0], mass[:, 1]])
    return anchors[np.abs(anchors - size).argmin(axis=0), np.arange(size.size)]


def _refine(
    problem: ThresholdProblem, eps: Array, sign: Array, index: Array, near: Array
) -> tuple[Array, Array]:
    """The root in the logarithm of its distance, on its side of the anchor ``near``."""
    at = _residual(problem, near, np.zeros(near.size), eps, sign, index)
    # the residual falls with |λ|: positive means that the root lies further out
    side = np.where(at > 0, 1.0, -1.0)

    def rising(log: Array, k: Array) -> Array:
        far = side[k] * np.exp(log)
        value = _residual(problem, near[k], far, eps[k], sign[k], index[k])
        return np.where(side[k] > 0, -value, value)

    every = np.arange(near.size)
    low, high = (np.full(near.size, log) for log in np.log([5e-324, 1e-3]))
    at_low, at_high = np.minimum(rising(low, every), 0.0), np.maximum(rising(high, every), 0.0)
    distance = np.exp(increasing_root(rising, low, high, at_low, at_high))
    return -sign * near, -sign * side * distance
