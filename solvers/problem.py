"""The one form of group fairness on a finite X: maximise base + u·f over 0 <= f <= 1 subject to
|V f + b| <= eps.

The scheme says what a rule may depend on and whose rates are limited, the notion gives the rates,
which are linear in the rule, and the costs give u. Of three groups or more the largest difference
of rates r_a is at most eps iff some level c in [0, 1] has |r_a - c| <= eps/2 for all of them: c is
one more unknown, without gain, and K groups have K constraints in place of K(K-1)/2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from fairfl._support.checks import Array, as_floats, one_of, shown
from fairfl.solvers.solution import budget_term
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import Joint
from fairfl.theory.populations.notions import ALIASES, DIFFERENCES, NOTIONS, Rates

SCHEMES = ("cfl", "lft_ensemble", "lft_fedavg", "client_aware")
SEES = ("xa", "x")


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
        """The task; ValueError for a value out of range, or one that laws do not take."""
        if not isinstance(fed, Federation):
            raise ValueError(f"federation must be a Federation, got {type(fed).__name__}")
        one_of("scheme", scheme, SCHEMES)
        one_of("notion", notion, (*NOTIONS, *ALIASES))
        one_of("difference", difference, DIFFERENCES)
        one_of("sees", sees, SEES)
        task = cls(scheme, ALIASES.get(notion, notion), difference, _costs(costs, fed), sees)
        if not fed.is_finite and not task.plain:
            raise ValueError(
                "on laws there are 'cfl', 'lft_ensemble' and 'lft_fedavg' with "
                "notion='demographic_parity', difference='pairwise', costs=(1, 1) and sees='xa'; "
                "the rest takes a finite X"
            )
        return task

    @property
    def plain(self) -> bool:
        """Whether it is demographic parity and accuracy, by rules that see the group."""
        return (
            self.scheme != "client_aware"
            and self.notion == "demographic_parity"
            and self.difference == "pairwise"
            and self.sees == "xa"
            and self.accurate
        )

    @property
    def accurate(self) -> bool:
        """Whether the utility is the accuracy, less one."""
        return bool((self.costs == 1.0).all())


def _costs(costs: Any, fed: Federation) -> Array:
    """(2, A) checked costs."""
    allowed = f"'balanced', or two costs, each a number or one for each of {fed.n_groups} groups"
    if isinstance(costs, str):
        if costs != "balanced":
            raise ValueError(f"costs must be {allowed}, got {shown(costs)}")
        if not 0.0 < fed.base_rate < 1.0:
            raise ValueError(
                f"costs='balanced' needs people of both labels, got P(y = 1) = {fed.base_rate:g}"
            )
        costs = 0.5 / fed.base_rate, 0.5 / (1.0 - fed.base_rate)
    try:
        rows = [as_floats("costs", cost) for cost in costs]
    except TypeError:
        rows = []
    if len(rows) != 2 or any(row.shape not in ((), (fed.n_groups,)) for row in rows):
        raise ValueError(f"costs must be {allowed}, got {shown(costs)}")
    table = np.stack([np.broadcast_to(row, fed.n_groups) for row in rows])
    if not (np.isfinite(table).all() and (table >= 0).all() and table.any()):
        raise ValueError(f"costs must be finite, not negative and not all zero, got {shown(costs)}")
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


def law_problem(task: Task, law: Joint, eps: Array, unit: bool = False) -> Problem:
    """Everybody of a one-place ``law`` under one budget eps (1,): CFL, or a client's own problem.

    With ``unit`` the coefficients are those of one person at every cell.
    """
    rates = Rates.of(task.notion, law.people, law.eta)
    at = law.unit(task.sees) if unit else law
    one = Rates.of(task.notion, at.people, at.eta) if unit else rates
    return _assembled(task, at, [_rows(task, rates, eps, one)])


def clients_problem(task: Task, pooled: Joint, clients: Joint, eps: Array) -> Problem:
    """One rule for all under every client's own budget (I,): LFT+FedAvg."""
    rates = Rates.of(task.notion, clients.people, clients.eta)
    return _assembled(task, pooled, [_rows(task, rates, eps, rates)])


def aware_problem(
    task: Task, clients: Joint, eps: Array, local_eps: Array, unit: bool = False
) -> Problem:
    """A rule for each client, under one budget for everybody (1,) and the clients' own (I,)."""
    rates = Rates.of(task.notion, clients.people, clients.eta)
    at = clients.unit(task.sees) if unit else clients
    one = Rates.of(task.notion, at.people, at.eta) if unit else rates
    everybody, own = _rows(task, rates.pooled, eps, one), _rows(task, rates, local_eps, one)
    return _assembled(task, at, [everybody, own])


@dataclass(frozen=True)
class _Rows:
    """Constraints (E, J, K): ``table`` (E, J, K, I, B, n) or, of each place's own client alone,
    (E, J, K, 1, B, n); ``b``, ``eps``; ``level`` whether each (e, j) has one.
    """

    table: Array
    b: Array
    eps: Array
    level: bool


def _rows(task: Task, rates: Rates, eps: Array, coefficients: Rates) -> _Rows:
    """The notion's constraints at J places with budgets (J,).

    ``coefficients`` are those of the rules (of each place's own, or of all I at one place): they
    are divided by the masses of ``rates``.
    """
    groups = rates.mass.shape[-1]
    known = rates.mass > 0
    enough = known.sum(axis=-1, keepdims=True) >= 2
    share = np.divide(1.0, rates.mass, out=np.zeros_like(rates.mass), where=known)
    within = rates.mass / np.maximum(rates.mass.sum(axis=-1, keepdims=True), 1e-300)
    level = groups > 2 and task.difference == "pairwise"
    if groups == 2:
        # |r_0 - r| = w_1 |r_0 - r_1|: one constraint says both
        scale = within.max(axis=-1) if task.difference == "overall" else np.ones(enough.shape[:2])
        contrast = scale[..., None, None] * np.array([[1.0, -1.0]])
        own = enough
    else:
        contrast = np.broadcast_to(np.eye(groups), (*known.shape, groups))
        if not level:
            contrast = contrast - within[:, :, None, :]
        own = enough & known
    contrast = np.where(own[..., None], contrast, 0.0) * share[:, :, None, :]
    places = rates.mass.shape[1]
    if coefficients.linear.shape[1] == places:
        table = contrast[..., None] * coefficients.linear[:, :, None]
        table = table[:, :, :, None]
    else:
        table = contrast[:, :, :, None, :, None] * coefficients.linear[:, None, None]
    return _Rows(
        Joint.seen(table, task.sees),
        np.einsum("ejka,eja->ejk", contrast, rates.constant),
        np.where(own, (eps / 2.0 if level else eps)[:, None], np.inf),
        level,
    )


def _assembled(task: Task, law: Joint, blocks: list[_Rows]) -> Problem:
    gain = law.gain(task.costs, task.sees)
    places = len(gain)
    tables = []
    for rows in blocks:
        e, j, k = rows.eps.shape
        if places > 1 and j == places:  # each client's own
            own = rows.table.swapaxes(0, 1).reshape(j, e * k, -1)
            order = np.arange(j * e * k).reshape(j, e, k).swapaxes(0, 1).ravel()
            table = scipy.sparse.csr_array(scipy.sparse.block_diag(list(own)))[order]
        else:
            table = rows.table.reshape(e * j * k, -1)
        tables.append(table)
    levels = [rows.eps.shape[:2] for rows in blocks if rows.level]
    count = sum(e * j for e, j in levels)
    if places > 1:
        v: Any = scipy.sparse.csr_array(scipy.sparse.vstack(tables))
    else:
        v = np.concatenate(tables)
    if count:
        k = blocks[0].eps.shape[2]
        level = -np.repeat(np.eye(count), k, axis=0)
        v = (
            scipy.sparse.csr_array(scipy.sparse.hstack([v, scipy.sparse.csr_array(level)]))
            if places > 1
            else np.concatenate([v, level], axis=1)
        )
    return Problem(
        np.append(gain.ravel(), np.zeros(count)),
        v,
        np.concatenate([rows.b.ravel() for rows in blocks]),
        np.concatenate([rows.eps.ravel() for rows in blocks]),
        1.0 + law.constant(task.costs),
        gain.shape,
        count,
    )
