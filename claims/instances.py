"""Property tests at run time: instances drawn by hypothesis, then by an optimiser that minimises
the margin.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import HealthCheck, Phase, assume, given, seed, settings
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase

from fairfl.claims.call import Call
from fairfl.claims.case import Case
from fairfl.claims.certificates.property_run import NumericGrid, PropertyRun
from fairfl.claims.claim import Effort
from fairfl.claims.exact import decode, encode
from fairfl.claims.search import Attack, attack

KEPT = 3
"""Worst instances that a certificate keeps."""
SLOW_BUT_COUNTED = (
    HealthCheck.too_slow,
    HealthCheck.filter_too_much,
    HealthCheck.data_too_large,
    HealthCheck.large_base_example,
)
"""Checks of hypothesis that ask for patience: what is discarded is counted here, and judged by the
certificate.
"""
CHUNK = 1000
"""Examples a run of hypothesis: its bookkeeping grows with their number."""
Instance = dict[str, Any]


class Tally:
    """Evaluates a statement at instances as JSON would hand them back, and keeps the worst."""

    def __init__(self, statement: Call) -> None:
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
            # a heap of the smallest margins
            heapq.heappush(self._worst, (-margin, -self.examples, data))
            self._seen.add(repr(data))
            if len(self._worst) > KEPT:
                self._seen.discard(repr(heapq.heappop(self._worst)[2]))
        return margin

    def worst(self) -> tuple[dict[str, Any], ...]:
        """The kept instances, the worst first."""
        return tuple(
            {"instance": data, "margin": -m} for m, _, data in sorted(self._worst, reverse=True)
        )


def explore(
    statement: Call,
    strategy: st.SearchStrategy[Instance],
    effort: Effort,
    *,
    tolerance: float = 1e-9,
    attacks: Sequence[Attack] = (),
    seed_: int = 0,
    examples: int | None = None,
) -> PropertyRun:
    """Test a statement on drawn instances, then attack it.

    The first violation stops the search, shrunk by hypothesis: the certificate holds it as its
    worst, and is rejected when it is verified.

    Parameters
    ----------
    statement : instance -> :class:`Case`; instances are dicts of JSON data and fractions.
    strategy : draws instances that satisfy the premises; those that do not are counted as
        discarded.
    effort : how many.
    tolerance : margins above minus this are taken for rounding.
    attacks : families of instances, each over a box of parameters, in which the margin is
        minimised.
    seed_ : of draws and attacks.
    examples : how many, in place of the effort's.
    """
    tally = Tally(statement)
    wanted = examples if examples is not None else effort.examples
    broken = False
    for start in range(0, wanted, CHUNK):
        broken = _draw(tally, strategy, min(CHUNK, wanted - start), tolerance, seed_ + start)
        if broken:
            break
    drawn, discarded = tally.examples, tally.discarded
    restarts = evaluations = 0
    for one in attacks:
        if broken:
            break
        restarts += effort.restarts
        evaluations += attack(one, tally.margin, effort.restarts, seed_, tolerance)
    return PropertyRun(
        statement, tolerance, tally.worst(), drawn, discarded, seed_, restarts, evaluations
    )


def tabulate(
    statement: Call, instances: Sequence[Instance], grid: str, tolerance: float = 1e-9
) -> NumericGrid:
    """Evaluate a statement on a fixed list of instances, ``grid`` in words; each must satisfy the
    premises.

    Raises
    ------
    ValueError : an instance that breaks a premise.
    """
    tally = Tally(statement)
    for instance in instances:
        if tally.margin(instance) is None:
            raise ValueError(
                f"instances of a grid must satisfy the premises, got {instance!r:.200}"
            )
    return NumericGrid(statement, tolerance, tally.worst(), len(instances), grid)


def _draw(
    tally: Tally, strategy: st.SearchStrategy[Instance], count: int, tolerance: float, start: int
) -> bool:
    """Draw ``count`` instances; whether the statement was violated."""

    class Violated(Exception):
        pass

    def look(instance: Instance) -> None:
        margin = tally.margin(instance)
        assume(margin is not None)
        if margin is not None and margin < -tolerance:
            raise Violated

    try:
        _runner(look, strategy, count, start)()
    except Violated:
        return True
    return False


def _runner(
    look: Callable[[Instance], None], strategy: st.SearchStrategy[Instance], count: int, start: int
) -> Callable[[], None]:
    rules = settings(
        max_examples=count,
        database=InMemoryExampleDatabase(),
        deadline=None,
        # not target: its hill climbing may never end where margins are flat
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=SLOW_BUT_COUNTED,
        report_multiple_bugs=False,
        print_blob=False,
    )
    return seed(start)(rules(given(strategy)(look)))
