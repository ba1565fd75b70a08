"""Instances drawn by hypothesis from a seed, each evaluated and counted: the same seed draws them
again.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, assume, given, seed, settings
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase

from fairfl.claims.case import Case
from fairfl.claims.exact import decode, encode

KEPT = 3
"""Number of worst instances that are kept."""
SLOW_BUT_COUNTED = (
    HealthCheck.too_slow,
    HealthCheck.filter_too_much,
    HealthCheck.data_too_large,
    HealthCheck.large_base_example,
)
"""Health checks of hypothesis that are switched off: discarded instances are counted here, and the
certificate judges their share.
"""
CHUNK = 1000
"""Examples in one run of hypothesis, whose bookkeeping grows with their number."""
Instance = dict[str, Any]


class Tally:
    """Evaluates a statement at instances as JSON would hand them back, and keeps the worst."""

    def __init__(self, statement: Callable[[Any], Case]) -> None:
        self.statement = statement
        self.examples = self.discarded = 0
        self._worst: list[tuple[float, int, Any]] = []
        self._seen: set[str] = set()

    def margin(self, instance: Instance) -> float | None:
        """The margin at the instance, None where it breaks a premise; NaN counts as a violation."""
        data = encode(instance)
        case: Case = self.statement(decode(data))
        if not case.applies:
            self.discarded += 1
            return None
        self.examples += 1
        margin = case.margin if case.margin == case.margin else float("-inf")
        if repr(data) not in self._seen:
            # a heap of the smallest margins; of equal violations the last, which is the shrunk one
            order = self.examples if margin < 0 else -self.examples
            heapq.heappush(self._worst, (-margin, order, data))
            self._seen.add(repr(data))
            if len(self._worst) > KEPT:
                self._seen.discard(repr(heapq.heappop(self._worst)[2]))
        return margin

    def worst(self) -> tuple[dict[str, Any], ...]:
        """The kept instances, the worst first."""
        return tuple(
            {"instance": data, "margin": -m} for m, _, data in sorted(self._worst, reverse=True)
        )


def draw(
    tally: Tally,
    strategy: Callable[[], Any],
    count: int,
    tolerance: float,
    start: int,
    most: int | None = None,
    shrink: bool = False,
) -> bool:
    """Draw ``count`` instances and evaluate each; the first violation ends it.

    Parameters
    ----------
    strategy : () -> strategy of hypothesis.
    tolerance : margins above minus this are taken for rounding.
    start : the seed.
    most : evaluate the first of them only, so many.
    shrink : make the violation small: many evaluations more.

    Returns
    -------
    Whether the statement was violated.
    """

    class Violated(Exception):
        pass

    class Enough(Exception):
        pass

    def look(instance: Instance) -> None:
        if most is not None and tally.examples + tally.discarded >= most:
            raise Enough
        margin = tally.margin(instance)
        assume(margin is not None)
        if margin is not None and margin < -tolerance:
            raise Violated

    drawn: st.SearchStrategy[Instance] = strategy()
    for done in range(0, count, CHUNK):
        rules = settings(
            max_examples=min(CHUNK, count - done),
            database=InMemoryExampleDatabase(),
            deadline=None,
            # not target: its hill climbing may never end where margins are flat
            phases=(Phase.generate, Phase.shrink) if shrink else (Phase.generate,),
            suppress_health_check=SLOW_BUT_COUNTED,
            report_multiple_bugs=False,
            print_blob=False,
        )
        try:
            seed(start + done)(rules(given(drawn)(look)))()
        except Violated:
            return True
        except Enough:
            break
    return False
