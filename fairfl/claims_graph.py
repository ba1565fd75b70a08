"""What rests on what, as an inline SVG: claims in columns by depth, an arrow from a claim to what it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from fairfl.claims.claim import REPAIRED
from fairfl.claims.registry import order
from fairfl.claims.runner import Checked

COLUMN, ROW, WIDTH, HEIGHT = 300, 30, 250, 22


def graph(checked: Sequence[Checked]) -> str:
    """SVG of the claims that rest on another, are rested on, or have a repaired form; empty where there is none."""
    known = {c.claim.id: c for c in checked}
    solid = [(id, other) for id, c in known.items() for other in c.claim.rests_on if other in known]
    dashed = [(id + REPAIRED, id) for id in known if id + REPAIRED in known]
    involved = {id for edge in (*solid, *dashed) for id in edge}
    if not involved:
        return ""
    depth: dict[str, int] = {}
    below = {id: [o for i, o in (*solid, *dashed) if i == id] for id in involved}
    for id in order([c.claim for c in checked]) + sorted(involved):  # a repaired form stands after what it repairs
        if id in involved:
            depth[id] = 1 + max((depth.get(o, 0) for o in below[id]), default=-1)
    place, filled = {}, [0] * (max(depth.values()) + 1)
    for id in sorted(involved):
        place[id] = (depth[id] * COLUMN + 10, filled[depth[id]] * ROW + 10)
        filled[depth[id]] += 1
    width, height = len(filled) * COLUMN - 30, max(filled) * ROW + 10
    lines = [_edge(place[a], place[b], "") for a, b in solid]
    lines += [_edge(place[a], place[b], ' stroke-dasharray="4 3"') for a, b in dashed]
    boxes = [_box(known[id], *place[id]) for id in sorted(involved)]
    return (
        f'<svg class="graph" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
        'aria-label="Which claim rests on which">'
        '<defs><marker id="tip" markerWidth="7" markerHeight="7" refX="6" refY="3" orient="auto">'
        '<path d="M0,0 L6,3 L0,6 z" fill="#777"/></marker></defs>'
        f"{''.join(lines)}{''.join(boxes)}</svg>"
    )


def _edge(start: tuple[int, int], end: tuple[int, int], dash: str) -> str:
    x, y = start[0], start[1] + HEIGHT // 2
    u, v = end[0] + WIDTH, end[1] + HEIGHT // 2
    middle = (x + u) // 2
    curve = f"M{x},{y} C{middle},{y} {middle},{v} {u + 2},{v}"
    return f'<path d="{curve}" fill="none" stroke="#777"{dash} marker-end="url(#tip)"/>'


def _box(checked: Checked, x: int, y: int) -> str:
    id = checked.claim.id
    return (
        f'<a href="#{escape(id)}"><rect class="{escape(checked.settled.verdict or "none")}" x="{x}" y="{y}" '
        f'width="{WIDTH}" height="{HEIGHT}" rx="4"/><text x="{x + 8}" y="{y + 15}">{escape(id)}</text></a>'
    )
