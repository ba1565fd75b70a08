"""Of several optimal rules on densities the one nearest to a coin toss, where scores tie.

Equalised odds and accuracy parity serve a group worse than it could be served: at the optimal
multipliers its score s = u + Σ λ_k v_k is zero everywhere, and every rule with the same rates is
optimal (Hardt, Price and Srebro, 2016, section 4). They differ in what they do to other clients,
so one has to be chosen by a definition, not by the path of a solver: it is the rule with the least
sup |f - 1/2|. By linear programming duality it is

    f = 1/2 + ρ (g - 1/2),  g = ⟦Σ d_k v_k > 0⟧,

the rule g with probability ρ and else a coin; g's values are where the ray from the coin's values
to the wanted ones leaves the set of all rules' values. It is unique up to null sets, and neither
the order of clients nor the names of groups matter.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.numerics.descent import descend
from fairfl.solvers.numerics.dual import Constraints, DualPoint, dual_point, weights
from fairfl.solvers.numerics.newton import settled
from fairfl.solvers.numerics.refined_cells import Line
from fairfl.theory.numerics.piecewise import Piecewise

TIED = 1e-6
"""Scores tie where no coefficient of theirs is as large as this share of the gain's: the programme
on cells leaves 1e-7.
"""
SAME = 1e-10
"""Functions whose combinations are no larger than this, relatively, depend on each other."""


def settle_ties(problem: Constraints, eps: Array, point: DualPoint) -> tuple[list[Line], DualPoint]:
    """The rule at budgets (K,) of a nearly optimal dual point, and the dual point at which scores
    tie exactly. Without ties its own rule.
    """
    ties = tied(problem, point)
    point, values = exact(problem, eps, point, ties) if any(ties) else (point, {})
    lines = [own.line(0) for own in point.sets]
    for p, value in values.items():
        lines[p] = _nearest_to_a_toss(problem, p, value)
    return lines, point


def _places(problem: Constraints) -> list[tuple[Piecewise, Array]]:
    return list(zip(problem.profiles, problem.coefficients, strict=True))


def tied(problem: Constraints, point: DualPoint) -> list[bool]:
    """Of each place, whether its scores tie as a whole at the dual point."""
    scores = [np.abs(f.combined(weights(point.lam, rows))).max() for f, rows in _places(problem)]
    most = [TIED * f.sizes[0].max() for f in problem.profiles]
    return [bool(score < limit) for score, limit in zip(scores, most, strict=True)]


def exact(
    problem: Constraints, eps: Array, point: DualPoint, ties: list[bool]
) -> tuple[DualPoint, dict[int, Array]]:
    """The dual point next to another at which scores tie exactly; and, of each place that ties, the
    functions' integrals (J_p,) that meet all constraints that bind, as near to a coin toss as they
    may be.
    """
    binds = np.flatnonzero(point.lam[0])
    signs = np.sign(point.lam[0, binds])
    own = [(f, r[binds]) for (f, r), tie in zip(_places(problem), ties, strict=True) if tie]
    flat = [f.coefficients.reshape(len(f.coefficients), -1) for f, _ in own]
    slopes = np.hstack([rows @ f[1:] for (_, rows), f in zip(own, flat, strict=True)])
    left, size, right = np.linalg.svd(slopes, full_matrices=False)
    pinned = size > SAME * size[0]
    score = np.hstack([f[0] for f in flat]) + point.lam[0, binds] @ slopes
    lam = np.zeros(problem.count)
    lam[binds] = point.lam[0, binds] - left[:, pinned] / size[pinned] @ (right[pinned] @ score)
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
    rest_lam = settled(reduced, dual_point(reduced, zero), zero)[0].lam
    point = dual_point(problem, lam + rest_lam @ loose)
    served = [
        f.totals[1:] / 2.0 if tie else sets.integrals[0, 1:]
        for f, tie, sets in zip(problem.profiles, ties, point.sets, strict=True)
    ]
    missed = constant + np.sum(
        [r @ s for r, s in zip(problem.coefficients, served, strict=True)], axis=0
    )
    shift = np.linalg.lstsq(np.hstack([rows for _, rows in own]), -missed[binds], rcond=SAME)[0]
    changes = iter(np.split(shift, np.cumsum([rows.shape[1] for _, rows in own])[:-1]))
    return point, {p: served[p] + next(changes) for p, tie in enumerate(ties) if tie}


def _nearest_to_a_toss(problem: Constraints, p: int, values: Array) -> Line:
    """The rule at a place whose functions shall have integrals ``values``."""
    profile, rows = problem.profiles[p], problem.coefficients[p]
    flat = profile.coefficients[1:].reshape(rows.shape[1], -1)
    left, size, _ = np.linalg.svd(rows @ flat, full_matrices=False)
    apart = size > SAME * size[0]
    basis = (left[:, apart] / size[apart]).T @ rows  # of independent functions
    toss = profile.totals[1:] / 2.0
    along, *across = np.linalg.svd((basis @ (values - toss))[None])[2] @ basis
    across = np.reshape(across, (-1, rows.shape[1]))
    functions = with_gain(profile, np.append(0.0, along)[None])
    alone = Constraints(0.0, (functions,), (across,), -across @ toss, (False,))
    rule = descend(alone, np.zeros(len(across)))[-1].sets[0]
    part = along @ (values - toss) / (along @ (rule.integrals[0, 1:] - toss))
    cut, served = rule.line(0)
    return cut, 0.5 + float(np.clip(part, -1.0, 1.0)) * (served - 0.5)


def with_gain(own: Piecewise, weights: Array) -> Piecewise:
    """A place's functions, the gain replaced by a combination of all, ``weights`` (1, J)."""
    gain = own.combined(weights)
    return replace(own, coefficients=np.concatenate([gain, own.coefficients[1:]]))
