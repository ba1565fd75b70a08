"""What rules see: f(x, a), or blind to the group f(x), whose coefficients are sums over groups."""

from typing import Literal

import numpy as np

from fairfl._support.checks import Array
from fairfl.theory.populations.notions import without_rounding

Sees = Literal["xa", "x"]


def as_seen(table: Array, sees: str) -> Array:
    """A table (..., A, n) of coefficients of f(x, a) as one of a rule that sees ``sees``."""
    if sees == "xa":
        return table
    return without_rounding(
        table.sum(axis=-2, keepdims=True), np.abs(table).sum(axis=-2, keepdims=True)
    )


def one_each(people: Array, sees: str, *, together: bool = False) -> Array:
    """One person at every cell in place of ``people`` (J, A, n): the weights by which a rule is
    chosen at cells without people. A rule for several groups, or for all places ``together``,
    weighs them by their people at the cell, and at a cell without people by all their people.
    """
    axes = (0,) * together + (1,) * (sees == "x")
    if not axes:
        return np.ones_like(people)
    total, group_people = people.sum(axis=axes, keepdims=True), people.sum(axis=2, keepdims=True)
    share = np.broadcast_to(group_people / group_people.sum(axis=axes, keepdims=True), people.shape)
    has_people = np.broadcast_to(total > 0, share.shape)
    return np.divide(people, total, out=share.copy(), where=has_people)


def places(groups: int, sees: str) -> list[list[int]]:
    """The groups that share each line on which a rule decides."""
    return [[a] for a in range(groups)] if sees == "xa" else [list(range(groups))]
