"""Pictures of frontiers and of accept sets, on axes of matplotlib; imported by who draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.checks import shown
from fairfl.solvers.frontier import Frontier
from fairfl.solvers.schemes import LOOKS, REPORTED
from fairfl.theory.populations.classifiers import Classifier

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fairfl.solvers.solution import Solution

MARGIN = 0.25
"""Of the distance between the outermost cuts, shown beyond them on each side."""


def _axes(ax: Axes | None) -> Axes:
    """Those of a new figure where none are given."""
    import matplotlib.pyplot as plt  # the only place that needs its global state

    return plt.figure(layout="constrained").subplots() if ax is None else ax


def curve(ax: Axes, scheme: str, x: ArrayLike, y: ArrayLike, **style: Any) -> None:
    """A frontier in the look of its scheme, and a marker at its smallest disparity."""
    look = REPORTED[scheme]
    (line,) = ax.plot(x, y, **look.stroke | style)
    first = look.mark | {"color": line.get_color(), "clip_on": False, "zorder": 3}
    ax.plot(np.ravel(x)[:1], np.ravel(y)[:1], **first)


def plot_frontier(frontier: Frontier, ax: Axes | None = None, **style: Any) -> Axes:
    """See :meth:`Frontier.plot`."""
    ax = _axes(ax)
    value = frontier.accuracy if frontier.accurate else frontier.utility
    label = {"label": LOOKS[frontier.scheme].label} | style
    curve(ax, frontier.scheme, frontier.disparity, value, **label)
    ax.set_xlabel("disparity")
    ax.set_ylabel("accuracy" if frontier.accurate else "utility")
    return ax


def plot_frontiers(frontiers: Sequence[Frontier], ax: Axes | None = None, **style: Any) -> Axes:
    """Frontiers on one pair of axes, with a legend.

    Parameters
    ----------
    frontiers : of the schemes to compare; all accuracies, or all utilities.
    ax : of matplotlib; by default that of a new figure.
    style : of matplotlib's ``plot``, for every curve.

    Returns
    -------
    The axes.

    Raises
    ------
    ValueError : what is no sequence of frontiers, or utilities beside accuracies.

    Examples
    --------
    >>> import fairfl as ff
    >>> fed = ff.Federation.normal(mean=[[3, 5], [1, -1]])
    >>> ax = ff.plot_frontiers([ff.frontier(fed, s, 9) for s in ("cfl", "lft_ensemble")])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['CFL', 'LFT+Ensemble']
    """
    given = list(frontiers) if isinstance(frontiers, Sequence) else []
    if not given or not all(isinstance(one, Frontier) for one in given):
        raise ValueError(f"frontiers must be a sequence of Frontier, got {shown(frontiers)}")
    if len({one.accurate for one in given}) > 1:
        raise ValueError("frontiers must be all of accuracies or all of utilities, got both")
    ax = _axes(ax)
    for one in given:
        plot_frontier(one, ax, **style)
    ax.legend()
    return ax


def plot_accept_sets(solution: Solution, ax: Axes | None = None, **style: Any) -> Axes:
    """See :meth:`Solution.plot`."""
    ax = _axes(ax)
    rule = solution.classifier
    told = not isinstance(rule, Classifier)
    rows = [
        (f"client {i}, group {a}" if told else f"group {a}", one.steps(a))
        for i, one in enumerate(rule if told else [rule])
        for a in range(one.n_groups)
    ]
    cuts = [hi for _, steps in rows for _, hi, _ in steps[:-1]] or [0.0]
    reach = MARGIN * (max(cuts) - min(cuts)) or 1.0
    low, high = min(cuts) - reach, max(cuts) + reach
    look = {"color": LOOKS[solution.scheme].colour, "lw": 0} | style
    for k, (_, steps) in enumerate(rows):
        for lo, hi, chance in steps:
            if chance > 0:
                start, end = max(lo, low), min(hi, high)
                ax.broken_barh([(start, end - start)], (k - 0.3, 0.6), alpha=chance, **look)
    ax.set_xlim(low, high)
    ax.set_yticks(range(len(rows)), [name for name, _ in rows])
    ax.invert_yaxis()
    ax.set_xlabel("x (accepted where dark)")
    return ax
