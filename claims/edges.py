"""Edges of the hypotheses and branches of statements, in ``edges.json``.

A row has instances, each with points next to it: the numbers that are changed there, by their
paths ("q.0"), and the state of the statement: the premises that are broken, or the relations
that it asserts, "" where that is as at the instance. A hypothesis or a branch that is wider,
narrower or dropped has another state at one of them. A digest of the numbers of all points follows.
"""

import json
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from flint import ctx

from fairfl._support.manifest import sha256
from fairfl.claims.call import Call
from fairfl.claims.case import Case, Number, quoted
from fairfl.claims.certificates.base import Rejected, require
from fairfl.claims.exact import Instance, decode, encode, moved, numbers, peers

FILE = Path(__file__).with_suffix(".json")
BESIDE, NEAR = Fraction(1, 10**6), Fraction(1, 10**9)
"""Relative distance of the points on either side of an edge, and how well an edge is located."""
FACTORS = (-10, -2, -1, -0.1, 0.1, 0.5, 0.99, 1.01, 2, 10)
"""Multiples of a number between which edges are looked for; beside it and 0, and at its peers."""
CLOSER = Fraction(1, 10**30)
"""The same of an edge that is known exactly, where the statement's numbers are exact."""
BITS = 160
"""Precision of balls at the points."""
Point = tuple[dict[str, Any], str]


@cache
def rows() -> dict[str, list[tuple[Any, list[Point], str]]]:
    """The rows by statement."""
    return json.loads(FILE.read_text("utf-8"))


def hold(call: Call[Case], instance: Instance, premises: frozenset[str]) -> None:
    """Rejected: the statement has other edges than in its row, or premises and no row."""
    row = rows().get(str(call))
    if row is None and premises:
        start = encode(instance)
        near = points(call, start)
        cases = [_case(call, moved(start, changes)) for changes, _ in near]
        printed = json.dumps({str(call): [[start, near, digest(cases)]]}, ensure_ascii=False)
        raise Rejected(f"edges.json must have {printed[1:-1]}")
    for start, near, total in row or ():
        plain = state(_case(call, decode(start)))
        cases = [_case(call, moved(start, changes)) for changes, _ in near]
        for case, (changes, expected) in zip(cases, near, strict=True):
            got = state(case, plain)
            text = f"{call} at {start} with {changes}: {got or 'the same'!r}"
            require(got == expected, f"{text}, not {expected or 'the same'!r}")
        is_same = total == digest(cases)
        require(is_same, f"{call} has other numbers than recorded at the edges next to {start}")


def digest(cases: list[Case | None]) -> str:
    """Of the numbers at the points; "" where some are floats, which differ between machines."""
    defined = [case for case in cases if case]
    texts = [case.numbers for case in defined]
    return sha256("\0".join(texts).encode())[:12] if all(c.exact for c in defined) else ""


def _case(call: Call[Case], instance: Instance) -> Case | None:
    """The statement at an instance, None where it is undefined."""
    try:
        with warnings.catch_warnings(), ctx.workprec(BITS):
            warnings.simplefilter("ignore")
            return call(instance)
    except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError):
        return None


def state(case: Case | None, plain: str | None = None) -> str:
    """The broken premises, or names and operators of the relations; "" where it is ``plain``."""
    if case is None:
        return "undefined"
    broken = ", ".join(sorted(name for name, holds in case.premises.items() if not holds))
    relations = case.relations
    branch = {f"{_infinite(r.left)}{r.name} {r.operator}{_infinite(r.right)}" for r in relations}
    text = broken or "; ".join(sorted(branch))
    return "" if text == plain else text


def _infinite(number: Number) -> str:
    """An infinite number, or one that is none; "" for the others."""
    return text if (text := quoted(number)).strip("-") in ("inf", "oo", "zoo", "nan") else ""


def points(call: Call[Case], start: Any) -> list[Point]:
    """Points on either side of each edge, and far ones, of a field's first, middle and last number:
    it is 0, negative, ten times as large, equal to the next one of its list or one less that, or
    changed with it so that their sum or product is kept; a whole number has half of one added.
    """
    case = _case(call, decode(start))
    plain, is_exact = state(case), case is not None and case.exact

    def at(changes: dict[str, Any]) -> Point:
        return encode(changes), state(_case(call, moved(start, changes)), plain)

    fields = defaultdict[str, list[tuple[str, Any]]](list)
    for path, x in numbers(start):
        fields[path.partition(".")[0]].append((path, x))
    near: list[Point] = []
    far: list[dict[str, Any]] = []
    for pairs in fields.values():
        for path, x in (pairs[k] for k in sorted({0, len(pairs) // 2, len(pairs) - 1})):
            others = peers(start, path)
            near += _edges(path, x, [peer for _, peer in others], at, is_exact)
            if isinstance(x, int):
                far.append({path: x + Fraction(1, 2)})
                continue
            far += [{path: 0 * x}, {path: -x}, {path: 10 * x or 1 + x}]
            for other, y in others[:1]:
                far += [{path: new, other: x + y - new} for new in (-x, 0 * x)]
                far += [{path: -x, other: -y}, {path: y}, {path: 1 - y}]
    all_points = [*near, *map(at, far)]
    return [point for k, point in enumerate(all_points) if point not in all_points[:k]]


def _edges(
    path: str, value: Any, others: list[Any], point: Callable[..., Point], is_exact: bool
) -> Iterator[Point]:
    """The points beside and at each edge of the number at ``path``."""

    def at(number: Any) -> Point:
        return point({path: number})

    if isinstance(value, int) and at(value + Fraction(1, 1000))[1] == "undefined":  # it counts
        grid = sorted({-1, 0, 1, 2, value - 1, value, value + 1})
        pairs = [(at(a), at(b)) for a, b in pairwise(grid)]
        yield from (edge for a, b in pairs if a[1] != b[1] for edge in (a, b))
        return
    kind, x = float if isinstance(value, float) else Fraction, Fraction(value)
    size = abs(x) or Fraction(1)
    grid = {x, Fraction(0), *(size * Fraction(str(f)) for f in FACTORS), *map(Fraction, others)}
    steps = sorted(grid | {v + s * NEAR * size for v in grid for s in (-1, 1)})
    seen = {v: at(kind(v))[1] for v in steps}
    for low, high in pairwise(steps):
        if seen[low] == seen[high]:
            continue
        if high - low > NEAR * size:
            below = seen[low]
            while high - low > NEAR * size / 4:
                middle = (low + high) / 2
                low, high = (middle, high) if at(kind(middle))[1] == below else (low, middle)
            edge = ((low + high) / 2).limit_denominator(10**4)
            is_known = kind is Fraction and low <= edge <= high
            edge = edge if is_known else Fraction(f"{float(low):.9g}")
        elif low in grid or high in grid:
            edge, is_known = (low if low in grid else high), kind is Fraction
        else:
            continue
        step = (CLOSER if is_known and is_exact else BESIDE) * (abs(edge) or 1)
        middle = [at(edge)] if is_known else []
        yield from (at(kind(edge - step)), *middle, at(kind(edge + step)))
