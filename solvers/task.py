"""A question to a federation: the scheme, the notion and its difference, the costs, and what rules
see; its arguments are checked here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.checks import Array, as_floats, flag, listed, one_of, shown
from fairfl.solvers.schemes import SOLVED, Scheme
from fairfl.theory.populations.blind_rules import Sees
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel
from fairfl.theory.populations.notions import ALIASES, DIFFERENCES, NOTIONS

Costs = Literal["balanced"] | Sequence[ArrayLike] | Array  # as ``solve`` takes them
COSTS = 1.0, 1.0  # of one: the utility is the accuracy, less one
RAREST = 1e-12  # less of a label is the rounding of a sum of all people
LARGEST_COST = 1e3
"""Of the largest cost, and of its inverse the least: tolerances are those of a utility near one."""


@dataclass(frozen=True)
class Task:
    """A question to a federation: a scheme, a notion and its difference, ``costs`` (2, A) of a
    missed and of a wrong positive, by group, sight, and whether rules accept a larger score never
    less (``monotone``).
    """

    scheme: Scheme
    notion: str
    difference: str
    costs: Array
    sees: str
    monotone: bool = False

    @classmethod
    def of(
        cls,
        fed: Federation,
        scheme: str,
        notion: str = "demographic_parity",
        difference: str = "pairwise",
        costs: Costs = COSTS,
        sees: str = "xa",
        *,
        monotone: bool = False,
    ) -> Task:
        """The task; ValueError for a value out of range."""
        if not isinstance(fed, Federation):
            raise ValueError(f"federation must be a Federation, got {type(fed).__name__}")
        one_of("scheme", scheme, tuple(SOLVED))
        one_of("notion", notion, (*NOTIONS, *ALIASES))
        one_of("difference", difference, DIFFERENCES)
        one_of("sees", sees, get_args(Sees))
        if flag("monotone", monotone):
            _check_order(fed)
        notion = ALIASES.get(notion, notion)
        return cls(SOLVED[scheme], notion, difference, _costs(costs, fed), sees, monotone)

    @property
    def plain(self) -> bool:
        """Whether it is FedFB's: demographic parity of two groups, accuracy, f(x, a)."""
        question = self.notion, self.difference, self.sees, self.costs.shape[1]
        plain = question == ("demographic_parity", "pairwise", "xa", 2)
        return plain and self.accurate and not self.scheme.sees_client

    @property
    def several(self) -> bool:
        """Whether more than one difference of rates counts, or one that monotone rules move both
        ways: no one sort solves these.
        """
        both_ways = self.monotone and (self.affine or self.sees == "x")
        return self.costs.shape[1] > 2 or len(NOTIONS[self.notion].rates) > 1 or both_ways

    @property
    def affine(self) -> bool:
        """Whether a rate has a part that no rule changes: accuracy parity's."""
        return any(rate.constant != (0.0, 0.0) for rate in NOTIONS[self.notion].rates)

    @property
    def unit(self) -> float:
        """The largest cost: on laws gains and multipliers are those at costs over it."""
        return float(self.costs.max())

    @property
    def accurate(self) -> bool:
        """Whether the utility is the accuracy, less one."""
        return bool((self.costs == 1.0).all())


def _check_order(fed: Federation) -> None:
    """ValueError unless X is finite and has an order."""
    x = "laws with densities"
    if isinstance(fed.model, FiniteModel):
        x = fed.model.cells or (f"names: {listed(fed.model.names)}" if fed.model.names else None)
    if x is not None:
        raise ValueError(f"monotone=True needs a finite X of scores in an order, got {x}")


def _costs(costs: Any, fed: Federation) -> Array:
    """(2, A) checked costs."""
    if costs is COSTS:
        return np.ones((2, fed.n_groups))
    allowed = f"'balanced', or two costs, each a number or one for each of {fed.n_groups} groups"
    if isinstance(costs, str) and costs == "balanced":
        base = fed.base_rate
        if not RAREST <= base <= 1.0 - RAREST:
            raise ValueError(
                f"costs='balanced' needs {RAREST:g} of the people or more with each label, got "
                f"P(y = 1) = {base:g}"
            )
        return np.outer([0.5 / base, 0.5 / (1.0 - base)], np.ones(fed.n_groups))
    two = isinstance(costs, (list, tuple)) or (isinstance(costs, np.ndarray) and costs.ndim > 0)
    rows = [as_floats("costs", cost) for cost in costs] if two else []
    if len(rows) != 2 or any(row.shape not in ((), (fed.n_groups,)) for row in rows):
        raise ValueError(f"costs must be {allowed}, got {shown(costs)}")
    table = np.stack([np.broadcast_to(row, fed.n_groups) for row in rows])
    if not ((table >= 0).all() and 1.0 / LARGEST_COST <= table.max() <= LARGEST_COST):
        raise ValueError(
            f"costs must not be negative, and the largest from {1 / LARGEST_COST:g} to "
            f"{LARGEST_COST:g} (only their ratios matter), got {shown(costs)}"
        )
    return table
