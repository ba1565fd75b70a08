"""The form of group fairness on densities: the gain and the constraints of a scheme, a notion and
costs, for the dual.

A place of the rule is a line that it decides about: a group, all groups for a blind rule, and each
client's own where the rule is told the client. Three groups or more are limited pair by pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.numerics.dual import Constraints
from fairfl.solvers.problem import Limits, limited
from fairfl.solvers.task import Task
from fairfl.theory.populations.blind_rules import places
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.client_classifiers import ClientClassifiers
from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.notions import NOTIONS

Rule = Classifier | ClientClassifiers


@dataclass(frozen=True)
class DensityProblem:
    """A task's constraints, and their budgets.

    Attributes
    ----------
    constraints : ordered by everybody's and the clients', rate, client and pair of groups; the gain
        is that at costs over ``unit``, the largest.
    eps : (K,), inf where a constraint binds nobody: its coefficients are 0.
    sees_client : whether the rule is a function of the client, too.
    where : (J, A) the place of each group, of all clients together, or of each client
        whom the rule sees.
    """

    constraints: Constraints
    eps: Array
    sees_client: bool
    where: Array

    @classmethod
    def of(
        cls, task: Task, model: ContinuousModel, eps: Array, local_eps: Array | None = None
    ) -> DensityProblem:
        """The problem of a task at budgets eps (1,), or (I,), as the scheme has them."""
        rates = model.rates(task.notion)
        clients, groups = model.mass.shape
        pairs = [(rates.pooled if task.scheme.is_pooled else rates, eps)]
        if local_eps is not None:
            pairs.append((rates, local_eps))
        limits = [Limits.of(task, limited_rates, pairs=True) for limited_rates, _ in pairs]
        table = np.concatenate([_counted(limit, model.mass) for limit in limits])
        sees_client, costs = task.scheme.sees_client, task.costs / task.unit
        members_of_rules = [[i] for i in range(clients)] if sees_client else [list(range(clients))]
        rule_places = [(m, g) for m in members_of_rules for g in places(groups, task.sees)]
        rejects_all = np.zeros(0), np.zeros(1)
        constraints = Constraints(
            1.0 + sum(model.utility(costs, a, *rejects_all) for a in range(groups)),
            tuple(
                model.profile(g, m if sees_client else None, costs, NOTIONS[task.notion].rates)
                for m, g in rule_places
            ),
            tuple(table[..., g, :][..., m].reshape(len(table), -1) for m, g in rule_places),
            np.concatenate([limit.table[0].ravel() for limit in limits]),
            tuple(not model.mass[np.ix_(m, g)].any() for m, g in rule_places),
        )
        eps_of_limits = [
            limited(limit.table[1], limit.table[2], budgets[:, None]).ravel()
            for limit, (_, budgets) in zip(limits, pairs, strict=True)
        ]
        where = np.arange(len(rule_places)).reshape(len(members_of_rules), -1)
        where = np.broadcast_to(where, (len(members_of_rules), groups))
        return cls(constraints, np.concatenate(eps_of_limits), sees_client, where)

    def rule(self, lines: Sequence[tuple[Array, Array]]) -> Rule:
        """The rule with these edges and rates at each place."""
        members = [
            Classifier([lines[p][0] for p in places], [lines[p][1] for p in places])
            for places in self.where
        ]
        return ClientClassifiers(members) if self.sees_client else members[0]


def _counted(limits: Limits, mass: Array) -> Array:
    """(E J K, E, A, I) what the rates' densities count in the constraints."""
    e, j, k, a = limits.contrasts.shape
    counts = np.eye(len(mass)) if j == len(mass) else np.ones((1, len(mass)))
    table = np.einsum("ejka,ia,ji,ef->ejkfai", limits.contrasts, mass, counts, np.eye(e))
    return table.reshape(e * j * k, e, a, len(mass))
