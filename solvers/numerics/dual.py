"""Linear fairness constraints on densities: the dual function of λ.

Maximise base + ∫ u f over all f subject to |∫ f v_k + b_k| <= eps_k. The rule has *places*, lines
that it decides about apart: a group, both groups for a blind rule, a client's own. On place p, v_k
is Σ_j C_p[k, j] F_j:

    D(λ) = base + Σ_p ∫ (u_p + Σ_k λ_k v_k,p)_+ dx + λ·b + Σ_k eps_k |λ_k|

is convex, bounds the worth of every feasible f from above, and at its minimum f = ⟦u + λ·v > 0⟧
attains it. Its gradient is MD_k(f) + eps_k sign(λ_k), where MD_k is the k-th difference of rates;
its Hessian lives on the ends of the accept sets.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.numerics.accept_sets import AcceptSets, accept_sets
from fairfl.solvers.solution import budget_term
from fairfl.solvers.tolerances import ROOT
from fairfl.theory.numerics.piecewise_chebyshev import DEGREE, Piecewise, chebyshev_values

_NODES, _SHARES = np.polynomial.legendre.leggauss(DEGREE + 1)
_TERMS = chebyshev_values(_NODES, DEGREE + 1)
CHUNK = 50  # multipliers whose accept sets are found together: their series stay in the cache


@dataclass(frozen=True)
class Constraints:
    """The gain and K linear functionals of f on P places: ``base``, 1 + the utility of f = 0;
    ``profiles``, of each place the gain and J_p more functions, expanded, with ``coefficients`` (K,
    J_p); constants ``b`` (K,); and whether ``nobody`` is at a place, whose gain counts nothing.
    """

    base: float
    profiles: tuple[Piecewise, ...]
    coefficients: tuple[Array, ...]
    b: Array
    nobody: tuple[bool, ...]

    @property
    def count(self) -> int:
        """Number of constraints K."""
        return self.b.size


@dataclass(frozen=True)
class DualPoint:
    """At multipliers ``lam`` (B, K) f = ⟦s > 0⟧, 1 + its utility (B,), its values (B, K)."""

    arrays: ClassVar = ("lam", "accuracy", "values")
    lam: Array
    sets: tuple[AcceptSets, ...]
    accuracy: Array
    values: Array

    def dual(self, eps: Array) -> Array:
        """D(λ) for budgets eps (B, K)."""
        terms = self.lam * self.values + budget_term(self.lam, eps)
        return self.accuracy + terms.sum(axis=-1)

    def take(self, rows: Array) -> Self:
        """The points ``rows``."""
        sets = tuple(place_sets.take(rows) for place_sets in self.sets)
        arrays = {name: getattr(self, name)[rows] for name in self.arrays}
        return replace(self, sets=sets, **arrays)

    def join(self, other: Self) -> Self:
        """Both, one after the other."""
        sets = tuple(
            first.join(second) for first, second in zip(self.sets, other.sets, strict=True)
        )
        pairs = {name: (getattr(self, name), getattr(other, name)) for name in self.arrays}
        return replace(self, sets=sets, **{k: np.concatenate(both) for k, both in pairs.items()})

    def replaced(self, rows: Array, other: Self) -> Self:
        """``other`` in place of the points ``rows``."""
        if not len(rows):
            return self
        order = np.arange(len(self.lam))
        order[rows] = len(self.lam) + np.arange(len(rows))
        return self.join(other).take(order)


def weights(lam: Array, rows: Array) -> Array:
    """(B, 1 + I) weights of the gain and of the functions in s = u + λ·v, at one place."""
    return np.concatenate([np.ones((len(lam), 1)), lam @ rows], axis=1)


def moving(profile: Piecewise, sets: AcceptSets, weight: Array) -> Array:
    """(B, C) which of the C ends of the accept sets of s, with weights (B, J), move with λ: roots
    of s do; an end where a density jumps and s changes its sign stays.
    """
    moves = sets.sign != 0
    if not profile.jumps.size:
        return moves
    at = np.nonzero(np.isin(sets.cut, profile.jumps) & moves)
    weight, size = weight[at[0]].T, profile.sizes[:, profile.locate(sets.cut[at])[0]]
    height = (weight * profile.values(sets.cut[at])).sum(axis=0)
    moves[at] = np.abs(height) <= ROOT * (np.abs(weight) * size).sum(axis=0)
    return moves


def dual_point(problem: Constraints, lam: Array) -> DualPoint:
    """Accept sets, accuracies and constraint values at the multipliers lam (B, K)."""
    parts = []
    for multipliers in np.split(lam, range(CHUNK, len(lam), CHUNK)):
        combined = [weights(multipliers, rows) for rows in problem.coefficients]
        sets = tuple(accept_sets(problem.profiles, combined))
        parts.append(
            DualPoint(multipliers, sets, *worth(problem, [s.integrals for s in sets], multipliers))
        )
    return functools.reduce(DualPoint.join, parts)


def overlooked(problem: Constraints, point: DualPoint) -> Array:
    """(B,) what accept sets leave out of Σ_p ∫ s_+, by 16 nodes on each panel: a missed root makes
    the dual value too small, and the rule as bad as the bound.
    """
    lost = np.zeros(len(point.lam))
    for profile, rows, sets, nobody in zip(
        problem.profiles, problem.coefficients, point.sets, problem.nobody, strict=True
    ):
        half = np.diff(profile.edges)[:, None] / 2
        x = profile.edges[:-1, None] + half * (1.0 + _NODES)
        s = profile.combined(weights(point.lam, rows)) @ _TERMS
        cut, accepts = sets.steps
        wrong = (s > 0) != (np.moveaxis(accepts[np.searchsorted(cut, x)], -1, 0) > 0)
        missed = np.where(wrong, np.abs(s), 0.0) @ _SHARES @ half[:, 0]
        lost += 0.0 if nobody else missed
    return lost


def worth(problem: Constraints, integrals: Sequence[Array], lam: Array) -> tuple[Array, Array]:
    """(B,) accuracies and (B, K) constraint values of sets with these integrals (B, J_p)."""
    accuracy = np.full(lam.shape[0], problem.base)
    values = np.broadcast_to(problem.b, lam.shape)
    for rows, integral, nobody in zip(problem.coefficients, integrals, problem.nobody, strict=True):
        if not nobody:
            accuracy = accuracy + integral[:, 0]
            values = values + integral[:, 1:] @ rows.T
    return accuracy, values


def derivatives(
    problem: Constraints, point: DualPoint, others: Sequence[Piecewise]
) -> tuple[Array, Array]:
    """(B, K, K) the derivatives of the values in λ, D's Hessian, and (B, E, K) those of the
    integrals of E other functions of each place. An end x_r moves by -(v_l(x_r) / s'(x_r)) dλ_l.
    """
    hessians, mixed = [], []
    places = zip(problem.profiles, problem.coefficients, point.sets, others, strict=True)
    for profile, rows, sets, functions in places:
        shape = 2, len(profile.coefficients), *sets.cut.shape
        value, slopes = profile.at(sets.cut.ravel(), 1).reshape(shape)
        weight = weights(point.lam, rows)
        slope = np.abs(np.einsum("bj,jbc->bc", weight, slopes))
        v = np.tensordot(rows, value[1:], 1)  # (K, B, C)
        moves = moving(profile, sets, weight) & (slope > 0)
        flow = np.divide(v, slope, out=np.zeros_like(v), where=moves).transpose(1, 2, 0)
        hessians.append(v.swapaxes(0, 1) @ flow)
        mixed.append(functions.values(sets.cut).swapaxes(0, 1) @ flow)
    return np.sum(hessians, axis=0), np.sum(mixed, axis=0)


def kkt_residual(lam: Array, values: Array, eps: Array) -> Array:
    """Largest violation of the optimality conditions, (B,)."""
    active = lam != 0
    stationary = np.abs(values + np.sign(lam) * np.where(active, eps, 0.0))
    residual = np.where(active, stationary, np.maximum(np.abs(values) - eps, 0.0))
    return residual.max(axis=-1, initial=0.0)
