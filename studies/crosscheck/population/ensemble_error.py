"""An ensemble's error in MD: on its members' own people, and on other clients' people."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from fairfl._support.checks import Array
from fairfl.solvers.api import solve
from fairfl.studies.crosscheck.population.worlds import World
from fairfl.theory.populations.classifiers import Classifier


@cache
def exact_members(world: World, budgets: tuple[float, ...]) -> tuple[Classifier, ...]:
    """Each client's own most accurate rule with |MD_i| <= ε_i; of several, the solver's."""
    clients = [world.alone(i).federation for i in range(world.clients)]
    return tuple(
        solve(client, "cfl", eps).classifier for client, eps in zip(clients, budgets, strict=True)
    )


def missed(
    world: World, members: Sequence[Classifier], budgets: tuple[float, ...]
) -> tuple[float, float]:
    r"""MD of the learned ensemble less that of the exact one, in two parts that add up to it.

    MD = sum_j π_j sum_i [P(i|0) r_{0i}(f_j) - P(i|1) r_{1i}(f_j)], r_{ai}(f) = P(f = 1 | a, i): the
    first part has the terms i = j, members asked about their own client's people; the second those
    of i != j.
    """
    found, best = (_terms(world, rules) for rules in (members, exact_members(world, budgets)))
    change = found - best
    own = float(np.trace(change))
    return own, float(change.sum()) - own


def _terms(world: World, members: Sequence[Classifier]) -> Array:
    """(J, I) what member j's answers on client i's people add to MD."""
    federation = world.federation
    within = federation.within
    rates = np.stack([member.rates(federation) for member in members])
    return federation.weight[:, None] * (
        rates[:, :, 0] * within[:, 0] - rates[:, :, 1] * within[:, 1]
    )
