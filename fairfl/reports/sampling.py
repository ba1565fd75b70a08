"""What sampling does to a comparison: intervals by the bootstrap, and rules tried on people they
were not fitted to.

Frontiers are computed on the people of a table, who are a sample, and that shows in two ways. Other
people would have given other numbers: people are drawn anew, η is fitted anew, and everything is
computed anew. And an optimum is chosen for the people it is counted on, and is worth less on
others: rules are fitted to one half and counted on the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import process_time
from warnings import catch_warnings, simplefilter

import numpy as np
from numpy.typing import ArrayLike

from fairfl._support.checks import Array
from fairfl.reports.question import PLAIN, Question
from fairfl.solvers.solution import CertificationError
from fairfl.theory.populations.calibration import Counted, ScoreWarning
from fairfl.theory.populations.classifiers import Classifier, ClientClassifiers
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.notions import Rates, disparity

BOOTSTRAPS, SECONDS = 200, 60.0
"""So many bootstraps, fewer where they would take longer, unless a number is asked for."""
FEWEST = 20
"""Intervals are not made of fewer."""
LEVEL, NORMAL = 0.95, 1.959963984540054
"""Of intervals, and the normal quantile that goes with it."""
TRIES = 200
"""Draws of a client's people."""
SPLITS = 5
"""Halvings; of each, both halves are fitted to and counted on."""

SHARE = (0.0, 1.0)
"""What a number lies between unless other bounds are given."""

Rule = Classifier | ClientClassifiers
Progress = Callable[[str, int, int], None]
"""What is computed, how many of its parts are done, and of how many."""


def refitted(sample: Counted, counts: Array) -> Federation:
    """A federation of other people on the same levels, without a warning about what their score is
    worth.
    """
    with catch_warnings():
        simplefilter("ignore", ScoreWarning)
        return Federation.from_counts(counts, sample.points, calibrate=sample.calibrate)


def resampled(counts: Array, rng: np.random.Generator) -> Array:
    """As many people of every client (I, A, 2, n), drawn from its own with replacement.

    The clients are what they are, and so is their size; who came to them is chance, and so are the
    shares of their groups. A client's draw is repeated until it has people of all groups that the
    client has; where ``TRIES`` draws do not (many groups of one person), its groups keep their
    sizes.
    """
    return np.stack([_resampled(client, rng) for client in counts])


def halves(counts: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """People (I, A, 2, n) dealt into two halves, evenly within every client, group and label, to
    within one.
    """
    cells = counts.reshape(-1, counts.shape[-1]).astype(np.int64)
    size = cells.sum(axis=1)
    half = size // 2 + (size % 2) * rng.integers(0, 2, size.size)
    first = [rng.multivariate_hypergeometric(cell, k) for cell, k in zip(cells, half, strict=True)]
    one = np.array(first, dtype=np.float64).reshape(counts.shape)
    return one, counts - one


def _resampled(client: Array, rng: np.random.Generator) -> Array:
    there = client.sum(axis=(1, 2)) > 0
    for _ in range(TRIES):
        drawn = _drawn(client, rng)
        if ((drawn.sum(axis=(1, 2)) > 0) == there).all():
            return drawn
    return np.stack(
        [_drawn(group, rng) if some else group for group, some in zip(client, there, strict=True)]
    )


def _drawn(people: Array, rng: np.random.Generator) -> Array:
    size = int(people.sum())
    return rng.multinomial(size, people.ravel() / size).reshape(people.shape).astype(np.float64)


@dataclass(frozen=True)
class Spread:
    """How numbers of any shape vary with the people.

    Attributes
    ----------
    interval : (..., 2) low and high end; NaN where there is none.
    reached : (...) the share of bootstraps that have the number; the interval is made of these.
    bootstraps, seed : of which it is made.
    failed : bootstraps more, of which some solution was not certified.
    """

    interval: Array
    reached: Array
    bootstraps: int
    seed: int
    failed: int


def interval(estimate: Array, draws: Array, bounds: ArrayLike = SHARE) -> Array:
    """Approximate 95 % intervals (..., 2) of numbers within ``bounds`` (..., 2), from ``draws`` (B,
    ...), NaN where one lacks the number.

    From the lower end to the higher of two intervals: the draws' quantiles, and estimate - bias ±
    1.96 sd, bias and sd being those of the draws about the estimate. What is best on a sample is
    better there than in truth, and on a sample of the sample it is better once more: quantiles are
    biased twice; the other interval removes the bias, but not all of it, and where there was
    little, too much. Neither alone holds the truth often enough; how often both together do is in
    the README.
    """
    there = np.isfinite(draws)
    size = np.maximum(there.sum(axis=0), 1)
    mean = np.where(there, draws, 0.0).sum(axis=0) / size
    sd = np.sqrt(np.where(there, (draws - mean) ** 2, 0.0).sum(axis=0) / np.maximum(size - 1, 1))
    middle = np.where(there.sum(axis=0) >= FEWEST, 2.0 * estimate - mean, np.nan)
    ends = np.stack([middle - NORMAL * sd, middle + NORMAL * sd], axis=-1)
    known = np.isfinite(middle)
    if known.any():
        low, high = np.nanquantile(draws[:, known], [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
        ends[known] = np.stack(
            [np.minimum(ends[known, 0], low), np.maximum(ends[known, 1], high)], axis=-1
        )
    return np.clip(ends, *np.moveaxis(np.asarray(bounds), -1, 0)[..., None])


def bootstrap(
    sample: Counted,
    measure: Callable[[Federation], Array],
    estimate: Array,
    asked: int | None,
    seed: int,
    progress: Progress | None = None,
    bounds: ArrayLike = SHARE,
) -> Spread:
    """Intervals of the numbers that ``measure`` takes of a federation; ``estimate``, what it takes
    of the sample's own.

    ``asked`` bootstraps, or 200, or as many of these as a minute of computing allows; it is not
    spent where it does not allow the fewest that make an interval.
    """
    rng, start, draws, failed = np.random.default_rng(seed), process_time(), [], 0
    count = BOOTSTRAPS if asked is None else asked
    for done in range(count):
        spent = process_time() - start
        if asked is None and (
            spent >= SECONDS or 0 < done < FEWEST and spent / done * FEWEST > SECONDS
        ):
            break
        if progress is not None:
            progress("bootstraps", done, count)
        try:
            draws.append(measure(refitted(sample, resampled(sample.counts, rng))))
        except CertificationError:
            failed += 1
    drawn = np.array(draws).reshape(-1, *estimate.shape)
    reached = np.isfinite(drawn).mean(axis=0) if len(drawn) else np.zeros(estimate.shape)
    return Spread(interval(estimate, drawn, bounds), reached, len(drawn), seed, failed)


@dataclass(frozen=True)
class HeldOut:
    """Rules fitted to half of the people: mean (..., 2) value and disparity on that half, and on
    the other.

    ``splits`` fits; ``reached`` (...) the share of them that have the rule: the means are of these.
    """

    inside: Array
    outside: Array
    reached: Array
    splits: int


def held_out(
    sample: Counted,
    rules: Callable[[Federation], Sequence[Rule | None]],
    seed: int,
    progress: Progress | None = None,
    question: Question = PLAIN,
) -> HeldOut | None:
    """Fit ``rules`` to halves of the people, and count them on both halves; None where people are
    too few to be halved.

    Clients without people in a half are left out of it, and rules that are told the client are
    counted on the others. No new split begins after a minute of
    computing.
    """
    rng, start, found = np.random.default_rng(seed), process_time(), []
    for k in range(SPLITS):
        if k > 0 and process_time() > start + SECONDS:
            break
        both = halves(sample.counts, rng)
        if any((half.sum(axis=(0, 2, 3)) == 0).any() for half in both):
            return None
        for fitted, other in (both, both[::-1]):
            if progress is not None:
                progress("rules of half of the people", len(found), 2 * SPLITS)
            known = fitted.sum(axis=(1, 2, 3)) > 0
            told = [half[known] for half in (fitted, other)]
            found.append(
                [
                    [
                        counted(rule, sample.points, half, question)
                        for half in (
                            told if isinstance(rule, ClientClassifiers) else (fitted, other)
                        )
                    ]
                    for rule in rules(refitted(sample, told[0]))
                ]
            )
    table = np.array(found)  # (splits, rules, 2 halves, 2 numbers)
    there = np.isfinite(table)
    with np.errstate(invalid="ignore"):
        mean = np.where(there, table, 0.0).sum(axis=0) / there.sum(axis=0)
    return HeldOut(mean[:, 0], mean[:, 1], there[:, :, 0, 0].mean(axis=0), len(found))


def counted(
    rule: Rule | None, points: Array, counts: Array, question: Question = PLAIN
) -> tuple[float, float]:
    """Value and disparity of a rule on people ``counts`` (I, A, 2, n), by their labels; NaN for no
    rule.
    """
    if rule is None:
        return float("nan"), float("nan")
    pooled = counts.sum(axis=0, keepdims=True)
    told = isinstance(rule, ClientClassifiers)
    accept = np.stack([own.on(points) for own in (rule if told else [rule])])
    counts = counts if told else pooled
    negative, positive = counts[:, :, 0], counts[:, :, 1]
    people = negative + positive
    costs = question.task(refitted(Counted(points, pooled), pooled), "cfl").costs
    missed, wrong = costs[:, :, None]
    worth = (missed * positive * accept + wrong * negative * (1.0 - accept)).sum()
    if not question.is_share:
        worth -= (missed * positive + wrong * negative).sum()
    eta = np.divide(positive, people, out=np.zeros_like(people), where=people > 0)
    rates = Rates.of(question.notion, people, eta)
    apart = disparity(rates.of_rule(accept)[0], rates.mass.sum(axis=1), question.difference)
    return float(worth / people.sum()), float(apart)
