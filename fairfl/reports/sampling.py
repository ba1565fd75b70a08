"""What sampling does to a comparison: the numbers' standard errors, and rules judged on people they
were not fitted to.

Frontiers are computed on the people of a table, who are a sample, and that shows in two ways. Other
people would have given other numbers: their variance is that of the numbers' derivatives with
respect to the people (``fairfl.solvers.sensitivity``), within each client, whose size is given. And
an optimum is chosen for the people it is counted on, and is worth less on others: everybody is
judged by rules that were fitted, at the same budgets, to the other four fifths.

A derivative is of the fitted rule, and ignores how other people would change that rule. What that
adds (for the members of an ensemble at its smallest disparity, say) shows where rules are fitted to
halves of the people: what the derivative does not explain of these numbers is a second part of the
variance (``corrected``). What no derivative tells is in ``fairfl.reports.bootstrap``.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from fairfl._support.checks import Array
from fairfl.reports.question import PLAIN, Question
from fairfl.solvers.schemes import SCHEMES
from fairfl.solvers.sensitivity import People, averaged, rules_at, sensitivity
from fairfl.solvers.solution import CertificationError
from fairfl.solvers.task import Task
from fairfl.theory.populations.calibration import FOLDS, Counted, folds
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import Joint
from fairfl.theory.populations.notions import Rates, disparity

LEVEL, NORMAL = 0.95, 1.959963984540054
"""Of intervals, and the normal quantile that goes with it."""
NEIGHBOURS = 4
"""Points of a frontier whose derivatives are averaged."""
EVEN = 16
"""Budgets that are tried between none and that of the best rule."""
TRIED = 6
"""Points of a searched frontier whose budgets are fitted to halves of the people."""
SPLITS = 3
"""Times that the people are halved."""
FEW_SPLITS = 2.64
"""Squared ratio of Student's quantile, of so many degrees of freedom, to the normal one."""


Progress = Callable[[str, int, int], None]
"""What is computed, how many of its parts are done, and of how many."""


def refitted(sample: Counted, counts: Array) -> Federation:
    """A federation of other people on the same levels; nothing is said of their score."""
    people = Counted(sample.points, counts, calibrate=sample.calibrate)
    people = replace(people, names=sample.names, cells=sample.cells)
    return Federation.of_people(people, warn=False)


def halved(counts: Array, rng: np.random.Generator) -> Array:
    """Halves (2 SPLITS, I, A, 2, n) of people (I, A, 2, n), even within every client and group."""
    groups = counts.reshape(*counts.shape[:2], 1, -1)
    halves = np.concatenate([folds(groups, rng, 2) for _ in range(SPLITS)])
    return halves.reshape(-1, *counts.shape)


class Spot(NamedTuple):
    """A point of a scheme's frontier: the budgets of its rule, (1,) of CFL and client-aware rules,
    else (I,), whether it is one of the ends, "smallest" or "best", and budgets (N, I) of
    neighbouring points, see ``influences``.
    """

    scheme: str
    budgets: Array
    end: str = ""
    neighbours: Sequence[Array] = ()

    def rules(self, fed: Federation, task: Task, question: Question) -> tuple[Array, Array]:
        """The optimal rules, and all their budgets; see ``rules_at``."""
        budgets = self.budgets
        if SCHEMES[self.scheme].is_local:
            budgets = np.append(budgets, np.full(fed.n_clients, question.local_eps))
        return rules_at(fed, task, budgets), budgets


def influences(
    fed: Federation, sample: Counted, spots: Sequence[Spot], question: Question
) -> tuple[Array, Array, Array]:
    """(P, 2, I, A, 2, n) of the spots' values and disparities, the slopes (P,) of the frontiers
    there, and the standard errors (P,) of the disparities of fixed rules; NaN of a spot without a
    certified rule. See ``sensitivity``.

    Of a spot with neighbours they are the means of the neighbours'. The change from one population
    to another is the integral of the derivatives at the populations between, where other
    constraints are active than at the first; the points of one frontier within the sampling error
    of the disparity have these active constraints too. It is the infinitesimal jackknife of a
    smoothed number (Efron, 2014).
    """
    out, slopes = np.full((len(spots), 2, *sample.counts.shape), np.nan), np.zeros(len(spots))
    errors = np.zeros(len(spots))
    for k, spot in enumerate(spots):
        task = question.task(fed, spot.scheme)
        people = People(fed, sample, task, question.costs == "balanced")
        derivatives = []
        for budgets in spot.neighbours or [spot.budgets]:
            with suppress(CertificationError):
                rules = spot._replace(budgets=budgets).rules(fed, task, question)
                derivatives.append(
                    sensitivity(people, *rules, spot.end, common=SCHEMES[spot.scheme].one_budget)
                )
        if derivatives:
            value, disparity, slope, counted = (
                sum(terms) / len(derivatives) for terms in zip(*derivatives, strict=True)
            )
            out[k], slopes[k] = (value, disparity), slope
            errors[k] = standard_errors(np.asarray(counted), sample)
    return out, slopes, errors


def at_budgets(fed: Federation, scheme: str, budgets: Array, question: Question) -> Array:
    """(B, 2) values and disparities of rules at ``budgets`` (B, I); NaN if not certified."""
    task, out = question.task(fed, scheme), np.full((len(budgets), 2), np.nan)
    value_and_disparity = judge(fed.pooled, task, question)
    for k, eps in enumerate(budgets):
        with suppress(CertificationError):
            rule = averaged(fed, task, Spot(scheme, eps).rules(fed, task, question)[0])
            out[k] = value_and_disparity(rule)
    return out


def means(influence: Array, people: Array, counts: Array) -> Array:
    """(...) the mean of influences (..., I, A, 2, n) over other people, clients weighted by their
    ``counts``, all (I, A, 2, n).
    """
    size = np.maximum(people.sum(axis=(1, 2, 3), keepdims=True), 1.0)
    weight = counts.sum(axis=(1, 2, 3), keepdims=True) / counts.sum() / size
    return np.einsum("...iayk,iayk->...", influence, weight * people)


def standard_errors(influence: Array, sample: Counted) -> Array:
    """(...) of numbers with influences (..., I, A, 2, n) of people who are drawn within clients: by
    linearisation, √(Σ (w influence - the client's mean of that)²) / Σ w over people of weight w.
    """
    tables = sample.counts, sample.squares, sample.persons
    counts, squares, persons = (table.reshape(len(table), -1) for table in tables)
    flat = influence.reshape(*influence.shape[:-4], *counts.shape)
    mean = np.einsum("...ic,ic->...i", flat, counts / persons.sum(axis=1, keepdims=True))
    inverse = np.divide(counts, squares, out=np.zeros_like(counts), where=squares > 0)
    within = np.einsum("...ic,ic->...", (flat - mean[..., None] * inverse) ** 2, squares)
    between = mean**2 @ (persons - counts * inverse).sum(axis=1)
    return np.sqrt(within + between) / counts.sum()


def noise_errors(influence: Array, sample: Counted) -> Array:
    """(...) standard errors by the noise of counts, of influences (..., I, A, 2, n)."""
    variance = sample.noise_variance
    people = sample.people
    axes = (-4, -3, -2, -1)
    centred = influence - (influence * sample.counts).sum(axis=axes, keepdims=True) / people
    return np.sqrt((variance[:, None, None, None] * centred**2).sum(axis=axes)) / people


def fullest(sample: Counted, worth: Array) -> Array:
    """(..., I, A, 2, n) of the tables that ``sample.ranges`` and the clients' sizes allow the one
    with the most Σ ``worth`` counts, worth (..., I, A, 2, n): from the least counts on, the
    worthiest cells are filled first.
    """
    assert sample.ranges is not None
    order = np.argsort(-worth.reshape(*worth.shape[:-3], -1), axis=-1)
    counts, low, high = (
        np.broadcast_to(v.reshape(len(v), -1), order.shape) for v in (sample.counts, *sample.ranges)
    )
    room = np.take_along_axis(high - low, order, axis=-1)
    left = (counts - low).sum(axis=-1, keepdims=True) - (room.cumsum(axis=-1) - room)
    filled = low.copy()
    np.put_along_axis(
        filled, order, np.take_along_axis(low, order, -1) + np.clip(left, 0.0, room), -1
    )
    return filled.reshape(worth.shape)


def withheld(influence: Array, sample: Counted) -> Array:
    """(2, ...) how far numbers with influences (..., I, A, 2, n) can be below and above those of
    ``sample.counts`` where some of these were withheld, to first order.
    """
    if sample.ranges is None:
        return np.zeros((2, *influence.shape[:-4]))
    ends = [fullest(sample, sign * influence) - sample.counts for sign in (-1.0, 1.0)]
    return np.stack([(influence * end).sum(axis=(-4, -3, -2, -1)) for end in ends]) / sample.people


def corrected(
    error: Array, by_half: Array, numbers: Array, influence: Array, halves: Array
) -> Array:
    """(...) standard errors, where derivatives ``influence`` (..., I, A, 2, n) alone give ``error``
    (...), of ``numbers`` (...) that are ``by_half`` (..., H) without one of the ``halves`` (H, I,
    A, 2, n) each.

    Half of the people differ from all as much as these differ from the population. What the
    derivatives do not explain of the changes is added to the variance, as terms of the second order
    near a loss of zero. Where a derivative predicts the changes worse than "no change" does, the
    variance is the larger of its own and twice the changes' mean square, since so few splits give
    that (as in Student's interval with four degrees of freedom).
    """
    people = halves[:2].sum(axis=0)
    change = influence - means(influence, people, people)[..., None, None, None, None]
    explained = [means(change, people - half, people) for half in halves]
    changed = by_half - numbers[..., None]
    unexplained = ((changed - np.stack(explained, -1)) ** 2).mean(axis=-1)
    total, variance = (changed**2).mean(axis=-1), error**2
    largest = np.maximum(variance, 2.0 * total)
    return np.sqrt(np.where(unexplained <= total, variance + unexplained, largest))


def residuals(by_part: Array, influence: Array, parts: Array) -> Array:
    """(..., FOLDS) what derivatives do not explain of numbers computed without one part."""
    people = parts.sum(axis=0)
    explained = [means(influence, people - part, people) for part in parts]
    return by_part - np.stack(explained, axis=-1)


def jackknife(by_part: Array) -> Array:
    """(...) standard errors of numbers (..., FOLDS) computed without one of the parts."""
    return np.sqrt((FOLDS - 1) * by_part.var(axis=-1))


def crossed(
    sample: Counted,
    parts: Array,
    spots: Sequence[Spot],
    question: Question,
    progress: Progress | None = None,
) -> tuple[Array, Array] | None:
    """Values and disparities (P, 2) of the spots' rules, fitted at the same budgets to all of the K
    parts of the people but one and judged on that, and (P, 2, K) on the people they were fitted to;
    None where a group is too small to be dealt into parts, or at balanced costs a label. NaN of
    what was not certified.

    Clients without people in what is fitted to are left out of it, and rules that are told the
    client are judged on the others.
    """
    remaining = sample.counts - parts
    if (remaining.sum(axis=(1, 3, 4)) == 0).any() or one_label(remaining, question):
        return None
    outcomes = np.zeros((len(spots), 2, sample.counts.shape[1], 2))
    inside = np.full((len(spots), 2, len(parts)), np.nan)
    tasks: dict[str, Task] = {}
    for k, part in enumerate(parts):
        if progress is not None:
            progress("rules of some of the people", k, len(parts))
        fitted = sample.counts - part
        occupied = fitted.sum(axis=(1, 2, 3)) > 0
        fed = refitted(sample, fitted[occupied])
        tasks = {scheme: question.task(fed, scheme) for scheme in {s.scheme for s in spots}}
        laws_and_people = {
            scheme: (fed.joint, part[occupied]) if task.scheme.sees_client else (fed.pooled, part)
            for scheme, task in tasks.items()
        }
        judges = {s: judge(laws_and_people[s][0], task, question) for s, task in tasks.items()}
        for j, spot in enumerate(spots):
            refit = spot._replace(budgets=spot.budgets[occupied]) if spot.budgets.size > 1 else spot
            task, served = tasks[spot.scheme], np.full_like(outcomes[j], np.nan)
            with suppress(CertificationError):
                rule = averaged(fed, task, refit.rules(fed, task, question)[0])
                served = accepted(rule, laws_and_people[spot.scheme][1])
                inside[j, :, k] = judges[spot.scheme](rule)
            outcomes[j] += served
    pairs = zip(outcomes, spots, strict=True)
    # of a task only costs and notion count here, the same in every part's
    outside = [judged(*by_label(outcome), tasks[spot.scheme], question) for outcome, spot in pairs]
    failed = np.isnan(outcomes.sum(axis=(1, 2, 3)))
    return np.where(failed[:, None], np.nan, np.reshape(outside, (-1, 2))), inside


def one_label(counts: Array, question: Question) -> bool:
    """Whether some of the tables (..., I, A, 2, n) have no balanced costs."""
    return question.costs == "balanced" and bool((counts.sum(axis=(-4, -3, -1)) == 0).any())


def accepted(rule: Array, counts: Array) -> Array:
    """(2, A, 2) people by group and label: whom a rule (1 or I, A, n) accepts, and all."""
    return np.stack([(counts * f).sum(axis=(0, 3)) for f in (rule[:, :, None, :], 1.0)])


def by_label(served: Array) -> tuple[Joint, Array]:
    """Law and rule of people who are ``accepted``, on a finite X of the labels."""
    selected, people = served
    rule = np.divide(selected, people, out=np.zeros_like(selected), where=people > 0)[None]
    return Joint(people[None] / people.sum(), np.broadcast_to([0.0, 1.0], rule.shape)), rule


def judge(
    law: Joint, task: Task, question: Question = PLAIN
) -> Callable[[Array], tuple[float, float]]:
    """What gives value and disparity of rules (1 or J, A, n) on a law of J places."""
    gain, rates = law.gain(task.costs, "xa"), Rates.of(task.notion, law.people, law.eta)
    constant = law.constant(task.costs).sum() + question.is_share
    mass = rates.mass.sum(axis=1)

    def judged(rule: Array) -> tuple[float, float]:
        gap = disparity(rates.of_rule(rule)[0], mass, task.difference)
        return float(constant + (gain * rule).sum()), float(np.nan_to_num(gap))

    return judged


def judged(law: Joint, rule: Array, task: Task, question: Question = PLAIN) -> tuple[float, float]:
    """Value and disparity of a rule; see ``judge``."""
    return judge(law, task, question)(rule)
