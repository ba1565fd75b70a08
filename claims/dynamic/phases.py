"""Phase diagrams of two quadratics as the pictures of claims."""

from __future__ import annotations

from fairfl.claims.picture import Curve, Map, Picture
from fairfl.studies.dynamic_phases import PANELS

POINTS = 61


def picture(caption: str, *names: str) -> Picture:
    """The panels of these names, which have the same labels."""
    maps = []
    for panel in (PANELS[name] for name in names):
        x, y, leads = panel.at(POINTS)
        lines = {
            "above it the repaired condition holds": panel.repaired,
            "the printed one": panel.printed,
        }
        maps.append(
            Map(
                panel.title,
                tuple(x[0].tolist()),
                tuple(y[:, 0].tolist()),
                tuple(map(tuple, panel.gain(leads).tolist())),
                tuple(Curve(label, *line) for label, line in lines.items() if line is not None),
            )
        )
    return Picture(caption, *PANELS[names[0]].labels, maps=tuple(maps))
