"""The one form of group fairness: maximise base + u·f over 0 <= f <= 1 subject to |V f + b| <= eps.
Here with the cells of a finite X; on densities in ``density_problem``.

The scheme says what a rule may depend on and whose rates are limited, the notion gives the rates,
which are linear in the rule, and the costs give u. Of three groups or more the largest difference
of rates r_a is at most eps iff some level c in [0, 1] has |r_a - c| <= eps/2 for all of them: c is
one more unknown, without gain, and K groups have K constraints in place of K(K-1)/2.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar, get_args
from weakref import WeakKeyDictionary

import numpy as np
import scipy

from fairfl._support.checks import Array, as_floats, one_of, shown
from fairfl.solvers.fractional_knapsack import KnapsackPath, knapsack_path
from fairfl.solvers.numerics.highs import dense
from fairfl.solvers.schemes import Scheme
from fairfl.solvers.solution import budget_term
from fairfl.theory.populations.blind_rules import Sees, as_seen, one_each
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel, Joint
from fairfl.theory.populations.notions import ALIASES, DIFFERENCES, NOTIONS, RATES, Notion, Rates

COSTS = 1.0, 1.0
"""Of one: the utility is the accuracy, less one."""
LARGEST_COST = 1e3
"""Of the largest cost, and of its inverse the least: tolerances are those of a utility near one."""


@dataclass(frozen=True)
class Task:
    """What is asked of a federation: a scheme's name, a notion and its difference, costs, sight.

    Attributes
    ----------
    costs : (2, A) of a missed positive and of a wrong positive, by group.
    """

    scheme: str
    notion: str
    difference: str
    costs: Array
    sees: str

    @classmethod
    def of(
        cls,
        fed: Federation,
        scheme: str,
        notion: str = "demographic_parity",
        difference: str = "pairwise",
        costs: Any = COSTS,
        sees: str = "xa",
    ) -> Task:
        """The task; ValueError for a value out of range."""
        if not isinstance(fed, Federation):
            raise ValueError(f"federation must be a Federation, got {type(fed).__name__}")
        one_of("scheme", scheme, get_args(Scheme))
        one_of("notion", notion, get_args(Notion))
        one_of("difference", difference, DIFFERENCES)
        one_of("sees", sees, get_args(Sees))
        return cls(scheme, ALIASES.get(notion, notion), difference, _costs(costs, fed), sees)

    @property
    def key(self) -> tuple[Any, ...]:
        """What a question on a federation is told by, the scheme aside."""
        return self.notion, self.difference, self.costs.tobytes(), self.sees

    @property
    def plain(self) -> bool:
        """Whether it is FedFB's: demographic parity of two groups and accuracy, by rules that see
        the group.
        """
        return (
            self.scheme != "client_aware"
            and not self.several
            and self.notion == "demographic_parity"
            and self.difference == "pairwise"
            and self.sees == "xa"
            and self.accurate
        )

    @property
    def several(self) -> bool:
        """Whether more than one difference of rates counts."""
        return self.costs.shape[1] > 2 or len(NOTIONS[self.notion]) > 1

    @property
    def affine(self) -> bool:
        """Whether a rate has a part that no rule changes: accuracy parity's."""
        return any(RATES[rate].constant != (0.0, 0.0) for rate in NOTIONS[self.notion])

    @property
    def accurate(self) -> bool:
        """Whether the utility is the accuracy, less one."""
        return bool((self.costs == 1.0).all())


def _costs(costs: Any, fed: Federation) -> Array:
    """(2, A) checked costs."""
    if costs is COSTS:
        return np.ones((2, fed.n_groups))
    allowed = f"'balanced', or two costs, each a number or one for each of {fed.n_groups} groups"
    if isinstance(costs, str) and costs == "balanced":
        if not 0.0 < fed.base_rate < 1.0:
            raise ValueError(
                f"costs='balanced' needs people of both labels, got P(y = 1) = {fed.base_rate:g}"
            )
        pair = np.array([0.5 / fed.base_rate, 0.5 / (1.0 - fed.base_rate)])
        return np.repeat(pair[:, None], fed.n_groups, axis=1)
    two = isinstance(costs, (list, tuple)) or (isinstance(costs, np.ndarray) and costs.ndim > 0)
    if not two or len(costs) != 2:
        raise ValueError(f"costs must be {allowed}, got {shown(costs)}")
    rows = [as_floats("costs", cost) for cost in costs]
    if any(row.shape not in ((), (fed.n_groups,)) for row in rows):
        raise ValueError(f"costs must be {allowed}, got {shown(costs)}")
    table = np.empty((2, fed.n_groups))
    table[0], table[1] = rows
    if not ((table >= 0).all() and 1.0 / LARGEST_COST <= table.max() <= LARGEST_COST):
        raise ValueError(
            f"costs must not be negative, and the largest from {1 / LARGEST_COST:g} to "
            f"{LARGEST_COST:g} (only their ratios matter), got {shown(costs)}"
        )
    return table


@dataclass(frozen=True)
class Problem:
    """maximise base + u·f over 0 <= f <= 1 subject to |v f + b| <= eps.

    Attributes
    ----------
    u : (N,) gains of the cells of the rule, and 0 for each level.
    v : (K, N) constraints, sparse where rules depend on the client.  b, eps : (K,); eps = inf
        where too few have the event.
    base : 1 + the utility of f = 0, so that ``base + u·f`` is the accuracy at costs of one.
    shape : (J, B, n) of the rule: clients or 1, groups or 1, points.  levels : how many follow it.
    owner : (K,) whose budget, of those given to ``at``, limits a constraint.  zero : (K,) eps at
        budgets of zero.
    unit : the problem with the coefficients of one person at every cell, up to a factor of each;
        None where somebody is at every cell.  nobody : (N,) where nobody is.
    made : what problems of other budgets share.
    """

    u: Array
    v: Any
    b: Array
    eps: Array
    base: float = 0.0
    shape: tuple[int, ...] = ()
    levels: int = 0
    owner: Any = 0
    zero: Any = 0.0
    unit: Problem | None = None
    nobody: Any = False
    made: dict[str, Any] = field(default_factory=dict, repr=False)

    def at(self, budgets: Array) -> Problem:
        """A problem of budgets one with others."""
        own = budgets[self.owner]
        eps = np.multiply(self.eps, own, out=self.zero.copy(), where=own > 0)
        return replace(self, eps=eps)

    @cached_property
    def path(self) -> KnapsackPath | None:
        """All solutions for all budgets where there is one constraint, else None."""
        if self.eps.size > 1 or self.shape[0] > 1:
            return None
        unit = self.unit or self
        return knapsack_path(unit.u, unit.v[0], self.v[0], float(self.b[0]))

    @property
    def most(self) -> Array:
        """(K,) the largest |v f + b| of any rule."""
        if "most" not in self.made:
            total, size = (np.asarray(w.sum(axis=1)).ravel() for w in (self.v, abs(self.v)))
            ends = (size + total) / 2 + self.b, (size - total) / 2 - self.b
            self.made["most"] = np.maximum(*ends)
        return self.made["most"]

    def by_one(self, unit: Problem, seen: Array) -> Problem:
        """With the problem of one person at every cell; ``seen`` are the people of the cells."""
        return replace(self, unit=unit, nobody=np.append(seen == 0, [False] * self.levels))

    def rule(self, f: Array, groups: int) -> Array:
        """(J, A, n) the rule of the unknowns f (N,)."""
        table = f[: f.size - self.levels].reshape(self.shape)
        return table if self.shape[1] == groups else table.repeat(groups, axis=1)

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
            held = (dense(self.v[:, first:]) != 0).T & np.isfinite(self.zero)
            high, low = (np.where(held, self.values(f), none) for none in (0.0, 1.0))
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
        return float(
            np.maximum(self.scores(lam), 0.0).sum()
            + lam @ self.b
            + budget_term(lam, self.eps).sum()
        )


Kept = TypeVar("Kept")
_KNOWN: WeakKeyDictionary[Federation, dict[Any, Any]] = WeakKeyDictionary()


def known(build: Callable[[Federation, Task], Kept]) -> Callable[[Federation, Task], Kept]:
    """Keeps what is built as long as its federation: from one ``solve`` to the next only budgets
    differ.
    """

    @functools.wraps(build)
    def kept(fed: Federation, task: Task) -> Kept:
        own, key = _KNOWN.setdefault(fed, {}), (build, *task.key)
        if key not in own:
            own[key] = build(fed, task)
        return own[key]

    return kept


@known
def law_problem(fed: Federation, task: Task) -> Problem:
    """Everybody of a federation on a finite X under a budget of one: CFL."""
    return _own(task, fed.pooled)[0]


@known
def own_problems(fed: Federation, task: Task) -> list[Problem]:
    """The clients' own problems, under budgets of one."""
    assert isinstance(fed.model, FiniteModel)
    return _own(task, fed.model.joint(fed.share))


def _own(task: Task, laws: Joint) -> list[Problem]:
    """The problem of each place of ``laws``."""
    rates = _rates(task, laws)
    limits = Limits.of(task, rates)

    def posed(at: Joint, linear: Array) -> list[Problem]:
        rows, gain = limits.rows(linear, task.sees), at.gain(task.costs, task.sees)
        constant, table = at.constant(task.costs), limits.table
        return [
            _posed(gain[j : j + 1], constant[j], rows[:, j], table[:, :, j], limits.leveled)
            for j in range(len(gain))
        ]

    problems, seen = posed(laws, rates.linear), as_seen(laws.people, task.sees)
    if seen.all():
        return problems
    unit = Joint(one_each(laws.people, task.sees), laws.eta)
    units = posed(unit, _rates(task, unit).linear)
    return [Problem.by_one(*each) for each in zip(problems, units, seen, strict=True)]


@known
def clients_problem(fed: Federation, task: Task) -> Problem:
    """One rule for all under every client's own budget: LFT+FedAvg."""
    clients, law = fed.joint, fed.pooled
    rates = _rates(task, clients)
    limits, constant = Limits.of(task, rates), law.constant(task.costs)
    owner = np.broadcast_to(np.arange(fed.n_clients)[:, None], limits.b.shape).ravel()

    def posed(linear: Array, gain: Array) -> Problem:
        rows = limits.rows(linear, task.sees)
        return _posed(gain, constant, rows, limits.table, limits.leveled, owner)

    problem = posed(rates.linear, law.gain(task.costs, task.sees))
    seen = as_seen(law.people, task.sees)
    if seen.all():
        return problem
    # one person at a cell is of client i as likely as the group's people, or everybody for a
    # blind rule, are
    own = clients.people.sum(axis=2, keepdims=True)
    whose = own * _inverse(own.sum(axis=0 if task.sees == "xa" else (0, 1)))
    one = Joint(np.broadcast_to(whose, clients.people.shape), clients.eta)
    gain = one.gain(task.costs, task.sees).sum(axis=0, keepdims=True)
    return problem.by_one(posed(_rates(task, one).linear, gain), seen)


@known
def aware_problem(fed: Federation, task: Task) -> Problem:
    """A rule for each client, under a budget for everybody and then the clients' own."""
    clients = fed.joint
    rates = _rates(task, clients)
    everybody, own = (Limits.of(task, some) for some in (rates.pooled, rates))
    e, i, k = own.b.shape
    order = np.arange(i * e * k).reshape(i, e, k).swapaxes(0, 1).ravel()
    whose = np.broadcast_to(1 + np.arange(i)[:, None], own.b.shape)
    owner = np.append(np.zeros(everybody.b.size, int), whose)

    def posed(at: Joint, linear: Array) -> Problem:
        # (E, 1, K) everybody's, over all clients; (E, I, K) each client's, over its own cells
        shared = everybody.rows(linear, task.sees).swapaxes(1, 2).reshape(everybody.b.size, -1)
        blocks = own.rows(linear, task.sees).swapaxes(0, 1).reshape(i, e * k, -1)
        local = scipy.sparse.csr_array(scipy.sparse.block_diag(list(blocks)))[order]
        rows = scipy.sparse.vstack([scipy.sparse.csr_array(shared), local])
        gain, constant = at.gain(task.costs, task.sees), at.constant(task.costs)
        table = np.hstack([one.table.reshape(3, -1, k) for one in (everybody, own)])
        return _posed(gain, constant, rows, table, own.leveled, owner)

    problem, seen = posed(clients, rates.linear), as_seen(clients.people, task.sees)
    if seen.all():
        return problem
    unit = Joint(one_each(clients.people, task.sees), clients.eta)
    return problem.by_one(posed(unit, _rates(task, unit).linear), seen)


def _rates(task: Task, at: Joint) -> Rates:
    return Rates.of(task.notion, at.people, at.eta)


def _posed(
    gain: Array, constant: Any, rows: Any, table: Array, leveled: bool, owner: Any = None
) -> Problem:
    """The problem of a rule's gain (J, B, n), of the constraints' rows and the ``table`` (3, ...,
    K) of their limits; without ``owner`` one budget limits all.
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
    return Problem(u, rows, b, eps, 1.0 + float(np.sum(constant)), gain.shape, count, owner, zero)


@dataclass(frozen=True)
class Limits:
    """The notion's constraints at J places: K ``contrasts`` (E, J, K, A) of the groups' rates, and
    constants b (E, J, K).

    ``bound`` (E, J, K): whether two groups or more have the event.  ``implied`` (E, J, K): whether
    the constraint follows from the others where budgets are zero.  ``leveled``: whether groups are
    compared with a level.
    """

    contrasts: Array
    b: Array
    bound: Array
    implied: Array
    leveled: bool

    @classmethod
    def of(cls, task: Task, rates: Rates, *, pairs: bool = False) -> Limits:
        """From the rates at J places; with ``pairs`` every pair of groups has a constraint, and
        none a level.
        """
        groups, pairwise = rates.mass.shape[-1], task.difference == "pairwise"
        known = rates.mass > 0
        enough = known.sum(axis=-1, keepdims=True) >= 2
        leveled = groups > 2 and pairwise and not pairs
        within = largest = implied = np.zeros(enough.shape, bool)
        if groups > 2 or not pairwise:
            within = rates.mass * _inverse(rates.mass.sum(axis=-1, keepdims=True))
            largest = np.arange(groups) == within.argmax(axis=-1)[..., None]
        if groups > 2 and not leveled:
            implied = largest  # Σ_a w_a (r_a - r) = 0
        if groups == 2:
            # |r_0 - r| = w_1 |r_0 - r_1|: one constraint says both
            scale = 1.0 if pairwise else within.max(axis=-1)[..., None, None]
            contrasts, bound = np.array([[1.0, -1.0]]) * scale, enough
        elif pairs and pairwise:
            first, second = np.triu_indices(groups, 1)
            contrasts = np.eye(groups)[first] - np.eye(groups)[second]
            bound = known[..., first] & known[..., second]
            implied = ~(largest[..., first] | largest[..., second])
        else:
            contrasts, bound = np.eye(groups), enough & known
            if not leveled:
                contrasts = contrasts - within[:, :, None, :]
        contrasts = np.where(bound[..., None], contrasts, 0.0) * _inverse(rates.mass)[:, :, None]
        b = (contrasts * rates.constant[:, :, None]).sum(axis=-1)
        return cls(contrasts, b, bound, implied, leveled)

    @property
    def table(self) -> Array:
        """(3, E, J, K) constants, and budgets of one and of zero."""
        one = np.where(self.bound, 0.5 if self.leveled else 1.0, np.inf)
        return np.stack([self.b, one, np.where(self.bound & ~self.implied, 0.0, np.inf)])

    def eps(self, budgets: Any) -> Array:
        """(E, J, K) what constraints are limited to at budgets (J,), or one; inf where they are
        none.
        """
        own = np.broadcast_to(budgets, self.b.shape[1:2])[:, None]
        needed = self.bound & ~(self.implied & (own == 0))
        return np.where(needed, own / 2.0 if self.leveled else own, np.inf)

    def rows(self, linear: Array, sees: str) -> Array:
        """(E, J, K, A or 1, n) the constraints' coefficients, from those of the rates (E, J, A, n);
        of one place, over all the places of ``linear``.
        """
        return as_seen(self.contrasts[..., None] * linear[:, :, None], sees)


def _inverse(x: Array) -> Array:
    return np.divide(1.0, x, out=np.zeros_like(x), where=x > 0)
