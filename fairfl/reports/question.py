"""Notion, difference, costs and visibility under which schemes are compared."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.checks import Array, one_of
from fairfl.solvers.frontier import Frontier
from fairfl.solvers.schemes import CFL_LOCAL, CLIENT_AWARE, COMMON, SCHEMES, SHARED_RULE
from fairfl.solvers.task import Task
from fairfl.theory.populations.blind_rules import Sees
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import (
    ALIASES,
    DIFFERENCES,
    NOTIONS,
    Difference,
    Notion,
    local_budgets,
)

ONES = (1.0, 1.0)
MANY_GROUPS, SLOW = 30, ("lft_fedavg_common", "lft_fedavg", "lft_ensemble")
"""With more groups these schemes, each of which takes minutes, are solved where they are named."""


@dataclass(frozen=True)
class Question:
    """A notion, its difference, costs and sight, as :func:`fairfl.solvers.api.solve` takes them.

    ``local_eps``: local budgets of CFL and of client-aware rules, which are compared as well where
    these are given. ``only``: of the schemes those that are solved, besides CFL; none named: all.
    """

    notion: Notion = "demographic_parity"
    difference: Difference = "pairwise"
    costs: Any = ONES
    sees: Sees = "xa"
    local_eps: float | None = None
    only: tuple[str, ...] = field(default=(), compare=False)
    monotone: bool = False

    def __post_init__(self) -> None:
        one_of("notion", self.notion, (*NOTIONS, *ALIASES))
        object.__setattr__(self, "notion", ALIASES.get(self.notion, self.notion))
        one_of("difference", self.difference, DIFFERENCES)
        one_of("sees", self.sees, get_args(Sees))
        if self.local_eps is not None:
            local_budgets("local_eps", self.local_eps, 1)
        for name in self.only:
            one_of("scheme", name, self._possible)

    @property
    def schemes(self) -> tuple[str, ...]:
        """The schemes that are compared, CFL first."""
        selected = {"cfl", *(self.only or self._possible)}
        return tuple(scheme for scheme in self._possible if scheme in selected)

    @property
    def _possible(self) -> tuple[str, ...]:
        """Pooling, what all clients can agree on, and what a planner could choose."""
        cfl, *local = SHARED_RULE
        both_budgets = () if self.local_eps is None else (CFL_LOCAL, CLIENT_AWARE)
        return tuple(scheme.name for scheme in (cfl, *COMMON, *local, *both_budgets))

    def for_groups(self, count: int, named: str | None = None) -> tuple[Question, list[str]]:
        """Without schemes that are slow for so many groups and not ``named``, and a note of it."""
        if self.only or count <= MANY_GROUPS:
            return self, []
        slow = [scheme for scheme in SLOW if scheme != named]
        remaining = tuple(scheme for scheme in self.schemes if scheme not in slow)
        note = f"Left out for more than {MANY_GROUPS} groups: --schemes {','.join(slow)} (minutes)."
        return replace(self, only=remaining), [note]

    def of(self, scheme: str) -> dict[str, Any]:
        """The arguments of ``solve`` and ``frontier``, but the scheme and whose budgets."""
        names = ("notion", "difference", "costs", "sees", "monotone")
        arguments = {name: getattr(self, name) for name in names}
        return arguments | ({"local_eps": self.local_eps} if SCHEMES[scheme].is_local else {})

    def task(self, federation: Federation, scheme: str) -> Task:
        """The task of a scheme; ValueError where this federation has none."""
        base, question = SCHEMES[scheme].base, (self.notion, self.difference, self.costs, self.sees)
        return Task.of(federation, base, *question, monotone=self.monotone)

    def title(self, sites: int) -> str:
        """The question in a sentence."""
        pooling = f", if {sites} sites do not pool their data" * (sites > 1)
        return f"What do equal {NOTIONS[self.notion].rate_names} of groups cost{pooling}?"

    @property
    def counts_labels(self) -> bool:
        """Whether the notion's rates count labels."""
        return NOTIONS[self.notion].counts_labels

    @property
    def value(self) -> str:
        """What rules of the same disparity are compared by."""
        if isinstance(self.costs, str):
            return "balanced accuracy"
        ones = all(np.all(np.asarray(cost) == 1.0) for cost in self.costs)
        return "accuracy" if ones else "utility"

    @property
    def is_share(self) -> bool:
        """Whether the value is a share, and not a utility."""
        return self.value != "utility"

    def values(self, curve: Frontier) -> Array:
        """(P,) the values of a frontier's points."""
        return curve.accuracy if curve.accurate else curve.utility + self.is_share

    def at(self, curve: Frontier, disparity: ArrayLike) -> Array:
        """A frontier's values at disparities."""
        if curve.accurate:
            return curve.accuracy_at(disparity)
        return curve.utility_at(disparity) + self.is_share


PLAIN = Question()
