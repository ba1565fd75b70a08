"""What not pooling the data costs: the frontiers of the schemes on one federation, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairfl._support.checks import Array, in_range
from fairfl.reports.curves import frontiers
from fairfl.reports.group_rates import GroupRates, group_rates
from fairfl.reports.question import PLAIN, Question, base
from fairfl.reports.rules import Chosen
from fairfl.reports.sampling import FEWEST, HeldOut, Progress, Rule, Spread, bootstrap, held_out
from fairfl.solvers.api import solve
from fairfl.solvers.frontier import Frontier
from fairfl.solvers.solution import Solution, rates_of
from fairfl.theory.populations.calibration import Counted
from fairfl.theory.populations.federation import Federation

COMMON = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7)
"""Disparities at which values are compared, as far as they are below the most accurate
classifier's.
"""
TALKED = 0.05
"""The disparity that is put in words: the one nearest to this."""
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
"""What is measured of each scheme, before its values at the disparities of the comparison; a value
is an accuracy unless another was asked for.
"""


@dataclass(frozen=True)
class Reach:
    """What one scheme reaches.

    Attributes
    ----------
    frontier : its trade-off; the first point is its smallest disparity, the last its most accurate
        classifier.
    values : of the frontier's points.
    at : value at each disparity of the comparison, None where that is below the smallest reachable
        one.
    loss : the most it loses against CFL at one and the same disparity, over all that both reach:
        the points of all frontiers, and a grid.
    loss_at : that disparity.
    gain : the most it gains so; 0 unless rules are told the client.
    """

    frontier: Frontier
    values: Array
    at: tuple[float | None, ...]
    loss: float
    loss_at: float
    gain: float

    @property
    def smallest(self) -> float:
        """The smallest reachable disparity."""
        return float(self.frontier.disparity[0])

    @property
    def numbers(self) -> list[float]:
        """``ENDS``, and the values ``at``, NaN for None."""
        first, last = float(self.values[0]), float(self.values[-1])
        ends = [self.smallest, first, last, float(self.frontier.disparity[-1]), self.loss]
        return ends + [float("nan") if value is None else value for value in self.at]


@dataclass(frozen=True)
class Comparison:
    """The schemes on one federation.

    Attributes
    ----------
    question : what was asked.
    groups, clients : names.
    shares : (A,) of the groups in the population.
    weight : (I,) the clients' masses.
    rates : of the groups under the most useful classifier; of two rates those further apart.
    rules : by scheme, at the disparity that is put in words, or the smallest where that is
        larger.
    disparities : where values are compared.
    asked : whether the disparities were asked for; all of them are put in words then.
    reaches : by scheme, best first.
    people : how many, where the federation was made of people.
    spread : of ``numbers`` (schemes, ENDS and disparities), where people were drawn anew.
    held : of rules (schemes, the smallest disparity, the disparities, the best value), where some
        were held out.
    """

    question: Question
    groups: tuple[str, ...]
    shares: tuple[float, ...]
    clients: tuple[str, ...]
    weight: tuple[float, ...]
    rates: GroupRates | None
    disparities: tuple[float, ...]
    asked: bool
    reaches: dict[str, Reach]
    rules: dict[str, Chosen]
    people: int | None = None
    spread: Spread | None = None
    held: HeldOut | None = None

    @property
    def talked(self) -> list[int]:
        """Which of the disparities are put in words."""
        return _talked(self.disparities, self.asked)

    @property
    def numbers(self) -> Array:
        """(schemes, ENDS and disparities)."""
        return np.array([reach.numbers for reach in self.reaches.values()])

    @property
    def bounds(self) -> Array:
        """(schemes, ENDS and disparities, 2) between what the numbers lie."""
        share, size = self.question.is_share, len(self.disparities)
        value = (0.0, 1.0) if share else (-np.inf, 0.0)
        loss = (0.0, 1.0 if share else np.inf)
        told = (-1.0 if share else -np.inf, loss[1])
        return np.array(
            [
                [(0, 1), value, value, (0, 1), told if scheme == "client_aware" else loss]
                + [value] * size
                for scheme in self.reaches
            ]
        )

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
    question: Question = PLAIN,
    at: Sequence[float] | None = None,
    count: int = 60,
    progress: Progress | None = None,
) -> Comparison:
    """Compute the frontiers of a federation.

    Parameters
    ----------
    federation : laws or people.
    question : what is asked of it.
    at : disparities in [0, 1] at which to compare values; by default a few round numbers.
    count : points a frontier, at least 2.
    progress : called with what is being computed.

    Raises
    ------
    ValueError : a disparity out of range, or what cannot be asked of this federation.
        CertificationError : see :func:`solve`.
    """
    if at is not None:
        in_range("at", list(at), 0, 1)
    for scheme in question.schemes:
        question.task(federation, scheme)
    found = frontiers(federation, count, question, progress)
    top = float(found["cfl"].disparity[-1])
    disparities = tuple(sorted(set(at))) if at else tuple(d for d in COMMON if d < top)[-5:]
    reaches = reached(found, disparities, question)
    told = _talked(disparities, bool(at))
    level = disparities[told[0]] if told else top
    return Comparison(
        question,
        tuple(map(str, federation.groups)),
        tuple(map(float, federation.group_mass)),
        tuple(map(str, federation.client_names)),
        tuple(map(float, federation.weight)),
        group_rates(federation, question, top),
        disparities,
        bool(at),
        reaches,
        {
            scheme: _chosen(federation, question, scheme, curve, level)
            for scheme, curve in found.items()
        },
    )


def _talked(disparities: Sequence[float], asked: bool) -> list[int]:
    if asked or not disparities:
        return list(range(len(disparities)))
    return [int(np.argmin([abs(np.log(d / TALKED)) for d in disparities]))]


def _chosen(
    fed: Federation, question: Question, scheme: str, curve: Frontier, disparity: float
) -> Chosen:
    """The solution with at most the disparity, or the smallest."""
    found = solution_at(fed, question, scheme, curve, max(disparity, float(curve.disparity[0])))
    assert found is not None
    return Chosen(found, rates_of(fed, question.notion, found.classifier)[1])


def solution_at(
    fed: Federation, question: Question, scheme: str, curve: Frontier, disparity: float
) -> Solution | None:
    """The solution of the frontier's last point with at most the disparity, for CFL and rules that
    are told the client of the disparity itself; None where the scheme does not get so low.
    """
    k = int(np.searchsorted(curve.disparity, disparity, side="right")) - 1
    if k < 0:
        return None
    told = scheme in ("cfl", "client_aware")
    eps = np.array([min(disparity, curve.disparity[-1])]) if told else curve.eps[k]
    return solve(fed, base(scheme), eps, **question.of(scheme))


def reached(
    found: dict[str, Frontier], disparities: Sequence[float], question: Question = PLAIN
) -> dict[str, Reach]:
    """What they reach."""
    top = max(float(curve.disparity[-1]) for curve in found.values())
    every = np.unique(
        np.concatenate(
            [np.linspace(0.0, top, GRID), *(curve.disparity for curve in found.values())]
        )
    )
    best, out = question.at(found["cfl"], every), {}
    for scheme, curve in found.items():
        common = every >= curve.disparity[0]
        loss = best[common] - question.at(curve, every[common])
        k = int(np.argmax(loss))
        at = tuple(
            float(question.at(curve, d)) if d >= curve.disparity[0] else None for d in disparities
        )
        worst, where, gain = float(loss[k]), float(every[common][k]), max(-float(loss.min()), 0.0)
        out[scheme] = Reach(curve, question.values(curve), at, worst, where, gain)
    return out


def rules(
    federation: Federation, disparities: Sequence[float], count: int, question: Question
) -> list[Rule | None]:
    """The rules of all schemes at their smallest disparity, at each of ``disparities``, and at
    their best value.

    See :func:`solution_at`.
    """
    out: list[Rule | None] = []
    for scheme, curve in frontiers(federation, count, question).items():
        for d in (float(curve.disparity[0]), *disparities, float(curve.disparity[-1])):
            found = solution_at(federation, question, scheme, curve, d)
            out.append(None if found is None else found.classifier)
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
        curves = frontiers(federation, count, found.question)
        reaches = reached(curves, found.disparities, found.question)
        return np.array([reach.numbers for reach in reaches.values()])

    spread = bootstrap(sample, numbers, found.numbers, bootstraps, seed, progress, found.bounds)
    affordable = bootstraps is not None or spread.bootstraps >= FEWEST
    held = (
        held_out(
            sample,
            lambda half: rules(half, found.disparities, count, found.question),
            seed,
            progress,
            found.question,
        )
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
