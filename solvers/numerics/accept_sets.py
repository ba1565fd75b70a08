"""Accept sets {s > 0} of linear combinations of expanded functions, and integrals over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.numerics.chebyshev_roots import sign_changes
from fairfl.solvers.tolerances import NOISE
from fairfl.theory.numerics.piecewise_chebyshev import Piecewise


@dataclass(frozen=True)
class AcceptSets:
    """The sets {s_b > 0}, b = 0..B-1: their ends ``cut`` (B, C), increasing, ``sign`` 1 where s
    rises there, -1 where it falls, and 0 behind a set's last end; whether a set reaches -inf,
    ``first`` (B,); and the ``integrals`` (B, J) of F_j over it.
    """

    cut: Array
    sign: Array
    first: Array
    integrals: Array

    @property
    def counts(self) -> Array:
        """(B,) how many ends each set has."""
        return (self.sign != 0).sum(axis=1)

    def line(self, b: int) -> tuple[Array, Array]:
        """The ends (R,) of set ``b``, and whether (R + 1,) it has what is between them, 1 or 0."""
        count = np.count_nonzero(self.sign[b])
        return self.cut[b, :count], np.cumsum(np.append(self.first[b], self.sign[b, :count]))

    def holds(self, x: Array) -> Array:
        """(B, T) whether each set has its own places x (B, T)."""
        is_behind = self.cut[:, None] <= x[..., None]
        return self.first[:, None] + (self.sign[:, None] * is_behind).sum(axis=2) > 0

    @property
    def steps(self) -> tuple[Array, Array]:
        """All ends (R,), increasing, and whether (R + 1, B) sets hold what is between, 1 or 0."""
        at = np.nonzero(self.sign)
        order = np.argsort(self.cut[at], kind="stable")
        jumps = np.zeros((order.size + 1, self.first.size))
        jumps[0] = self.first
        jumps[1 + np.arange(order.size), at[0][order]] = self.sign[at][order]
        return self.cut[at][order], jumps.cumsum(axis=0)

    def take(self, rows: Array) -> AcceptSets:
        """The sets ``rows`` (positions), in that order."""
        sign = self.sign[rows]
        width = int((sign != 0).any(axis=0).sum())
        ends = self.cut[rows, :width], sign[:, :width]
        return AcceptSets(*ends, self.first[rows], self.integrals[rows])

    def join(self, other: AcceptSets) -> AcceptSets:
        """Both, one after the other."""
        count, width = len(self.sign), max(self.sign.shape[1], other.sign.shape[1])
        cut, sign = both = np.zeros((2, count + len(other.sign), width))
        for sets, rows in ((self, slice(count)), (other, slice(count, None))):
            both[:, rows, : sets.sign.shape[1]] = sets.cut, sets.sign
        first = np.concatenate([self.first, other.first])
        return AcceptSets(cut, sign, first, np.concatenate([self.integrals, other.integrals]))


def accept_sets(functions: Sequence[Piecewise], weights: Sequence[Array]) -> list[AcceptSets]:
    """The sets where Σ_j weights[a][b, j] F_a,j > 0, for every b, for each group a, of J expanded
    functions.

    Candidates for cuts are collected generously (every isolated root, every panel end with a change
    of sign); between two candidates the *integral* of s decides, and cuts between parts of one sign
    are dropped.
    """
    groups = list(zip(functions, weights, strict=True))
    noise = [NOISE * (np.abs(w) @ f.sizes) for f, w in groups]
    candidates = sign_changes(functions, [f.combined(w) for f, w in groups], noise)
    return [_between(*group) for group in zip(functions, weights, *candidates, strict=True)]


def _between(functions: Piecewise, weights: Array, owner: Array, x: Array) -> AcceptSets:
    """The sets of one group, whose ends are among the candidates x of combinations ``owner``."""
    n_combinations = weights.shape[0]
    combinations = np.arange(n_combinations)
    owner = np.concatenate([combinations, owner, combinations])
    x = np.concatenate([np.full(n_combinations, -np.inf), x, np.full(n_combinations, np.inf)])
    order = np.lexsort((x, owner))
    owner, x = owner[order], x[order]
    above = functions.above(x)  # (J, T)
    is_interval = owner[1:] == owner[:-1]
    parts = np.where(is_interval, above[:, :-1] - above[:, 1:], 0.0)
    integral = np.einsum("tj,jt->t", weights[owner[:-1]], parts)
    # a gap of width 1e-5 changes an accuracy by 1e-17, but a client's acceptance rate by 1e-6: its
    # integral drowns in the rounding of cumulative ones, and the score in its middle decides
    panel = np.searchsorted(functions.edges, x, side="right")
    is_inner = (panel[:-1] == panel[1:]) & np.isfinite(x[1:] - x[:-1])
    uncertain = np.flatnonzero(is_interval & is_inner & (np.abs(integral) < 1e-13))
    middle = functions.values((x[uncertain] + x[uncertain + 1]) / 2)
    integral[uncertain] = np.einsum("tj,jt->t", weights[owner[uncertain]], middle)
    accepts = integral > 0
    start = np.searchsorted(owner, combinations)
    is_zero = is_interval & (np.abs(integral) <= 1e-300)
    if is_zero.any():  # no mass, or s is zero: as the part before, or after at the start
        decided = np.where(is_zero | ~is_interval, 0, np.arange(is_zero.size) + 1)
        before = np.maximum.accumulate(decided)
        after = np.minimum.accumulate(np.where(decided, decided, decided.size)[::-1])[::-1]
        source = np.where(before > start[owner[:-1]], before, after) - 1
        accepts = accepts[source] & (owner[source] == owner[:-1])
    integrals = np.zeros((n_combinations, weights.shape[1]))
    np.add.at(integrals, owner[:-1][accepts & is_interval], parts[:, accepts & is_interval].T)
    is_cut = is_interval[1:] & is_interval[:-1] & (accepts[1:] != accepts[:-1])
    at = np.flatnonzero(is_cut) + 1
    cut_owner = owner[at]
    cut_index = np.arange(cut_owner.size) - np.searchsorted(cut_owner, cut_owner)
    cut, sign = np.zeros((2, n_combinations, cut_index.max(initial=-1) + 1))
    cut[cut_owner, cut_index], sign[cut_owner, cut_index] = x[at], np.where(accepts[at], 1.0, -1.0)
    return AcceptSets(cut, sign, accepts[start], integrals)
