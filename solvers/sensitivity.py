"""Derivatives of optima with respect to the people: influence functions, by the envelope theorem
(Milgrom and Segal, 2002).

When the people change a little, the cells that are 0 or 1 stay, and the randomised ones move so
that the active constraints keep holding. So the value changes as the Lagrangian does for a fixed
rule, with the multipliers at which it is stationary in the randomised cells. Every term is a sum
over people, of whom η is the frequency of y = 1 in a block of the isotonic fit: one number for each
cell of people (Hampel, 1974; the infinitesimal jackknife of Jaeckel, 1972). At a kink of the
frontier this is one of the one-sided derivatives, or between them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.finite_x.linear_programme import optima, optimum
from fairfl.solvers.problem import own_problems, problem_of
from fairfl.solvers.solution import utility_of
from fairfl.solvers.task import Task
from fairfl.solvers.tolerances import ACTIVE, WHOLE
from fairfl.theory.populations.calibration import CALIBRATIONS, Counted
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import NOTIONS, Rate


class Term(NamedTuple):
    """Σ people (``g0`` + ``g1`` η), its derivative ``slope`` in the rule (I, A, n), its value."""

    g0: Array
    g1: Array
    slope: Array
    value: float

    def minus(self, other: Term, x: float = 1.0) -> Term:
        """This term less x times another."""
        return Term._make(first - x * second for first, second in zip(self, other, strict=True))


@dataclass(frozen=True)
class People:
    """A federation of people, ``sample``, and a question about it; ``balanced``: whether costs are
    1/(2 P(y = 1)) and 1/(2 P(y = 0)), which depend on the people too.
    """

    fed: Federation
    sample: Counted
    task: Task
    balanced: bool = False
    block: Array = field(init=False)

    def __post_init__(self) -> None:
        joint = self.fed.joint
        clients, groups, n = joint.people.shape
        rises = np.zeros(joint.eta.shape, int)
        rises[..., 1:] = np.diff(joint.eta, axis=-1) != 0
        if not self.sample.ordered:  # each level has its frequency
            rises[..., 1:] = 1
        by_client, by_group = CALIBRATIONS[self.sample.calibrate]
        unit = by_client * np.arange(clients)[:, None] * groups + by_group * np.arange(groups)
        object.__setattr__(self, "block", unit[..., None] * n + rises.cumsum(axis=-1))

    def influence(self, g0: Array, g1: Array) -> Array:
        """(I, A, 2, n) the derivative of Σ people (g0 + g1 η), g0 and g1 fixed, for one person."""
        people, eta, where = *(self.fed.joint.people, self.fed.joint.eta), self.block.ravel()
        size, sums = (np.bincount(where, v.ravel()) for v in (people, people * g1))
        mean = np.divide(sums, size, out=np.zeros_like(sums), where=size > 0)[self.block]
        by_label = [g0 + g1 * eta + mean * (y - eta) for y in (0.0, 1.0)]
        return np.stack(by_label, axis=2)

    def utility(self, f: Array) -> Term:
        """Of a rule f, (I, A, n) or (1, A, n)."""
        joint = self.fed.joint
        missed, wrong = self.task.costs[:, :, None]
        g0, g1 = -wrong * f + 0.0 * joint.people, (missed + wrong) * f - missed
        if self.balanced:
            base = self.fed.base_rate
            lost = (joint.people * (1.0 - f) * joint.eta).sum() / base**2
            false = (joint.people * f * (1.0 - joint.eta)).sum() / (1.0 - base) ** 2
            g1 = g1 + 0.5 * (lost - false)
        slope = joint.gain(self.task.costs, "xa")
        return Term(g0, g1 + 0.0 * joint.people, slope, utility_of(self.fed, self.task.costs, f))

    def differences(self, f: Array, client: int | slice = slice(None)) -> list[Term]:
        """Differences of the groups' rates, of all people or a client's: the largest counts."""
        out = []
        for rate in NOTIONS[self.task.notion].rates:
            groups = range(self.fed.n_groups)
            rates = [t for a in groups if (t := self._rate(rate, f, client, a)) is not None]
            if len(rates) < 2:
                continue
            if self.task.difference == "overall":
                mean = self._rate(rate, f, client, slice(None))
                assert mean is not None
                out += [term.minus(mean) for term in rates]
            else:
                out += [first.minus(second) for first, second in combinations(rates, 2)]
        return out

    def _rate(self, rate: Rate, f: Array, client: int | slice, group: int | slice) -> Term | None:
        """A rate of clients and groups, numbers or slices; None where nobody has the event."""
        joint = self.fed.joint
        there = np.zeros(joint.people.shape)
        there[client, group] = 1.0
        people = joint.people * there
        mass = float((people * (rate.mass[0] + rate.mass[1] * joint.eta)).sum())
        if mass <= 0:
            return None
        served = [k + w * f for k, w in zip(rate.constant, rate.linear, strict=True)]
        value = float((people * (served[0] + served[1] * joint.eta)).sum()) / mass
        g0, g1 = (there * (s - value * m) / mass for s, m in zip(served, rate.mass, strict=True))
        slope = people * (rate.linear[0] + rate.linear[1] * joint.eta) / mass
        return Term(g0, g1, slope, value)


class Sensitivity(NamedTuple):
    """Influences (I, A, 2, n) of a point's value and disparity: what one person more, with its
    share of all people, adds. ``slope``: of the frontier there. ``counted``: of the disparity of
    its fixed rule.
    """

    value: Array
    disparity: Array
    slope: float
    counted: Array


def rules_at(fed: Federation, task: Task, budgets: Array) -> Array:
    """The optimal rule on a finite X as a table (1, A, n), of "client_aware" (I, A, n); of
    "lft_ensemble" the clients' own rules. ``budgets``: (1,) of "cfl", (1 + I,) with local budgets,
    else (I,).
    """
    if task.scheme.is_averaged:
        problems = own_problems(fed, task)
        return problems[0].rule(optima(problems, budgets)[0], fed.n_groups)
    problem = problem_of(fed, task, budgets.size > 1)
    return problem.rule(optimum(problem, budgets)[0], fed.n_groups)


def averaged(fed: Federation, task: Task, rules: Array) -> Array:
    """The rule (1, A, n) or (I, A, n) that people meet."""
    return np.tensordot(fed.weight, rules, 1)[None] if task.scheme.is_averaged else rules


def sensitivity(
    people: People, rules: Array, budgets: Array, end: str = "", *, common: bool = False
) -> Sensitivity:
    """How a point of a frontier changes with the people.

    At a disparity that was asked for, the value is the best with this disparity, which itself stays
    the same. At the frontier's ends both change.

    Parameters
    ----------
    people : the federation and the question.
    rules, budgets : see :func:`rules_at`.
    end : "smallest" or "best", where the point is the least disparate or the best rule's.
    common : whether all clients have one budget.
    """
    f = averaged(people.fed, people.task, rules)
    value, terms = people.utility(f), people.differences(f)
    disparity = max((abs(t.value) for t in terms), default=0.0)
    pooled_limits = [Limit(t, POOLED) for t in terms if abs(t.value) >= disparity - ACTIVE]
    local_limits = _active_limits(people, rules, budgets, common)
    mixed, limits = Mixed(people, rules), pooled_limits + local_limits
    zero = value.minus(value)
    size = zero.minus(pooled_limits[0].term, -pooled_limits[0].sign) if pooled_limits else zero
    counted = people.influence(size.g0, size.g1)
    if end == "best" or not pooled_limits:
        ends = [mixed.solved(term, local_limits)[0] for term in (value, size)]
        return Sensitivity(ends[0], ends[1], 0.0, counted)
    if end == "smallest" and disparity > ACTIVE:
        influence = mixed.solved(value, limits, 0.0)[0]
        smallest = mixed.solved(zero, limits, -1.0)[0]
        return Sensitivity(influence, smallest, 0.0, counted)
    influence, lam = mixed.solved(value, limits)
    lam, signs = lam[: len(pooled_limits)], np.array([limit.sign for limit in pooled_limits])
    slope = float(lam @ signs) if disparity > ACTIVE else float(np.abs(lam).sum())
    return Sensitivity(influence, 0.0 * influence, slope, counted)


class Limit(NamedTuple):
    """A difference of rates that stays at its limit. The limit of those with one ``level`` is one
    and free; FIXED ones do not change; POOLED differences are those of all people.
    """

    term: Term
    level: int

    @property
    def sign(self) -> float:
        """Of the difference."""
        return float(np.sign(self.term.value))


POOLED, FIXED = -2, -1


@dataclass(frozen=True)
class Mixed:
    """The randomised cells of ``rules`` (J, A, n) for people."""

    people: People
    rules: Array

    def slope(self, term: Term, *, is_local: bool = False) -> Array:
        """A term's derivatives in the cells; ``is_local``: of one client's rates."""
        task, weight = self.people.task, self.people.fed.weight[:, None, None]
        ensemble, slope = task.scheme.is_averaged, term.slope
        if not (task.scheme.sees_client or ensemble and is_local):
            slope = slope.sum(axis=0, keepdims=True)
        if ensemble and not is_local:
            slope = weight * slope
        slope, rules = np.broadcast_to(slope, self.rules.shape), self.rules
        if task.sees == "x":
            slope, rules = slope.sum(axis=1), rules[:, 0]
        mixed = (rules > WHOLE) & (rules < 1.0 - WHOLE)
        if not task.monotone:
            return slope[mixed]
        # the cells between two thresholds move together
        block = np.cumsum(np.diff(rules, axis=-1, prepend=-1.0) != 0)[mixed.ravel()]
        return np.bincount(np.unique(block, return_inverse=True)[1], slope[mixed])

    def solved(
        self, start: Term, limits: list[Limit], multiplier_sum: float | None = None
    ) -> tuple[Array, Array]:
        """The influence of ``start`` less multipliers times the terms of ``limits``, and these
        multipliers: derivatives in the cells and in free limits are zero, and the multipliers of
        pooled terms, with their signs, add up to ``multiplier_sum``, unless that is None.
        """
        goal = self.slope(start)
        rows = [self.slope(limit.term, is_local=limit.level != POOLED) for limit in limits]
        table = np.reshape(rows, (len(limits), goal.size)).T
        size = max(np.abs(table).max(initial=0.0), 1e-300)
        signs, level = (
            np.array([getattr(limit, name) for limit in limits]) for name in ("sign", "level")
        )
        free = {k: 0.0 for k in level if k >= 0} | (
            {} if multiplier_sum is None else {POOLED: multiplier_sum}
        )
        sums = np.reshape([(level == k) * signs for k in free], (len(free), len(limits)))
        goal = np.append(goal, size * np.array([*free.values()]))
        lam = np.linalg.lstsq(np.concatenate([table, size * sums]), goal, rcond=1e-10)[0]
        for x, limit in zip(lam, limits, strict=True):
            start = start.minus(limit.term, x)
        return self.people.influence(start.g0, start.g1), lam


def _active_limits(people: People, rules: Array, budgets: Array, common: bool) -> list[Limit]:
    """The clients' active constraints; a client's own budget with one of them holds nothing."""
    task, out = people.task, []
    has_pooled = task.scheme.is_pooled
    for client, budget in enumerate(budgets[1:] if has_pooled else budgets):
        rule = rules[client : client + 1] if task.scheme.is_averaged else rules
        differences = people.differences(rule, client)
        differences = [t for t in differences if abs(t.value) >= budget - ACTIVE]
        fixed = has_pooled or budget <= ACTIVE
        if fixed or common or len(differences) > 1:
            out += [Limit(t, FIXED if fixed else 0 if common else client) for t in differences]
    return out
