"""Intervals of the numbers of a comparison: what sampling the people does to them."""

from __future__ import annotations

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
    found: Comparison,
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
    found = replace(found, people=sample.people)
    if bootstraps == 0:
        return found
    draws = sampling.BOOTSTRAPS if bootstraps is None else bootstraps
    spots, place = _spots(found, sample)
    if progress is not None:
        progress("standard errors", 0, 1)
    by_spot, slope = sampling.influences(federation, sample, spots, found.question)
    influence = measured(by_spot[place])
    error, table = sampling.standard_errors(influence, sample.counts), found.table
    numbers = honest = found.numbers
    held = np.full_like(table, np.nan)
    rng = np.random.default_rng(seed)
    parts = sampling.folds(sample.counts, rng)
    halves = sampling.halved(sample.counts, rng)
    judged = sampling.crossed(sample, parts, spots, found.question, progress)
    again = sampling.crossed(sample, halves, spots, found.question, progress)
    # values are moved along the frontier to the same disparity
    slopes = np.where(np.isnan(table[..., 0]), np.nan, slope[place])
    always = [SCHEMES[scheme].is_pooled for scheme in found.reaches]
    if judged is not None:
        held = judged[0][place]
        held[..., 0] -= slopes * (held[..., 1] - table[..., 1])
        honest = measured(held)
        honest[always, 0] = 0.0  # whoever comes
    if again is not None:
        inside = again[1][place]
        inside[:, :, 0] -= slopes[..., None] * (inside[:, :, 1] - table[:, :, 1, None])
        both = sampling.corrected(error, measured(inside), numbers, influence, halves)
        both[always, 0] = np.nan
        error = np.where(np.isnan(both), error, both)
    error = np.hypot(error, sampling.noise_errors(influence, sample))
    least = np.fmax(numbers[:, 0], honest[:, 0]) + sampling.NORMAL * error[:, 0]
    above, other, apart = (
        measured(one)
        for one in (
            _above(found, least),
            _other_budgets(found, federation, sample, parts, least),
            _further_apart(found, federation, sample),
        )
    )
    six = np.stack([numbers, honest, above, 2.0 * numbers - above, other, apart])
    less, more = sampling.withheld(influence, sample)
    ends = [
        np.fmin.reduce(six) - sampling.NORMAL * error + less,
        np.fmax.reduce(six) + sampling.NORMAL * error + more,
    ]
    jumps = sampling.best_disparities(sample, found.question, draws, seed)
    drawn = sampling.interval(numbers[:, 3], jumps[:, None]).T
    ends[0][:, 3] = np.fmin(ends[0][:, 3], drawn[0])
    ends[1][:, 3] = np.fmax(ends[1][:, 3], drawn[1])
    alike = ends[1][:, 0] >= numbers[:, 3]  # the smallest disparity may be that of the best rule
    ends[1][alike, 0] = np.fmax(ends[1][:, 0], ends[1][:, 3])[alike]
    ends[1] = _possible(found, ends[1])
    between = np.clip(np.stack(ends, axis=-1), *np.moveaxis(found.bounds, -1, 0)[..., None])
    first, off = numbers[:, :1], np.maximum(error[:, :1], ZERO)
    reached = np.where(first < ZERO, 1.0, ndtr((np.array(found.disparities) - first) / off))
    held[..., 0] = np.clip(held[..., 0], *found.bounds[0, 1])
    spread = Spread(between, reached, held[:, :-2], draws, seed)
    return replace(found, spread=spread)


def _possible(found: Comparison, high: Array) -> Array:
    """Upper ends (S, C) of values, none above that of the scheme's best rule; nor, unless rules are
    told the client, above CFL's best and CFL at the same disparity. Where the interval that bounds
    another one holds the truth, what is cut off does not.
    """
    high, at = high.copy(), [*range(len(ENDS), len(ENDS) + len(found.disparities))]
    for ends, scheme in zip(high, found.reaches, strict=True):
        if scheme != "client_aware":
            ends[[2, *at]] = np.fmin(ends[[2, *at]], high[0, [2, *at]])
        ends[[1, *at]] = np.fmin(ends[[1, *at]], ends[2])
    return high


def _above(found: Comparison, least: Array) -> Array:
    """The table where the schemes reach no disparities below ``least`` (S,)."""
    out, best = found.table, found.reaches["cfl"].frontier
    for own, reach, low in zip(out, found.reaches.values(), least, strict=True):
        curve = reach.frontier
        if np.isfinite(low) and low > curve.disparity[0] + ZERO:
            d = min(low, curve.disparity[-1])
            own[0, 0] = found.question.at(curve, d)
            if reach.loss_at < d:
                own[-1, 0] = own[-2, 0] + found.question.at(best, d) - own[0, 0]
    return out


def _other_budgets(
    found: Comparison, federation: Federation, sample: Counted, parts: Array, least: Array
) -> Array:
    """The table where schemes of one budget for all reach their smallest disparity with the least
    useful of the budgets that have a disparity of at most ``least`` (S,): its value, that judged on
    people it was not fitted to, or that less the jackknife's bias, if less. The bias is taken to
    fall with the square root of the people's number, as the gain by chance differences of sites.
    """
    out, best, asked = found.table, found.reaches["cfl"].frontier, found.question
    for own, (scheme, reach), low in zip(out, found.reaches.items(), least, strict=True):
        if not SCHEMES[scheme].one_budget:
            continue
        budgets = np.linspace(0.0, reach.frontier.eps.max(), sampling.EVEN)
        every = np.repeat(budgets[:, None], federation.n_clients, axis=1)
        value, apart = sampling.at_budgets(federation, scheme, every, asked).T
        near = np.flatnonzero(apart <= low)
        if near.size:
            k = near[value[near].argmin()]
            spot = sampling.Spot(scheme, every[k])
            worth, held = value[k], sampling.crossed(sample, parts, [spot], asked)
            if held is not None:
                smaller = np.sqrt(sampling.FOLDS / (sampling.FOLDS - 1)) - 1.0
                bias = (held[1][0, 0].mean() - worth) / smaller
                worth = np.fmin.reduce([worth, held[0][0, 0], worth - bias])
            own[0, 0] = min(own[0, 0], worth)
            pooled = float(asked.at(best, min(apart[k], best.disparity[-1])))
            own[-1, 0] = own[-2, 0] + max(reach.loss, pooled - worth)
    return out


def _further_apart(found: Comparison, federation: Federation, sample: Counted) -> Array:
    """The table where a scheme of one budget for all loses what it would if the disparity of one
    client was larger by 1.96 standard errors, at the disparities of the comparison: the most over
    the clients to whom that costs most.

    Where several clients' constraints are nearly active, or their rates differ in opposite
    directions, the loss has a kink, and a derivative tells one side of it. A client whose disparity
    is larger has a smaller budget than the others; the common one is such that the pooled disparity
    is the same.
    """
    out, best, asked = found.table, found.reaches["cfl"].frontier, found.question
    rates = Rates.of(asked.notion, federation.joint.people, federation.joint.eta)
    size = np.sort(np.maximum(sample.people * rates.mass.min(axis=0), 1.0))  # (I, A)
    more = sampling.NORMAL * 0.5 * np.sqrt((1.0 / size[:, :2]).sum(axis=1))
    for own, (scheme, reach) in zip(out, found.reaches.items(), strict=True):
        for k in (
            np.flatnonzero(np.isfinite(own[1:-3, 0])) + 1 if SCHEMES[scheme].one_budget else ()
        ):
            worth, disparity = own[k]
            loss = [out[0, k, 0] - worth]
            lower = reach.points.eps[k] - np.diag(more)
            alone = sampling.at_budgets(federation, scheme, np.maximum(lower, 0.0), asked)[:, 0]
            for client in np.argsort(alone)[: sampling.COSTLIEST]:
                if not alone[client] < worth - ZERO:
                    break  # the client's constraint would not be active
                budgets = lower[client] + more[client] * np.linspace(-1.0, 1.0, 5)[:, None]
                tried = sampling.at_budgets(federation, scheme, np.maximum(budgets, 0.0), asked)
                tried = tried[np.isfinite(tried[:, 0])]
                value, apart = tried[np.argsort(tried[:, 1])].T
                lost = asked.at(best, np.minimum(apart, best.disparity[-1])) - value
                loss.append(np.interp(disparity, apart, lost))
            own[k, 0] = out[0, k, 0] - max(loss)
    return out


def _spots(found: Comparison, sample: Counted) -> tuple[list[sampling.Spot], Array]:
    """The spots of the comparison, each once, and which of them the rows of its table (S, K + 4)
    are.

    Spots at one budget for all clients have neighbours, since there several clients' constraints
    are active: points of the frontier within two standard errors of a rate of the smallest group.
    """
    fewest = sample.counts.sum(axis=(0, 2, 3)).min()
    beside = np.linspace(-1.0, 1.0, sampling.NEIGHBOURS) / np.sqrt(fewest)
    spots: dict[tuple[str, bytes, str], sampling.Spot] = {}
    place = []
    for scheme, reach in found.reaches.items():
        some = [sampling.Spot(scheme, eps) for eps in reach.points.eps]
        if SCHEMES[scheme].one_budget:
            curve = reach.frontier
            for k, apart in enumerate(reach.points.disparity):
                near = np.interp(apart + beside, curve.disparity, curve.eps[:, 0])
                near = np.repeat(near[:, None], curve.eps.shape[1], axis=1)
                some[k] = some[k]._replace(near=list(near))
        for k, end in ((0, "smallest"), (-2, "best")):
            some[k] = some[k]._replace(end=end, near=())
        for spot in (*some, sampling.Spot("cfl", np.array([reach.loss_at]))):
            key = spot.scheme, spot.budgets.tobytes(), spot.end
            spots.setdefault(key, spot)
            place.append(list(spots).index(key))
    return list(spots.values()), np.reshape(place, (len(found.reaches), -1))
