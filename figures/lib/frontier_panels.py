"""Panels of accuracy against disparity, one a federation: figures 5, 9, real data, the command."""

from collections.abc import Mapping
from dataclasses import dataclass

import matplotlib.axes
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fairfl.figures.lib import style
from fairfl.solvers.api import frontier
from fairfl.solvers.frontier import Frontier
from fairfl.solvers.plots import NOT_PROVEN, curve
from fairfl.solvers.schemes import LABELS, SCHEMES
from fairfl.solvers.tolerances import PROVEN
from fairfl.studies.frames import floats, names, pick
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import Notion

DISPARITY = "disparity |MD| (difference of rates)"
ACCURACY = "accuracy (share correct)"
LOSS = "below CFL (percentage points)"


@dataclass(frozen=True)
class Axes:
    """The column that is drawn against the disparity, the axes' labels, and the unit of losses."""

    column: str = "accuracy"
    disparity: str = DISPARITY
    value: str = ACCURACY
    loss: str = LOSS
    unit: float = 100.0


PLAIN = Axes()


def table(
    federations: Mapping[str, Federation], points: int, notion: Notion = "demographic_parity"
) -> pd.DataFrame:
    """The frontiers of all schemes on every federation, ``points`` per curve: the :func:`rows`."""
    curves = {
        panel: {scheme: frontier(federation, scheme, points, notion=notion) for scheme in LABELS}
        for panel, federation in federations.items()
    }
    return pd.concat([rows(*panel) for panel in curves.items()], ignore_index=True)


def rows(panel: str, frontiers: Mapping[str, Frontier]) -> pd.DataFrame:
    """The frontiers of the schemes on one federation as a table. Columns: panel; scheme; minimum
    (true for the scheme's smallest disparity, its first point, marked by the dotted vertical);
    disparity; accuracy; utility, at costs other than one; below_cfl, the accuracy (utility) that
    CFL has more at the same disparity; gap, what the best has more at most; eps_0, eps_1, ... the
    budgets that attain the point (CFL has one, eps_0).
    """
    cfl = frontiers["cfl"]
    parts = []
    for scheme, scheme_frontier in frontiers.items():
        frame = scheme_frontier.to_frame().assign(scheme=scheme)
        frame.insert(0, "panel", panel)
        frame.insert(2, "minimum", frame.index == 0)
        best = cfl.utility_at(scheme_frontier.disparity)
        place = 5 + (not scheme_frontier.accurate)
        frame.insert(place, "below_cfl", best - scheme_frontier.utility)
        if "gap" not in frame:
            frame.insert(place + 1, "gap", scheme_frontier.gap)
        parts.append(frame)
    return pd.concat(parts, ignore_index=True)


def draw(
    data: pd.DataFrame, columns: int, height: float, *, losses: bool = False, axes: Axes = PLAIN
) -> Figure:
    """A panel a federation; ``losses`` adds a row with the schemes' losses against CFL."""
    panels = names(data, "panel")
    lines = -(-len(panels) // columns)
    figure = Figure(figsize=(style.PAGE, height))
    sharex = "col" if losses else False
    grid = figure.subplots(lines + losses, columns, squeeze=False, sharex=sharex)
    for k, panel in enumerate(panels):
        place = grid.flat[k]
        part = pick(data, panel=panel)
        _panel(place, part, axes.column, 1.0)
        if len(panels) > 1:
            style.letter(place, k, panel)
        else:
            place.set_title(panel, loc="left")
        if losses:
            _panel(grid[lines, k], part, "below_cfl", axes.unit)
    for place in grid[-1]:
        place.set_xlabel(axes.disparity)
    for k, place in enumerate(grid[:, 0]):
        place.set_ylabel(axes.loss if k == lines else axes.value)
    figure.align_ylabels(grid[:, 0])
    handles = _legend(data)
    legend_columns = 4 if len(handles) == 4 else 3
    below = "outside lower center"
    figure.legend(handles=handles, loc=below, ncols=legend_columns, handlelength=3.6)
    return figure


def draw_panels(data: pd.DataFrame, axes: Axes = PLAIN) -> Figure:
    """Rows of two panels, or one alone."""
    count = len(names(data, "panel"))
    return draw(data, min(count, 2), 2.3 * -(-count // 2) + (0.9 if count < 3 else 0), axes=axes)


def _panel(axes: matplotlib.axes.Axes, data: pd.DataFrame, column: str, unit: float) -> None:
    for scheme in names(data, "scheme"):
        look, part = SCHEMES[scheme], pick(data, scheme=scheme)
        x, y = floats(part, "disparity"), unit * floats(part, column)
        curve(axes, scheme, x, y, floats(part, "gap") <= PROVEN)
        axes.axvline(x[0], color=look.colour, ls=":", lw=0.6 + 0.5 * look.width)
    span = float(floats(data, "disparity").max()) or 1.0
    axes.set_xlim(-0.03 * span, 1.03 * span)
    axes.margins(y=0.06)
    axes.locator_params(nbins=5)


def _legend(data: pd.DataFrame) -> list[Line2D]:
    looks = [SCHEMES[scheme] for scheme in names(data, "scheme")]
    curves = [Line2D([], [], **look.stroke | look.mark, label=look.label) for look in looks]
    smallest = Line2D([], [], color=style.INK, ls=":", lw=1.0, label="smallest disparity")
    is_proven = (floats(data, "gap") <= PROVEN).all()
    pale = [] if is_proven else [Line2D([], [], color=style.INK, **NOT_PROVEN)]
    return [*curves, smallest, *pale]
