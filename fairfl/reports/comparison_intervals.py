"""Intervals of the numbers of a comparison: what sampling the people does to them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import ndtr

from fairfl._support.checks import Array
from fairfl.reports import sampling
from fairfl.reports.comparison import ZERO, Comparison, Reach, Spread, measured
from fairfl.solvers.schemes import COMMON
from fairfl.theory.populations.calibration import Counted
from fairfl.theory.populations.federation import Federation


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
    people they were not fitted to, which is not good enough; and, since frontiers are steep at
    their smallest disparity, what these people give if that is the largest in its interval, as far
    on the other side, and at the other budgets, one for all, with which the smallest disparity may
    be reached; and the mean over neighbouring points. ``bootstraps``: 0 for nothing.
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
    error = np.hypot(error, sampling.noise_errors(influence, sample))
    numbers = honest = found.numbers
    held = np.full_like(table, np.nan)
    parts = sampling.folds(sample.counts, np.random.default_rng(seed))
    judged = sampling.crossed(sample, parts, spots, found.question, progress)
    if judged is not None:
        held, inside = (v[place] for v in judged)
        slopes = np.where(np.isnan(table[..., 0]), np.nan, slope[place])
        for one in (held[..., None], inside):  # at the same disparity, along the frontier
            one[:, :, 0] -= slopes[..., None] * (one[:, :, 1] - table[:, :, 1, None])
        honest = measured(held)
        always = [scheme in ("cfl", "client_aware") for scheme in found.reaches]
        honest[always, 0] = 0.0  # whoever comes
        rest = sampling.unexplained(measured(inside), influence, parts)
        rest[always, 0] = 0.0
        error = np.sqrt(error**2 + np.nan_to_num(rest) ** 2)
    least = np.fmax(numbers[:, 0], honest[:, 0]) + sampling.NORMAL * error[:, 0]
    above, other, smoothed = (
        measured(one)
        for one in (
            _above(found, least),
            _other_budgets(found, federation, sample, parts, least),
            _smoothed(found, sample),
        )
    )
    six = np.stack([numbers, honest, above, 2.0 * numbers - above, other, smoothed])
    less, more = sampling.withheld(influence, sample)
    ends = [
        np.fmin.reduce(six) - sampling.NORMAL * error + less,
        np.fmax.reduce(six) + sampling.NORMAL * error + more,
    ]
    jumps = sampling.best_disparities(sample, found.question, draws, seed)
    drawn = sampling.interval(numbers[:, 3], jumps[:, None]).T
    ends[0][:, 3] = np.fmin(ends[0][:, 3], drawn[0])
    ends[1][:, 3] = np.fmax(ends[1][:, 3], drawn[1])
    between = np.clip(np.stack(ends, axis=-1), *np.moveaxis(found.bounds, -1, 0)[..., None])
    first, off = numbers[:, :1], np.maximum(error[:, :1], ZERO)
    reached = np.where(first < ZERO, 1.0, ndtr((np.array(found.disparities) - first) / off))
    spread = Spread(between, reached, held[:, :-2], draws, seed)
    return replace(found, spread=spread)


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
        if scheme not in COMMON:
            continue
        budgets = np.linspace(0.0, reach.frontier.eps.max(), sampling.EVEN)
        value, apart = sampling.at_one_budget(federation, scheme, budgets, asked).T
        near = np.flatnonzero(apart <= low)
        if near.size:
            k = near[value[near].argmin()]
            spot = sampling.Spot(scheme, np.full(federation.n_clients, budgets[k]))
            worth, held = value[k], sampling.crossed(sample, parts, [spot], asked)
            if held is not None:
                smaller = np.sqrt(sampling.FOLDS / (sampling.FOLDS - 1)) - 1.0
                bias = (held[1][0, 0].mean() - worth) / smaller
                worth = np.fmin.reduce([worth, held[0][0, 0], worth - bias])
            own[0, 0] = min(own[0, 0], worth)
            pooled = float(asked.at(best, min(apart[k], best.disparity[-1])))
            own[-1, 0] = own[-2, 0] + max(reach.loss, pooled - worth)
    return out


def _neighbours(reach: Reach, sample: Counted) -> Array:
    """(P, NEIGHBOURS) disparities of points of the frontier within two standard errors of a rate of
    the smallest group, of each of ``reach.points``.
    """
    fewest = sample.counts.sum(axis=(0, 2, 3)).min()
    beside = np.linspace(-1.0, 1.0, sampling.NEIGHBOURS) / np.sqrt(fewest)
    return np.clip(reach.points.disparity[:, None] + beside, *reach.frontier.disparity[[0, -1]])


def _smoothed(found: Comparison, sample: Counted) -> Array:
    """The table where a scheme of one budget for all loses as much against CFL as its neighbouring
    points do on average, at the disparities of the comparison.
    """
    out, best = found.table, found.reaches["cfl"].frontier
    for own, (scheme, reach) in zip(out, found.reaches.items(), strict=True):
        if scheme in COMMON:
            near = _neighbours(reach, sample)[1:-2]
            pooled = found.question.at(best, np.minimum(near, best.disparity[-1]))
            loss = (pooled - found.question.at(reach.frontier, near)).mean(axis=-1)
            own[1:-3, 0] = np.where(np.isnan(own[1:-3, 0]), np.nan, out[0, 1:-3, 0] - loss)
    return out


def _spots(found: Comparison, sample: Counted) -> tuple[list[sampling.Spot], Array]:
    """The spots of the comparison, each once, and which of them the rows of its table (S, K + 4)
    are.

    Spots at one budget for all clients have neighbours, since there several clients' constraints
    are active.
    """
    spots: dict[tuple[str, bytes, str], sampling.Spot] = {}
    place = []
    for scheme, reach in found.reaches.items():
        some = [sampling.Spot(scheme, eps) for eps in reach.points.eps]
        if scheme in COMMON:
            for k, near in enumerate(_neighbours(reach, sample)):
                some[k] = some[k]._replace(near=list(reach.frontier.points_at(near).eps))
        for k, end in ((0, "smallest"), (-2, "best")):
            some[k] = some[k]._replace(end=end, near=())
        for spot in (*some, sampling.Spot("cfl", np.array([reach.loss_at]))):
            key = spot.scheme, spot.budgets.tobytes(), spot.end
            spots.setdefault(key, spot)
            place.append(list(spots).index(key))
    return list(spots.values()), np.reshape(place, (len(found.reaches), -1))
