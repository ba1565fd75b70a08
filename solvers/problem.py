"""The one form of group fairness: maximise base + u·f over 0 <= f <= 1 subject to |V f + b| <= eps.
Here with the cells of a finite X; on densities in ``density_problem``.

The scheme says what a rule may depend on and whose rates are limited, the notion gives the rates,
which are linear in the rule, and the costs give u. Of three groups or more the largest difference
of rates r_a is at most eps iff some level c in [0, 1] has |r_a - c| <= eps/2 for all of them: c is
one more unknown, without gain, and K groups have K constraints in place of K(K-1)/2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import scipy

from fairfl._support.checks import Array, as_floats, one_of, shown
from fairfl.solvers.schemes import Scheme
from fairfl.solvers.solution import budget_term
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import Joint
from fairfl.theory.populations.notions import ALIASES, DIFFERENCES, NOTIONS, RATES, Notion, Rates

Sees = Literal["xa", "x"]
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
        costs: Any = (1.0, 1.0),
        sees: str = "xa",
    ) -> Task:
        """The task; ValueError for a value out of range."""
        if not isinstance(fed, Federation):
            raise ValueError(f"federation must be a Federation, got {type(fed).__name__}")
        one_of("scheme", scheme, get_args(Scheme))
        one_of("notion", notion, get_args(Notion))
        one_of("difference", difference, DIFFERENCES)
        one_of("sees", sees, get_args(Sees))
        task = cls(scheme, ALIASES.get(notion, notion), difference, _costs(costs, fed), sees)
        return task

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
    """

    u: Array
    v: Any
    b: Array
    eps: Array
    base: float = 0.0
    shape: tuple[int, ...] = ()
    levels: int = 0

    def rule(self, f: Array, groups: int) -> Array:
        """(J, A, n) the rule of the unknowns f (N,)."""
        table = f[: f.size - self.levels].reshape(self.shape)
        return np.broadcast_to(table, (self.shape[0], groups, self.shape[2]))

    def values(self, f: Array) -> Array:
        """(K,) v f + b."""
        return self.v @ f + self.b

    def violation(self, f: Array) -> float:
        """The most by which f breaks a budget."""
        return float(np.maximum(np.abs(self.values(f)) - self.eps, 0.0).max(initial=0.0))

    def scores(self, lam: Array) -> Array:
        """(N,) u + λ v, the derivative of the Lagrangian: f is 1 where it is positive."""
        return self.u + lam @ self.v

    def dual(self, lam: Array) -> float:
        """Σ (u + λ v)_+ + λ·b + Σ eps |λ|: an upper bound on every feasible u·f."""
        return float(
            np.maximum(self.scores(lam), 0.0).sum()
            + lam @ self.b
            + budget_term(lam, self.eps).sum()
        )

    def taking(self, rows: Array) -> Problem:
        """The problem with the constraints ``rows`` alone."""
        return replace(self, v=self.v[rows], b=self.b[rows], eps=self.eps[rows])


def own_problems(task: Task, laws: Joint, eps: Array) -> list[tuple[Problem, Problem]]:
    """At each of the J places of ``laws`` the problem of its people under its budget (J,), and the
    same problem with the coefficients of one person at every cell, up to a factor of each cell.

    This is CFL at the pooled law, and the clients' own problems.
    """
    limits = Limits.of(task, Rates.of(task.notion, laws.people, laws.eta), eps)
    own = _own(task, limits, laws, limits.rates)
    if laws.seen(
        laws.people, task.sees
    ).all():  # a person's coefficients are people's, but a factor
        return list(zip(own, own, strict=True))
    one = laws.unit(task.sees)
    unit = _own(task, limits, one, Rates.of(task.notion, one.people, one.eta))
    return list(zip(own, unit, strict=True))


def _own(task: Task, limits: Limits, laws: Joint, rates: Rates) -> list[Problem]:
    table = limits.rows(rates.linear, task.sees)
    gain, constant = laws.gain(task.costs, task.sees), laws.constant(task.costs)
    levels = limits.levels(1)
    return [
        _posed(
            gain[j : j + 1],
            constant[j],
            table[:, j].reshape(len(levels), -1),
            levels,
            limits.b[:, j],
            limits.eps[:, j],
        )
        for j in range(len(gain))
    ]


def _posed(gain: Array, constant: Any, rows: Any, levels: Array, b: Array, eps: Array) -> Problem:
    """The problem of a rule's gain (J, B, n), its rows (K, J B n) and the levels' (K, L)."""
    u = gain.ravel()
    if levels.shape[1]:
        join = scipy.sparse if scipy.sparse.issparse(rows) else np
        u, rows = np.append(u, np.zeros(levels.shape[1])), join.hstack([rows, levels])
    return Problem(
        u, rows, b.ravel(), eps.ravel(), 1.0 + float(np.sum(constant)), gain.shape, levels.shape[1]
    )


def law_problem(task: Task, law: Joint, eps: Array) -> Problem:
    """Everybody of a one-place ``law`` under a budget (1,)."""
    limits = Limits.of(task, Rates.of(task.notion, law.people, law.eta), eps)
    return _own(task, limits, law, limits.rates)[0]


def clients_problem(
    task: Task, pooled: Joint, clients: Joint, eps: Array, *, unit: bool = False
) -> Problem:
    """One rule for all under every client's own budget (I,): LFT+FedAvg.

    With ``unit`` the coefficients are those of one person at every cell, who is of client i as
    likely as the group's people, or everybody for a blind rule, are.
    """
    limits = Limits.of(task, Rates.of(task.notion, clients.people, clients.eta), eps)
    linear, gain = limits.rates.linear, pooled.gain(task.costs, task.sees)
    if unit:
        own = clients.people.sum(axis=2, keepdims=True)
        whose = own * _inverse(own.sum(axis=0 if task.sees == "xa" else (0, 1)))
        one = Joint(np.broadcast_to(whose, clients.people.shape), clients.eta)
        linear = Rates.of(task.notion, one.people, one.eta).linear
        gain = one.gain(task.costs, task.sees).sum(axis=0, keepdims=True)
    rows = limits.rows(linear, task.sees).reshape(limits.eps.size, -1)
    return _posed(
        gain, pooled.constant(task.costs), rows, limits.levels(len(eps)), limits.b, limits.eps
    )


def aware_problem(
    task: Task, clients: Joint, eps: Array, local_eps: Array, *, unit: bool = False
) -> Problem:
    """A rule for each client, under one budget for everybody (1,) and the clients' own (I,).

    With ``unit`` the coefficients are those of one person at every cell.
    """
    rates = Rates.of(task.notion, clients.people, clients.eta)
    everybody = Limits.of(task, rates.pooled, eps)
    own = Limits.of(task, rates, local_eps)
    at = clients.unit(task.sees) if unit else clients
    one = Rates.of(task.notion, at.people, at.eta).linear if unit else rates.linear
    # (E, 1, K) everybody's, over all clients; (E, I, K) each client's, over its own cells
    shared = everybody.rows(one, task.sees).swapaxes(1, 2).reshape(everybody.eps.size, -1)
    e, i, k = own.eps.shape
    blocks = own.rows(one, task.sees).swapaxes(0, 1).reshape(i, e * k, -1)
    order = np.arange(i * e * k).reshape(i, e, k).swapaxes(0, 1).ravel()
    local = scipy.sparse.csr_array(scipy.sparse.block_diag(list(blocks)))[order]
    posed = _posed(
        at.gain(task.costs, task.sees),
        at.constant(task.costs),
        scipy.sparse.vstack([scipy.sparse.csr_array(shared), local]),
        everybody.levels(1 + i),
        np.append(everybody.b, own.b),
        np.append(everybody.eps, own.eps),
    )
    return replace(posed, v=scipy.sparse.csr_array(posed.v))


@dataclass(frozen=True)
class Limits:
    """The notion's constraints at J places: K ``contrasts`` (E, J, K, A) of the groups' rates,
    constants b and budgets eps (E, J, K); inf where fewer than two groups have the event.
    """

    rates: Rates
    contrasts: Array
    b: Array
    eps: Array
    leveled: bool

    @classmethod
    def of(cls, task: Task, rates: Rates, eps: Array, *, pairs: bool = False) -> Limits:
        """From the rates at J places and their budgets (J,); with ``pairs`` every pair of groups
        has a constraint, and none a level.
        """
        groups = rates.mass.shape[-1]
        known = rates.mass > 0
        enough = known.sum(axis=-1, keepdims=True) >= 2
        within = rates.mass * _inverse(rates.mass.sum(axis=-1, keepdims=True))
        leveled = groups > 2 and task.difference == "pairwise" and not pairs
        if groups == 2:
            # |r_0 - r| = w_1 |r_0 - r_1|: one constraint says both
            scale = 1.0 if task.difference == "pairwise" else within.max(axis=-1)[..., None, None]
            contrasts, bound = np.array([[1.0, -1.0]]) * scale, enough
        elif pairs and task.difference == "pairwise":
            first, second = np.triu_indices(groups, 1)
            contrasts = np.eye(groups)[first] - np.eye(groups)[second]
            bound = known[..., first] & known[..., second]
        else:
            contrasts, bound = np.eye(groups), enough & known
            if not leveled:
                contrasts = contrasts - within[:, :, None, :]
        contrasts = np.where(bound[..., None], contrasts, 0.0) * _inverse(rates.mass)[:, :, None]
        budgets = np.where(bound, (eps / 2.0 if leveled else eps)[:, None], np.inf)
        if groups > 2 and not leveled:  # at 0 constraints that follow from the others are left out
            largest = np.arange(groups) == within.argmax(axis=-1)[..., None]
            if task.difference == "overall":  # Σ_a w_a (r_a - r) = 0
                implied = largest
            else:  # pairs without the largest group
                first, second = np.triu_indices(groups, 1)
                implied = ~(largest[..., first] | largest[..., second])
            budgets[implied & (eps == 0)[:, None]] = np.inf
        b = (contrasts * rates.constant[:, :, None]).sum(axis=-1)
        return cls(rates, contrasts, b, budgets, leveled)

    def rows(self, linear: Array, sees: str) -> Array:
        """(E, J, K, A or 1, n) the constraints' coefficients, from those of the rates (E, J, A, n);
        of one place, over all the places of ``linear``.
        """
        return Joint.seen(self.contrasts[..., None] * linear[:, :, None], sees)

    def levels(self, places: int) -> Array:
        """(E J K, E J) coefficients of the levels of so many places, none where pairs need none."""
        e, _, k = self.eps.shape
        count = e * places if self.leveled else 0
        return -np.repeat(np.eye(e * places), k, axis=0)[:, :count]


def _inverse(x: Array) -> Array:
    return np.divide(1.0, x, out=np.zeros_like(x), where=x > 0)
