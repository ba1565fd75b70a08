"""Intervals of the numbers of a comparison: what sampling the people does to them."""

from dataclasses import replace

import numpy as np
from scipy.special import ndtr

from fairfl._support.checks import Array
from fairfl.reports import sampling
from fairfl.reports.comparison import ENDS, ZERO, Comparison, Spread, measured
from fairfl.solvers.schemes import SCHEMES
from fairfl.theory.populations.calibration import Counted
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import Rates


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
    smallest disparity, what these people give if that is the largest in its interval, and as far on
    the other side; and, at one budget for all, what they give at the other budgets with which the
    smallest disparity may be reached, and if the disparity of one client was larger.
    ``bootstraps``: 0 for nothing.
    """
    comparison = replace(comparison, people=sample.people)
    if bootstraps == 0:
        return comparison
    draws = sampling.BOOTSTRAPS if bootstraps is None else bootstraps
    spots, spot_index = _spots(comparison, sample)
    if progress is not None:
        progress("standard errors", 0, 1)
    by_spot, slope = sampling.influences(federation, sample, spots, comparison.question)
    influence = measured(by_spot[spot_index])
    error, table = sampling.standard_errors(influence, sample), comparison.table
    numbers = honest = comparison.numbers
    held_out = np.full_like(table, np.nan)
    rng = np.random.default_rng(seed)
    parts = sample.weigh(sampling.folds(sample.effective, rng))
    halves = sample.weigh(sampling.halved(sample.effective, rng))
    judged = sampling.crossed(sample, parts, spots, comparison.question, progress)
    half_judged = sampling.crossed(sample, halves, spots, comparison.question, progress)
    # values are moved along the frontier to the same disparity
    slopes = np.where(np.isnan(table[..., 0]), np.nan, slope[spot_index])
    pooled = [SCHEMES[scheme].is_pooled for scheme in comparison.reaches]
    if judged is not None:
        held_out = judged[0][spot_index]
        held_out[..., 0] -= slopes * (held_out[..., 1] - table[..., 1])
        honest = measured(held_out)
        honest[pooled, 0] = 0.0  # a constant rule has disparity 0 on any people
    if half_judged is not None:
        inside = half_judged[1][spot_index]
        inside[:, :, 0] -= slopes[..., None] * (inside[:, :, 1] - table[:, :, 1, None])
        corrected = sampling.corrected(error, measured(inside), numbers, influence, halves)
        corrected[pooled, 0] = np.nan
        error = np.where(np.isnan(corrected), error, corrected)
    error = np.hypot(error, sampling.noise_errors(influence, sample))
    upper = np.fmax(numbers[:, 0], honest[:, 0]) + sampling.NORMAL * error[:, 0]
    above, other_budgets, further_apart = (
        measured(changed)
        for changed in (
            _above(comparison, upper),
            _other_budgets(comparison, federation, sample, parts, upper),
            _further_apart(comparison, federation, sample),
        )
    )
    estimates = np.stack(
        [numbers, honest, above, 2.0 * numbers - above, other_budgets, further_apart]
    )
    below, beyond = sampling.withheld(influence, sample)
    ends = [
        np.fmin.reduce(estimates) - sampling.NORMAL * error + below,
        np.fmax.reduce(estimates) + sampling.NORMAL * error + beyond,
    ]
    jumps = sampling.best_disparities(sample, comparison.question, draws, seed)
    jump_interval = sampling.interval(numbers[:, 3], jumps[:, None]).T
    ends[0][:, 3] = np.fmin(ends[0][:, 3], jump_interval[0])
    ends[1][:, 3] = np.fmax(ends[1][:, 3], jump_interval[1])
    # the smallest disparity may be that of the best rule
    may_coincide = ends[1][:, 0] >= numbers[:, 3]
    ends[1][may_coincide, 0] = np.fmax(ends[1][:, 0], ends[1][:, 3])[may_coincide]
    ends[1] = _possible(comparison, ends[1])
    between = np.clip(np.stack(ends, axis=-1), *np.moveaxis(comparison.bounds, -1, 0)[..., None])
    first, scale = numbers[:, :1], np.maximum(error[:, :1], ZERO)
    reached = np.where(first < ZERO, 1.0, ndtr((np.array(comparison.disparities) - first) / scale))
    held_out[..., 0] = np.clip(held_out[..., 0], *comparison.bounds[0, 1])
    spread = Spread(between, reached, held_out[:, :-2], draws, seed)
    return replace(comparison, spread=spread)


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


def _above(comparison: Comparison, upper: Array) -> Array:
    """The table where the schemes reach no disparities below ``upper`` (S,)."""
    out, best = comparison.table, comparison.reaches["cfl"].frontier
    for rows, reach, low in zip(out, comparison.reaches.values(), upper, strict=True):
        curve = reach.frontier
        if np.isfinite(low) and low > curve.disparity[0] + ZERO:
            d = min(low, curve.disparity[-1])
            rows[0, 0] = comparison.question.at(curve, d)
            if reach.loss_at < d:
                rows[-1, 0] = rows[-2, 0] + comparison.question.at(best, d) - rows[0, 0]
    return out


def _other_budgets(
    comparison: Comparison, federation: Federation, sample: Counted, parts: Array, upper: Array
) -> Array:
    """The table where schemes of one budget for all reach their smallest disparity with the least
    useful of the budgets that have a disparity of at most ``upper`` (S,): its value, that judged on
    people it was not fitted to, or that less the jackknife's bias, if less. The bias is taken to
    fall with the square root of the people's number, as the gain by chance differences of sites.
    """
    out, best, question = comparison.table, comparison.reaches["cfl"].frontier, comparison.question
    for rows, (scheme, reach), low in zip(out, comparison.reaches.items(), upper, strict=True):
        if not SCHEMES[scheme].one_budget:
            continue
        budgets = np.linspace(0.0, reach.frontier.eps.max(), sampling.EVEN)
        candidates = np.repeat(budgets[:, None], federation.n_clients, axis=1)
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


def _further_apart(comparison: Comparison, federation: Federation, sample: Counted) -> Array:
    """The table where a scheme of one budget for all loses what it would if the disparity of one
    client was larger by 1.96 standard errors, at the disparities of the comparison: the most over
    the clients to whom that costs most.

    Where several clients' constraints are nearly active, or their rates differ in opposite
    directions, the loss has a kink, and a derivative tells one side of it. A client whose disparity
    is larger has a smaller budget than the others; the common one is such that the pooled disparity
    is the same.
    """
    out, best, question = comparison.table, comparison.reaches["cfl"].frontier, comparison.question
    rates = Rates.of(question.notion, federation.joint.people, federation.joint.eta)
    sums, squares = (table.sum(axis=(2, 3)) for table in (sample.counts, sample.squares))
    people = sums.sum() * np.divide(sums, squares, out=np.ones_like(sums), where=squares > 0)
    size = np.sort(np.maximum(people * rates.mass.min(axis=0), 1.0))  # (I, A)
    margin = sampling.NORMAL * 0.5 * np.sqrt((1.0 / size[:, :2]).sum(axis=1))
    for rows, (scheme, reach) in zip(out, comparison.reaches.items(), strict=True):
        for k in (
            np.flatnonzero(np.isfinite(rows[1:-3, 0])) + 1 if SCHEMES[scheme].one_budget else ()
        ):
            worth, disparity = rows[k]
            loss = [out[0, k, 0] - worth]
            lower = reach.points.eps[k] - np.diag(margin)
            worths = sampling.at_budgets(federation, scheme, np.maximum(lower, 0.0), question)[:, 0]
            for client in np.argsort(worths)[: sampling.COSTLIEST]:
                if not worths[client] < worth - ZERO:
                    break  # the client's constraint would not be active
                budgets = lower[client] + margin[client] * np.linspace(-1.0, 1.0, 5)[:, None]
                tried = sampling.at_budgets(federation, scheme, np.maximum(budgets, 0.0), question)
                tried = tried[np.isfinite(tried[:, 0])]
                value, disparities = tried[np.argsort(tried[:, 1])].T
                losses = question.at(best, np.minimum(disparities, best.disparity[-1])) - value
                loss.append(np.interp(disparity, disparities, losses))
            rows[k, 0] = out[0, k, 0] - max(loss)
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
