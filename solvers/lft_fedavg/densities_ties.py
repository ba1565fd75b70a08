"""LFT+FedAvg's rules on densities where a whole group ties.

Under accuracy parity and equalised odds a group's score may be zero everywhere: each of its rules
is optimal for the budgets that it meets. The best one with at most a disparity solves a problem of
the same form, at the group's place alone: the pooled differences are limited by the disparity, and
the clients' keep their signs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.densities.rules import RuleFamily
from fairfl.solvers.frontier import SLACK_BUDGET
from fairfl.solvers.numerics.coin_toss_densities import exact, flat, integrals, tied, with_gain
from fairfl.solvers.numerics.descent import descend, refine
from fairfl.solvers.numerics.dual import Constraints, dual_point
from fairfl.solvers.tolerances import DENSITIES_TIED, TIGHT
from fairfl.theory.numerics.piecewise_chebyshev import Piecewise

HALF = 2.0  # Differences, and sums of two, are at most this: v <= 0 is |v + HALF| <= HALF


@dataclass(frozen=True)
class TiedRules:
    """The rules at a tie: the ``problem`` of the places that tie, of the M pooled differences and
    then the signs, whose budgets are ``eps``; the clients' differences (K,) that the other places
    make, ``values``, and what each tied place adds, ``rows`` (K, J_p); and the position of each
    client's first constraint that binds, ``lead`` (I,), -1 where none does.
    """

    problem: Constraints
    eps: Array
    values: Array
    rows: tuple[Array, ...]
    lead: Array

    @classmethod
    def of(cls, family: RuleFamily) -> TiedRules | None:
        """The tie at budgets of zero, if there is one."""
        full, client = family.problem, family.client
        if not any(map(_may_tie, full.profiles, full.coefficients)):
            return None
        limits = family.limits(np.zeros(int(client.max()) + 1))
        point = descend(full, limits)[-1]
        is_tied = tied(full, point)
        if not any(is_tied):
            return None
        point = exact(full, limits, point, is_tied)
        tied_places = [p for p, tie in enumerate(is_tied) if tie]
        sign = np.sign(point.lam[0])
        binding = np.flatnonzero(sign)
        lead = np.full(int(client.max()) + 1, -1)
        lead[client[binding[::-1]]] = binding[::-1]
        base, values, pooled = full.base, full.b.copy(), family.constant.copy()
        for p in np.setdiff1d(np.arange(len(is_tied)), tied_places):
            group_integrals = point.sets[p].integrals[0]
            base += 0.0 if full.nobody[p] else float(group_integrals[0])
            values += full.coefficients[p] @ group_integrals[1:]
            pooled += family.pooled[p] @ group_integrals[1:]
        unit_rows = np.eye(values.size)
        at_most_zero, zero_rows = [], []  # rows that are at most zero, and rows that are zero
        for k in np.flatnonzero(family.bound & (lead[client] >= 0)):
            lead_constraint = lead[client[k]]
            lead_row = sign[lead_constraint] * unit_rows[lead_constraint]
            if k == lead_constraint:
                at_most_zero.append(lead_row)
            elif sign[k]:
                zero_rows.append(sign[k] * unit_rows[k] - lead_row)
            else:
                at_most_zero += [lead_row + unit_rows[k], lead_row - unit_rows[k]]
        sign_rows = np.array(at_most_zero + zero_rows)
        shift = np.repeat([HALF, 0.0], [len(at_most_zero), len(zero_rows)])
        problem = Constraints(
            base,
            tuple(full.profiles[p] for p in tied_places),
            tuple(
                np.concatenate([family.pooled[p], sign_rows @ full.coefficients[p]])
                for p in tied_places
            ),
            np.concatenate([pooled, sign_rows @ values + shift]),
            tuple(full.nobody[p] for p in tied_places),
        )
        rows = tuple(full.coefficients[p] for p in tied_places)
        return cls(problem, shift, values, rows, lead)

    @property
    def pooled(self) -> int:
        """How many pooled differences there are."""
        return self.problem.count - self.eps.size

    def best(self, disparity: float) -> Array | None:
        """The budgets (I,) of the most useful rule with at most the disparity; None without one."""
        limits = np.append(np.full(self.pooled, disparity), self.eps)
        pooled, budgets = self._solved(self.problem, limits)
        return budgets if np.abs(pooled).max(initial=0.0) <= disparity + TIGHT else None

    def fairest(self) -> Array | None:
        """The budgets (I,) of a fair rule, or of one difference of the least disparate."""
        fair = self.best(0.0)
        if fair is not None or self.pooled != 1:
            return fair
        tie, solutions = self.problem, []
        for side in (1.0, -1.0):  # the least side·MD that is not negative
            turn = np.append(side, np.ones(self.eps.size))
            tables = [turn[:, None] * rows for rows in tie.coefficients]
            gains = [np.append(0.0, -rows[0])[None] for rows in tables]
            profiles = map(with_gain, tie.profiles, gains)
            b = turn * tie.b - np.append(HALF, 0.0 * self.eps)
            problem = replace(tie, profiles=tuple(profiles), coefficients=tuple(tables), b=b)
            solutions.append(self._solved(problem, np.append(HALF, self.eps)))
        return min(solutions, key=lambda solution: abs(solution[0][0]))[1]

    def _solved(self, problem: Constraints, limits: Array) -> tuple[Array, Array]:
        """The pooled differences (M,) of the rule that solves a problem, and its budgets (I,)."""
        panels = [(f.edges, np.full(f.edges.size + 1, 0.5)) for f in problem.profiles]
        start = dual_point(problem, np.zeros((1, problem.count)))
        lines, _ = refine(problem, limits, [start], panels)
        pooled, values = self.problem.b[: self.pooled].copy(), self.values.copy()
        places = zip(problem.profiles, self.problem.coefficients, self.rows, lines, strict=True)
        for profile, both, rows, line in places:
            served = integrals(profile, line)[1:]
            pooled += both[: self.pooled] @ served
            values += rows @ served
        budgets = np.where(self.lead >= 0, np.abs(values[self.lead]), SLACK_BUDGET)
        return pooled, np.where(budgets <= TIGHT, 0.0, budgets)


def _may_tie(functions: Piecewise, rows: Array) -> bool:
    """Whether multipliers of constraints with these coefficients make a place's score zero."""
    coefficients = flat(functions)
    gain, table = coefficients[0], rows @ coefficients[1:]
    left = gain - np.linalg.lstsq(table.T, gain)[0] @ table
    return bool(np.abs(left).max() <= DENSITIES_TIED * np.abs(gain).max())
