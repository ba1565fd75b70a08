"""Of several optimal rules on densities the one nearest to a coin toss.

Under equalised odds and accuracy parity a group's score s = u + Σ λ_k v_k may be zero everywhere,
and every rule that meets the budgets, those that bind exactly, is optimal (Hardt, Price and Srebro,
2016, section 4). The one with the least sup |f - 1/2| over all places that tie is, by linear
programming duality, f = 1/2 + ρ (g - 1/2), g = ⟦Σ d_k v_k > 0⟧ where that combination is not zero:
the rule g with probability ρ and else a coin; g's values are where the ray from the coin's values
to the wanted ones leaves the set of all rules' values. The other places have the least sup |f -
1/2| that is left to them, and so on. The rule is unique up to null sets.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.numerics.descent import Line, minimise_dual
from fairfl.solvers.numerics.dual import Constraints, DualPoint, dual_point, weights
from fairfl.solvers.numerics.newton import settled
from fairfl.solvers.solution import CertificationError
from fairfl.solvers.tolerances import DENSITIES_TIED, DEPENDENT, MULTIPLIER_FAINT, REFINED_MET
from fairfl.theory.numerics.piecewise_chebyshev import Piecewise

HARDLY = 1e-4
"""Places that a combination pushes by no larger share of the most are left to the next step: where
places need the same, any share of either serves.
"""
TRIES = 4  # times the number of limits that sets of binding ones are tried


def settle_ties(problem: Constraints, eps: Array, point: DualPoint) -> tuple[list[Line], DualPoint]:
    """The rule at budgets (K,) of a nearly optimal dual point, and the dual point at which scores
    tie exactly; without ties its own rule. CertificationError where it is not found.
    """
    ties = tied(problem, point)
    point = exact(problem, eps, point, ties) if any(ties) else point
    lines = [sets.line(0) for sets in point.sets]
    free = [p for p, tie in enumerate(ties) if tie]
    while free:
        others = np.setdiff1d(np.arange(len(lines)), free)
        values = problem.b + sum(served(problem, p, lines[p]) for p in others)
        settled_lines = Toss(problem, eps, np.sign(point.lam[0]), free, values).nearest()
        for p, line in settled_lines.items():
            lines[p] = line
        free = [p for p in free if p not in settled_lines]
    return lines, point


def served(problem: Constraints, p: int, line: Line) -> Array:
    """(K,) what a rule at a place adds to the constraints' values."""
    return problem.coefficients[p] @ integrals(problem.profiles[p], line)[1:]


def integrals(functions: Piecewise, line: Sequence[Array]) -> Array:
    """(J,) the integrals of functions times a rule."""
    edges, rates = line
    return rates[0] * functions.totals + functions.above(edges) @ np.diff(rates)


@dataclass(frozen=True)
class Toss:
    """Rules of the places ``free``, which tie, at budgets ``eps`` (K,): what binds has the value
    -side eps, ``side`` (K,) the multipliers' signs. ``values`` (K,) are those without these places.
    """

    problem: Constraints
    eps: Array
    side: Array
    free: list[int]
    values: Array

    def nearest(self) -> dict[int, Line]:
        """The nearest rule to a toss, at the places that it settles, by an active set: a limit that
        is missed is made to bind, and one that the rule would keep anyway is released.
        """
        side = self.side.copy()
        for _ in range(TRIES * side.size):
            lines, d = self._meeting(side)
            values, is_known = self._values(side, lines)
            excess = np.where(is_known & (side == 0), np.abs(values) - self.eps, -np.inf)
            pull = np.where(self.side == 0, -d * side, -np.inf)
            if excess.max(initial=-np.inf) > REFINED_MET:
                k = int(excess.argmax())
                side[k] = -np.sign(values[k])
            elif pull.max(initial=-np.inf) > REFINED_MET:
                side[int(pull.argmax())] = 0.0
            else:
                return lines
        raise CertificationError("the rule nearest to a coin toss was not found where scores tie")

    def _values(self, side: Array, lines: dict[int, Line]) -> tuple[Array, Array]:
        """(K,) values of the limits, and which are known: they depend on what binds."""
        values = self.values + sum(served(self.problem, p, line) for p, line in lines.items())
        binds = np.flatnonzero(side)
        table = self._table([p for p in self.free if p not in lines])
        parts, is_known = _combined(table[binds], table)
        return values - parts @ (side[binds] * self.eps[binds] + values[binds]), is_known

    def _table(self, places: list[int]) -> Array:
        """(K, N) the limits' coefficients at some places."""
        problem = self.problem
        rows = [problem.coefficients[p] @ flat(problem.profiles[p])[1:] for p in places]
        return np.hstack([np.zeros((self.side.size, 0)), *rows])

    def _meeting(self, side: Array) -> tuple[dict[int, Line], Array]:
        """The nearest rule at which what has a ``side`` binds, where it settles, and d (K,)."""
        problem, d = self.problem, np.zeros(side.size)
        binds = np.flatnonzero(side)
        rows = [problem.coefficients[p][binds] for p in self.free]
        profiles = [problem.profiles[p] for p in self.free]
        values_at_toss = sum(r @ f.totals[1:] / 2.0 for r, f in zip(rows, profiles, strict=True))
        target = -side[binds] * self.eps[binds] - self.values[binds] - values_at_toss
        if np.abs(target).max(initial=0.0) <= REFINED_MET:
            return dict.fromkeys(self.free, (np.empty(0), np.array([0.5]))), d
        table = self._table(self.free)[binds]
        left, singular_values, _ = np.linalg.svd(table, full_matrices=False)
        independent = singular_values > DEPENDENT * singular_values[0]
        unit = singular_values[0] / singular_values[independent]
        basis = (left[:, independent] * unit).T  # of independent combinations
        along, *across = np.linalg.svd((basis @ target)[None])[2] @ basis
        along, across = along * np.sign(along @ target), np.reshape(across, (-1, binds.size))
        gains = [np.append(0.0, along @ r)[None] for r in rows]
        tie_problem = Constraints(
            -along @ values_at_toss,
            tuple(map(with_gain, profiles, gains)),
            tuple(across @ r for r in rows),
            -across @ values_at_toss,
            (False,) * len(rows),
        )
        point = minimise_dual(tie_problem, np.zeros(len(across)))
        is_tied = tied(tie_problem, point, HARDLY)
        if any(is_tied):
            point = exact(tie_problem, np.zeros(len(across)), point, is_tied)
        d[binds] = along + point.lam[0] @ across
        scale = min(float(along @ target / point.dual(np.zeros((1, len(across))))[0]), 1.0)
        lines = {}
        for p, sets, tie in zip(self.free, point.sets, is_tied, strict=True):
            if not tie:
                cut, rates = sets.line(0)
                lines[p] = cut, 0.5 + scale * (rates - 0.5)
        return lines, d


def _combined(rows: Array, targets: Array) -> tuple[Array, Array]:
    """Shares (W, R) by which rows (R, N) add up to those wanted (W, N), and which they do."""
    shares = np.linalg.lstsq(rows.T, targets.T, rcond=DEPENDENT)[0].T
    residual = np.abs(targets - shares @ rows).max(axis=1, initial=0.0)
    return shares, residual <= DEPENDENT * np.abs(targets).max(initial=1.0)


def tied(problem: Constraints, point: DualPoint, share: float = DENSITIES_TIED) -> list[bool]:
    """Of each place, whether its scores tie as a whole: are below a share of the gain."""
    places = zip(problem.profiles, problem.coefficients, strict=True)
    scores = [np.abs(f.combined(weights(point.lam, rows))).max() for f, rows in places]
    limits = [share * f.sizes[0].max() for f in problem.profiles]
    return [bool(score < limit) for score, limit in zip(scores, limits, strict=True)]


def exact(problem: Constraints, eps: Array, point: DualPoint, ties: list[bool]) -> DualPoint:
    """The dual point next to another at which scores tie exactly, at budgets eps (K,)."""
    start = np.where(np.abs(point.lam[0]) > MULTIPLIER_FAINT, point.lam[0], 0.0)
    binds = np.flatnonzero(start)
    signs = np.sign(start[binds])
    places = zip(problem.profiles, problem.coefficients, ties, strict=True)
    tied_parts = [(flat(profile), rows[binds]) for profile, rows, tie in places if tie]
    slopes = np.hstack([rows @ f[1:] for f, rows in tied_parts])
    left, size, right = np.linalg.svd(slopes, full_matrices=False)
    pinned = size > DEPENDENT * size[0]
    score = np.hstack([f[0] for f, _ in tied_parts]) + start[binds] @ slopes
    lam = np.zeros(problem.count)
    lam[binds] = start[binds] - left[:, pinned] / size[pinned] @ (right[pinned] @ score)
    # what ties leave of the multipliers is found at the other places
    loose = np.zeros((int((~pinned).sum()), problem.count))
    loose[:, binds] = left[:, ~pinned].T
    constant = problem.b.copy()
    constant[binds] += signs * eps[binds]
    rest = [p for p, tie in enumerate(ties) if not tie]
    profiles, rows = [problem.profiles[p] for p in rest], [problem.coefficients[p] for p in rest]
    reduced = Constraints(
        0.0,
        tuple(map(with_gain, profiles, [weights(lam[None], r) for r in rows])),
        tuple(loose @ r for r in rows),
        loose @ constant,
        tuple(problem.nobody[p] for p in rest),
    )
    zero = np.zeros((1, len(loose)))
    rest_lam = settled(reduced, dual_point(reduced, zero), zero)[0].lam if rest else zero
    multipliers = lam + rest_lam @ loose
    return dual_point(problem, np.where(np.abs(multipliers) > MULTIPLIER_FAINT, multipliers, 0.0))


def flat(functions: Piecewise) -> Array:
    """(J, N) all coefficients of a place's functions."""
    return functions.coefficients.reshape(len(functions.coefficients), -1)


def with_gain(functions: Piecewise, weights: Array) -> Piecewise:
    """A place's functions, the gain replaced by a combination of all, ``weights`` (1, J)."""
    gain = functions.combined(weights)
    return replace(functions, coefficients=np.concatenate([gain, functions.coefficients[1:]]))
