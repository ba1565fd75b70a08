"""The one form of group fairness: maximise base + u·f over 0 <= f <= 1 subject to |V f + b| <= eps.
Here with the cells of a finite X; on densities in ``densities/problem``.

The scheme says what a rule may depend on and whose rates are limited, the notion gives the rates,
which are linear in the rule, and the costs give u. Of three groups or more the largest difference
of rates r_a is at most eps iff some level c in [0, 1] has |r_a - c| <= eps/2 for all of them: c is
one more unknown, without gain, and K groups have K constraints in place of K(K-1)/2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial, wraps
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import scipy

from fairfl._support.checks import Array
from fairfl.solvers.numerics.fractional_knapsack import KnapsackPath, knapsack_path
from fairfl.solvers.numerics.highs import Maximiser, dense, rounded
from fairfl.solvers.numerics.monotone import best_thresholds, ironed, lifted
from fairfl.solvers.solution import budget_term
from fairfl.solvers.task import Task
from fairfl.solvers.tolerances import WHOLE_RATE
from fairfl.theory.populations.blind_rules import as_seen, one_each
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel, Joint
from fairfl.theory.populations.notions import Rates


@dataclass
class Stored:
    """What problems that differ in their budgets share, once it is computed."""

    path: KnapsackPath | None = None
    programme: Maximiser | None = None


@dataclass(eq=False)
class Problem:
    """maximise base + u·f over 0 <= f <= 1 subject to |v f + b| <= eps.

    Attributes
    ----------
    u : (N,) gains of the cells of the rule, and 0 for each level.
    v : (K, N) constraints, sparse where rules depend on the client.  b, eps : (K,); eps = inf
        where too few have the event.
    base : 1 + the utility of f = 0, so that ``base + u·f`` is the accuracy at costs of one.
    shape : (J, B, n) of the rule: clients or 1, groups or 1, points.  levels : how many follow it.
    owner : (K,) whose budget, of those given to ``at``, limits a constraint; -1: a budget of one.
        zero : (K,) eps at budgets of zero.
    unit : the problem with the coefficients of one person at every cell, up to a factor of each;
        None where somebody is at every cell.  nobody : (N,) where nobody is.
    shares : where f is monotone, the problem in shares of thresholds, see ``numerics/monotone``.
    stored : what problems of other budgets share.
    """

    u: Array
    v: Array | scipy.sparse.csr_array
    b: Array
    eps: Array
    base: float = 0.0
    shape: tuple[int, ...] = ()
    levels: int = 0
    owner: Array = field(default_factory=lambda: np.zeros(1, int))
    zero: Array = field(default_factory=lambda: np.zeros(1))
    unit: Problem | None = None
    nobody: Array | bool = False
    shares: Problem | None = None
    stored: Stored = field(default_factory=Stored, repr=False)

    def at(self, budgets: Array) -> Problem:
        """A problem of budgets one with others."""
        posed = copy(self)  # ``replace`` takes three times as long
        posed.eps = limited(self.eps, self.zero, np.append(budgets, 1.0)[self.owner])
        posed.shares = self.shares and self.shares.at(budgets)
        return posed

    @property
    def path(self) -> KnapsackPath | None:
        """All solutions for all budgets where there is one constraint and a sort gives them."""
        if self.stored.path is None and self.eps.size == 1 and self.shape[:1] == (1,):
            problem = self.unit or self
            rates = problem.u, problem.v[0]
            if self.shares is not None:
                rates = ironed(self.u, self.v[0], self.nobody * np.stack(rates), self.shape[2])
            if rates is not None:
                self.stored.path = knapsack_path(*rates, self.v[0], float(self.b[0]))
        return self.stored.path

    @property
    def box(self) -> Problem:
        """What programmes solve: the problem in shares of thresholds, or this one."""
        return self.shares or self

    def of_box(self, f: Array, lam: Array) -> tuple[Array, Array]:
        """The rule (N,) and the multipliers (K,) of those of ``box``."""
        if self.shares is None:
            return f, lam
        cells = f.size - self.levels
        rule = f[:cells].reshape(-1, self.shape[2]).cumsum(axis=1).ravel()
        return np.append(rounded(rule, WHOLE_RATE), f[cells:]), lam[: self.eps.size]

    @property
    def programme(self) -> Maximiser:
        """Its linear programme."""
        if self.stored.programme is None:
            self.stored.programme = Maximiser(self.u, self.v)
        return self.stored.programme

    def rule(self, f: Array, groups: int) -> Array:
        """(J, A, n) the rule of the unknowns f (N,), or of J clients' own (J, N)."""
        cells = f[..., : f.shape[-1] - self.levels].reshape(-1, *self.shape[1:])
        return np.broadcast_to(cells, (len(cells), groups, self.shape[2]))

    def values(self, f: Array) -> Array:
        """(K,) v f + b."""
        return self.v @ f + self.b

    def violation(self, f: Array) -> float:
        """The most by which f breaks a budget."""
        return float(np.maximum(np.abs(self.values(f)) - self.eps, 0.0).max(initial=0.0))

    def centred(self, f: Array) -> Array:
        """The rule f (N,) with its levels in the middle of the rates."""
        f, first = f.copy(), f.size - self.levels
        f[first:] = 0.0
        if self.levels:
            limits_level = (dense(self.v[:, first:]) != 0).T & np.isfinite(self.zero)
            high, low = (np.where(limits_level, self.values(f), none) for none in (0.0, 1.0))
            f[first:] = (high.max(axis=1) + low.min(axis=1)) / 2.0
        return f

    def scores(self, lam: Array) -> Array:
        """(N,) u + λ v, the derivative of the Lagrangian: f is 1 where it is positive."""
        return self.u + lam @ self.v

    def slope(self, lam: Array) -> float:
        """What one unit of everybody's budget is worth; ``self`` has budgets of one."""
        return float(budget_term(lam, self.eps).sum())

    def dual(self, lam: Array) -> float:
        """Σ (u + λ v)_+ + λ·b + Σ eps |λ|: an upper bound on every feasible u·f."""
        scores = self.scores(lam)
        if self.shares is not None:
            scores = best_thresholds(scores, self.shape[2], self.levels)
        best = np.maximum(scores, 0.0).sum() + lam @ self.b
        return float(best + budget_term(lam, self.eps).sum())


def in_shares(problem: Problem) -> Problem:
    """The problem for monotone rules in shares of thresholds, see ``numerics/monotone``."""
    table = problem.u, dense(problem.v), np.stack([problem.b, problem.eps, problem.zero])
    u, v, (b, eps, zero), owner = lifted(*table, problem.owner, problem.shape[2], problem.levels)
    return Problem(u, v, b, eps, problem.base, problem.shape, problem.levels, owner, zero)


Kept = TypeVar("Kept")
_KNOWN: WeakKeyDictionary[Federation, dict[tuple[object, ...], Any]] = WeakKeyDictionary()


def stored_with_federation(build: Callable[..., Kept]) -> Callable[..., Kept]:
    """Keeps what is built as long as its federation: solutions differ in their budgets only."""

    @wraps(build)
    def stored_build(fed: Federation, task: Task, *options: object) -> Kept:
        stored, costs = _KNOWN.setdefault(fed, {}), task.costs.tobytes()
        key = build, options, task.notion, task.difference, costs, task.sees, task.monotone
        if key not in stored:
            stored[key] = build(fed, task, *options)
        return stored[key]

    return stored_build


@stored_with_federation
def law_problem(fed: Federation, task: Task) -> Problem:
    """Everybody on a finite X under a budget of one: CFL. The clients' rates are added up, as a
    rounding of the pooled η, 1e-16, is much of a rare event.
    """
    assert isinstance(fed.model, FiniteModel)
    laws = fed.pooled if fed.model.shared or task.affine else fed.joint
    return _of_clients(task, fed.pooled, Rates.of(task.notion, laws.people, laws.eta).pooled)[0]


@stored_with_federation
def own_problems(fed: Federation, task: Task) -> list[Problem]:
    """The clients' own problems, under budgets of one."""
    assert isinstance(fed.model, FiniteModel)
    laws = fed.model.joint(fed.share)
    return _of_clients(task, laws, Rates.of(task.notion, laws.people, laws.eta))


def _of_clients(task: Task, laws: Joint, rates: Rates) -> list[Problem]:
    """The problem of each place of ``laws``, with its ``rates``."""
    return _everywhere(task, laws, rates, partial(_posed_alone, task, Limits.of(task, rates)))


def _posed_alone(task: Task, limits: Limits, laws: Joint, linear: Array) -> list[Problem]:
    """The problem of each place by itself."""
    rows, gain = limits.rows(linear, task.sees), laws.gain(task.costs, task.sees)
    constant, table = laws.constant(task.costs), limits.table
    return [
        _posed(gain[j : j + 1], constant[j], rows[:, j], table[:, :, j], limits.leveled)
        for j in range(len(gain))
    ]


def _everywhere(
    task: Task,
    laws: Joint,
    rates: Rates,
    posed: Callable[[Joint, Array], list[Problem]],
    *,
    together: bool = False,
) -> list[Problem]:
    """The problems ``posed`` of ``laws`` and their ``rates``; where nobody is, of all places
    ``together`` or of each, with those of one person at every cell.
    """
    problems, people = posed(laws, rates.linear), laws.people
    for problem in problems:
        problem.shares = in_shares(problem) if task.monotone else None
    mass = as_seen(people.sum(axis=0, keepdims=True) if together else people, task.sees)
    if mass.min() > 0:
        return problems
    person = Joint(one_each(people, task.sees, together=together), laws.eta)
    units = posed(person, Rates.of(task.notion, person.people, person.eta).linear)
    empty = mass.reshape(len(problems), -1) == 0
    return [
        replace(problem, unit=unit, nobody=np.append(is_empty, [False] * problem.levels))
        for problem, unit, is_empty in zip(problems, units, empty, strict=True)
    ]


@stored_with_federation
def clients_problem(fed: Federation, task: Task, is_pooled: bool = False) -> Problem:
    """One rule under every client's own budget; ``is_pooled``: and a pooled one first."""
    clients, law = fed.joint, fed.pooled
    rates = Rates.of(task.notion, clients.people, clients.eta)
    limits = [Limits.of(task, rate) for rate in ((rates.pooled, rates) if is_pooled else (rates,))]
    posed = partial(_posed_for_all, task, limits, clients, law)
    return _everywhere(task, clients, rates, posed, together=True)[0]


def _posed_for_all(
    task: Task, limits: Sequence[Limits], clients: Joint, law: Joint, people: Joint, linear: Array
) -> list[Problem]:
    """The problem of one rule for all ``people``: the ``clients`` of a ``law``, or one person at
    each cell. The last limits are the clients' own, those before them everybody's.
    """
    table, owner = _stacked(limits)
    gain = (law if people is clients else people).gain(task.costs, task.sees)
    gain, constant = gain.sum(axis=0, keepdims=True), law.constant(task.costs).sum()
    places = (linear.sum(axis=1, keepdims=True), linear)[-len(limits) :]
    pairs = zip(limits, places, strict=True)
    rows = [limit.rows(at_place, task.sees) for limit, at_place in pairs]
    rows = np.concatenate([row.reshape(-1, gain.size) for row in rows])
    return [_posed(gain, constant, rows, table, limits[0].leveled, owner)]


@stored_with_federation
def aware_problem(fed: Federation, task: Task) -> Problem:
    """A rule for each client, under a pooled budget and then the clients' own."""
    clients = fed.joint
    rates = Rates.of(task.notion, clients.people, clients.eta)
    pooled_limits, local_limits = (
        Limits.of(task, group_rates) for group_rates in (rates.pooled, rates)
    )
    posed = partial(_posed_for_each, task, pooled_limits, local_limits)
    return _everywhere(task, clients, rates, posed)[0]


def _posed_for_each(
    task: Task, pooled_limits: Limits, local_limits: Limits, clients: Joint, linear: Array
) -> list[Problem]:
    """The problem of a rule for each client."""
    _, e, i, k = local_limits.table.shape
    # (E, 1, K) pooled limits, over all clients; (E, I, K) each client's, over its own cells
    shared = pooled_limits.rows(linear, task.sees).swapaxes(1, 2).reshape(e * k, -1)
    blocks = local_limits.rows(linear, task.sees).reshape(e, i, k, -1)
    client_blocks = [
        scipy.sparse.block_diag([*map(scipy.sparse.coo_array, client_rows)])
        for client_rows in blocks
    ]
    rows = scipy.sparse.vstack([scipy.sparse.csr_array(shared), *client_blocks])
    gain, constant = clients.gain(task.costs, task.sees), clients.constant(task.costs).sum()
    table, owner = _stacked([pooled_limits, local_limits])
    return [_posed(gain, constant, rows, table, local_limits.leveled, owner)]


def _stacked(limits: Sequence[Limits]) -> tuple[Array, Array]:
    """The ``table`` (3, ..., K) of limits one after the other, and whose budget (...) each has."""
    owners, first = [], 0
    for _, e, j, k in (limit.table.shape for limit in limits):
        owners.append(np.broadcast_to(first + np.arange(j)[:, None], (e, j, k)).ravel())
        first += j
    tables = [limit.table.reshape(3, -1, limit.table.shape[-1]) for limit in limits]
    return np.hstack(tables), np.concatenate(owners)


def _posed(
    gain: Array,
    constant: float,
    rows: Array | scipy.sparse.csr_array,
    table: Array,
    leveled: bool,
    owner: Array | None = None,
) -> Problem:
    """The problem of a rule's gain (J, B, n), the constraints' rows and the ``table`` (3, ..., K)
    of their limits; without ``owner`` one budget limits all.
    """
    b, eps, zero = table.reshape(3, -1)
    u, sparse = gain.ravel(), scipy.sparse.issparse(rows)
    rows = rows if sparse else rows.reshape(b.size, -1)
    count = b.size // table.shape[-1] if leveled else 0  # a level for each place and rate
    if count:
        level = -np.repeat(np.eye(count), table.shape[-1], axis=0)
        join = scipy.sparse if sparse else np
        u, rows = np.append(u, np.zeros(count)), join.hstack([rows, level])
    rows = scipy.sparse.csr_array(rows) if sparse else rows
    owner = np.zeros(b.size, int) if owner is None else owner
    return Problem(u, rows, b, eps, 1.0 + float(constant), gain.shape, count, owner, zero)


def problem_of(fed: Federation, task: Task, has_local: bool) -> Problem:
    """The problem of one rule, or of one for each client; ``has_local``: with local budgets."""
    if task.scheme.sees_client:
        return aware_problem(fed, task)
    if task.scheme.is_pooled and not has_local:
        return law_problem(fed, task)
    return clients_problem(fed, task, task.scheme.is_pooled)


@dataclass(frozen=True)
class Limits:
    """The notion's constraints at J places: K ``contrasts`` (E, J, K, A) of the groups' rates.

    ``table`` (3, E, J, K): constants b, and limits at budgets of one and of zero; inf where fewer
    than two groups have the event, or budgets are zero and the others imply it. ``leveled``:
    whether groups are compared with a level.
    """

    contrasts: Array
    table: Array
    leveled: bool

    @classmethod
    def of(cls, task: Task, rates: Rates, *, pairs: bool = False) -> Limits:
        """From the rates at J places; with ``pairs`` every pair of groups, and no level."""
        groups, pairwise = rates.mass.shape[-1], task.difference == "pairwise"
        has_people = rates.mass > 0
        enough = has_people.sum(axis=-1, keepdims=True) >= 2
        leveled = groups > 2 and pairwise and not pairs
        within = largest = implied = np.zeros(enough.shape, bool)
        if groups > 2 or not pairwise:
            within = rates.mass * _inverse(rates.mass.sum(axis=-1, keepdims=True))
            largest = np.arange(groups) == within.argmax(axis=-1)[..., None]
        if groups == 2:
            # |r_0 - r| = w_1 |r_0 - r_1|: one constraint says both
            scale = 1.0 if pairwise else within.max(axis=-1)[..., None, None]
            contrasts, bound = np.array([[1.0, -1.0]]) * scale, enough
        elif pairs and pairwise:
            first, second = np.triu_indices(groups, 1)
            contrasts = np.eye(groups)[first] - np.eye(groups)[second]
            bound = has_people[..., first] & has_people[..., second]
            implied = ~(largest[..., first] | largest[..., second])
        else:
            contrasts, bound = np.eye(groups), enough & has_people
            if not leveled:
                contrasts, implied = contrasts - within[:, :, None], largest  # Σ w_a (r_a - r) = 0
        contrasts = np.where(bound[..., None], contrasts, 0.0) * _inverse(rates.mass)[:, :, None]
        b = (contrasts * rates.constant[:, :, None]).sum(axis=-1)
        at_one = np.where(bound, 0.5 if leveled else 1.0, np.inf)
        return cls(
            contrasts, np.array([b, at_one, np.where(bound & ~implied, 0.0, np.inf)]), leveled
        )

    def rows(self, linear: Array, sees: str) -> Array:
        """(E, J, K, A or 1, n) constraints' coefficients, from the rates' (E, J or more, A, n)."""
        return as_seen(self.contrasts[..., None] * linear[:, :, None], sees)


def limited(at_one: Array, at_zero: Array, budgets: Array) -> Array:
    """What constraints are limited to at ``budgets``, from what they are at one and at zero."""
    return np.multiply(at_one, budgets, out=at_zero.copy(), where=budgets > 0)


def _inverse(x: Array) -> Array:
    return np.divide(1.0, x, out=np.zeros_like(x), where=x > 0)
