"""Intervals of the numbers of a comparison: what sampling the people does to them."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from fairfl._support.checks import Array
from fairfl.reports import sampling
from fairfl.reports.bootstrap import BOOTSTRAPS, Bootstrap, bootstrapped, interval
from fairfl.reports.comparison import ENDS, ZERO, Comparison, Spread, at_disparities, measured
from fairfl.reports.sampling import NORMAL
from fairfl.solvers.schemes import CFL, SCHEMES
from fairfl.theory.populations.calibration import Counted
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import NOTIONS


def with_intervals(
    comparison: Comparison,
    federation: Federation,
    sample: Counted,
    *,
    bootstraps: int | None,
    seed: int,
    progress: sampling.Progress | None = None,
) -> Comparison:
    """The comparison of a sample of people, with what sampling does to it; see
    ``fairfl.reports.sampling``.

    An interval is from 1.96 standard errors below the smallest to as many above the largest of
    six numbers: what these people give, which is too good; what the same rules give judged on
    people they were not fitted to, which is not good enough; since frontiers are steep at their
    smallest disparity, and jump, what these people give at disparities 1.96 standard errors of a
    rule's larger and smaller, at the smallest if that is the largest in its interval, and as far on
    the other side; and what they give at other budgets with which the smallest disparity may be
    reached, or, at one budget for all, if the clients' differences added up.
    ``bootstraps``: 0 for nothing.
    """
    comparison = replace(comparison, people=sample.people)
    if bootstraps == 0:
        return comparison
    draws, question = BOOTSTRAPS if bootstraps is None else bootstraps, comparison.question
    if progress is not None:
        progress("standard errors", 0, 1)
    derived, tried = _derived(comparison, federation, sample), _tried(comparison)
    numbers, jumping = comparison.numbers, {spot.scheme for spot in tried}
    rng = np.random.default_rng(seed)
    parts = sample.weigh(sampling.folds(sample.effective, rng))
    halves = sample.weigh(sampling.halved(sample.effective, rng))
    judged = sampling.crossed(sample, parts, derived.spots, question, progress)
    held_out, honest = _held_out(comparison, derived, None if judged is None else judged[0])
    judged = sampling.crossed(sample, halves, derived.spots + tried, question, progress)
    inside = None if judged is None else judged[1]
    error = _errors(comparison, sample, derived, halves, inside, tried)
    upper = np.fmax(numbers[:, 0], honest[:, 0]) + NORMAL * error[:, 0]
    others = measured(_other_budgets(comparison, federation, sample, parts, upper, jumping))
    below, above = _moved(comparison, NORMAL * derived.disparity_error[:, :-1], upper)
    moved = above, 2.0 * numbers - above, below
    estimates = np.stack([numbers, honest, *moved, others])
    lower, beyond = sampling.withheld(derived.influence, sample)
    # the largest loss, or a cost, that is another rule's has the error of that rule's value
    is_others = np.isin(np.arange(error.shape[1]), [4, error.shape[1] - 1]) & (others > numbers)
    others += NORMAL * np.where(is_others, np.fmax(error, error[:, 1:2]), error)
    ends = _bounded(
        comparison,
        np.fmin.reduce(estimates) - NORMAL * error + lower,
        np.fmax(np.fmax.reduce(estimates) + NORMAL * error, others) + beyond,
        error,
        bootstrapped(sample, question, draws, seed),
    )
    between = np.clip(np.stack(ends, axis=-1), *np.moveaxis(comparison.bounds, -1, 0)[..., None])
    first, scale = numbers[:, :1], np.maximum(error[:, :1], ZERO)
    reached = np.where(first < ZERO, 1.0, ndtr((np.array(comparison.disparities) - first) / scale))
    held_out[..., 0] = np.clip(held_out[..., 0], *comparison.bounds[0, 1])
    errors = derived.disparity_error[:, :-2]
    spread = Spread(between, reached, held_out[:, :-2], errors, draws, seed)
    return replace(comparison, spread=spread)


def band(
    comparison: Comparison,
    federation: Federation,
    sample: Counted,
    scheme: str,
    bootstraps: int | None,
    seed: int,
) -> tuple[Array, Array]:
    """(P,) ends of the intervals at the points of a scheme's frontier, see ``Frontier.lower``."""
    question, curve = comparison.question, comparison.reaches[scheme].frontier
    curves = {CFL.name: comparison.reaches[CFL.name].frontier, scheme: curve}
    at = tuple(curve.disparity.tolist())
    dense = at_disparities(federation, question, curves, at, True, {})
    dense = with_intervals(dense, federation, sample, bootstraps=bootstraps, seed=seed)
    assert dense.spread is not None
    ends = dense.spread.interval[list(curves).index(scheme), len(ENDS) : len(ENDS) + len(at)]
    low, high = (ends - (question.is_share and not curve.accurate)).T
    return low, high


class Derived(NamedTuple):
    """The distinct ``spots`` of a comparison, and which of them the rows of its table (S, K + 4)
    are; the influences (S, C, I, A, 2, n) of its numbers; of the table's points the slopes of the
    frontiers and the standard errors of the rules' disparities.
    """

    spots: list[sampling.Spot]
    places: Array
    influence: Array
    slopes: Array
    disparity_error: Array


def _derived(comparison: Comparison, federation: Federation, sample: Counted) -> Derived:
    spots, index = _spots(comparison, sample)
    by_spot, slope, error = sampling.influences(federation, sample, spots, comparison.question)
    slopes = np.where(np.isnan(comparison.table[..., 0]), np.nan, slope[index])
    return Derived(spots, index, measured(by_spot[index]), slopes, error[index])


def _held_out(
    comparison: Comparison, derived: Derived, outside: Array | None
) -> tuple[Array, Array]:
    """The table (S, K + 4, 2) and its numbers on people whom rules were not fitted to, values moved
    along the frontier to the same disparity; without ``outside`` unknown, and the fitted numbers.
    """
    if outside is None:
        return np.full_like(comparison.table, np.nan), comparison.numbers
    held_out = outside[derived.places]
    held_out[..., 0] -= derived.slopes * (held_out[..., 1] - comparison.table[..., 1])
    honest = measured(held_out)
    honest[_pooled(comparison), 0] = 0.0  # a constant rule has disparity 0 on any people
    return held_out, honest


def _pooled(comparison: Comparison) -> list[bool]:
    return [SCHEMES[scheme].is_pooled for scheme in comparison.reaches]


def _errors(
    comparison: Comparison,
    sample: Counted,
    derived: Derived,
    halves: Array,
    inside: Array | None,
    tried: list[sampling.Spot],
) -> Array:
    """(S, C) standard errors of the numbers: of the derivatives, with what they do not explain of
    the values and disparities ``inside`` of rules of half of the people, and of noise.
    """
    influence, table = derived.influence, comparison.table
    error = sampling.standard_errors(influence, sample)
    if inside is not None:
        points, by_half = inside[len(derived.spots) :], inside[derived.places]
        searched = _searched(comparison, by_half.copy(), points, tried)
        change = by_half[:, :, 1] - table[:, :, 1, None]
        by_half[:, :, 0] -= derived.slopes[..., None] * change
        numbers = measured(by_half), comparison.numbers
        corrected = sampling.corrected(error, *numbers, influence, halves)
        corrected[_pooled(comparison), 0] = np.nan
        error = np.fmax.reduce([np.where(np.isnan(corrected), error, corrected), searched])
    error = np.hypot(error, sampling.noise_errors(influence, sample))
    jumping = np.isin([*comparison.reaches], [spot.scheme for spot in tried])
    error[jumping, 0] = np.fmax(error[:, 0], derived.disparity_error[:, 0])[jumping]
    return error


def _bounded(
    comparison: Comparison, low: Array, high: Array, error: Array, best: Bootstrap
) -> tuple[Array, Array]:
    """The ends (S, C) with those of the ``best`` rule's disparity, unless local budgets limit it;
    and with what one number says of another. Where the best rule may have a disparity of the
    comparison, both values may be too good by ties. The smallest disparity may be that of the best
    rule. Where it may be as large as one of the comparison, the value there may be that at the
    smallest, and the loss what this costs less what CFL pays. The largest loss may be as large as
    one of these.
    """
    numbers, local_eps = comparison.numbers, comparison.question.local_eps
    is_limited = local_eps is not None and local_eps < 1.0
    drawn_low, drawn_high = interval(numbers[:, 3], best.disparities[:, None]).T
    free = [not (SCHEMES[s].is_local and is_limited) for s in comparison.reaches]
    tied = np.fmin(drawn_low, best.tied - NORMAL * error[:, 3])
    low[free, 3], high[free, 3] = (
        np.fmin(low[:, 3], tied)[free],
        np.fmax(high[:, 3], drawn_high)[free],
    )
    may_be_best = np.array(comparison.disparities) >= low[:, 3:4]
    columns = [2, *range(len(ENDS), len(ENDS) + may_be_best.shape[1])]
    plain = error[:, columns]
    narrower = plain - np.sqrt(np.maximum(plain**2 - best.excess_variance, 0.0))
    further = np.fmax(best.optimism - NORMAL * narrower, 0.0)
    low[:, columns] -= further * np.column_stack([np.ones(len(low)), may_be_best])
    may_coincide = high[:, 0] >= numbers[:, 3]
    high[may_coincide, 0] = np.fmax(high[:, 0], high[:, 3])[may_coincide]
    first, size = len(ENDS), len(comparison.disparities)
    paid = numbers[0, 2] - numbers[0, first : first + size]
    for below, above in zip(low, high, strict=True):
        may_be = above[0] >= np.array(comparison.disparities)
        values, losses = below[first : first + size], above[first + size : -1]
        values[may_be] = np.minimum(values, below[1])[may_be]
        losses[may_be] = np.fmax(losses, above[-1] - paid)[may_be]
        above[4] = np.fmax.reduce([above[4], *losses])
    return low, _possible(comparison, high)


def _possible(comparison: Comparison, high: Array) -> Array:
    """Upper ends (S, C) of values, none above that of the scheme's best rule; nor, unless rules are
    told the client, above CFL's best and CFL at the same disparity. Where the interval that bounds
    another one holds the truth, what is cut off does not.
    """
    high, columns = high.copy(), [*range(len(ENDS), len(ENDS) + len(comparison.disparities))]
    for ends, scheme in zip(high, comparison.reaches, strict=True):
        if not SCHEMES[scheme].sees_client:
            ends[[2, *columns]] = np.fmin(ends[[2, *columns]], high[0, [2, *columns]])
        ends[[1, *columns]] = np.fmin(ends[[1, *columns]], ends[2])
    return high


def _moved(comparison: Comparison, margin: Array, upper: Array) -> tuple[Array, Array]:
    """The numbers (S, C) with disparities smaller and larger by ``margin`` (S, K + 3): those of
    values and losses are of rules whose disparity is counted so much too large or too small, which
    matters where a frontier jumps. The smallest disparities are at most ``upper`` (S,).
    """
    question, best, numbers = comparison.question, comparison.reaches["cfl"].frontier, []
    for sign in (1.0, -1.0):
        rows = []
        for reach, width, low in zip(comparison.reaches.values(), margin, upper, strict=True):
            curve, disparity = reach.frontier, np.append(reach.points.disparity[:-1], reach.loss_at)
            moved = disparity + sign * np.nan_to_num(width)
            if sign > 0:
                moved[[0, -1]] = np.fmax(low, [disparity[0], moved[-1]])
            moved = np.clip(moved, *curve.disparity[[0, -1]])
            order = np.argsort(moved)
            value, pooled = np.empty((2, moved.size))
            value[order] = question.at(curve, moved[order])
            pooled[order] = question.at(best, np.minimum(moved[order], best.disparity[-1]))
            loss = pooled - value
            ends = [np.nan, value[0], np.nan, np.nan, loss[-1]]
            cost = reach.points.worth[-2] - (not question.is_share) - value[0]
            rows.append([*ends, *value[1:-2], *loss[1:-2], cost])
        numbers.append(np.array(rows))
    unknown = np.isnan(comparison.numbers)
    above, below = (np.where(unknown, np.nan, moved) for moved in numbers)
    return below, above


def _tried(comparison: Comparison) -> list[sampling.Spot]:
    """Points of the frontiers of schemes with budgets for clients, evenly spread; none where the
    disparity is one difference of rates, which is continuous in the people at a budget.
    """
    if len(comparison.groups) == 2 and len(NOTIONS[comparison.question.notion].rates) == 1:
        return []
    return [
        sampling.Spot(scheme, reach.frontier.eps[k])
        for scheme, reach in comparison.reaches.items()
        if not SCHEMES[scheme].is_pooled
        for k in np.unique(np.linspace(0, len(reach.frontier.eps) - 1, sampling.TRIED).astype(int))
    ]


def _best_of(points: Array, disparity: Array) -> Array:
    """The best values at disparities of points (N, 2) of values and disparities, and between."""
    value, at = points[np.isfinite(points[:, 0])].T
    order = np.lexsort((-value, at))
    value, at = np.maximum.accumulate(value[order]), at[order]
    rises = np.append(True, np.diff(value) > 0)
    return np.interp(disparity, at[rises], value[rises])


def _searched(
    comparison: Comparison, fitted: Array, points: Array, tried: list[sampling.Spot]
) -> Array:
    """(S, C) standard errors of the numbers, from how they scatter over halves of the people whose
    frontiers are searched anew; NaN where they are not: the best of the budgets that are ``tried``,
    whose values and disparities there are ``points`` (T, 2, H), and of the table's, ``fitted`` (S,
    K + 4, 2, H). The rule of a budget jumps where several differences have one, and no derivative
    tells.
    """
    out, table = np.full_like(fitted, np.nan), comparison.table
    best = np.concatenate([fitted[0, :-1], fitted[:, -1]])
    rows = np.arange(len(comparison.disparities) + 1)
    out[0, rows] = fitted[0, rows]
    for s, scheme in enumerate(comparison.reaches):
        if is_tried := [k for k, spot in enumerate(tried) if spot.scheme == scheme]:
            cloud = np.concatenate([fitted[s, :-1], points[is_tried]])
            at = np.where(rows, table[s, rows, 1], 0.0)
            out[s, -3] = fitted[s, -3]
            for h, half in enumerate(np.moveaxis(cloud, -1, 0)):
                if not (np.isfinite(half[:, 0]).any() and np.isfinite(best[:, 0, h]).any()):
                    continue
                out[s, rows, 0, h], out[s, 0, 1, h] = _best_of(half, at), np.nanmin(half[:, 1])
                pooled, value = (_best_of(v, half[:, 1]) for v in (best[..., h], half))
                worst = np.nanargmax(pooled - value)
                out[s, -2:, 0, h] = value[worst], pooled[worst]
    changes = measured(out) - comparison.numbers[..., None]
    changes[0] = np.nan
    return np.sqrt(sampling.FEW_SPLITS * (changes**2).mean(axis=-1))


def _other_budgets(
    comparison: Comparison,
    federation: Federation,
    sample: Counted,
    parts: Array,
    upper: Array,
    jumping: set[str],
) -> Array:
    """The table where schemes reach their smallest disparity with the least useful of the budgets,
    one for all clients, that have a disparity of at most ``upper`` (S,): its value, that judged on
    people it was not fitted to, or that less the jackknife's bias, if less. The bias is taken to
    fall with the square root of the people's number, as the gain by chance differences of sites.

    Of several differences chance chooses which one has a client's budget. Where those of the
    clients cancel each other, they might add up: then the disparity of all people is about the
    budget, and the value that of the rule at this budget.
    """
    out, best, question = comparison.table, comparison.reaches["cfl"].frontier, comparison.question
    for rows, (scheme, reach), low in zip(out, comparison.reaches.items(), upper, strict=True):
        if not SCHEMES[scheme].one_budget and scheme not in jumping:
            continue
        budgets = np.linspace(0.0, reach.frontier.eps.max(), sampling.EVEN)
        candidates = np.repeat(budgets[:, None], federation.n_clients, axis=1)
        if SCHEMES[scheme].one_budget and scheme in jumping:
            at = np.repeat(np.array(comparison.disparities)[:, None], federation.n_clients, axis=1)
            added_up = sampling.at_budgets(federation, scheme, at, question)[:, 0]
            rows[1:-3, 0] = np.minimum(rows[1:-3, 0], np.nan_to_num(added_up, nan=np.inf))
        value, disparities = sampling.at_budgets(federation, scheme, candidates, question).T
        feasible = np.flatnonzero(disparities <= low)
        if feasible.size:
            k = feasible[value[feasible].argmin()]
            spot = sampling.Spot(scheme, candidates[k])
            worth, judged = value[k], sampling.crossed(sample, parts, [spot], question)
            if judged is not None:
                smaller = np.sqrt(sampling.FOLDS / (sampling.FOLDS - 1)) - 1.0
                bias = (judged[1][0, 0].mean() - worth) / smaller
                worth = np.fmin.reduce([worth, judged[0][0, 0], worth - bias])
            rows[0, 0] = min(rows[0, 0], worth)
            pooled = float(question.at(best, min(disparities[k], best.disparity[-1])))
            rows[-1, 0] = rows[-2, 0] + max(reach.loss, pooled - worth)
    return out


def _spots(comparison: Comparison, sample: Counted) -> tuple[list[sampling.Spot], Array]:
    """The spots of the comparison, each once, and which of them the rows of its table (S, K + 4)
    are.

    Spots at one budget for all clients have neighbours, since there several clients' constraints
    are active: points of the frontier within two standard errors of a rate of the smallest group.
    """
    fewest = sample.effective_sizes((0, 2, 3)).min()
    offsets = np.linspace(-1.0, 1.0, sampling.NEIGHBOURS) / np.sqrt(fewest)
    spots: dict[tuple[str, bytes, str], sampling.Spot] = {}
    spot_index = []
    for scheme, reach in comparison.reaches.items():
        scheme_spots = [sampling.Spot(scheme, eps) for eps in reach.points.eps]
        if SCHEMES[scheme].one_budget:
            curve = reach.frontier
            for k, disparity in enumerate(reach.points.disparity):
                eps = np.interp(disparity + offsets, curve.disparity, curve.eps[:, 0])
                neighbours = list(np.repeat(eps[:, None], curve.eps.shape[1], axis=1))
                scheme_spots[k] = scheme_spots[k]._replace(neighbours=neighbours)
        for k, end in ((0, "smallest"), (-2, "best")):
            scheme_spots[k] = scheme_spots[k]._replace(end=end, neighbours=())
        for spot in (*scheme_spots, sampling.Spot("cfl", np.array([reach.loss_at]))):
            key = spot.scheme, spot.budgets.tobytes(), spot.end
            spots.setdefault(key, spot)
            spot_index.append(list(spots).index(key))
    return list(spots.values()), np.reshape(spot_index, (len(comparison.reaches), -1))
