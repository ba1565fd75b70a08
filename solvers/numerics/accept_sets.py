"""Accept sets {s > 0} of linear combinations of expanded functions, and integrals over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.numerics.chebyshev_roots import NOISE, sign_changes
from fairfl.theory.numerics.piecewise_chebyshev import Piecewise


@dataclass(frozen=True)
class AcceptSets:
    """The sets {s_b > 0}, b = 0..B-1.

    Attributes
    ----------
    owner, cut, rising : (R,) sign changes sorted by owner and position; ``rising``: s > 0 to the
        right.
    first : (B,) bool, whether the set reaches -inf.
    integrals : (B, J) ∫ F_j over the set.
    """

    owner: Array
    cut: Array
    rising: Array
    first: Array
    integrals: Array

    def intervals(self, b: int) -> list[tuple[float, float]]:
        """The accept set of combination ``b`` as disjoint increasing intervals."""
        cuts = [float(c) for c in self.cut[self.owner == b]]
        ends = [-np.inf, *cuts, np.inf]
        start = 0 if self.first[b] else 1
        return [(ends[k], ends[k + 1]) for k in range(start, len(ends) - 1, 2)]

    @property
    def counts(self) -> Array:
        """(B,) how many cuts each set has."""
        return np.bincount(self.owner, minlength=self.first.size)

    def beside(self, table: Array) -> Array:
        """(B, C, n) values (n, R) of all cuts, those of each set side by side and 0 after them."""
        counts = self.counts
        out = np.zeros((counts.size, counts.max(initial=0), len(table)))
        out[self.owner, self.place] = table.T
        return out

    @property
    def place(self) -> Array:
        """(R,) of each cut, how many of its own set are before it."""
        return np.arange(self.cut.size) - np.searchsorted(self.owner, self.owner)

    def line(self, b: int) -> tuple[Array, Array]:
        """The cuts (R_b,) of combination ``b``, and whether (R_b + 1,) it accepts between them, 1
        or 0.
        """
        cut = self.cut[self.owner == b]
        return cut, (self.first[b] + np.arange(cut.size + 1)) % 2.0

    @property
    def steps(self) -> tuple[Array, Array]:
        """All cuts (R,), increasing, and whether (R + 1, B) each set holds what is between them, 1
        or 0.
        """
        order = np.argsort(self.cut, kind="stable")
        jumps = np.zeros((order.size + 1, self.first.size))
        jumps[0] = self.first
        jumps[1 + np.arange(order.size), self.owner[order]] = np.where(self.rising[order], 1, -1)
        return self.cut[order], jumps.cumsum(axis=0)

    def take(self, rows: Array) -> AcceptSets:
        """The sets ``rows`` (positions), in that order."""
        size = self.counts[rows]
        owner = np.repeat(np.arange(len(rows)), size)
        first = np.searchsorted(self.owner, rows)[owner]
        at = first + np.arange(owner.size) - np.searchsorted(owner, owner)
        return AcceptSets(
            owner, self.cut[at], self.rising[at], self.first[rows], self.integrals[rows]
        )

    def join(self, other: AcceptSets) -> AcceptSets:
        """Both, one after the other."""
        return AcceptSets(
            np.concatenate([self.owner, other.owner + self.first.size]),
            np.concatenate([self.cut, other.cut]),
            np.concatenate([self.rising, other.rising]),
            np.concatenate([self.first, other.first]),
            np.concatenate([self.integrals, other.integrals]),
        )


def accept_sets(functions: Sequence[Piecewise], weights: Sequence[Array]) -> list[AcceptSets]:
    """The sets where Σ_j weights[a][b, j] F_a,j > 0, for every b, for each group a.

    Candidates for cuts are collected generously (every isolated root, every panel end with a change
    of sign); between two candidates the *integral* of s decides, and cuts between parts of one sign
    are dropped.

    Parameters
    ----------
    functions : J expanded functions of each group.
    weights : (B, J) of each group.
    """
    found = sign_changes(
        functions,
        [f.combined(w) for f, w in zip(functions, weights, strict=True)],
        [NOISE * (np.abs(w) @ f.sizes) for f, w in zip(functions, weights, strict=True)],
    )
    return [_between(*each) for each in zip(functions, weights, *found, strict=True)]


def _between(functions: Piecewise, weights: Array, owner: Array, x: Array) -> AcceptSets:
    """The sets of one group, whose ends are among the candidates x of combinations ``owner``."""
    count = weights.shape[0]
    everyone = np.arange(count)
    owner = np.concatenate([everyone, owner, everyone])
    x = np.concatenate([np.full(count, -np.inf), x, np.full(count, np.inf)])
    order = np.lexsort((x, owner))
    owner, x = owner[order], x[order]
    above = functions.above(x)  # (J, T)
    inner = owner[1:] == owner[:-1]
    parts = np.where(inner, above[:, :-1] - above[:, 1:], 0.0)
    value = np.einsum("tj,jt->t", weights[owner[:-1]], parts)
    # a gap of width 1e-5 changes an accuracy by 1e-17, but a client's acceptance rate by 1e-6: its
    # integral drowns in the rounding of cumulative ones, and the score in its middle decides
    panel = np.searchsorted(functions.edges, x, side="right")
    faint = np.flatnonzero(
        inner & (np.abs(value) < 1e-13) & (panel[:-1] == panel[1:]) & np.isfinite(x[1:] - x[:-1])
    )
    middle = functions.values((x[faint] + x[faint + 1]) / 2)
    value[faint] = np.einsum("tj,jt->t", weights[owner[faint]], middle)
    positive = value > 0
    starts = np.searchsorted(owner, everyone)
    silent = inner & (np.abs(value) <= 1e-300)
    if silent.any():  # no mass, or s is zero: as the part before, or after at the start
        told = np.where(silent | ~inner, 0, np.arange(silent.size) + 1)
        before = np.maximum.accumulate(told)
        after = np.minimum.accumulate(np.where(told, told, told.size)[::-1])[::-1]
        kin = np.where(before > starts[owner[:-1]], before, after) - 1
        positive = positive[kin] & (owner[kin] == owner[:-1])
    integrals = np.zeros((count, weights.shape[1]))
    np.add.at(integrals, owner[:-1][positive & inner], parts[:, positive & inner].T)
    change = inner[1:] & inner[:-1] & (positive[1:] != positive[:-1])
    at = np.flatnonzero(change) + 1
    return AcceptSets(owner[at], x[at], positive[at], positive[starts], integrals)
