"""What not pooling the data costs: the frontiers of the three schemes on one federation, side by
side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairfl._support.checks import Array, in_range
from fairfl.reports.sampling import FEWEST, HeldOut, Progress, Spread, bootstrap, held_out
from fairfl.solvers.api import frontier, solve
from fairfl.solvers.frontier import Frontier
from fairfl.solvers.schemes import LABELS
from fairfl.theory.populations.calibration import Counted
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.federation import Federation

COMMON = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7)
"""Disparities at which accuracies are compared, as far as they are below the most accurate
classifier's.
"""
ZERO = 1e-12
"""Disparities below this are called zero."""
GRID = 60
"""Disparities, evenly spread, that losses are sought at besides those of the frontiers' points."""
ENDS = (
    "smallest_disparity",
    "accuracy_at_smallest",
    "best_accuracy",
    "disparity_at_best",
    "largest_loss_against_cfl",
)
"""What is measured of each scheme, before its accuracies at the disparities of the comparison."""


@dataclass(frozen=True)
class Reach:
    """What one scheme reaches.

    Attributes
    ----------
    frontier : its trade-off; the first point is its smallest disparity, the last its most accurate
        classifier.
    at : accuracy at each disparity of the comparison, None where that is below the smallest
        reachable one.
    loss : the most accuracy it loses against CFL at one and the same disparity, over all that both
        reach: the points of all frontiers, and a grid.
    loss_at : that disparity.
    """

    frontier: Frontier
    at: tuple[float | None, ...]
    loss: float
    loss_at: float

    @property
    def smallest(self) -> float:
        """The smallest reachable disparity."""
        return float(self.frontier.disparity[0])

    @property
    def numbers(self) -> list[float]:
        """``ENDS``, and the accuracies ``at``, NaN for None."""
        disparity, accuracy = self.frontier.disparity, self.frontier.accuracy
        ends = [
            self.smallest,
            float(accuracy[0]),
            float(accuracy[-1]),
            float(disparity[-1]),
            self.loss,
        ]
        return ends + [float("nan") if value is None else value for value in self.at]


@dataclass(frozen=True)
class Comparison:
    """The three schemes on one federation of two groups.

    Attributes
    ----------
    groups, clients : names.
    weight : (I,) the clients' masses.
    rates : acceptance rates of the two groups under the most accurate classifier.
    disparities : where accuracies are compared.
    asked : whether the disparities were asked for; all of them are put in words then.
    reaches : by scheme, best first.
    people : how many, where the federation was made of people.
    spread : of ``numbers`` (schemes, ENDS and disparities), where people were drawn anew.
    held : of rules (schemes, the smallest disparity, the disparities, the best accuracy), where
        some were held out.
    """

    groups: tuple[str, str]
    clients: tuple[str, ...]
    weight: tuple[float, ...]
    rates: tuple[float, float]
    disparities: tuple[float, ...]
    asked: bool
    reaches: dict[str, Reach]
    people: int | None = None
    spread: Spread | None = None
    held: HeldOut | None = None

    @property
    def numbers(self) -> Array:
        """(schemes, ENDS and disparities)."""
        return np.array([reach.numbers for reach in self.reaches.values()])

    def between(self, scheme: str, column: int) -> tuple[float, float] | None:
        """The interval of one of the numbers, None where there is none."""
        if self.spread is None:
            return None
        low, high = (
            float(v) for v in self.spread.interval[list(self.reaches).index(scheme), column]
        )
        return None if np.isnan(low) or high - low < ZERO else (low, high)


def compare(
    federation: Federation,
    *,
    at: Sequence[float] | None = None,
    count: int = 60,
    progress: Progress | None = None,
) -> Comparison:
    """Compute the three frontiers of a federation.

    Parameters
    ----------
    federation : two groups.
    at : disparities in [0, 1] at which to compare accuracies; by default a few round numbers.
    count : points a frontier, at least 2.
    progress : called with what is being computed.

    Raises
    ------
    ValueError : more than two groups, or a disparity out of range.  CertificationError : see
        :func:`solve`.
    """
    if federation.n_groups != 2:
        raise ValueError(
            "two groups are needed to compare the schemes, this federation has "
            f"{federation.n_groups}"
        )
    if at is not None:
        in_range("at", list(at), 0, 1)
    found = frontiers(federation, count, progress)
    cfl = found["cfl"]
    top = float(cfl.disparity[-1])
    disparities = tuple(sorted(set(at))) if at else tuple(d for d in COMMON if d < top)[-5:]
    rates = solve(federation, "cfl", np.inf).classifier.group_rates(federation)
    first, second = map(str, federation.groups)
    clients, weight = tuple(map(str, federation.client_names)), tuple(map(float, federation.weight))
    both = float(rates[0]), float(rates[1])
    return Comparison(
        (first, second), clients, weight, both, disparities, bool(at), reached(found, disparities)
    )


def frontiers(
    federation: Federation, count: int, progress: Progress | None = None
) -> dict[str, Frontier]:
    """The frontiers of all schemes."""
    found = {}
    for scheme in LABELS:
        if progress is not None:
            progress(f"frontier of {LABELS[scheme]}")
        found[scheme] = frontier(federation, scheme, count)
    return found


def reached(found: dict[str, Frontier], disparities: Sequence[float]) -> dict[str, Reach]:
    """What they reach."""
    top = max(float(curve.disparity[-1]) for curve in found.values())
    every = np.unique(
        np.concatenate(
            [np.linspace(0.0, top, GRID), *(curve.disparity for curve in found.values())]
        )
    )
    best, out = found["cfl"].accuracy_at(every), {}
    for scheme, curve in found.items():
        common = every >= curve.disparity[0]
        loss = best[common] - curve.accuracy_at(every[common])
        k = int(np.argmax(loss))
        at = tuple(
            float(curve.accuracy_at(d)) if d >= curve.disparity[0] else None for d in disparities
        )
        out[scheme] = Reach(curve, at, float(loss[k]), float(every[common][k]))
    return out


def rules(
    federation: Federation, disparities: Sequence[float], count: int
) -> list[Classifier | None]:
    """The rules of all schemes at their smallest disparity, at each of ``disparities``, and at
    their best accuracy.

    At a disparity the rule is that of the frontier's last point below it, for CFL of the disparity
    itself; None where a scheme does not get so low.
    """
    out: list[Classifier | None] = []
    for scheme, curve in frontiers(federation, count).items():
        for d in (float(curve.disparity[0]), *disparities, float(curve.disparity[-1])):
            k = int(np.searchsorted(curve.disparity, d, side="right")) - 1
            eps = np.array([d]) if scheme == "cfl" else curve.eps[k]
            out.append(solve(federation, scheme, eps).classifier if k >= 0 else None)
    return out


def tried(
    found: Comparison,
    sample: Counted,
    *,
    count: int,
    bootstraps: int | None,
    seed: int,
    progress: Progress | None = None,
) -> Comparison:
    """The comparison of a sample of people, with what sampling does to it; see
    ``fairfl.reports.sampling``.

    ``count``: points a frontier, as in :func:`compare`; ``bootstraps``: None for as many as a
    minute allows, 0 for nothing.
    """
    found = replace(found, people=sample.people)
    if bootstraps == 0:
        return found

    def numbers(federation: Federation) -> Array:
        reaches = reached(frontiers(federation, count), found.disparities)
        return np.array([reach.numbers for reach in reaches.values()])

    spread = bootstrap(sample, numbers, found.numbers, bootstraps, seed, progress)
    affordable = bootstraps is not None or spread.bootstraps >= FEWEST
    held = (
        held_out(sample, lambda half: rules(half, found.disparities, count), seed, progress)
        if affordable
        else None
    )
    if held is not None:
        shape = (len(found.reaches), len(found.disparities) + 2)
        held = HeldOut(
            held.inside.reshape(*shape, 2),
            held.outside.reshape(*shape, 2),
            held.reached.reshape(shape),
            held.splits,
        )
    return replace(found, spread=spread, held=held)
