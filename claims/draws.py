"""Instances drawn by hypothesis, each evaluated and counted: a seed draws the same ones again.

A strategy draws round numbers inside the hypotheses of its statement. A false variant, whose
hypothesis or domain is 1 % wider, is true at all of them; next to them it is not.
"""

import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from random import Random
from typing import Any

from hypothesis import HealthCheck, Phase, assume, given, seed, settings
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase

from fairfl.claims.case import Case
from fairfl.claims.exact import Instance, decode, encode, moved, numbers, peers

SLOW_BUT_COUNTED = (
    HealthCheck.too_slow,
    HealthCheck.filter_too_much,
    HealthCheck.data_too_large,
    HealthCheck.large_base_example,
)
"""Health checks that are off: discarded instances are counted, and a certificate judges them."""
CHUNK = 1000
"""Examples in one run of hypothesis, whose bookkeeping grows with their number."""
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


class Tally:
    """Evaluates a statement at instances read back from JSON.

    ``worst`` is the instance of the smallest margin, {"instance", "margin"}, or where one violates
    the statement the last of these, the shrunk one. Margins above minus ``tolerance`` count as
    rounding. ``moved`` names the fields whose numbers have neighbours, at which the statement is
    evaluated too; they are not counted.
    """

    def __init__(
        self, statement: Callable[[Instance], Case], tolerance: float, moved: str = ""
    ) -> None:
        self.statement, self.tolerance, self.moved = statement, tolerance, moved
        self.examples = self.discarded = 0
        self.worst: dict[str, Any] = {}

    def margin(self, instance: Instance) -> float | None:
        """The least margin at the instance and its neighbours; None where it breaks a premise."""
        margin = self._at(instance)
        if margin is None:
            self.discarded += 1
            return None
        self.examples += 1
        decoded = decode(encode(instance))
        adjacent = neighbours(decoded, self.moved, lambda x: self._adjacent(x) is not None)
        return min([margin, *(m for m in map(self._adjacent, adjacent) if m is not None)])

    def _adjacent(self, instance: Instance) -> float | None:
        """The margin at a neighbour, None also where a number of the statement is undefined."""
        try:
            return self._at(instance)
        except (ArithmeticError, ValueError):
            return None

    def _at(self, instance: Instance) -> float | None:
        data = encode(instance)
        case = self.statement(decode(data))
        if not case.applies:
            return None
        margin = case.margin if case.margin == case.margin else float("-inf")
        if not self.worst or margin < max(self.worst["margin"], -self.tolerance):
            self.worst = {"instance": data, "margin": margin}
        return margin


class Violated(Exception):
    """The statement fails at an instance."""


class Enough(Exception):
    """As many instances as were asked for are evaluated."""


def draw(
    tally: Tally,
    strategy: Callable[[], st.SearchStrategy[Instance]],
    count: int,
    first_seed: int,
    limit: int | None = None,
    shrink: bool = False,
) -> bool:
    """Draw ``count`` instances, evaluate each, at most ``limit``, and return whether the statement
    was violated, which ends it; ``shrink`` makes the violation small, by many more evaluations.
    """
    instances = strategy()
    for offset in range(0, count, CHUNK):
        options = settings(
            max_examples=min(CHUNK, count - offset),
            database=InMemoryExampleDatabase(),
            deadline=None,
            # not target: its hill climbing may never end where margins are flat
            phases=(Phase.generate, Phase.shrink) if shrink else (Phase.generate,),
            suppress_health_check=SLOW_BUT_COUNTED,
            report_multiple_bugs=False,
            print_blob=False,
        )
        try:
            test = given(instances)(lambda instance: _evaluate(instance, tally, limit))
            seed(first_seed + offset)(options(test))()
        except Violated:
            return True
        except Enough:
            break
    return False


def _evaluate(instance: Instance, tally: Tally, limit: int | None) -> None:
    """Count an instance; Errors: Enough after ``limit`` ones, Violated."""
    if limit is not None and tally.examples + tally.discarded >= limit:
        raise Enough
    margin = tally.margin(instance)
    assume(margin is not None)
    if margin is not None and margin < -tally.tolerance:
        raise Violated


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
        is_inside = applies(moved(instance, {path: x * middle}))
        low, high = (middle, high) if is_inside else (low, middle)
    yield moved(instance, {path: x * low})
