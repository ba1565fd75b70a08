"""Instances next to one that was drawn: at the edges of hypotheses, and just outside of them.

A strategy draws round numbers inside the hypotheses of its statement. A false variant, whose
hypothesis or domain is 1 % wider, is true at all of them; next to them it is not.
"""

import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from random import Random
from typing import Any

from fairfl.claims.exact import Instance, moved, numbers, peers

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


def neighbours(
    instance: Instance, fields: str, applies: Callable[[Instance], bool]
) -> Iterator[Instance]:
    """Neighbours of ``instance`` by moves of the numbers of ``fields``, names with spaces between;
    whole numbers, which count things, stay.

    They depend on the instance alone, so that drawing it again draws them too. ``applies`` says
    whether an instance satisfies the hypotheses.
    """
    random, names = Random(json.dumps(instance, default=str, sort_keys=True)), fields.split()
    fractions = [
        (path, x)
        for path, x in numbers(instance)
        if path.partition(".")[0] in names and not isinstance(x, int)
    ]
    if not fractions:
        return
    for _ in range(MOVED):
        path, x = random.choice(fractions)
        yield moved(instance, {path: random.choice(MOVES)(x)})
    path, x = random.choice(fractions)
    others = [pair for pair in peers(instance, path) if not isinstance(pair[1], int)]
    if others:  # a sum that stays, or equal numbers
        other, y = random.choice(others)
        step = random.choice((LITTLE, -LITTLE, y - x))
        yield moved(instance, {path: x + step, other: y - step if abs(step) == LITTLE else y})
    if random.randrange(EDGES) == 0:
        path, x = random.choice(fractions)
        yield from _edge(instance, path, x, applies, random.sample((0, 2), 2))


def _edge(
    instance: Instance, path: str, x: Any, applies: Callable[[Instance], bool], ends: list[int]
) -> Iterator[Instance]:
    """The last instance within the hypotheses, one number multiplied towards an end of ``ends``."""
    low: int | Fraction = 1
    high = next((end for end in ends if not applies(moved(instance, {path: x * end}))), None)
    if high is None:
        return
    for _ in range(HALVINGS):
        middle = Fraction(low + high) / 2
        low, high = (
            (middle, high) if applies(moved(instance, {path: x * middle})) else (low, middle)
        )
    yield moved(instance, {path: x * low})
