"""What not pooling the data costs: the frontiers of the schemes on one federation, side by side."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from fairfl._support.checks import Array, in_range
from fairfl.reports.curves import frontiers, noted
from fairfl.reports.question import PLAIN, Question
from fairfl.reports.rules import Chosen, GroupRates, group_rates
from fairfl.reports.sampling import Progress
from fairfl.solvers.api import solve
from fairfl.solvers.frontier import Frontier, Points, fitting
from fairfl.solvers.schemes import CFL, SCHEMES
from fairfl.solvers.solution import rates_of
from fairfl.theory.populations.classifiers import Classifier
from fairfl.theory.populations.federation import Federation

ROUND = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7)
"""Disparities at which values are compared, as far as they are below the most accurate
classifier's.
"""
WORDED = 0.05
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
"""What is measured of each scheme, before its values at the disparities of the comparison, what
these are below CFL's, and what the smallest disparity costs; a value is an accuracy unless another
was asked for.
"""


def measured(table: Array) -> Array:
    """(S, C, ...) what is measured of S schemes, from values and disparities (S, P, 2, ...) of
    their rules: at the smallest disparity, at the disparities of the comparison, of the best value,
    at the largest loss, and of CFL there.
    """
    smallest, values = table[:, 0], table[:, 1:-3, 0]
    best, worst, cfl = table[:, -3:].swapaxes(0, 1)
    ends = [smallest[:, 1], smallest[:, 0], best[:, 0], best[:, 1], cfl[:, 0] - worst[:, 0]]
    cost = best[:, 0] - smallest[:, 0]
    losses = values[:1] - values
    return np.concatenate([np.stack(ends, axis=1), values, losses, cost[:, None]], axis=1)


@dataclass(frozen=True)
class Spread:
    """How numbers of the shape of ``Comparison.numbers`` vary with the people.

    Attributes
    ----------
    interval : (S, C, 2) low and high end; NaN where there is none.
    reached : (S, K) of samples like this, the share that reaches the disparities.
    held_out : (S, K + 2, 2) values and disparities of rules on people they were not fitted to: at
        the smallest disparity, at the disparities of the comparison, and the best rule; NaN where
        people are too few.
    disparity_error : (S, K + 2) standard errors of these rules' disparities.
    bootstraps, seed : of which the intervals of the best rule's disparity are made.
    """

    interval: Array
    reached: Array
    held_out: Array
    disparity_error: Array
    bootstraps: int
    seed: int


@dataclass(frozen=True)
class Reach:
    """What one scheme reaches.

    Attributes
    ----------
    frontier : its trade-off; the first point is its smallest disparity, the last its most accurate
        classifier.
    values : of the frontier's points.
    values_at : at each disparity of the comparison, None where that is below the smallest reachable
        one.
    loss : the most it loses against CFL at one and the same disparity, over all that both reach:
        the points of all frontiers, and a grid.
    loss_at : that disparity.
    gain : the most it gains so; 0 unless rules see the client.
    points : at the smallest disparity, at those of the comparison (or the smallest above), of the
        best value, and at the largest loss.
    gap, gaps_at : what the frontier's points, and ``values_at``, lack to the best at most.
    """

    frontier: Frontier
    values: Array
    values_at: tuple[float | None, ...]
    loss: float
    loss_at: float
    gain: float
    points: Points
    gap: Array
    gaps_at: tuple[float | None, ...]

    @property
    def smallest(self) -> float:
        """The smallest reachable disparity."""
        return float(self.frontier.disparity[0])


@dataclass(frozen=True)
class Comparison:
    """The schemes on one federation.

    Attributes
    ----------
    question : under which the schemes are compared.
    groups, clients : names.
    shares : (A,) of the groups in the population.
    weight : (I,) the clients' masses.
    rates : of the groups under the most useful classifier; of two rates those further apart.
    rules : by scheme, at the disparity that is put in words, or the smallest where that is
        larger.
    disparities : where values are compared.
    worded : which of them are put in words: all that the user chose, else the one nearest to .05.
    reaches : by scheme, best first.
    people : how many, where the federation was made of people.
    spread : of ``numbers``, where these are of people and have intervals.
    failures : why a scheme, or another part of the report, is missing.
    counted : of people, see ``fairfl.reports.counted.excesses``.
    level_share : the largest share of a group's people that one level holds.
    any_rule : by scheme, where rules are monotone, the values (K + 1,) of rules that need not be,
        at the disparities and of the best; NaN where they do not get so low.
    promises : what holds of the rules among all people such as these, in words.
    guaranteed : by scheme the rule of a guarantee, None where none was found.
    by_score : "", or where rules do not see the group and people have a single number each, the
        words to add to what these rules cost: with more numbers they can be better.
    """

    question: Question
    groups: tuple[str, ...]
    shares: tuple[float, ...]
    clients: tuple[str, ...]
    weight: tuple[float, ...]
    rates: GroupRates
    disparities: tuple[float, ...]
    worded: tuple[int, ...]
    reaches: dict[str, Reach]
    rules: dict[str, Chosen]
    people: int | None = None
    spread: Spread | None = None
    failures: dict[str, str] = field(default_factory=dict)
    counted: Array | None = None
    level_share: float = 0.0
    any_rule: dict[str, Array] = field(default_factory=dict)
    promises: tuple[str, ...] = ()
    guaranteed: dict[str, Classifier | None] = field(default_factory=dict)
    by_score: str = ""

    @property
    def parts(self) -> tuple[list[str], list[str]]:
        """The schemes at one budget for all, CFL among them, and those of a planner."""
        agreed = [s for s in self.reaches if s == CFL.name or SCHEMES[s].one_budget]
        return agreed, [scheme for scheme in self.reaches if scheme not in agreed]

    @property
    def classifiers(self) -> dict[str, Classifier]:
        """By scheme the rule to decide by, of schemes with one for all clients."""
        rules = {s: self.guaranteed.get(s, c.solution.classifier) for s, c in self.rules.items()}
        return {scheme: rule for scheme, rule in rules.items() if isinstance(rule, Classifier)}

    @property
    def judged(self) -> bool:
        """Whether rules were judged on people they were not fitted to."""
        return self.spread is not None and bool(np.isfinite(self.spread.held_out).any())

    @property
    def table(self) -> Array:
        """(S, K + 4, 2) see ``measured``; NaN where a scheme does not get so low."""
        out = np.empty((len(self.reaches), len(self.disparities) + 4, 2))
        for rows, reach in zip(out, self.reaches.values(), strict=True):
            rows[:-1, 0] = reach.points.worth - (not self.question.is_share)
            rows[:-1, 1] = reach.points.disparity
            rows[1:-3][[value is None for value in reach.values_at]] = np.nan
            rows[-1] = rows[-2, 0] + reach.loss, reach.loss_at
        return out

    @property
    def numbers(self) -> Array:
        """(S, C) see ``measured``."""
        return measured(self.table)

    @property
    def bounds(self) -> Array:
        """(S, C, 2) between what the numbers lie."""
        share, size = self.question.is_share, len(self.disparities)
        value = (0.0, 1.0) if share else (-np.inf, 0.0)
        loss = (0.0, 1.0 if share else np.inf)
        out = []
        for scheme in self.reaches:
            below_cfl = (-loss[1], loss[1]) if SCHEMES[scheme].sees_client else loss
            values, losses = [value] * size, [below_cfl] * size
            out.append([(0, 1), value, value, (0, 1), below_cfl, *values, *losses, loss])
        return np.array(out)

    def number(self, scheme: str, column: int) -> float:
        """One of the numbers."""
        return float(self.numbers[list(self.reaches).index(scheme), column])

    def reached(self, scheme: str) -> list[float]:
        """(K,) of samples like this, the share in which a scheme reaches the disparities."""
        assert self.spread is not None
        return self.spread.reached[list(self.reaches).index(scheme)].tolist()

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
    """Compute the frontiers of a federation; see :func:`fairfl.compare` for ``at`` and errors.

    ``count``: points of each frontier; ``progress`` is called with what is being computed.
    """
    if at is not None:
        in_range("at", list(at), 0, 1)
    for scheme in question.schemes:
        question.task(federation, scheme)
    failures: dict[str, str] = {}
    curves = frontiers(federation, count, question, progress, failures=failures)
    top = float(curves["cfl"].disparity[-1])
    disparities = tuple(sorted(set(at))) if at else tuple(d for d in ROUND if d < top)[-5:]
    comparison = at_disparities(federation, question, curves, disparities, bool(at), failures)
    if not question.monotone:
        return comparison
    question = replace(question, monotone=False)
    curves = frontiers(federation, count, question, progress, failures=failures)
    d = np.append(disparities, 1.0)
    values = {s: question.at(F, np.maximum(d, F.disparity[0])) for s, F in curves.items()}
    any_rule = {s: np.where(d < curves[s].disparity[0], np.nan, v) for s, v in values.items()}
    return replace(comparison, any_rule=any_rule)


def at_disparities(
    federation: Federation,
    question: Question,
    curves: dict[str, Frontier],
    disparities: tuple[float, ...],
    is_requested: bool,
    failures: dict[str, str],
) -> Comparison:
    """The comparison of these frontiers at these disparities; ``failures`` are added to."""
    top = float(curves["cfl"].disparity[-1])
    reaches, rules = reached(curves, disparities, question, failures), {}
    worded = tuple(range(len(disparities)))
    if not is_requested:
        worded = tuple(sorted(worded, key=lambda k: abs(np.log(disparities[k] / WORDED)))[:1])
    level = disparities[worded[0]] if worded else top
    for scheme, reach in reaches.items():
        with noted(scheme, failures):
            rules[scheme] = chosen(federation, question, scheme, reach.frontier, level)
    return Comparison(
        question,
        tuple(map(str, federation.groups)),
        tuple(map(float, federation.group_mass)),
        tuple(map(str, federation.client_names)),
        tuple(map(float, federation.weight)),
        group_rates(federation, question, top),
        disparities,
        worded,
        {scheme: reaches[scheme] for scheme in rules},
        rules,
        failures=failures,
    )


def chosen(
    fed: Federation, question: Question, scheme: str, curve: Frontier, disparity: float
) -> Chosen:
    """The solution of the frontier's last point with at most the disparity, or of its first, also
    where ``solve`` takes another at its budgets; a pooled constraint is solved at the disparity.
    """
    d = float(np.clip(disparity, *curve.disparity[[0, -1]]))
    k = int(np.searchsorted(curve.disparity, d, side="right")) - 1
    if SCHEMES[scheme].is_pooled:
        solution = solve(fed, SCHEMES[scheme].base, d, **question.of(scheme))
    else:
        assert curve.solved is not None
        solution = curve.solved(curve.points.take([k]))
    return Chosen(solution, rates_of(fed, question.notion, solution.classifier)[1])


def reached(
    curves: dict[str, Frontier],
    disparities: Sequence[float],
    question: Question = PLAIN,
    failures: dict[str, str] | None = None,
) -> dict[str, Reach]:
    """What they reach; see ``noted``."""
    top = max(float(curve.disparity[-1]) for curve in curves.values())
    grid = np.unique(
        np.concatenate(
            [np.linspace(0.0, top, GRID), *(curve.disparity for curve in curves.values())]
        )
    )
    best, out = question.at(curves["cfl"], grid) + (not question.is_share), {}
    cfl_worth = np.zeros(0)  # at the disparities
    for scheme, curve in curves.items():
        with noted(scheme, failures):
            low, high = curve.disparity[[0, -1]]
            points = curve.points_at(np.clip([low, *disparities, high], low, high))
            worth, limits = points.worth[1:-1], np.clip(disparities, low, high)
            cfl_worth = worth if scheme == CFL.name else cfl_worth
            bound = curve.bound_above(limits, worth) if curve.is_bounded else cfl_worth
            values_at, gaps_at = (
                tuple(v if d >= low else None for d, v in zip(disparities, column, strict=True))
                for column in ((worth - (not question.is_share)).tolist(), (bound - worth).tolist())
            )
            common, gains = grid >= low, SCHEMES[scheme].sees_client
            k, loss, worst_point = _losses(curve, points, grid[common], best[common], gains)
            worst, loss_at, gain = loss[k], grid[common][k], max(-float(loss.min()), 0.0)
            numbers = question.values(curve), values_at, float(worst), float(loss_at), gain
            gap = curve.gap_below(best[np.searchsorted(grid, curve.disparity)])
            out[scheme] = Reach(curve, *numbers, points.join(worst_point), gap, gaps_at)
    return out


def _losses(
    curve: Frontier, solved_points: Points, disparity: Array, best: Array, with_gains: bool
) -> tuple[int, Array, Points]:
    """Where a frontier loses most against the worths ``best`` (P,), its losses (P,), and its point
    there, at disparities (P,) with its own among them; ``solved_points`` are more of its points.
    Unless losses serve ``with_gains``, those smaller than the largest are bounds.

    Worths increase with the disparity, so that a less disparate point bounds a loss. Of disparities
    in a row whose bounds are above the largest loss, the smallest is solved.
    """
    solved_points, solved = curve.points.join(solved_points), np.isin(disparity, curve.disparity)
    while True:
        points = fitting(solved_points, disparity)
        loss = best - points.worth
        k = int(np.argmax(np.where(solved, loss, -np.inf)))
        above = np.flatnonzero(~solved & (with_gains | (loss > loss[k])))
        if not above.size:
            return k, loss, points.take([k])
        first = above if with_gains else above[np.diff(above, prepend=-2) > 1]
        inside = np.minimum(disparity[first], curve.disparity[-1])
        solved_points, solved[first] = solved_points.join(curve.points_at(inside)), True
