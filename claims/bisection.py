"""The search behind :class:`IntervalLeaves`: bisects a box until the sign of a margin is certain on
every part.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from flint import ctx

from fairfl.claims.call import Call
from fairfl.claims.certificates.interval_leaves import LEAF, Box, IntervalLeaves, balls, halves
from fairfl.claims.exact import ball, encode

MOST_BOXES = 20_000
PROBES = 500


def bisect(
    margin: Call,
    box: Sequence[tuple[Fraction, Fraction]],
    *,
    precision: int = 64,
    most: int = MOST_BOXES,
    probes: int = PROBES,
) -> IntervalLeaves:
    """Bisect the widest side (relative to the box's) until the margin is certainly positive on each
    part.

    Looks at a grid of about ``probes`` points first: where the margin is certainly negative at
    one, or after ``most`` boxes, the tree is left incomplete, and the certificate is rejected when
    it is verified.
    """
    if not box or any(not low <= high for low, high in box):
        raise ValueError(f"box must be pairs low <= high, got {box!r}")
    sides: Box = tuple((Fraction(low), Fraction(high)) for low, high in box)
    widths = [high - low or Fraction(1) for low, high in sides]
    todo, letters = [sides], []
    with ctx.workprec(precision):
        violated = _violated(margin, sides, probes)
        while todo and len(letters) < most and not violated:
            part = todo.pop()
            if margin(balls(part)) > 0:
                letters.append(LEAF)
                continue
            axis = max(range(len(part)), key=lambda k: (part[k][1] - part[k][0]) / widths[k])
            letters.append(str(axis))
            todo.extend(reversed(halves(part, axis)))
    ends = tuple((str(encode(low)), str(encode(high))) for low, high in sides)
    return IntervalLeaves(margin, ends, "".join(letters), precision)


def _violated(margin: Call, box: Box, probes: int) -> bool:
    """Whether the margin is certainly negative at a point of a grid on the box, ends included."""
    steps = max(2, round(probes ** (1 / len(box)))) - 1
    lines = [
        [low + (high - low) * Fraction(k, steps) for k in range(steps + 1)] for low, high in box
    ]
    values = (margin([ball(v) for v in point]) for point in product(*lines))
    return any(bool(value < 0) for value in values)
