"""Pictures of frontiers and of accept sets on axes of matplotlib, which only pictures load."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairfl._support.checks import Array, shown
from fairfl.solvers.schemes import SCHEMES
from fairfl.solvers.tolerances import PROVEN
from fairfl.theory.populations.classifiers import Classifier, called
from fairfl.theory.populations.rule_picture import axes, plot_rules

if TYPE_CHECKING:
    from matplotlib.axes import Axes


NOT_PROVEN: dict[str, Any] = {"alpha": 0.45, "label": "not proven the best"}
"""Of a scheme's line between points of which one is not proven: it is pale."""


def curve(ax: Axes, scheme: str, x: Array, y: Array, proven: Array, **style: Any) -> None:
    """A frontier in the look of its scheme, pale where points are not ``proven`` (P,)."""
    look = SCHEMES[scheme]
    (line,) = ax.plot(x, np.where(proven, y, np.nan), **look.stroke | style)
    first = look.mark | {"color": line.get_color(), "clip_on": False, "zorder": 3}
    ax.plot(x[:1], y[:1], **first)
    breaks = np.flatnonzero(proven[1:] & proven[:-1]) + 1
    if breaks.size < x.size - 1:
        pale = look.stroke | style | NOT_PROVEN
        if NOT_PROVEN["label"] in [curve.get_label() for curve in ax.lines]:
            pale["label"] = "_"  # once in a legend
        ax.plot(*(np.insert(v, breaks, np.nan) for v in (x, y)), **pale)


class PlottedFrontier:
    """The picture of a frontier."""

    scheme: str
    disparity: Array
    accuracy: Array
    utility: Array
    accurate: bool

    def gap_below(self, worth: Array | float) -> Array: ...

    def plot(self, ax: Axes | None = None, **style: Any) -> Axes:
        """The accuracy (utility, at costs other than one) against the disparity, in the look of the
        scheme; pale where not ``proven``, also where ``gap`` takes time and was not asked for.

        Parameters
        ----------
        ax : of matplotlib; by default that of a new figure.
        style : of matplotlib's ``plot``, such as ``color`` or ``label``.

        Returns
        -------
        The axes.
        """
        ax = axes(ax)
        height = self.accuracy if self.accurate else self.utility
        label = {"label": SCHEMES[self.scheme].label} | style
        proven = self.gap_below(np.inf) <= PROVEN
        curve(ax, self.scheme, self.disparity, height, proven, **label)
        ax.set(xlabel="disparity", ylabel="accuracy" if self.accurate else "utility")
        return ax


def plot_frontiers(
    frontiers: Sequence[PlottedFrontier], ax: Axes | None = None, **style: Any
) -> Axes:
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
    curves = list(frontiers) if isinstance(frontiers, Sequence) else []
    if not curves or not all(isinstance(curve, PlottedFrontier) for curve in curves):
        raise ValueError(f"frontiers must be a sequence of Frontier, got {shown(frontiers)}")
    if len({curve.accurate for curve in curves}) > 1:
        raise ValueError("frontiers must be all of accuracies or all of utilities, got both")
    ax = axes(ax)
    for curve in curves:
        curve.plot(ax, **style)
    ax.legend()
    return ax


class PlottedRules:
    """The picture of a solution's accept sets."""

    scheme: Any
    classifier: Any

    def plot(self, ax: Axes | None = None, **style: Any) -> Axes:
        """The accept sets on the line of x, a row a group (a client and group, where rules are told
        the client); the paler, the less likely acceptance is.

        Parameters
        ----------
        ax : of matplotlib; by default that of a new figure.
        style : of matplotlib's ``broken_barh``, such as ``color``.

        Returns
        -------
        The axes.
        """
        rule = self.classifier
        sees_client = not isinstance(rule, Classifier)
        rows = {
            f"client {i}, group {called(name)}"
            if sees_client
            else f"group {called(name)}": member.steps(name)
            for i, member in enumerate(rule if sees_client else [rule])
            for name in member.groups
        }
        return plot_rules(rows, ax, **{"color": SCHEMES[self.scheme].colour} | style)
