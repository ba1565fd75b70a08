"""A rule whose disparity is at most a limit among all people, whatever their distribution, with a
probability that is chosen.

Some of the people make a family of rules, the others test them. One or two differences of rates
make a lattice: the best rule for each value of them, on both sides of zero. Every difference is
tested from its smallest value up until a rule fails (fixed-sequence testing: Learn then Test,
Angelopoulos et al., 2021), each with its part of the level; of the rules that pass the most useful
one is taken. So the makers say what is useful, and the testers where the limit is. Did each rule
have to pass alone, few would: the makers' error would count as well as the testers'. More
differences, of three sites say, make a path of growing budgets, on which all are tested together: a
rule above the limit is so in one of them, and each may have the whole level (Berger, 1982).

The testers' decisions are drawn, since a count of decisions is binomial and has exact tests.
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
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel
from fairfl.theory.populations.notions import NOTIONS, Rates

STEPS = 161, 21
"""Values of the difference of a lattice, and of each of two."""
BUDGETS = 41
"""Rules of a path."""
BEYOND = 2.5
"""A lattice ends at the limit and so many standard errors of its makers."""
SHARES = 2 / 3, 0.9
"""The least and the largest share of the people who test."""
ENOUGH = 1.2, 1.7
"""A lattice of one difference, or two, has a rule that passes in most samples where the limit is so
many times the standard error at the tests' normal quantile.
"""
SINGLY = 5.2
"""A rule of a path passes in most samples where its limit is so many standard errors of all."""


class Guarantee(NamedTuple):
    """A rule, None where none passed; how many ``people`` tested; how many people, makers and
    testers, would do.
    """

    rule: Classifier | None
    people: int
    sufficient: float


def guaranteed(
    fed: Federation, task: Task, budgets: Array, limits: Array, makers: Array, testers: Array,
    level: float,
) -> Guarantee:  # fmt: skip
    """The most useful rule with no disparity above ``limits`` (1 + I,), of all people and of each
    client (inf: any), with probability ``level``, by people ``testers`` (I, A, 2, n); others,
    ``makers``, make ``fed``. ``budgets``: see :func:`fairfl.solvers.sensitivity.rules_at`.

    The tests are of differences between two groups, which no overall difference is above.
    """
    error, limit = _error(makers, task.notion, limits)
    rules, is_lattice = family(fed, task, budgets, limit + BEYOND * error)
    served, people = decisions(task.notion, rules, testers)
    rates = Rates.of(task.notion, fed.joint.people, fed.joint.eta)
    pairs = (rates.of_rule(rule[None]) for rule in rules)
    mass = np.concatenate([rates.mass.sum(axis=1, keepdims=True), rates.mass], axis=1)
    values = np.nan_to_num([np.concatenate([r[:, None], local], axis=1) for r, local in pairs])
    differences = [
        ((e, place, a), (e, place, b))
        for e, place in product(range(len(people)), np.flatnonzero(limits < 1.0))
        for a, b in permutations(range(fed.n_groups), 2)
        if min(people[e, place, k] + mass[e, place, k] for k in (a, b)) > 0
    ]
    sequences = [(differences, np.arange(len(rules)))]
    if is_lattice:
        rows = np.moveaxis(values, 0, -1)
        sequences = [([(a, b)], np.argsort(rows[a] - rows[b])) for a, b in differences]
    alpha, passes = (1.0 - level) / max(len(sequences), 1), np.ones(len(rules), bool)

    def p_value(j: Any, a: Any, b: Any) -> float:
        first, second = ((float(served[j][k]), float(people[k])) for k in (a, b))
        return difference_p_value(first, second, float(limits[a[1]]))

    for block, order in sequences:
        failed = (k for k, j in enumerate(order) if any(p_value(j, *d) > alpha for d in block))
        passes[order[next(failed, len(rules)) :]] = False
    error, limit = _error(makers + testers, task.notion, limits)
    part = (SINGLY * error / limit) ** 2
    if is_lattice:
        part = _part(makers + testers, task.notion, limits, level)
    sufficient = float((makers + testers).sum() * part)
    if not passes.any():
        return Guarantee(None, int(testers.sum()), sufficient)
    utility = [utility_of(fed, task.costs, rule[None]) for rule in rules]
    best, model = rules[int(np.where(passes, utility, -np.inf).argmax())], fed.model
    assert isinstance(model, FiniteModel)
    return Guarantee(model.classifier(best, fed.groups), int(testers.sum()), sufficient)


def share_of_testers(counts: Array, notion: str, limits: Array, level: float) -> float:
    """The share of people ``counts`` (I, A, 2, n) who are to test: of one difference more where
    they are few, since a lattice of two is coarse where few make it.
    """
    is_one = counts.shape[1] == 2 and len(NOTIONS[notion].rates) == 1
    part = _part(counts, notion, limits, level) if is_one else 0.0
    return float(np.clip(part, *SHARES))


def _part(counts: Array, notion: str, limits: Array, level: float) -> float:
    """The part of people ``counts`` whose tests pass a rule of a lattice in most samples."""
    groups, rates = counts.shape[1], len(NOTIONS[notion].rates)
    error, limit = _error(counts, notion, limits)
    z = ndtri((1.0 - level) / (rates * groups * (groups - 1)))
    return (ENOUGH[rates * (groups - 1) > 1] * z * error / limit) ** 2


def _error(counts: Array, notion: str, limits: Array) -> tuple[float, float]:
    """The standard error of a difference, of rates 1/2, that is the largest multiple of its limit,
    and this limit.
    """
    people, worst = counts.sum(axis=3), (0.0, 1.0)
    for place, limit in zip([people.sum(axis=0), *people], limits, strict=True):
        for rate in NOTIONS[notion].rates if limit < 1.0 else ():
            size = place @ [rate.mass[0], sum(rate.mass)]
            error = float(np.sqrt((0.25 / np.sort(size[size > 0])[:2]).sum()))
            worst = max(worst, (error, float(limit)), key=lambda pair: pair[0] / pair[1])
    return worst


def family(fed: Federation, task: Task, budgets: Array, top: float) -> tuple[Array, bool]:
    """(J, A, n) rules, of an ensemble their averages, and whether they are a lattice of
    differences up to ``top``.
    """
    problems, weights, limits = own_problems(fed, task), fed.weight, budgets[:, None]
    if not task.scheme.is_averaged:
        has_local = task.scheme.is_pooled and budgets.size > 1
        problems, weights, limits = [problem_of(fed, task, has_local)], np.ones(1), budgets[None]
    free = [np.flatnonzero(np.isfinite(problem.zero))[problem.levels :] for problem in problems]
    count, points = max(cells.size for cells in free), np.linspace(0.0, 1.0, BUDGETS)[:, None]
    # the rates of one blind rule, or at several clients, are not moved one by one
    largest = len(STEPS) if task.sees == "xa" else 1
    is_lattice = count <= largest and problems[0].levels <= 1 and limits.shape[1] == 1
    if is_lattice:
        points = np.array([*product(np.linspace(-1.0, 1.0, STEPS[count - 1]), repeat=count)])
    rules = []
    for point in points:
        rule = np.zeros((fed.n_groups, problems[0].shape[2]))
        with suppress(CertificationError):
            for weight, problem, at, limit in zip(weights, problems, free, limits, strict=True):
                posed, eps = (
                    problem,
                    np.where(limit < np.inf, point * np.minimum(limit, 1.0), limit),
                )
                if is_lattice:
                    posed, eps = _equal(problem, at, point * top), np.zeros_like(limit)
                rule += weight * problem.rule(optimum(posed, eps)[0], fed.n_groups)[0]
            rules.append(np.clip(rule, 0.0, 1.0))
    if not rules:
        raise CertificationError("no rule of a family was certified")
    return np.array(rules), is_lattice


def _equal(problem: Problem, free: Array, values: Array) -> Problem:
    """The problem whose ``free`` constraints are equal to ``values`` at budgets of zero."""
    b = problem.b.copy()
    b[free] -= values[: free.size]
    return replace(problem, b=b, stored=Stored(programme=problem.stored.programme))


def decisions(notion: str, rules: Array, counts: Array, seed: int = 0) -> tuple[Array, Array]:
    """How many of ``counts`` (I, A, 2, n) have the events of E rates and are served, (J, E, 1 + I,
    A) by rules (J, A, n), and how many have them, (E, 1 + I, A): all people, then the clients.

    One uniform number for each person decides by all rules.
    """
    by_label, order = counts.swapaxes(1, 2), np.moveaxis(np.argsort(rules, axis=0), 0, -1)
    shares = np.take_along_axis(np.moveaxis(rules, 0, -1), order, -1)
    # between two rules' shares are the people whom one of them accepts
    between = np.random.default_rng(seed).multinomial(
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
