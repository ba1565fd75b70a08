"""A rule whose disparity is at most a limit among all people, whatever their distribution, with a
probability that is chosen.

Some of the people make a family of rules, the others test them. Each difference of two groups'
rates is tested from its smallest value up until a rule fails (fixed-sequence testing: Learn then
Test, Angelopoulos et al., 2021), with its part of the level; of the rules that pass the most useful
one is taken. So that the makers' error does not count as well, the family is a lattice: rules for
each value of one or two differences, or where clients have budgets of the difference of every
client. The tests of one difference at several clients are one test, each of the whole level
(Berger, 1982). More differences make a path of growing budgets, on which all are tested together
so.

Rules that do not see the group, or are limited at clients, are of few levels, chosen on folds: of
many, they keep their budgets by what the makers have by chance. And some rules leave a share of the
decisions to the most useful constant. A constant accepts as many of each group: a rule that decides
a share s of the decisions has s times the difference of the rule that it is mixed from, which is
tested at 1/s of the limit. The testers' decisions are drawn, since a count of decisions has exact
tests.
"""

from contextlib import suppress
from dataclasses import replace
from itertools import permutations, product
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from fairfl._support.checks import Array
from fairfl.solvers.finite_x.linear_programme import optimum
from fairfl.solvers.problem import Problem, Stored, own_problems, problem_of
from fairfl.solvers.solution import CertificationError, utility_of
from fairfl.solvers.task import Task
from fairfl.theory.numerics.binomials import difference_p_value
from fairfl.theory.populations.calibration import Counted, on_fewer_levels
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel
from fairfl.theory.populations.notions import NOTIONS, Rates

STEPS = 161, 21  # values of the difference of a lattice, and of each of two
WIDER = 4.0
"""Of local training, whose rules move all people less than a client, a lattice is so much wider."""
BUDGETS = 41  # rules of a path
CONSTANT = np.arange(1, 10) / 10
"""Shares of decisions that are left to a constant, in at most MIXED rules of a lattice."""
MIXED = 33
EXPECTED = 3.0
"""Rules are tested in the order of their differences plus so many standard errors of the makers."""
BEYOND = 2.5, 1.3
"""A lattice ends so many standard errors of its makers beyond what the testers can pass."""
LEAST, MOST = 2 / 3, (0.9, 0.85)
"""The least share of the people who test, and the largest: few make a wide lattice, which of two
differences is coarse.
"""
ENOUGH = 1.2, 1.45
"""A lattice has a rule that passes in most samples where the limit is so many times the standard
error at the tests' normal quantile.
"""
SPREAD = 1.75  # where clients are tested, whose errors differ, so many times as much
SINGLY = 5.2
"""A rule of a path passes in most samples where its limit is so many standard errors of all."""


class Guarantee(NamedTuple):
    """A rule, None where none passed, how many people tested, and how many would be sufficient."""

    rule: Classifier | None
    people: int
    sufficient: float


class Promise(NamedTuple):
    """That with probability ``level`` no disparity is above ``limits`` (1 + I,), of all people and
    of each client (inf: any), of rules that see ``sees``.
    """

    notion: str
    sees: str
    limits: Array
    level: float

    @property
    def tested(self) -> Array:
        """Whose disparities are tested: all people's, 0, or clients', 1, 2, ..."""
        return np.flatnonzero(self.limits < 1.0)

    @property
    def is_spread(self) -> bool:
        """Whether clients are tested."""
        return bool((self.limits[1:] < 1.0).any())

    def axes(self, groups: int) -> int:
        """How many differences a lattice moves, 0 of a path. Two rates of one blind rule are not
        moved one by one, nor two of all people and of clients.
        """
        count = len(NOTIONS[self.notion].rates) * (groups - 1)
        is_free = self.sees == "xa" and not (self.is_spread and self.limits[0] < 1.0)
        return count if count == 1 or (is_free and count <= len(STEPS)) else 0

    def error(self, counts: Array) -> tuple[float, float]:
        """Of people (I, A, 2, n) the largest standard error over its limit, and the limit."""
        people, worst = counts.sum(axis=3), (0.0, 1.0)
        for place, rate in product(self.tested, NOTIONS[self.notion].rates):
            size = (people.sum(axis=0), *people)[place] @ [rate.mass[0], sum(rate.mass)]
            error = float(np.sqrt((0.25 / np.sort(size[size > 0])[:2]).sum()))
            worst = max(worst, (error, float(self.limits[place])), key=lambda e: e[0] / e[1])
        return worst

    def quantile(self, groups: int) -> float:
        """Of the normal law, where each of a lattice's differences has its part of the level."""
        count = len(NOTIONS[self.notion].rates) * groups * (groups - 1)
        return float(ndtri(1.0 - (1.0 - self.level) / max(count, 1)))

    def part(self, counts: Array) -> float:
        """The part of people (I, A, 2, n) whose tests pass a rule in most samples."""
        groups, (error, limit) = counts.shape[1], self.error(counts)
        axes = self.axes(groups)
        enough = ENOUGH[axes - 1] * self.quantile(groups) if axes else SINGLY
        enough *= SPREAD if axes and self.is_spread else 1.0
        return (enough * error / limit) ** 2

    def share_of_testers(self, counts: Array) -> float:
        """The share of people (I, A, 2, n) who are to test."""
        axes = 0 if self.is_spread else self.axes(counts.shape[1])
        return float(np.clip(self.part(counts), LEAST, MOST[axes - 1])) if axes else LEAST


def guaranteed(
    people: Counted, task: Task, path: Array, promise: Promise, testers: Array
) -> Guarantee:
    """The most useful rule of which people ``testers`` (I, A, 2, n) say that it keeps a promise;
    others, ``people``, make it. ``path`` (K, B): budgets of growing disparities; a lattice is at
    the first.
    """
    if promise.is_spread or task.sees == "x":
        people, testers = on_fewer_levels(people, testers)
    fed = Federation.of_people(people, warn=False).for_notion(task.notion)
    makers = people.counts
    axes, limits = promise.axes(fed.n_groups), promise.limits
    error, (margin, limit) = promise.error(makers)[0], promise.error(testers)
    largest = max(limit - promise.quantile(fed.n_groups) * margin, 0.0) + BEYOND[axes - 1] * error
    largest *= 1.0 if task.scheme.is_pooled or promise.is_spread else WIDER
    rules, decided, mixed_from = family(
        fed, task, path, largest, axes, promise.is_spread or not axes
    )
    served, sizes = decisions(task.notion, rules, testers)
    if all(r.linear == r.mass and not any(r.constant) for r in NOTIONS[task.notion].rates):
        tested, share = mixed_from, decided
    else:  # constants have differences of their own
        tested, share = np.arange(len(rules)), np.ones(len(rules))
    rates = Rates.of(task.notion, fed.joint.people, fed.joint.eta)
    pairs = (rates.of_rule(rule[None]) for rule in rules)
    mass = np.concatenate([rates.mass.sum(axis=1, keepdims=True), rates.mass], axis=1)
    values = np.nan_to_num([np.concatenate([r[:, None], local], axis=1) for r, local in pairs])
    has_people = sizes + mass > 0
    blocks = [
        [((e, i, a), (e, i, b)) for i in promise.tested if has_people[e, i, [a, b]].all()]
        for e, (a, b) in product(range(len(sizes)), permutations(range(fed.n_groups), 2))
    ]
    blocks = blocks if axes else [[pair for block in blocks for pair in block]]
    blocks = [block for block in blocks if block]
    alpha, passes = (1.0 - promise.level) / max(len(blocks), 1), np.ones(len(rules), bool)

    def p_value(j: Any, a: Any, b: Any) -> float:
        first, second = ((float(served[tested[j]][k]), float(sizes[k])) for k in (a, b))
        return difference_p_value(first, second, float(limits[a[1]] / share[j]))

    rows = np.moveaxis(values, 0, -1)
    for block in blocks:
        above = [rows[a] - rows[b] - limits[a[1]] for a, b in block]
        order = np.argsort(np.max(above, axis=0) + EXPECTED * error * decided, kind="stable")
        failed = (k for k, j in enumerate(order) if any(p_value(j, *d) > alpha for d in block))
        passes[order[next(failed, len(rules)) :]] = False
    sufficient = float((makers + testers).sum() * promise.part(makers + testers))
    if not passes.any():
        return Guarantee(None, int(testers.sum()), sufficient)
    utility = [utility_of(fed, task.costs, rule[None]) for rule in rules]
    best, model = rules[int(np.where(passes, utility, -np.inf).argmax())], fed.model
    assert isinstance(model, FiniteModel)
    return Guarantee(model.classifier(best, fed.groups), int(testers.sum()), sufficient)


def path_of(budgets: Array) -> Array:
    """Budgets from zero to ``budgets`` (B,); those of one or more, which limit nothing, stay."""
    steps = np.linspace(0.0, 1.0, BUDGETS)[:, None] * np.minimum(budgets, 1.0)
    return np.where(budgets < 1.0, steps, budgets)


def family(
    fed: Federation, task: Task, path: Array, top: float, axes: int, has_constant: bool
) -> tuple[Array, Array, Array]:
    """(J, A, n) rules, of an ensemble their averages, at budgets ``path`` and of a lattice up to
    ``top``; where ``has_constant``, some mixed with the best constant. (J,) what they decide, and
    what they are mixed from.
    """
    problems, weights = own_problems(fed, task), fed.weight
    if not task.scheme.is_averaged:
        has_local = task.scheme.is_pooled and path.shape[1] > 1
        problems, weights = [problem_of(fed, task, has_local)], np.ones(1)
    steps, rules = np.linspace(-top, top, STEPS[axes - 1] if axes else 0), []
    lattice = [(np.array(point), path[0]) for point in product(steps, repeat=axes) if axes]
    for point, budgets in [*lattice, *((np.zeros(axes), eps) for eps in path[bool(axes) :])]:
        rule = np.zeros((fed.n_groups, problems[0].shape[2]))
        by_problem = zip(weights, problems, budgets.reshape(len(problems), -1), strict=True)
        with suppress(CertificationError):
            for weight, problem, eps in by_problem:
                posed = _moved(problem, len(NOTIONS[task.notion].rates), point)
                rule += weight * problem.rule(optimum(posed, eps)[0], fed.n_groups)[0]
            rules.append(np.clip(rule, 0.0, 1.0))
    if not rules:
        raise CertificationError("no rule of a family was certified")
    table, decided, mixed_from = np.array(rules), np.ones(len(rules)), np.arange(len(rules))
    if has_constant:
        constants = np.zeros_like(rules[0]), np.ones_like(rules[0])
        constant = max(constants, key=lambda f: utility_of(fed, task.costs, f[None]))
        some = mixed_from[: max(len(lattice), 1) : max(len(lattice) // MIXED, 1)]
        mixed = [share * constant + (1.0 - share) * table[some] for share in CONSTANT]
        table = np.concatenate([table, *mixed])
        decided = np.append(decided, np.repeat(1.0 - CONSTANT, len(some)))
        mixed_from = np.append(mixed_from, np.tile(some, len(CONSTANT)))
    return table, decided, mixed_from


def _moved(problem: Problem, rates: int, point: Array) -> Problem:
    """The problem whose differences, the same at all places, are about ``point`` and not zero."""
    if not point.any():
        return problem
    is_free = np.isfinite(problem.zero).reshape(rates, np.unique(problem.owner).size, -1)
    is_free[..., : problem.levels > 0] = False  # the other groups' levels are told from this one's
    kinds = is_free.any(axis=1, keepdims=True)
    axis = np.reshape(kinds.cumsum() - 1, kinds.shape)
    moved = np.where(is_free & (axis < len(point)), point[np.clip(axis, 0, len(point) - 1)], 0.0)

    def about(posed: Problem) -> Problem:
        by = np.append(moved, np.zeros(posed.b.size - moved.size))
        stored = Stored(programme=posed.stored.programme)
        return replace(posed, b=posed.b - by, stored=stored)

    return replace(about(problem), shares=problem.shares and about(problem.shares))


def decisions(notion: str, rules: Array, counts: Array) -> tuple[Array, Array]:
    """How many of ``counts`` (I, A, 2, n) have the events of E rates and are served (J, E, 1 + I,
    A) by rules (J, A, n), and how many have them (E, 1 + I, A). One uniform number for each person
    decides by all rules.
    """
    by_label, order = counts.swapaxes(1, 2), np.moveaxis(np.argsort(rules, axis=0), 0, -1)
    shares = np.take_along_axis(np.moveaxis(rules, 0, -1), order, -1)
    # between two rules' shares are the people whom one of them accepts
    between = np.random.default_rng(0).multinomial(
        by_label.astype(np.int64), np.diff(shares, prepend=0.0, append=1.0)
    )
    accepted = np.empty(between[..., 1:].shape)
    np.put_along_axis(accepted, order + 0 * between[..., 1:], between.cumsum(-1)[..., :-1], -1)
    accepted, total = np.moveaxis(accepted.sum(axis=3), -1, 0), by_label.sum(axis=3)
    served, people = [], []
    for rate in NOTIONS[notion].rates:
        mass, linear, constant = (
            np.array([[c], [c + d]]) for c, d in (rate.mass, rate.linear, rate.constant)
        )
        served.append((constant * total + linear * accepted).sum(axis=2))
        people.append((mass * total).sum(axis=1))
    tables = np.stack(served, axis=1), np.stack(people)
    first, second = (np.concatenate([t.sum(-2, keepdims=True), t], axis=-2) for t in tables)
    return first, second
