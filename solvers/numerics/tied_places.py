"""Places whose scores tie, and the multipliers at which they tie exactly.

Equalised odds and accuracy parity serve a group worse than it could be served: at the optimal
multipliers its score s = u + Σ λ_k v_k is zero everywhere, and every rule that meets the budgets,
those that bind exactly, is optimal (Hardt, Price and Srebro, 2016, section 4).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.numerics.dual import Constraints, DualPoint, dual_point, weights
from fairfl.solvers.numerics.newton import settled
from fairfl.theory.numerics.piecewise import Piecewise

TIED = 1e-6
"""Scores tie where no coefficient of theirs is as large as this share of the gain's: the programme
on cells leaves 1e-7.
"""
FAINT = 1e-12
"""Multipliers no larger are rounding: their limits need not bind."""
SAME = 1e-10
"""Functions whose combinations are no larger than this, relatively, depend on each other."""


def tied(problem: Constraints, point: DualPoint, share: float = TIED) -> list[bool]:
    """Of each place, whether its scores tie as a whole at the dual point: whether they are below a
    share of the gain.
    """
    scores = [np.abs(f.combined(weights(point.lam, rows))).max() for f, rows in _places(problem)]
    most = [share * f.sizes[0].max() for f in problem.profiles]
    return [bool(score < limit) for score, limit in zip(scores, most, strict=True)]


def _places(problem: Constraints) -> list[tuple[Piecewise, Array]]:
    return list(zip(problem.profiles, problem.coefficients, strict=True))


def exact(problem: Constraints, eps: Array, point: DualPoint, ties: list[bool]) -> DualPoint:
    """The dual point next to another at which scores tie exactly, at budgets eps (K,)."""
    start = _basic(problem, eps, np.where(np.abs(point.lam[0]) > FAINT, point.lam[0], 0.0))
    binds = np.flatnonzero(start)
    signs = np.sign(start[binds])
    own = [(flat(f), r[binds]) for (f, r), tie in zip(_places(problem), ties, strict=True) if tie]
    slopes = np.hstack([rows @ f[1:] for f, rows in own])
    left, size, right = np.linalg.svd(slopes, full_matrices=False)
    pinned = size > SAME * size[0]
    score = np.hstack([f[0] for f, _ in own]) + start[binds] @ slopes
    lam = np.zeros(problem.count)
    lam[binds] = start[binds] - left[:, pinned] / size[pinned] @ (right[pinned] @ score)
    # what ties leave of the multipliers is found at the other places
    loose = np.zeros((int((~pinned).sum()), problem.count))
    loose[:, binds] = left[:, ~pinned].T
    constant = problem.b.copy()
    constant[binds] += signs * eps[binds]
    rest = [p for p, tie in enumerate(ties) if not tie]
    reduced = Constraints(
        0.0,
        tuple(
            with_gain(problem.profiles[p], weights(lam[None], problem.coefficients[p]))
            for p in rest
        ),
        tuple(loose @ problem.coefficients[p] for p in rest),
        loose @ constant,
        tuple(problem.nobody[p] for p in rest),
    )
    zero = np.zeros((1, len(loose)))
    rest_lam = settled(reduced, dual_point(reduced, zero), zero)[0].lam if rest else zero
    found = lam + rest_lam @ loose
    return dual_point(problem, np.where(np.abs(found) > FAINT, found, 0.0))


def _basic(problem: Constraints, eps: Array, lam: Array) -> Array:
    """Multipliers (K,) of the same scores and no larger dual value, of limits that do not depend on
    each other: pairwise differences of three groups add up, so that not all bind.
    """
    table = np.hstack([rows @ flat(own)[1:] for own, rows in _places(problem)])
    while (binds := np.flatnonzero(lam)).size:
        left, size, _ = np.linalg.svd(table[binds], full_matrices=True)
        size = np.append(size, np.zeros(binds.size - size.size))
        if size[-1] > SAME * size[0]:
            break
        along, signs = left[:, -1], np.sign(lam[binds])
        along = along * (-1.0 if (eps[binds] * signs + problem.b[binds]) @ along > 0 else 1.0)
        falls = -along * signs
        if falls.max() <= SAME:
            break
        steps = np.where(falls > SAME, np.abs(lam[binds]) / np.maximum(falls, SAME), np.inf)
        lam = lam.copy()
        lam[binds] += steps.min() * along
        lam[binds[steps.argmin()]] = 0.0
    return lam


def flat(own: Piecewise) -> Array:
    """(J, N) all coefficients of a place's functions."""
    return own.coefficients.reshape(len(own.coefficients), -1)


def with_gain(own: Piecewise, weights: Array) -> Piecewise:
    """A place's functions, the gain replaced by a combination of all, ``weights`` (1, J)."""
    gain = own.combined(weights)
    return replace(own, coefficients=np.concatenate([gain, own.coefficients[1:]]))
