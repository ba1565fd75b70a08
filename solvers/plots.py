"""Pictures of frontiers and of accept sets, on axes of matplotlib; imported by who draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from fairfl.solvers.schemes import SCHEMES
from fairfl.theory.populations.classifiers import Classifier, called
from fairfl.theory.populations.rule_picture import axes, plot_rules

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fairfl.solvers.frontier import Frontier
    from fairfl.solvers.solution import Solution


def curve(ax: Axes, scheme: str, x: ArrayLike, y: ArrayLike, **style: Any) -> None:
    """A frontier in the look of its scheme, and a marker at its smallest disparity."""
    look = SCHEMES[scheme]
    (line,) = ax.plot(x, y, **look.stroke | style)
    first = look.mark | {"color": line.get_color(), "clip_on": False, "zorder": 3}
    ax.plot(np.ravel(x)[:1], np.ravel(y)[:1], **first)


def plot_frontier(frontier: Frontier, ax: Axes | None = None, **style: Any) -> Axes:
    """See :meth:`Frontier.plot`."""
    ax = axes(ax)
    value = frontier.accuracy if frontier.accurate else frontier.utility
    label = {"label": SCHEMES[frontier.scheme].label} | style
    curve(ax, frontier.scheme, frontier.disparity, value, **label)
    ax.set_xlabel("disparity")
    ax.set_ylabel("accuracy" if frontier.accurate else "utility")
    return ax


def plot_accept_sets(solution: Solution, ax: Axes | None = None, **style: Any) -> Axes:
    """See :meth:`Solution.plot`."""
    rule = solution.classifier
    sees_client = not isinstance(rule, Classifier)
    rows = {
        f"client {i}, group {called(name)}"
        if sees_client
        else f"group {called(name)}": member.steps(name)
        for i, member in enumerate(rule if sees_client else [rule])
        for name in member.groups
    }
    return plot_rules(rows, ax, **{"color": SCHEMES[solution.scheme].colour} | style)
