"""What rests on what, as an inline SVG: claims in columns by depth, an arrow from a claim to what
it rests on.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from fairfl.claims.claim import REPAIRED, Claim
from fairfl.claims.registry import order
from fairfl.claims.runner import Checked

COLUMN, ROW, WIDTH, HEIGHT = 300, 30, 250, 22


def graph(checked: Sequence[Checked]) -> str:
    """SVG of the claims that rest on another or are rested on, each printed statement with its
    repaired form.

    Empty where nothing rests on anything.
    """
    known = {c.claim.id: c for c in checked}
    solid = [(id, other) for id, c in known.items() for other in c.claim.rests_on if other in known]
    involved = {id for edge in solid for id in edge}
    involved |= {id.removesuffix(REPAIRED) for id in involved if id.removesuffix(REPAIRED) in known}
    if not involved:
        return ""
    dashed = [(id + REPAIRED, id) for id in involved if id + REPAIRED in involved]
    place, width, height = _places(sorted(involved), [*solid, *dashed], [c.claim for c in checked])
    lines = [_edge(place[a], place[b], "") for a, b in solid]
    lines += [_edge(place[a], place[b], ' stroke-dasharray="4 3"') for a, b in sorted(dashed)]
    boxes = [_box(known[id], *place[id]) for id in sorted(involved)]
    return (
        f'<svg class="graph" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'role="img" '
        'aria-label="Which claim rests on which">'
        '<defs><marker id="tip" markerWidth="7" markerHeight="7" refX="6" refY="3" orient="auto">'
        '<path d="M0,0 L6,3 L0,6 z" fill="#777"/></marker></defs>'
        f"{''.join(lines)}{''.join(boxes)}</svg>"
    )


def _places(
    ids: Sequence[str], edges: Sequence[tuple[str, str]], claims: Sequence[Claim]
) -> tuple[dict[str, tuple[int, int]], int, int]:
    """Where each box stands, in a column right of all that it points to; the width and height of
    all.
    """
    below = {id: [b for a, b in edges if a == id] for id in ids}
    depth = dict.fromkeys(ids, 0)
    wanted = [id for id in order(claims) if id in depth]
    for _ in ids:  # a repaired form may come before what it repairs: as often as any chain is long
        for id in wanted:
            depth[id] = 1 + max((depth[b] for b in below[id]), default=-1)
    place: dict[str, tuple[int, int]] = {}
    columns: list[list[str]] = [
        [id for id in ids if depth[id] == k] for k in range(max(depth.values()) + 1)
    ]
    for k, column in enumerate(columns):
        # the mean height of what it points to: fewer crossings
        def height(id: str, k: int = k) -> float:
            heights = [place[b][1] for b in below[id] if b in place]
            return sum(heights) / len(heights) if heights else 0.0

        for row, id in enumerate(sorted(column, key=lambda id: (height(id), id)) if k else column):
            place[id] = (k * COLUMN + 10, row * ROW + 10)
    return place, len(columns) * COLUMN - 30, max(map(len, columns)) * ROW + 10


def _edge(start: tuple[int, int], end: tuple[int, int], dash: str) -> str:
    x, y = start[0], start[1] + HEIGHT // 2
    u, v = end[0] + WIDTH, end[1] + HEIGHT // 2
    middle = (x + u) // 2
    curve = f"M{x},{y} C{middle},{y} {middle},{v} {u + 2},{v}"
    return f'<path d="{curve}" fill="none" stroke="#777"{dash} marker-end="url(#tip)"/>'


def _box(checked: Checked, x: int, y: int) -> str:
    id = checked.claim.id
    return (
        f'<a href="#{escape(id)}"><rect class="{escape(checked.settled.verdict or "none")}" '
        f'x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="4"/><text x="{x + 8}" '
        f'y="{y + 15}">{escape(id)}</text></a>'
    )
