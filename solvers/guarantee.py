"""A rule whose disparity is at most a limit among all people, with a probability that is chosen,
whatever the people's distribution.

Some of the people make a family of rules, the others test them. One or two differences of rates
make a lattice: the best rule for each value of the differences, on both sides of zero. Every
difference is tested from its smallest value up, in order, until a rule fails (fixed-sequence
testing, as in Learn then Test of Angelopoulos et al., 2021). A rule that passes in both directions
of every difference keeps the limit, and the one of the largest utility is taken. So the makers say
what is useful, and the testers where the limit is: were each rule to pass alone, a few thousand
makers would seldom hit one that does. More differences, of three sites say, make a path of growing
budgets, on which all are tested together: a rule that is above the limit is above it in one of
them, so that all may have the whole level (Berger, 1982).

The testers' decisions are drawn, by one uniform number for each of them, since a count of decisions
is binomial and has exact tests.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import permutations, product
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from fairfl._support.checks import Array
from fairfl.solvers.finite import optimum
from fairfl.solvers.problem import Problem, Stored, own_problems, problem_of
from fairfl.solvers.solution import CertificationError, utility_of
from fairfl.solvers.task import Task
from fairfl.theory.numerics.binomials import Count, clopper_pearson, difference_p_value
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import NOTIONS, Rates

STEPS = 161, 21
"""Values of the difference of a lattice, and of each of two."""
BUDGETS = 41
"""Rules of a path."""
BEYOND = 2.5
"""A lattice ends at the limit and so many standard errors of its makers."""
SHARES = 2 / 3, 0.9
"""The least and the largest share of the people who test."""
ENOUGH = 1.2
"""The share that the tests need is taken so many times."""
SINGLY = 5.2
"""A rule of a path passes in most samples where its limit is so many standard errors of all."""
MISSED = 1e-4
"""Probability that the bound of a group's share of the people is wrong."""


class Limits(NamedTuple):
    """The largest disparities allowed: of all people, and of each client (I,); inf: any."""

    pooled: float
    local: Array


class Guarantee(NamedTuple):
    """A rule (A, n), None where none passed; how many ``people`` tested; and how many people, both
    kinds, would do.
    """

    rule: Array | None
    people: int
    sufficient: float


class Difference(NamedTuple):
    """Of two rates at one place: its indices in ``Decisions``, its limit, and its values (J,) by
    the rules of a family, among those who made it.
    """

    rate: int
    place: int
    high: Any
    low: Any
    limit: float
    values: Array


def guaranteed(
    fed: Federation, task: Task, budgets: Array, limits: Limits, made: Array, tested: Array,
    level: float, seed: int = 0,
) -> Guarantee:  # fmt: skip
    """The most useful rule with no disparity above ``limits`` among all people, with probability
    ``level``, of people ``tested`` (I, A, 2, n), and of other people ``made``, whose federation is
    ``fed``; ``budgets`` as :func:`fairfl.solvers.sensitivity.rules_at` takes them.
    """
    error = _error(made, task.notion, limits)[0]
    rules, is_lattice = family(fed, task, budgets, BEYOND * error)
    decisions = Decisions.of(task.notion, rules, tested, np.random.default_rng(seed))
    differences = list(_differences(fed, task, rules, limits, decisions))
    sequences = [(differences, np.arange(len(rules)))]
    if is_lattice:
        sequences = [([d], np.argsort(d.values, kind="stable")) for d in differences]
    alpha, passes = (1.0 - level) / max(len(sequences), 1), np.ones(len(rules), bool)
    for block, order in sequences:
        for k, j in enumerate(order):
            if not all(decisions.p_value(d, j) <= alpha for d in block):
                passes[order[k:]] = False
                break
    people = made + tested
    error, limit = _error(people, task.notion, limits)
    factor = -ENOUGH * ndtri(alpha) if is_lattice else SINGLY
    sufficient = float(people.sum() * (factor * error / limit) ** 2)
    utility = [utility_of(fed, task.costs, rule[None]) for rule in rules]
    best = rules[int(np.where(passes, utility, -np.inf).argmax())] if passes.any() else None
    return Guarantee(best, int(tested.sum()), sufficient)


def test_share(counts: Array, notion: str, limits: Limits, level: float) -> float:
    """The share of people ``counts`` (I, A, 2, n) who are to test: more where they are few."""
    groups, rates = counts.shape[1], len(NOTIONS[notion].rates)
    error, limit = _error(counts, notion, limits)
    z = -ndtri((1.0 - level) / (rates * groups * (groups - 1)))
    return float(np.clip(ENOUGH * (z * error / limit) ** 2, *SHARES))


def _error(counts: Array, notion: str, limits: Limits) -> tuple[float, float]:
    """The largest standard error of a difference, both rates 1/2, as a multiple of its limit, and
    that limit.
    """
    people = counts.sum(axis=3)
    worst = 0.0, 1.0
    places = [people.sum(axis=0), *people]
    for place, limit in zip(places, [limits.pooled, *limits.local], strict=True):
        for rate in NOTIONS[notion].rates if limit < 1.0 else ():
            size = place @ [rate.mass[0], sum(rate.mass)]
            smallest = np.sort(size[size > 0])[:2]
            if smallest.size == 2:
                worst = max(
                    worst,
                    (float(np.sqrt((0.25 / smallest).sum())), float(limit)),
                    key=lambda pair: pair[0] / pair[1],
                )
    return worst


def family(fed: Federation, task: Task, budgets: Array, beyond: float) -> tuple[Array, bool]:
    """(J, A, n) rules, of an ensemble their averages, and whether they are a lattice, up to
    ``beyond`` above the budgets.
    """
    problems, weights, own = own_problems(fed, task), fed.weight, budgets[:, None]
    if not task.scheme.is_averaged:
        has_local = task.scheme.is_pooled and budgets.size > 1
        problems, weights, own = [problem_of(fed, task, has_local)], np.ones(1), budgets[None]
    free = [np.flatnonzero(np.isfinite(p.zero))[p.levels :] for p in problems]
    count = max(f.size for f in free)
    is_lattice = count <= len(STEPS) and problems[0].levels <= 1 and own.shape[1] == 1
    points = np.linspace(0.0, 1.0, BUDGETS)[:, None]
    if is_lattice:
        points = np.array([*product(np.linspace(-1.0, 1.0, STEPS[count - 1]), repeat=count)])
    rules = []
    for point in points:
        rule = np.zeros((fed.n_groups, problems[0].shape[2]))
        with suppress(CertificationError):
            for weight, problem, at, eps in zip(weights, problems, free, own, strict=True):
                posed, limits = problem, np.where(eps < np.inf, point * np.minimum(eps, 1.0), eps)
                if is_lattice:
                    posed, limits = _equal(problem, at, point * (eps + beyond)), np.zeros(1)
                rule += weight * problem.rule(optimum(posed, limits)[0], fed.n_groups)[0]
            rules.append(np.clip(rule, 0.0, 1.0))
    if not rules:
        raise CertificationError("no rule for a guarantee was certified")
    return np.array(rules), is_lattice


def _equal(problem: Problem, free: Array, values: Array) -> Problem:
    """The problem whose ``free`` constraints are equal to ``values`` at budgets of zero."""
    b = problem.b.copy()
    b[free] -= values[: free.size]
    return replace(problem, b=b, stored=Stored(programme=problem.stored.programme))


class Decisions(NamedTuple):
    """How many people have the events of E rates, at places, all people first and then the clients,
    by group: ``served`` (J, E, P, A) by the rules of a family, and ``people`` (E, P, A).
    """

    served: Array
    people: Array

    @classmethod
    def of(
        cls, notion: str, rules: Array, counts: Array, rng: np.random.Generator
    ) -> "Decisions":
        """Those of people ``counts`` (I, A, 2, n) by rules (J, A, n)."""
        by_label = counts.swapaxes(1, 2).astype(np.int64)
        order = np.moveaxis(np.argsort(rules, axis=0), 0, -1)
        shares = np.take_along_axis(np.moveaxis(rules, 0, -1), order, -1)
        # between two rules' shares are the people whom one of them accepts
        between = rng.multinomial(by_label, np.diff(shares, prepend=0.0, append=1.0))
        accepted = np.empty((*by_label.shape, len(rules)))
        np.put_along_axis(accepted, order + 0 * between[..., 1:], between.cumsum(-1)[..., :-1], -1)
        accepted = np.moveaxis(accepted.sum(axis=3), -1, 0)
        total = by_label.sum(axis=3)
        served, people = [], []
        for rate in NOTIONS[notion].rates:
            mass, linear, constant = (
                np.array([[c], [c + d]]) for c, d in (rate.mass, rate.linear, rate.constant)
            )
            served.append((constant * total + linear * accepted).sum(axis=2))
            people.append((mass * total).sum(axis=1))
        return cls(_with_all(np.stack(served, axis=1)), _with_all(np.stack(people)))

    def p_value(self, d: Difference, j: int) -> float:
        """Of "the difference is at its limit or above, by rule j"."""
        at = d.rate, d.place
        high, low = (
            Count(int(self.served[j][at][groups].sum()), int(self.people[at][groups].sum()))
            for groups in (d.high, d.low)
        )
        return difference_p_value(high, low, d.limit)


def _with_all(table: Array) -> Array:
    """(..., 1 + I, A) all people before the clients (..., I, A)."""
    return np.concatenate([table.sum(axis=-2, keepdims=True), table], axis=-2)


def _differences(
    fed: Federation, task: Task, rules: Array, limits: Limits, decisions: Decisions
) -> Iterator[Difference]:
    """All that are limited, each with one sign."""
    rates = Rates.of(task.notion, fed.joint.people, fed.joint.eta)
    mass = _with_all(rates.mass)
    served = np.stack([_with_all(rates.constant + (rates.linear * f).sum(-1)) for f in rules])
    for place, limit in enumerate([limits.pooled, *limits.local]):
        for e in range(len(mass)) if limit < 1.0 else ():
            people = decisions.people[e, place]
            groups = np.flatnonzero((people > 0) | (mass[e, place] > 0))
            pairs = [([a], [b], 1.0) for a, b in permutations(groups, 2)]
            if task.difference == "overall":
                # r_a - r is the share of the others times (r_a - the others' rate)
                pairs = []
                for a in groups if groups.size > 1 else ():
                    others, total = groups[groups != a], int(people[groups].sum())
                    low = clopper_pearson(Count(int(people[a]), total), 2.0 * MISSED)[0]
                    pairs += [([a], others, 1.0 - low), (others, [a], 1.0 - low)]
            for high, low, scale in pairs:
                sums = [(served[:, e, place, k].sum(-1), mass[e, place, k].sum()) for k in (high, low)]
                first, second = (total / size if size > 0 else 0.0 * total for total, size in sums)
                yield Difference(e, place, high, low, limit / scale, first - second)
