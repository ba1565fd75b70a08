"""Instances next to one that was drawn: at the edges of hypotheses, and just outside of them.

A strategy draws round numbers inside the hypotheses of its statement. A false variant, whose
hypothesis or domain is 1 % wider, is true at all of them; next to them it is not.
"""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from fractions import Fraction
from random import Random
from typing import Any

from fairfl.claims.exact import Instance

PERCENT, LITTLE = Fraction(1, 200), Fraction(1, 400)
MOVES: tuple[Callable[[Any], Any], ...] = (
    lambda x: x * (1 + PERCENT),
    lambda x: x * (1 - PERCENT),
    lambda x: x + LITTLE,
    lambda x: x - LITTLE,
    lambda x: 2 * x,
    lambda x: 0 * x,
)
"""By half a percent, or a quarter of a point, either way; twice the number, and none of it."""
MOVED = 2
"""Neighbours of each instance by one move; one more has two numbers exchanged in part, or equal."""
EDGES, HALVINGS = 2, 7
"""One instance in so many is moved to the edge of a hypothesis, within 1 part in 2^7."""
NUMBERS = (float, Fraction)
"""What is moved; whole numbers count things."""
Place = tuple[list[Any] | dict[str, Any], Any]
"""A list or dict, and the index or key of a number in it."""


def neighbours(
    instance: Instance, fields: str, applies: Callable[[Instance], bool]
) -> Iterator[Instance]:
    """Neighbours of ``instance`` by moves of the numbers of ``fields``, names with spaces between.

    They depend on the instance alone, so that drawing it again draws them too. ``applies`` says
    whether an instance satisfies the hypotheses.
    """
    random = Random(json.dumps(instance, default=str, sort_keys=True))
    names = [name for name in fields.split() if any(True for _ in _places(instance, name))]
    if not names:
        return

    def place() -> tuple[str, int]:
        name = random.choice(names)
        return name, random.randrange(len(list(_places(instance, name))))

    for _ in range(MOVED):
        copied, holder, key = _copy(instance, *place())
        holder[key] = random.choice(MOVES)(holder[key])
        yield copied
    copied, holder, key = _copy(instance, *place())
    if isinstance(holder, list) and len(holder) > 1:
        second = random.choice([k for k in range(len(holder)) if k != key])
        if isinstance(holder[second], NUMBERS):  # a sum that stays, or equal numbers
            step = random.choice((LITTLE, -LITTLE, holder[second] - holder[key]))
            holder[key] += step
            holder[second] -= step if abs(step) == LITTLE else 0
            yield copied
    if random.randrange(EDGES) == 0:
        yield from _edge(instance, *place(), applies, random.sample((Fraction(0), Fraction(2)), 2))


def _edge(
    instance: Instance,
    name: str,
    index: int,
    applies: Callable[[Instance], bool],
    ends: list[Fraction],
) -> Iterator[Instance]:
    """The last instance that satisfies the hypotheses on the way of one number to its product with
    the first of ``ends`` that breaks one; by bisection.
    """

    def at(factor: Fraction) -> Instance:
        moved, holder, key = _copy(instance, name, index)
        holder[key] *= factor
        return moved

    low, high = Fraction(1), next((end for end in ends if not applies(at(end))), None)
    if high is None:
        return
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if applies(at(middle)) else (low, middle)
    yield at(low)


def _copy(instance: Instance, name: str, index: int) -> tuple[Instance, Any, Any]:
    """A copy, and where one of its numbers stands: a list or dict, and an index or key."""
    copied = deepcopy(instance)
    holder, key = list(_places(copied, name))[index]
    return copied, holder, key


def _places(instance: Instance, name: str) -> Iterator[Place]:
    """Where the numbers of a field stand."""
    todo: list[Place] = [(instance, name)] if name in instance else []
    while todo:
        holder, key = todo.pop()
        value = holder[key]
        if isinstance(value, list):
            todo += [(value, k) for k in range(len(value))]
        elif isinstance(value, dict):
            todo += [(value, k) for k in value]
        elif isinstance(value, NUMBERS):
            yield holder, key
