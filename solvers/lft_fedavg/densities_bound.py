"""Upper bounds on LFT+FedAvg's accuracy on densities, by branch and bound over the multipliers
(FedFB, lemma 18).

A rule f that is optimal for some budgets is f_λ = ⟦u + Σ λ_k v_k > 0⟧ for some λ with λ_k MD_k(f)
<= 0 for all k (complementary slackness). So it suffices to look at all λ, in 2^K orthants: each k
has λ_k >= 0 and MD_k <= 0, or λ_k <= 0 and MD_k >= 0.

Each v_k is a density in group 0, and minus a density in group 1. So when any λ_k grows, the accept
set of group 0 grows and that of group 1 shrinks, and every MD_k and the pooled MD increase. In a
box of λ they lie between their values at its two corners. With U(μ) the largest value of the
Lagrangian, the accuracy of f is at most U(μ) - Σ μ_k MD_k(f) for every μ; the corners serve as μ.
A box in which some MD_k surely has the wrong sign, or |MD| is surely too large, holds no solution.
The boxes whose bounds are furthest above the frontier are halved first.

The λ of solutions are bounded: U(λ) <= U(0) there, while U(λ) is at least the accuracy of f plus
Σ λ_k MD_k(f) for every rule f, and also for 1 - f, whose MD_k are -MD_k(f). K rules with
independent MD_k give a box.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.densities.rules import RuleFamily
from fairfl.solvers.numerics.descent import minimise_dual
from fairfl.solvers.tolerances import BOUND_CLOSE, MD_ROUNDING
from fairfl.theory.populations.federation import Federation

CLIENTS = 2
"""With more clients boxes are too many: the bounds found are CFL's, or hardly below."""
BOXES = 20_000
"""Boxes looked at: three seconds."""
HALVED = 500
"""Boxes halved at once."""
SINGULAR = 1e-8
"""Rules whose MD_k are this close to dependent do not bound the multipliers."""


class Boxes(NamedTuple):
    """Boxes of multipliers that may hold solutions, between corners ``low`` and ``high`` (B, K).

    ``sign`` (B, K) of the orthant, ``first`` (B,) the place of the smallest disparity that a
    box may reach, ``top`` (B,) how accurate it may be, ``span`` (B, K) what its MD_k range over.
    """

    low: Array
    high: Array
    sign: Array
    first: Array
    top: Array
    span: Array

    def take(self, rows: Array) -> Boxes:
        """The boxes ``rows``."""
        return Boxes(*(part[rows] for part in self))

    def join(self, other: Boxes) -> Boxes:
        """Both sets of boxes."""
        return Boxes(*(np.concatenate(parts) for parts in zip(self, other, strict=True)))

    def halves(self, side: Array) -> Boxes:
        """The boxes halved along ``side`` (B,)."""
        rows, two = np.arange(side.size), self.join(self)
        middle = (self.low + self.high)[rows, side] / 2
        two.high[rows, side] = two.low[side.size + rows, side] = middle
        return two


def highest_accuracy(
    fed: Federation, disparity: Array, accuracy: Array, boxes: int = BOXES
) -> Array | None:
    """Upper bounds (P,) on the accuracy of solutions with at most the disparities (P,), increasing;
    None where clients are too many, or their multipliers not bounded.

    Parameters
    ----------
    accuracy : (P,) what is attained: boxes that are not above it are not looked at more closely.
    boxes : how many are looked at, at most.
    """
    family = RuleFamily.of(fed)
    reach = _reach(fed, family) if fed.defined.sum() <= CLIENTS else None
    if reach is None:
        return None
    sign = np.array(list(itertools.product(*((-1, 1) if r > 0 else (1,) for r in reach))))
    low, high = np.where(sign < 0, -reach, 0.0), np.where(sign > 0, reach, 0.0)
    none = np.zeros(len(sign), int)
    evaluated = _evaluated(
        family, disparity, Boxes(low, high, sign, none, none + np.inf, high - low)
    )
    count = len(sign)
    while count < boxes:
        excess = evaluated.top - accuracy[evaluated.first]
        # where a box is halved both λ_k and MD_k come closer: their product is an accuracy
        size = (evaluated.high - evaluated.low) * evaluated.span
        excess[size.max(axis=1) <= 0] = 0.0
        rows = np.argsort(-excess, kind="stable")[:HALVED]
        rows = rows[excess[rows] > BOUND_CLOSE]
        if not rows.size:
            break
        halves = evaluated.take(rows).halves(size[rows].argmax(axis=1))
        unsplit = evaluated.take(np.setdiff1d(np.arange(excess.size), rows))
        evaluated = unsplit.join(_evaluated(family, disparity, halves))
        count += 2 * rows.size
    out = np.full(disparity.size, -np.inf)
    np.maximum.at(out, evaluated.first, evaluated.top)
    return np.maximum.accumulate(out)


def _evaluated(family: RuleFamily, disparity: Array, boxes: Boxes) -> Boxes:
    """The boxes that may hold solutions with at most the last disparity, and what they reach."""
    sign, top = boxes.sign, boxes.top
    lower, upper = family.at(boxes.low), family.at(boxes.high)
    is_wrong = (sign > 0) & (lower.values > MD_ROUNDING) | (sign < 0) & (
        upper.values < -MD_ROUNDING
    )
    lowest = np.where(sign < 0, np.maximum(lower.values, 0.0), lower.values)
    highest = np.where(sign > 0, np.minimum(upper.values, 0.0), upper.values)
    for end in (lower, upper):
        terms = end.lam * end.values + np.maximum(-end.lam * lowest, -end.lam * highest)
        top = np.minimum(top, end.accuracy + terms.sum(axis=1))
    smallest = np.maximum(np.maximum(lower.md, -upper.md), 0.0)
    first = np.searchsorted(disparity, smallest - MD_ROUNDING)
    candidates = boxes._replace(first=first, top=top, span=upper.values - lower.values)
    return candidates.take(np.flatnonzero(~is_wrong.any(axis=1) & (first < disparity.size)))


def _reach(fed: Federation, family: RuleFamily) -> Array | None:
    """(I,) what |λ_i| of solutions is at most, 0 where nothing binds; None if unknown."""
    bound, budgets = np.flatnonzero(fed.defined), np.eye(fed.n_clients)[fed.defined]
    rules = [minimise_dual(family.problem, eps) for eps in budgets]
    values = np.reshape([point.values[0, bound] for point in rules], (bound.size, bound.size))
    if not bound.size or not np.linalg.cond(values) < 1.0 / SINGULAR:
        return None
    accuracies = np.array([point.accuracy[0] for point in rules])
    lost = family.at(np.zeros((1, fed.n_clients))).accuracy - np.minimum(
        accuracies, 1.0 - accuracies
    )
    out = np.zeros(fed.n_clients)
    out[bound] = (1.0 + SINGULAR) * np.abs(np.linalg.inv(values)) @ lost  # rules are rounded
    return out
