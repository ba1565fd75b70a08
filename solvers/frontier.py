"""Frontier: the non-dominated pairs of disparity and accuracy of a scheme, and what is between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.checks import Array, as_floats, single
from fairfl._support.tabular import Tabular, numbered
from fairfl._support.threads import one_thread
from fairfl.solvers.plots import PlottedFrontier
from fairfl.solvers.solution import CertificationError, Solution, tolerance
from fairfl.solvers.tolerances import BOUND_WRONG, MET, PRINTED, PROVEN
from fairfl.theory.populations.federation import Federation

SLACK_BUDGET = 1.0  # a budget that binds nobody: |MD_k| never exceeds one
WIDE = 2.0  # neighbouring points further apart than this many even steps have a gap between them


class Points(NamedTuple):
    """Disparities (P,), worths (P,), budgets (P, K) and, where known, multipliers (P, K) of points
    that are attained. The worth of a rule is 1 + its utility, the accuracy at costs of one.
    """

    disparity: Array
    worth: Array
    eps: Array
    multipliers: Array | None = None

    def take(self, rows: Array | Sequence[int]) -> Points:
        """The points ``rows``."""
        lam = None if self.multipliers is None else self.multipliers[rows]
        return Points(self.disparity[rows], self.worth[rows], self.eps[rows], lam)

    @property
    def least_disparate(self) -> Points:
        """The least disparate point, of several within MET of each other the most useful."""
        is_smallest = self.disparity <= self.disparity.min(initial=np.inf) + MET
        return self.take(np.argsort(np.where(is_smallest, -self.worth, np.inf), kind="stable")[:1])

    def join(self, other: Points) -> Points:
        """Both sets of points."""
        if not (self.disparity.size and other.disparity.size):
            return self if self.disparity.size else other
        d, worth, eps = (np.concatenate([v, w]) for v, w in zip(self[:3], other[:3], strict=True))
        if self.multipliers is None or other.multipliers is None:
            return Points(d, worth, eps)
        return Points(d, worth, eps, np.concatenate([self.multipliers, other.multipliers]))


def points_of(fed: Federation, solutions: Sequence[Solution]) -> Points:
    """What certified solutions attain; a disparity within ``solve``'s tolerance of 0 is 0."""
    disparity = np.array([s.disparity for s in solutions])
    return Points(
        np.where(disparity <= tolerance(fed), 0.0, disparity),
        np.array([1.0 + s.utility for s in solutions]),
        np.array([s.eps for s in solutions]),
        np.stack([s.multipliers for s in solutions]) if solutions else None,
    )


Evaluate = Callable[[Array], Points]
"""The best attained points with at most the disparities (P,), none below the smallest."""
Upper = Callable[[Array, Array], Array]
"""Upper bounds (P,) on worths with at most the disparities (P,), at which worths are attained."""


@dataclass
class Repeatable:
    """``evaluate`` and ``worth_bound`` of the frontier of ``search``; a pickled copy repeats it."""

    search: Callable[[], Frontier]

    @cached_property
    def frontier(self) -> Frontier:
        return self.search()

    def evaluate(self, disparity: Array) -> Points:
        return self.frontier.evaluate(disparity)

    def worth_bound(self, disparity: Array, worth: Array) -> Array:
        return self.frontier.bound_above(disparity, worth)

    def __getstate__(self) -> dict[str, object]:
        return {"search": self.search}


@dataclass(frozen=True, eq=False)
class Frontier(Tabular, PlottedFrontier):
    """Non-dominated points of one scheme, by increasing disparity (accuracy increases with it).

    Attributes
    ----------
    scheme : "cfl", "lft_ensemble", "lft_fedavg" or "client_aware".
    disparity, accuracy : (P,) every point is attained by ``eps``, or at least by ``multipliers``.
    eps : (P, 1) for "cfl" and "client_aware", else (P, I): budgets that attain the points.
    evaluate : the best points with at most the given disparities.
    exact : whether no budgets do better, up to rounding; False where the points are the best that a
        search found: then ``bound`` says how much others may be better.
    multipliers : (P, K) the local multipliers λ of the points; None where they are not kept.
    reproduced : (P,) whether ``solve`` at ``eps`` gives this point to ``REPRODUCED``; they are
        solved when this is asked for. It does not where the wanted |MD_i| is no double (a rounding
        below 1, say), or where the solution at eps is not unique; ``solution_at`` then has it.
    utility : (P,) minus the expected costs, by default accuracy - 1. Where ``accurate`` is False,
        at other costs, the points are those that no other improves on in disparity and utility, and
        the accuracies are those of ``solution_at``, NaN where it raises.
    bound : (P,) upper bounds on 1 + utility, the accuracy at costs of one, of all solutions of the
        scheme with at most the points' disparities, up to rounding; found when it is asked for, in
        a few seconds. Where ``exact`` it is the points' own.
    bounds : (P,) the same, where the search for the points gives them; else None.
    gap : (P,) how far the points are below ``bound``.
    proven : (P,) whether the points are the best, to ``PROVEN``.
    lower, upper : (P,) of a frontier of :func:`fairfl.compare` ends of approximate 95 % intervals
        of the accuracies (of the utilities, where ``accurate`` is False) at the points'
        disparities, for all people such as these, computed when they are asked for; else None.

    Examples
    --------
    >>> import fairfl as ff
    >>> F = ff.frontier(ff.Federation.normal(mean=[[3, 5], [1, -1]]), "lft_ensemble", 9)
    >>> F
    Frontier('lft_ensemble', 9 points: disparity 0.164647 to 0.34067, accuracy 0.824687 to 0.847661)
    >>> round(float(F.accuracy_at(0.2)), 4)
    0.8323
    """

    scheme: str
    disparity: Array
    accuracy: Array
    eps: Array
    evaluate: Evaluate
    exact: bool = False
    multipliers: Array | None = None
    again: Callable[[Points], Array] | None = None
    utility: Array = field(default_factory=lambda: np.zeros(0))
    accurate: bool = True
    worth_bound: Upper | None = None
    solved: Callable[[Points], Solution] | None = None
    bounds: Array | None = None
    band: Callable[[], tuple[Array, Array]] | None = None

    def __repr__(self) -> str:
        ends = self.disparity[0], self.disparity[-1], 1.0 + self.utility[0], 1.0 + self.utility[-1]
        text = "disparity {:.6g} to {:.6g}, accuracy {:.6g} to {:.6g}".format(*ends)
        text = text if self.accurate else text.replace("accuracy", "1 + utility")
        return f"Frontier({self.scheme!r}, {self.disparity.size} points: {text})"

    def __post_init__(self) -> None:
        if self.accurate:
            object.__setattr__(self, "utility", self.accuracy - 1.0)

    @cached_property
    def reproduced(self) -> Array:
        return np.ones(self.disparity.size, bool) if self.again is None else self.again(self.points)

    @cached_property
    def bound(self) -> Array:
        return self.bound_above(*self.points[:2]) if self.bounds is None else self.bounds

    @property
    def gap(self) -> Array:
        return self.bound - self.points.worth

    @property
    def proven(self) -> Array:
        return self.gap <= PROVEN

    @property
    def is_bounded(self) -> bool:
        """Whether ``gap`` takes no time, or was asked for."""
        return self.exact or self.bounds is not None or "bound" in vars(self)

    def gap_below(self, worth: Array | float) -> Array:
        """(P,) ``gap``, where that takes time by CFL's ``worth`` (P,) at these disparities."""
        return self.gap if self.is_bounded else np.maximum(worth - self.points.worth, 0.0)

    @property
    def points(self) -> Points:
        """The points themselves."""
        worth = self.accuracy if self.accurate else 1.0 + self.utility
        return Points(self.disparity, worth, self.eps, self.multipliers)

    @property
    def unfilled(self) -> Array:
        """(G, 2) stretches of disparity without points: there the left end's accuracy counts."""
        even = (self.disparity[-1] - self.disparity[0]) / max(self.disparity.size - 1, 1)
        left = np.flatnonzero(np.diff(self.disparity) > WIDE * even)
        return np.stack([self.disparity[left], self.disparity[left + 1]], axis=1)

    def accuracy_at(self, disparity: ArrayLike) -> Any:
        """The best accuracy with at most the given disparity, solved for (not interpolated between
        points).

        Raises
        ------
        ValueError : a disparity below the smallest that the scheme reaches; costs other than one.
        """
        if not self.accurate:
            raise ValueError("accuracy_at needs costs of one, this frontier's differ: utility_at")
        return self._best_at(disparity)

    def utility_at(self, disparity: ArrayLike) -> Any:
        """The best utility with at most the given disparity, as :meth:`accuracy_at`."""
        return self._best_at(disparity) - 1.0

    def bound_at(self, disparity: ArrayLike) -> Any:
        """As ``bound``, with at most the given disparity, in a few seconds; where ``exact`` it is
        what :meth:`accuracy_at` gives.

        Raises
        ------
        ValueError : a disparity below the smallest that the scheme reaches.
        """
        d, flat, place = self._within(disparity)
        return self.bound_above(flat, self._best_at(flat))[place.reshape(d.shape)][()]

    @one_thread()
    def bound_above(self, disparity: Array, worth: Array) -> Array:
        """As ``bound``, with at most the disparities (P,), at which worths (P,) are attained."""
        if self.exact:
            return worth
        bound = (
            np.ones_like(worth) if self.worth_bound is None else self.worth_bound(disparity, worth)
        )
        if (bound < worth - BOUND_WRONG).any():
            k = int((worth - bound).argmax())
            raise CertificationError(
                f"the bound of {self.scheme} is wrong: {bound[k]:.12g} at disparity "
                f"{disparity[k]:.6g}, where {worth[k]:.12g} is attained; please report this "
                "federation"
            )
        return np.maximum(bound, worth)

    def _within(self, disparity: ArrayLike) -> tuple[Array, Array, Array]:
        """The disparities, those that differ, within the frontier, and where each is in these."""
        d = as_floats("disparity", disparity)
        if (d < self.disparity[0] - PRINTED).any():
            raise ValueError(
                f"disparity must be at least {self.disparity[0]:.6g}, the smallest that "
                f"{self.scheme} reaches, got {d.min():g}"
            )
        inside = np.clip(np.ravel(d), self.disparity[0], self.disparity[-1])
        return d, *np.unique(inside, return_inverse=True)

    def _best_at(self, disparity: ArrayLike) -> Any:
        """The best worth with at most the given disparity."""
        d, flat, place = self._within(disparity)
        return self.points_at(flat).worth[place.reshape(d.shape)][()]

    @one_thread()
    def solution_at(self, disparity: float) -> Solution:
        """The certified solution of the best point with at most the given disparity, found as in
        :meth:`accuracy_at`: its rule, and the budgets that it solves its problem for, also where no
        double budgets give the point to ``solve``.

        Raises
        ------
        ValueError : a disparity below the smallest that the scheme reaches.
        CertificationError : double multipliers miss the point by more than ``REPRODUCED``.
        """
        flat = self._within(single("disparity", disparity))[1]
        assert self.solved is not None
        return self.solved(self.points_at(flat))

    def classifier_at(self, disparity: float) -> Any:
        """The rule of :meth:`solution_at`: f(x, a), or f(x, a, i) of "client_aware".

        Examples
        --------
        >>> import fairfl as ff
        >>> F = ff.frontier(ff.Federation.normal(mean=[[3, 5], [1, -1]]), "lft_fedavg", 5)
        >>> float(F.classifier_at(0.2)(5.0, a=0))
        1.0
        """
        return self.solution_at(disparity).classifier

    @one_thread()
    def points_at(self, disparity: Array) -> Points:
        """The best points (P,) with at most the disparities (P,), increasing, in the frontier."""
        rows = np.searchsorted(self.disparity, disparity, side="right") - 1
        inner = np.flatnonzero(disparity < self.disparity[-1])
        if not inner.size:
            return self.points.take(rows)
        points = self.evaluate(disparity[inner])
        better = points.worth > self.points.worth[rows[inner]]
        better &= points.disparity <= disparity[inner] + MET
        rows[inner[better]] = self.disparity.size + np.flatnonzero(better)
        return self.points.join(points).take(rows)

    @cached_property
    def _ends(self) -> tuple[Array | None, Array | None]:
        return (None, None) if self.band is None else self.band()

    lower = property(lambda self: self._ends[0], doc="(P,) see above.")
    upper = property(lambda self: self._ends[1], doc="(P,) see above.")

    def _columns(self) -> dict[str, ArrayLike]:
        """Scheme, disparity, accuracy, utility at other costs, intervals, gap if quick, budgets."""
        names = ["scheme", "disparity", "accuracy"] + ["utility"] * (not self.accurate)
        names += ["lower", "upper"] * (self.band is not None) + ["gap"] * self.is_bounded
        return {name: getattr(self, name) for name in names} | numbered("eps", self.eps)


def non_dominated(disparity: Array, worth: Array) -> Array:
    """Positions of the non-dominated points, by increasing disparity; one of equal points."""
    order = np.lexsort((-worth, disparity))
    best = np.maximum.accumulate(worth[order])
    keep = np.append(True, worth[order][1:] > best[:-1])
    return order[keep]


def fitting(tried: Points, disparity: Array) -> Points:
    """The most accurate of ``tried`` with at most each disparity (P,), else the least disparate."""
    order = np.argsort(tried.disparity, kind="stable")
    best = np.maximum.accumulate(tried.worth[order])
    fits = np.searchsorted(tried.disparity[order], disparity + MET, side="right")
    return tried.take(order[np.searchsorted(best, best[np.maximum(fits, 1) - 1])])


def build(scheme: str, points: Points, evaluate: Evaluate, exact: bool = False) -> Frontier:
    """A :class:`Frontier` of the non-dominated points; of those within MET the most useful."""
    front = points.take(non_dominated(points.disparity, points.worth))
    front = front.take(np.flatnonzero(np.append(np.diff(front.disparity) > MET, True)))
    return Frontier(scheme, *front[:3], evaluate, exact, front.multipliers)
