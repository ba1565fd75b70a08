"""Pictures of rules on the line of x; imported only when a rule is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARGIN = 0.25
"""Margin of the picture on both sides, as a share of the distance between the outermost cuts."""


def axes(ax: Axes | None) -> Axes:
    """The axes, of a new figure where none are given."""
    import matplotlib.pyplot as plt  # the only place that needs its global state

    return plt.figure(layout="constrained").subplots() if ax is None else ax


def plot_rules(
    rows: Mapping[str, Sequence[tuple[float, float, float]]], ax: Axes | None, **style: Any
) -> Axes:
    """Steps (low, high, P(ŷ = 1)), a row for each name, the darker the likelier to be accepted."""
    ax = axes(ax)
    cuts = [hi for steps in rows.values() for _, hi, _ in steps[:-1]] or [0.0]
    reach = MARGIN * (max(cuts) - min(cuts)) or 1.0
    low, high = min(cuts) - reach, max(cuts) + reach
    for k, steps in enumerate(rows.values()):
        for lo, hi, chance in steps:
            if chance > 0:
                start, end = max(lo, low), min(hi, high)
                ax.broken_barh([(start, end - start)], (k - 0.3, 0.6), alpha=chance, lw=0, **style)
    ax.set_xlim(low, high)
    ax.set_yticks(range(len(rows)), list(rows))
    ax.invert_yaxis()
    ax.set_xlabel("x (accepted where dark)")
    return ax
